"""What is learned of the adapted layers is what the product reads with them. Needs PyTorch, so `just tools` may skip it."""

import numpy as np
import pytest

from hybrid_memory.capture.gate import mean_chance, sentences_in_context
from hybrid_memory.capture.sentences import sentence_of
from hybrid_memory.embedding.contextual import load_contextual

pytestmark = [pytest.mark.tools, pytest.mark.slow]


def test_the_product_gives_the_chances_that_were_learned(monkeypatch):
    torch = pytest.importorskip("torch")
    from tools import adapting

    for name in ("DROPPED_INPUTS", "DROPPED_HIDDEN"):
        monkeypatch.setattr(adapting, name, 0.0)
    encoder = load_contextual()
    texts = ["the kiln fires on Thursdays. it takes a day.", "我对花生过敏。", "why?"]
    told = [([sentence_of(part) for part in text.split(". ")], text) for text in texts]
    lesson = adapting.lesson(told, encoder)
    others = np.random.default_rng(0).normal(size=(len(lesson.places), 3)).astype(np.float32)
    torch.manual_seed(0)
    learner = adapting._Learner(encoder, others.shape[1])
    with torch.no_grad():
        for one in learner.low.values():
            one.normal_(0, 0.05)
        sentences = adapting._by_text(lesson.places)
        rows, mask, spans, numbers = adapting._step(lesson, list(sentences), sentences)
        pooled = learner.pooled(torch.from_numpy(rows), torch.from_numpy(mask), spans, 0.0)
        chances = torch.sigmoid(learner.odds(pooled, torch.from_numpy(others[numbers]))).numpy()
    adapter, network = learner.learned()
    seen = sentences_in_context(told, encoder, [encoder.adapted(adapter)])
    read = np.concatenate([one[0, :-1] for one in seen])
    assert np.allclose(chances, mean_chance(np.c_[others, read], network)[numbers], atol=1e-3)
