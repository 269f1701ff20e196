"""How likely a person's sentence is worth keeping, by a small model that was fitted on dialogues. Deterministic.

Small networks over what the multilingual encoder makes of the sentence and of its message, over what a transformer makes of its pieces
in the message, as it was published and with its last layers adapted to this, and over their shape; no word is listed.
``tools/fit_gate.py`` fits it and writes its calibration: of what it gives a chance of p, about p were marked as worth keeping.
"""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cache, partial
from pathlib import Path
from typing import TYPE_CHECKING

from hybrid_memory.capture.model import StatementKind
from hybrid_memory.capture.others_words import holds_others_words, signs_of_others_words
from hybrid_memory.capture.replies import load_replies, reply_chances, reply_features
from hybrid_memory.language.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from hybrid_memory.capture.sentences import Sentence
    from hybrid_memory.embedding.contextual import ContextualEncoder, Layers

Told = tuple[Sequence["Sentence"], str]
"""The sentences of a message that are judged, and the message."""

MODEL = Path(__file__).with_name("data") / "gate.npz"
CALIBRATION = MODEL.with_suffix(".json")
KINDS = (StatementKind.PREFERENCE, StatementKind.DECISION, StatementKind.PLAN)
"""What a sentence may be besides a fact, in the order of the model's columns."""
NOTHING = 1.1
"""A threshold that no chance reaches."""
READ = 600
"""Characters of a message that are looked at."""
UNLIKELY = 0.05
"""A message is not read in context if at first sight no sentence of it is as likely worth keeping, and nothing of it may be a paste."""

_SENTENCE_WEIGHT, _MESSAGE_WEIGHT = 3.0, 2.0  # so that the penalty of the fit weighs them as it does the shape
_LONG = 400  # characters
_READ_TOGETHER = 32  # messages


@dataclass(frozen=True, slots=True)
class Judged:
    """The ``chance`` (0..1) that a sentence is worth keeping, and of what ``kind`` it most likely is."""

    chance: float
    kind: StatementKind


@dataclass(frozen=True, slots=True)
class JudgedMessage:
    """What the model makes of the sentences of a message, and the ``threshold`` from which on they are kept there."""

    sentences: tuple[Judged, ...]
    threshold: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Gate:
    """The model. The chance is the mean of what ``networks`` and ``adapted`` give (`mean_chance`).

    ``first`` are networks that see all but the context, which costs most; where they find nothing (`UNLIKELY`), theirs is the chance.

    A column of ``kinds`` gives the odds of each of `KINDS`; its last row is constant.

    ``in_context`` gives what is seen two ways (`sentences_in_context`): by the layers as they are, and by adapted ones, which only
    ``adapted`` reads.

    From ``threshold`` on a sentence is kept, from ``strict`` on in a message that may hold somebody else's words. ``pasted`` are the
    networks for that chance of a message, which counts from ``others`` on; from ``pasted_from`` on nothing of it is kept.

    ``replies`` are the weights for a message that replies to a question (`replies`).
    """

    vectors: Callable[[Sequence[str]], NDArray[np.float32]]
    in_context: Callable[[Sequence[Told]], list[NDArray[np.float32]]]
    first: Mapping[str, NDArray[np.float32]]
    networks: Mapping[str, NDArray[np.float32]]
    adapted: Mapping[str, NDArray[np.float32]]
    kinds: NDArray[np.float32]
    pasted: Mapping[str, NDArray[np.float32]]
    replies: NDArray[np.float32]
    threshold: float
    strict: float
    others: float
    pasted_from: float

    def judged(self, sentences: Sequence[Sentence], message: str, question: str = "") -> JudgedMessage:
        """Judge the sentences of a message, alone and behind the ``question`` of the assistant; the higher chance counts.

        Many a question is passed over ("Shall I commit this?"), so it makes nothing less likely. It does not count where the message may
        hold somebody else's words.
        """
        judged = self.judged_messages([(sentences, message)])[0]
        if not question or not sentences or judged.threshold > self.threshold:
            return judged
        rows = reply_features(sentences, message, question, self.vectors, self.in_context)
        chances = reply_chances(rows, self.replies)
        both = zip(judged.sentences, chances, strict=True)
        return replace(
            judged, sentences=tuple(replace(one, chance=max(one.chance, float(behind))) for one, behind in both)
        )

    def judged_messages(self, messages: Sequence[Told]) -> list[JudgedMessage]:
        """Judge the sentences of some messages together: all texts go through the encoders at once."""
        import numpy as np

        ends = np.cumsum([len(sentences) + 1 for sentences, _ in messages], dtype=np.intp)
        rows = np.split(self.vectors([text for one in messages for text in texts_of(*one)]), ends)[: len(messages)]
        found = [self._at_first_sight(*one, own) for one, own in zip(messages, rows, strict=True)]
        read = [at for at, one in enumerate(found) if _is_read(one.sentences, messages[at][1])]
        for at, seen in zip(read, self.in_context([messages[at] for at in read]), strict=True):
            sentences, message = messages[at]
            judged = self._judged(*(features(sentences, message, rows[at], one) for one in seen))
            found[at] = JudgedMessage(judged, self._threshold(message, rows[at][-1], seen[0, -1]))
        return found

    def _at_first_sight(self, sentences: Sequence[Sentence], message: str, rows: NDArray[np.float32]) -> JudgedMessage:
        if not sentences:
            return JudgedMessage((), self.threshold)
        chances = mean_chance(features(sentences, message, rows), self.first)
        return JudgedMessage(tuple(Judged(float(one), StatementKind.FACT) for one in chances), self.threshold)

    def _judged(self, rows: NDArray[np.float32], adapted: NDArray[np.float32]) -> tuple[Judged, ...]:
        import numpy as np

        scores = rows @ self.kinds[:-1] + self.kinds[-1]
        kinds = 1 / (1 + np.exp(-np.clip(scores, -30, 30)))
        chances = (mean_chance(rows, self.networks) + mean_chance(adapted, self.adapted)) / 2
        return tuple(Judged(float(chance), _kind(one)) for chance, one in zip(chances, kinds, strict=True))

    def _threshold(self, message: str, row: NDArray[np.float32], seen: NDArray[np.float32]) -> float:
        """Return a higher threshold where a message may hold a mail, a chat, an article, a log, code."""
        if not holds_others_words(message):
            return self.threshold
        (chance,) = mean_chance(features_of_message(message, row, seen)[None, :], self.pasted)
        if chance < self.others:
            return self.threshold
        return self.strict if chance < self.pasted_from else NOTHING


def _is_read(sentences: Sequence[Judged], message: str) -> bool:
    """Return whether a message is read in context; of one that may be pasted a rule could still keep what was asked to be kept."""
    likely = any(one.chance >= UNLIKELY for one in sentences)
    return likely or (bool(sentences) and holds_others_words(message))


def mean_chance(rows: NDArray[np.float32], networks: Mapping[str, NDArray[np.float32]]) -> NDArray[np.float32]:
    """Return the mean chance that some networks give to each row; of each network the arrays hold its weights at the same place."""
    import numpy as np

    found = []
    for place, inner in enumerate(networks["inner"]):
        hidden = np.maximum(rows @ inner + networks["inner_bias"][place], 0)
        odds = hidden @ networks["outer"][place] + networks["outer_bias"][place]
        found.append(1 / (1 + np.exp(-np.clip(odds, -30, 30))))
    mean: NDArray[np.float32] = np.mean(found, axis=0)
    return mean


def features(
    sentences: Sequence[Sentence], message: str, rows: NDArray[np.float32], seen: NDArray[np.float32] | None = None
) -> NDArray[np.float32]:
    """Return (sentences, features) float32: what the model sees of the sentences of a message, of which there is one at least.

    ``rows`` are the encoder's, of each sentence and the message, ``seen`` those of one way in `sentences_in_context`: None at first sight.
    """
    import numpy as np

    whole = np.repeat(rows[-1:], len(sentences), axis=0)
    shapes = [_shape(one, message, at, len(sentences)) for at, one in enumerate(sentences)]
    parts = [_SENTENCE_WEIGHT * rows[:-1], _MESSAGE_WEIGHT * whole, np.array(shapes, np.float32)]
    parts += [] if seen is None else [seen[:-1]]
    found: NDArray[np.float32] = np.concatenate(parts, axis=1, dtype=np.float32)
    return found


def sentences_in_context(
    messages: Sequence[Told], encoder: ContextualEncoder, ways: Sequence[Layers]
) -> list[NDArray[np.float32]]:
    """Return of each message (ways, sentences + 1, values) float32: the mean of what is seen at each sentence's pieces, and at all.

    A sentence is read in its message. One that is not there as it was written, or lies past `READ` characters or the pieces that the
    encoder sees, is read alone.
    """
    found: list[NDArray[np.float32]] = []
    # What is seen at each piece of all of them would take much memory.
    for start in range(0, len(messages), _READ_TOGETHER):
        found += _in_context(messages[start : start + _READ_TOGETHER], encoder, ways)
    return found


def _in_context(
    messages: Sequence[Told], encoder: ContextualEncoder, ways: Sequence[Layers]
) -> list[NDArray[np.float32]]:
    import numpy as np

    texts: list[list[int]] = []
    places = [read_into(texts, sentences, message, encoder) for sentences, message in messages]
    states = encoder.states_by(texts, ways)
    found = []
    for own in places:
        rows = np.zeros((len(ways), len(own), encoder.seen), np.float32)
        for at, (text, start, end) in enumerate(own):
            if end > start:
                rows[:, at] = states[text][:, start:end].mean(1)
        found.append(rows)
    return found


def read_into(
    texts: list[list[int]], sentences: Sequence[Sentence], message: str, encoder: ContextualEncoder
) -> list[tuple[int, int, int]]:
    """Add the texts, in pieces, in which the sentences of a message are read; return of each sentence, and of the message, where it is."""
    message = message[:READ]
    whole: list[int] = []
    alone: list[list[int]] = []
    places: list[tuple[int, int, int]] = []
    read = 0
    for one in sentences:
        start = message.find(one.raw, read)
        if start >= 0:
            whole += encoder.pieces(message[read:start])
            begin = len(whole)
            whole += encoder.pieces(one.raw)
            read = start + len(one.raw)
        if start >= 0 and len(whole) <= encoder.most_pieces:
            places.append((len(texts), begin, len(whole)))
        else:
            alone.append(encoder.pieces(one.raw[:READ])[: encoder.most_pieces])
            places.append((len(texts) + len(alone), 0, len(alone[-1])))
    whole += encoder.pieces(message[read:])
    places.append((len(texts), 0, min(len(whole), encoder.most_pieces)))
    texts += [whole, *alone]
    return places


def texts_of(sentences: Sequence[Sentence], message: str) -> list[str]:
    """Return what the sentence encoder reads of a message."""
    return [*(one.raw for one in sentences), message[:READ]]


def features_of_message(message: str, row: NDArray[np.float32], seen: NDArray[np.float32]) -> NDArray[np.float32]:
    """Return (features) float32: what the model sees of a message that may hold a paste, by the last rows of `features`."""
    import numpy as np

    lines = [line for line in message.splitlines() if line.strip()]
    words = message.split()
    shape = (
        min(len(lines), 20) / 5,
        math.log1p(len(words)) / 4,
        "?" in message or "？" in message,
        message.rstrip()[-1:] in ("?", "？"),
        bool(lines) and ":" in lines[0][-2:],
        not _QUOTES.isdisjoint(message),
        "\n>" in message or message[:1] == ">",
        "\n\n" in message,
        message[:1].islower(),
        sum(word[:1].isupper() for word in words[1:]) / max(1, len(words)),
        sum(character in ".,;:" for character in message) / max(1, len(message)) * 20,
        "`" in message,
        any(character.isdigit() for character in message),
        len(message) > _LONG,
        *signs_of_others_words(message),
    )
    found: NDArray[np.float32] = np.concatenate((_MESSAGE_WEIGHT * row, np.array(shape), seen), dtype=np.float32)
    return found


def load_gate(vectors: Callable[[Sequence[str]], NDArray[np.float32]]) -> Gate:
    """Return the model; ``vectors`` gives the encoder's rows for texts (`embedding.universal.Encoder.meanings`).

    Raises:
        EmbedderUnavailable: a file of the installation cannot be read.
    """
    from hybrid_memory.embedding.contextual import load_contextual

    model = _fitted()
    return Gate(
        vectors=vectors,
        in_context=partial(sentences_in_context, encoder=load_contextual(), ways=_ways()),
        first=model.first,
        networks=model.networks,
        adapted=model.adapted,
        kinds=model.kinds,
        pasted=model.pasted,
        replies=load_replies(),
        **model.limits,
    )


FIRST, PASTED, ADAPTED, ADAPTER = "first_", "pasted_", "adapted_", "adapter_"
"""Prefixes of array names: the networks of the first sight, those that tell pastes, the one that reads the adapted layers, the adapter."""
NETWORK = ("inner", "inner_bias", "outer", "outer_bias")
"""The names of the arrays of `mean_chance`."""


_LIMITS = ("threshold", "strict", "others", "pasted_from")


@dataclass(frozen=True, slots=True)
class _Fitted:
    """What the files hold."""

    first: Mapping[str, NDArray[np.float32]]
    networks: Mapping[str, NDArray[np.float32]]
    adapted: Mapping[str, NDArray[np.float32]]
    adapter: Mapping[str, NDArray[np.float32]]
    pasted: Mapping[str, NDArray[np.float32]]
    kinds: NDArray[np.float32]
    limits: Mapping[str, float]


@cache
def _fitted() -> _Fitted:
    import numpy as np

    from hybrid_memory.embedding.contextual import SHAPES, installed_arrays

    sides = [f"{name}_{side}" for name in SHAPES for side in ("in", "out")]
    with installed_arrays(MODEL) as held:
        arrays = {name: one.astype(np.float32) for name, one in held.items()}
        told = json.loads(CALIBRATION.read_text(encoding="utf-8"))
        return _Fitted(
            {name: arrays[f"{FIRST}{name}"] for name in NETWORK},
            {name: arrays[name] for name in NETWORK},
            {name: arrays[f"{ADAPTED}{name}"] for name in NETWORK},
            {name: arrays[f"{ADAPTER}{name}"] for name in sides},
            {name: arrays[f"{PASTED}{name}"] for name in NETWORK},
            arrays["kinds"],
            {name: told[name] for name in _LIMITS},
        )


@cache
def _ways() -> tuple[Layers, Layers]:
    """Return the last layers as they are, and adapted: 21 MB, made once."""
    from hybrid_memory.embedding.contextual import load_contextual

    encoder = load_contextual()
    return encoder.last, encoder.adapted(_fitted().adapter)


def _kind(chances: NDArray[np.float32]) -> StatementKind:
    best = int(chances.argmax())
    return KINDS[best] if chances[best] >= 1 / 2 else StatementKind.FACT


def _shape(sentence: Sentence, message: str, at: int, count: int) -> tuple[float, ...]:
    raw = sentence.raw
    said = raw.split()
    return (
        min(len(said), 40) / 20,
        math.log1p(len(message.split())) / 4,
        at / count,
        count == 1,
        sentence.asks,
        "?" in message or "？" in message,
        min(sum(word[:1].isupper() for word in said[1:]), 4) / 2,
        any(character.isdigit() for character in raw),
        not _QUOTES.isdisjoint(raw),
        "!" in message,
        _CODE.search(raw) is not None,
        "\n" in message,
        len(message) > _LONG,
        raw[:1].islower(),
    )


_QUOTES = frozenset('"“”„«»「」>')
_CODE = LazyPattern(r"[`{}<>=]|\w\(|\w_\w")
