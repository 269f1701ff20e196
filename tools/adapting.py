"""Adapt the last layers of the contextual encoder to what is worth keeping. Needs PyTorch; ``tools/fit_gate.py`` calls it.

Low-rank matrices (Hu et al., 2021, https://arxiv.org/abs/2106.09685) are learned together with a small network that reads the adapted
states next to the sentence vectors; all other weights stay as published.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from hybrid_memory.capture.gate import Told, read_into
from hybrid_memory.embedding.contextual import (
    ADAPTED_AFTER,
    EPS,
    HEADS,
    MOST_PIECES,
    READ_AFTER,
    SEEN,
    SHAPES,
    WIDTH,
    ContextualEncoder,
    Floats,
)

# Chosen on `check-*` and `check2-*` of tests/data/dialogues.
RANK, HIDDEN, PASSES = 16, 64, 3
SCALE = 2.0  # of what the low-rank matrices add
RATE, NETWORK_RATE, WARMING = 1.5e-3, 1e-3, 0.06
DROPPED, DROPPED_INPUTS, DROPPED_HIDDEN = 0.1, 0.1, 0.2
DECAY = 0.05  # of the network
CONTEXT_WEIGHT = 0.3
"""How much what is seen in context is weighed, as in ``tools/fit_gate.py``."""
_TOGETHER, _MOST_TOGETHER = 24, 3_000  # texts, and their pieces, of one step
_LOOKED_AT = 60  # steps' worth of texts, for the level of the states

Tensors = dict[str, torch.Tensor]
Place = tuple[int, int, int, int]
"""Of a sentence: its number, its text, where it begins and ends there."""


@dataclass(frozen=True, slots=True)
class Lesson:
    """The texts of some messages as the last layers begin with them, and the sentences in them."""

    begun: list[NDArray[np.float16]]
    places: list[Place]


def lesson(messages: Sequence[Told], encoder: ContextualEncoder) -> Lesson:
    """Return what is learned from; the sentences are numbered as they come."""
    texts: list[list[int]] = []
    places: list[Place] = []
    for own, message in messages:
        for text, start, end in read_into(texts, own, message, encoder)[:-1]:
            places.append((len(places), text, start, min(end, MOST_PIECES)))
    begun = [one.astype(np.float16) for one in encoder.begun(texts)]
    return Lesson(begun, [one for one in places if one[3] > one[2]])


def adapt(
    taught: Lesson, others: Floats, wanted: Floats, of: NDArray[np.bool_], encoder: ContextualEncoder
) -> tuple[dict[str, Floats], dict[str, Floats]]:
    """Return the adapter (`ContextualEncoder.adapted`) and the network (`mean_chance`) that some sentences teach.

    ``others`` is what the network reads of each sentence besides the states; ``of`` says of each whether it may be learned from.
    """
    torch.manual_seed(0)
    draws = np.random.default_rng(0)
    learner = _Learner(encoder, others.shape[1])
    places = [one for one in taught.places if of[one[0]]]
    sentences = _by_text(places)
    learner.level([_step(taught, texts, sentences) for texts in _groups(taught, sentences, draws)[:_LOOKED_AT]])
    optimiser = torch.optim.AdamW(
        [
            {"params": list(learner.low.values()), "lr": RATE, "weight_decay": 0.0},
            {"params": list(learner.network.values()), "lr": NETWORK_RATE, "weight_decay": DECAY},
        ]
    )
    steps = [texts for _ in range(PASSES) for texts in _groups(taught, sentences, draws)]
    for number, texts in enumerate(steps):
        rows, mask, spans, numbers = _step(taught, texts, sentences)
        share = min(1.0, number / (WARMING * len(steps))) * max(0.02, 1 - number / len(steps))
        optimiser.param_groups[0]["lr"] = RATE * share
        optimiser.param_groups[1]["lr"] = NETWORK_RATE * max(share, 0.05)
        odds = learner.odds(learner.pooled(_tensor(rows), _tensor(mask), spans, DROPPED), _tensor(others[numbers]))
        loss = torch.nn.functional.binary_cross_entropy_with_logits(odds, _tensor(wanted[numbers]))
        optimiser.zero_grad()
        loss.backward()
        torch.nn.utils.clip_grad_norm_([*learner.low.values(), *learner.network.values()], 1.0)
        optimiser.step()
    return learner.learned()


class _Learner:
    def __init__(self, encoder: ContextualEncoder, others: int) -> None:
        self._layers = [{name: _tensor(one) for name, one in layer.items()} for layer in encoder.last]
        self.low: Tensors = {}
        for at in range(len(self._layers)):
            for name, (values_out, values_in) in SHAPES.items():
                self.low[f"{at} {name}_in"] = torch.randn(RANK, values_in) / values_in**0.5
                self.low[f"{at} {name}_out"] = torch.zeros(values_out, RANK)
        read = others + SEEN
        self.network: Tensors = {
            "inner": (torch.rand(read, HIDDEN) * 2 - 1) / read**0.5,
            "inner_bias": torch.zeros(HIDDEN),
            "outer": (torch.rand(HIDDEN) * 2 - 1) / HIDDEN**0.5,
            "outer_bias": torch.zeros(1),
        }
        for one in (*self.low.values(), *self.network.values()):
            one.requires_grad_()
        self._mean, self._scale = torch.zeros(SEEN), torch.ones(SEEN)

    def level(self, steps: Sequence[_Step]) -> None:
        """Give each value that is seen the same level, before anything is learned."""
        with torch.no_grad():
            seen = torch.cat([self.pooled(_tensor(rows), _tensor(mask), spans, 0.0) for rows, mask, spans, _ in steps])
        self._mean, self._scale = seen.mean(0), (seen.std(0) + 1e-6) / CONTEXT_WEIGHT

    def pooled(
        self, rows: torch.Tensor, mask: torch.Tensor, spans: Sequence[tuple[int, int, int]], dropped: float
    ) -> torch.Tensor:
        """Return (sentences, `SEEN`): the mean of what is seen at each."""
        read = []
        for at in range(len(self._layers)):
            rows = self._through(at, rows, mask, dropped)
            if at + ADAPTED_AFTER + 1 in READ_AFTER:
                read.append(rows)
        seen = torch.cat(read, dim=-1)
        return torch.stack([seen[text, start + 1 : end + 1].mean(0) for text, start, end in spans])

    def odds(self, pooled: torch.Tensor, others: torch.Tensor) -> torch.Tensor:
        rows = torch.cat((others, (pooled - self._mean) / self._scale), dim=1)
        rows = torch.nn.functional.dropout(rows, DROPPED_INPUTS)
        hidden = torch.relu(rows @ self.network["inner"] + self.network["inner_bias"])
        return torch.nn.functional.dropout(hidden, DROPPED_HIDDEN) @ self.network["outer"] + self.network["outer_bias"]

    def learned(self) -> tuple[dict[str, Floats], dict[str, Floats]]:
        """Return the adapter and the network, which reads states as they are."""
        low = {name: one.detach().numpy() for name, one in self.low.items()}
        adapter = {
            f"{name}_{side}": np.stack([low[f"{at} {name}_{side}"] for at in range(len(self._layers))])
            for name in SHAPES
            for side in ("in", "out")
        }
        for name in SHAPES:
            adapter[f"{name}_out"] *= SCALE
        network = {name: one.detach().numpy().copy() for name, one in self.network.items()}
        network["inner"][-SEEN:] /= self._scale.numpy()[:, None]
        network["inner_bias"] -= self._mean.numpy() @ network["inner"][-SEEN:]
        return adapter, {name: one[None] for name, one in network.items()}

    def _through(self, at: int, rows: torch.Tensor, mask: torch.Tensor, dropped: float) -> torch.Tensor:
        layer, functional = self._layers[at], torch.nn.functional
        texts, length, _ = rows.shape
        mixed = (self._times(at, "qkv", rows) + layer["qkv_bias"]).view(texts, length, 3, HEADS, WIDTH // HEADS)
        query, key, value = mixed.permute(2, 0, 3, 1, 4)
        attended = functional.scaled_dot_product_attention(query, key, value, attn_mask=mask)
        attended = attended.transpose(1, 2).reshape(texts, length, WIDTH)
        new = self._times(at, "out", attended) + layer["out_bias"]
        rows = self._levelled(rows + functional.dropout(new, dropped), layer["middle_gain"], layer["middle_shift"])
        wide = functional.gelu(self._times(at, "wide", rows) + layer["wide_bias"], approximate="tanh")
        new = self._times(at, "narrow", wide) + layer["narrow_bias"]
        return self._levelled(rows + functional.dropout(new, dropped), layer["last_gain"], layer["last_shift"])

    def _times(self, at: int, name: str, rows: torch.Tensor) -> torch.Tensor:
        low = rows @ self.low[f"{at} {name}_in"].T @ self.low[f"{at} {name}_out"].T
        return rows @ self._layers[at][name] + SCALE * low

    @staticmethod
    def _levelled(rows: torch.Tensor, gain: torch.Tensor, shift: torch.Tensor) -> torch.Tensor:
        return torch.nn.functional.layer_norm(rows, (WIDTH,), gain, shift, EPS)


_Step = tuple[Floats, NDArray[np.bool_], list[tuple[int, int, int]], list[int]]
"""Texts of about one length: their states, which of them are there, the sentences in them, and the numbers of these."""


def _by_text(places: Sequence[Place]) -> dict[int, list[Place]]:
    found: dict[int, list[Place]] = {}
    for one in places:
        found.setdefault(one[1], []).append(one)
    return found


def _groups(taught: Lesson, sentences: Mapping[int, Sequence[Place]], draws: np.random.Generator) -> list[list[int]]:
    """Return all texts once, those of about one length together, in a drawn order."""
    lengths = {text: len(taught.begun[text]) for text in sentences}
    order = sorted(lengths, key=lambda text: lengths[text] + draws.uniform(-4, 4))
    groups: list[list[int]] = [[]]
    for text in order:
        if len(groups[-1]) >= _TOGETHER or (len(groups[-1]) + 1) * lengths[text] > _MOST_TOGETHER:
            groups.append([])
        groups[-1].append(text)
    return [groups[at] for at in draws.permutation(len(groups))]


def _step(taught: Lesson, texts: Sequence[int], sentences: Mapping[int, Sequence[Place]]) -> _Step:
    lengths = [len(taught.begun[text]) for text in texts]
    longest = max(lengths)
    rows = np.zeros((len(texts), longest, WIDTH), np.float32)
    mask = np.zeros((len(texts), 1, 1, longest), bool)
    spans, numbers = [], []
    for at, text in enumerate(texts):
        rows[at, : lengths[at]], mask[at, ..., : lengths[at]] = taught.begun[text], True
        for number, _, start, end in sentences[text]:
            spans.append((at, start, end))
            numbers.append(number)
    return rows, mask, spans, numbers


def _tensor(values: NDArray[np.float32] | NDArray[np.bool_]) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(values))
