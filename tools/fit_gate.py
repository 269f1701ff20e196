"""Fit the model that says which of a person's sentences are worth keeping (``capture/gate.py``).

It learns from ``tools/dialogues`` and the turns of a benchmark.

    uv run --with torch==2.13.0 --group fit python -m tools.fit_gate
    uv run python -m tools.fit_gate --check FILE ...

The first fits it and writes the model and its calibration, in half an hour on two cores; the second measures the committed one on
dialogues that nothing was fitted on.

At first sight three networks see all but the context; what they find unlikely is not read in context.
Half of the chance that a sentence is worth keeping comes from a network that is learned together with adapted layers
(``tools/adapting.py``), half from the mean of three that read the layers as published. Whether a message holds a paste is the mean of a
few networks; of what kind a sentence is are logistic regressions with a quadratic penalty, by Newton's method.
"""

from __future__ import annotations

import argparse
import json
import re
import warnings
import zlib
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.capture.gate import (
    ADAPTED,
    ADAPTER,
    CALIBRATION,
    FIRST,
    KINDS,
    MODEL,
    PASTED,
    UNLIKELY,
    Gate,
    Told,
    features,
    features_of_message,
    load_gate,
    mean_chance,
    sentences_in_context,
    texts_of,
)
from hybrid_memory.capture.model import StatementKind, Turn
from hybrid_memory.capture.others_words import holds_others_words
from hybrid_memory.capture.own_words import is_pasted
from hybrid_memory.capture.sentences import Sentence
from hybrid_memory.capture.statements import own_sentences, statements
from hybrid_memory.embedding.contextual import SEEN, load_contextual
from hybrid_memory.embedding.universal import load_encoder

DIALOGUES = Path(__file__).with_name("dialogues")
PASTED_ALONE = "pasted "
"""How the groups of messages begin that only teach what a paste is: their sentences read as a person's own."""
TURNS = [Path(__file__).parents[1] / "benchmarks" / "capture_turns" / name for name in ("dev.txt", "others.txt")]
"""Short messages that say plainly what they say."""
FOLDS = 4
NETWORKS, DECAY = 3, 0.3  # chosen with persons held out, as are the two below
HIDDEN, ROUNDS = 64, 12
CONTEXT_WEIGHT = 0.3
"""How much what is seen in context is weighed, each value with mean 0 and standard deviation 1, next to the unit vectors."""
HIDDEN_FIRST = 32
HIDDEN_PASTED, ROUNDS_PASTED = 32, 15
PENALTY = 6.0
PASTED_FROM = 0.2  # ... and from which nothing of it is kept
OTHERS = 0.05  # chance of a paste from which a message counts as one, if the rules for it agree
THRESHOLD = 0.6
"""Chance from which on a sentence is kept: from .4 to .6 questions are answered equally well, so precision decides (decision 0133)."""
LEAST_STRICTER = 0.05
"""How much surer a sentence has to be, at least, in a message that may hold somebody else's words."""
STRICT_PRECISION = 0.92  # of messages, in the cross-validation, whose base rate is about one in four
_TOGETHER = 8  # neighbouring messages of such a file that are held out together
_ROUNDS = 15  # of Newton's method
_PASTED = frozenset({"paste", "quote", "log", "code"})
_ALIKE = 0.8  # of the words of a marked part and a sentence that are the same
_SAID_AT = datetime(2026, 3, 2, tzinfo=UTC)
_KIND_OF = {
    "pref": StatementKind.PREFERENCE,
    "preference": StatementKind.PREFERENCE,
    "rule": StatementKind.PREFERENCE,
    "decision": StatementKind.DECISION,
    "plan": StatementKind.PLAN,
    "date": StatementKind.PLAN,
}
Array = NDArray[np.float64]
Vectors = Callable[[Sequence[str]], NDArray[np.float32]]


@dataclass(frozen=True, slots=True)
class Message:
    """A message of a ``kind`` and what of it was marked, with its kind; ``group`` is held out together."""

    text: str
    marked: tuple[tuple[str, str], ...]
    group: str
    language: str
    kind: str = ""

    @property
    def holds_paste(self) -> bool:
        """Whether somebody else's words are in it, and nothing to keep."""
        return self.kind in _PASTED and not self.marked


@dataclass(frozen=True, slots=True)
class Example:
    """A sentence of a message, as the model sees it."""

    message: int
    row: NDArray[np.float32]
    kept: bool
    kind: StatementKind | None


def read(paths: Iterable[Path]) -> list[Message]:
    """Return the messages of the persons in some files."""
    found = []
    for path in paths:
        for line in path.read_text(encoding="utf-8").splitlines():
            told = json.loads(line)
            if told.get("role") == "assistant":
                continue
            keep = told["keep"]
            if isinstance(keep, bool):  # a flat file marks whole messages
                marked: tuple[tuple[str, str], ...] = ((told["text"], told["kind"]),) if keep else ()
            else:
                marked = tuple((one["text"], one["kind"]) for one in keep)
            group = f"{path.stem} {told['conv']}" if isinstance(keep, bool) else path.stem
            found.append(Message(told["text"], marked, group, told.get("lang", path.stem), told.get("kind", "")))
    return found


def read_turns(paths: Iterable[Path]) -> list[Message]:
    """Return the messages of files as `benchmarks.capture` reads them; what may be kept or not is left out."""
    found = []
    for path in paths:
        lines = path.read_text(encoding="utf-8").splitlines()
        for number, line in enumerate(lines):
            said, *marked = re.split(r"\s*⇒\s*", line.removeprefix("+ ").strip())
            if not said or said.startswith("#") or any(one.startswith("maybe") for one in marked):
                continue
            language, _, text = said.partition(" ")
            kinds = tuple((words, kind) for kind, _, words in (one.partition(": ") for one in marked))
            found.append(Message(text.replace("\\n", "\n"), kinds, f"{path.stem} {number // _TOGETHER}", language))
    return found


def judged_sentences(messages: Sequence[Message]) -> dict[int, list[Sentence]]:
    """Return the sentences of each message that has some, by its number; those of a pasted letter are none."""
    own: dict[int, list[Sentence]] = {}
    for number, message in enumerate(messages):
        is_none = is_pasted(message.text) or message.group.startswith(PASTED_ALONE)
        if some := [] if is_none else list(own_sentences(message.text)):
            own[number] = some
    return own


def examples(messages: Sequence[Message], vectors: Vectors) -> list[Example]:
    """Return the sentences of the messages, in the order of `judged_sentences`."""
    own = judged_sentences(messages)
    found = []
    seen = _seen([(some, messages[number].text) for number, some in own.items()], vectors)
    for (number, some), (rows, _) in zip(own.items(), seen, strict=True):
        for sentence, row in zip(some, rows, strict=True):
            kind = _marked_as(sentence, messages[number])
            found.append(Example(number, row, kind is not None, _KIND_OF.get(kind or "")))
    return found


def whole_messages(messages: Sequence[Message], vectors: Vectors) -> Array:
    """Return (messages, features): what the model that tells pastes sees of each."""
    told = [(list(own_sentences(one.text)), one.text) for one in messages]
    return np.array([row for _, row in _seen(told, vectors)], np.float64)


def _seen(told: Sequence[Told], vectors: Vectors) -> Iterator[tuple[NDArray[np.float32], NDArray[np.float32]]]:
    """Yield of each message what the model sees of its sentences, and of the whole."""
    encoder = load_contextual()
    for (sentences, message), (seen,) in zip(told, sentences_in_context(told, encoder, [encoder.last]), strict=True):
        rows = vectors(texts_of(sentences, message))
        own = features(sentences, message, rows, seen) if sentences else seen[:0]
        yield own, features_of_message(message, rows[-1], seen[-1])


def fitted(rows: Array, wanted: Array, strength: float = PENALTY) -> Array:
    """Return the weights of a logistic regression with a quadratic penalty, the constant last."""
    seen = np.c_[rows, np.ones(len(rows))]
    weights, penalty = np.zeros(seen.shape[1]), np.full(seen.shape[1], strength)
    penalty[-1] = 1e-6
    for _ in range(_ROUNDS):
        chances = 1 / (1 + np.exp(-seen @ weights))
        slope = seen.T @ (chances - wanted) + penalty * weights
        curve = (seen.T * (chances * (1 - chances) + 1e-6)) @ seen
        curve[np.diag_indices_from(curve)] += penalty
        weights = weights - np.linalg.solve(curve, slope)
    return weights


def networks(rows: Array, wanted: Array, hidden: int, rounds: int) -> dict[str, NDArray[np.float32]]:
    """Return the weights of the networks that tell wanted rows from others, the network first in each array."""
    from sklearn.neural_network import MLPClassifier  # of the group "fit"

    found = []
    for seed in range(NETWORKS):
        network = MLPClassifier((hidden,), alpha=DECAY, max_iter=rounds, batch_size=128, random_state=seed)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # that it could learn longer
            network.fit(rows, wanted > 0)
        (inner, outer), (inner_bias, outer_bias) = network.coefs_, network.intercepts_
        found.append({"inner": inner, "inner_bias": inner_bias, "outer": outer[:, 0], "outer_bias": outer_bias})
    return {name: np.stack([one[name] for one in found]).astype(np.float32) for name in found[0]}


def learned(given: Sequence[Example]) -> dict[str, NDArray[np.float32]]:
    """Return the weights of the networks that say what is worth keeping."""
    rows, kept = np.array([one.row for one in given], np.float64), np.array([float(one.kept) for one in given])
    return levelled_networks(rows, kept, HIDDEN, ROUNDS)


def first_sight(given: Sequence[Example]) -> dict[str, NDArray[np.float32]]:
    """Return the weights of the networks that see no context."""
    rows, kept = np.array([one.row[:-SEEN] for one in given], np.float64), np.array([float(one.kept) for one in given])
    return networks(rows, kept, HIDDEN_FIRST, ROUNDS)


def passed_over(messages: Sequence[Message], given: Sequence[Example]) -> dict[str, list[int]]:
    """Return how many messages, and how many worth keeping, are unlikely at first sight, and of how many; persons are held out."""
    fold = _folds(messages, given)
    best = np.zeros(len(messages))
    for held in range(FOLDS):
        model = first_sight([one for one, of in zip(given, fold, strict=True) if of != held])
        inside = [one for one, of in zip(given, fold, strict=True) if of == held]
        chances = mean_chance(np.array([one.row[:-SEEN] for one in inside], np.float32), model)
        np.maximum.at(best, [one.message for one in inside], chances)
    unlikely, kept = best < UNLIKELY, np.array([bool(one.marked) for one in messages])
    return {
        "messages": [int(unlikely.sum()), len(messages)],
        "worth": [int((unlikely & kept).sum()), int(kept.sum())],
    }


def levelled_networks(rows: Array, wanted: Array, hidden: int, rounds: int) -> dict[str, NDArray[np.float32]]:
    """Return the weights of `networks`, fitted to rows whose last columns have one level; they read rows as they are."""
    means, scales = _levels(rows)
    found = networks((rows - means) / scales, wanted, hidden, rounds)
    found["inner_bias"] = found["inner_bias"] - np.einsum("f,nfh->nh", means / scales, found["inner"])
    found["inner"] = found["inner"] / scales[None, :, None]
    return {name: one.astype(np.float32) for name, one in found.items()}


def _levels(rows: Array) -> tuple[Array, Array]:
    """Return what is taken from each column, and by what it is divided: of what is seen in context."""
    means, scales = np.zeros(rows.shape[1]), np.ones(rows.shape[1])
    means[-SEEN:] = rows[:, -SEEN:].mean(0)
    scales[-SEEN:] = (rows[:, -SEEN:].std(0) + 1e-6) / CONTEXT_WEIGHT
    return means, scales


def kinds_of(given: Sequence[Example]) -> NDArray[np.float32]:
    """Return the weights of each kind among what was kept."""
    kept = [one for one in given if one.kept]
    rows = np.array([one.row for one in kept], np.float64)
    means, scales = _levels(rows)
    rows = (rows - means) / scales
    weights = np.stack([fitted(rows, np.array([float(one.kind is kind) for one in kept])) for kind in KINDS], axis=1)
    weights[:-1] /= scales[:, None]
    weights[-1] -= means @ weights[:-1]
    return weights.astype(np.float32)


class Adapting:
    """What is learned of the last layers, and read with them; the examples are those of the messages, in their order."""

    def __init__(self, messages: Sequence[Message], given: Sequence[Example]) -> None:
        from tools import adapting  # needs PyTorch

        self._tools = adapting
        self._encoder = load_contextual()
        self._told = [(own, messages[number].text) for number, own in judged_sentences(messages).items()]
        self._lesson = adapting.lesson(self._told, self._encoder)
        self._others = np.array([one.row[:-SEEN] for one in given], np.float32)
        self._kept = np.array([one.kept for one in given], np.float32)

    def learned(self, of: NDArray[np.bool_]) -> tuple[dict[str, NDArray[np.float32]], dict[str, NDArray[np.float32]]]:
        """Return the adapter and its network that some of the examples teach."""
        return self._tools.adapt(self._lesson, self._others, self._kept, of, self._encoder)

    def chances(self, of: NDArray[np.bool_]) -> NDArray[np.float32]:
        """Return the chance of some examples, which are all of their messages, read by what the others teach."""
        adapter, network = self.learned(~of)
        starts = np.cumsum([0, *(len(own) for own, _ in self._told)])
        told = [one for one, start in zip(self._told, starts, strict=False) if of[start]]
        seen = sentences_in_context(told, self._encoder, [self._encoder.adapted(adapter)])
        rows = np.concatenate([one[0, :-1] for one in seen])
        return mean_chance(np.concatenate((self._others[of], rows), axis=1), network)


def cross_validated(messages: Sequence[Message], given: Sequence[Example], adapting: Adapting) -> Array:
    """Return the best chance of each message's sentences, by models that saw no message of its person."""
    fold = _folds(messages, given)
    best = np.zeros(len(messages))
    for held in range(FOLDS):
        model = learned([one for one, of in zip(given, fold, strict=True) if of != held])
        inside = [one for one, of in zip(given, fold, strict=True) if of == held]
        chances = mean_chance(np.array([one.row for one in inside], np.float32), model)
        chances = (chances + adapting.chances(fold == held)) / 2
        np.maximum.at(best, [one.message for one in inside], chances)
        print(f"persons held out: {held + 1} of {FOLDS}", flush=True)
    return best


def _folds(messages: Sequence[Message], given: Sequence[Example]) -> NDArray[np.int64]:
    return np.array([zlib.crc32(messages[one.message].group.encode()) % FOLDS for one in given])


def pasted_chances(messages: Sequence[Message], rows: Array) -> Array:
    """Return the chance of each message to hold a paste, by models that saw no message of its person."""
    fold = np.array([zlib.crc32(one.group.encode()) % FOLDS for one in messages])
    pasted = np.array([float(one.holds_paste) for one in messages])
    chances = np.zeros(len(messages))
    for held in range(FOLDS):
        model = levelled_networks(rows[fold != held], pasted[fold != held], HIDDEN_PASTED, ROUNDS_PASTED)
        chances[fold == held] = mean_chance(rows[fold == held].astype(np.float32), model)
    return chances


def flagged(messages: Sequence[Message], chances: Array, at: float) -> dict[str, list[int]]:
    """Return of pastes, and of messages with something to keep, how many count as pasted, and how many there are."""
    called = np.array([holds_others_words(one.text) for one in messages]) & (chances >= at)
    sorts = {
        "pastes": [one.kind == "paste" and not one.marked for one in messages],
        "worth": [bool(one.marked) for one in messages],
    }
    return {name: [int(called[np.array(some)].sum()), sum(some)] for name, some in sorts.items()}


def threshold_for(chances: Array, kept: NDArray[np.bool_], precision: float) -> float:
    """Return the lowest threshold, in hundredths, from which on the precision is reached."""
    return next(
        (at for at in np.arange(0.3, 0.99, 0.01).round(2).tolist() if kept[chances >= at].mean() >= precision), 0.99
    )


def figures(called: NDArray[np.bool_], kept: NDArray[np.bool_]) -> dict[str, float | int]:
    """Return how many messages something is kept of, how many rightly, and how many should be."""
    right = int((called & kept).sum())
    return {
        "messages": len(kept),
        "worth": int(kept.sum()),
        "called": int(called.sum()),
        "precision": round(right / max(1, int(called.sum())), 2),
        "recall": round(right / max(1, int(kept.sum())), 2),
    }


def check(paths: Sequence[Path], gate: Gate | None) -> None:
    """Print what `statements` keeps of dialogues, file by file and in all."""
    for some in [*([path] for path in paths), list(paths)]:
        messages = read(some)
        called = [bool(statements([Turn(one.text, _SAID_AT)], gate=gate)) for one in messages]
        kept = np.array([bool(one.marked) for one in messages])
        print("all" if len(some) > 1 else some[0].stem, figures(np.array(called), kept))


def _marked_as(sentence: Sentence, message: Message) -> str | None:
    said = _words(sentence.raw)
    for text, kind in message.marked:
        marked = _words(text)
        shared = len(set(said) & set(marked))
        inside = " ".join(said) in " ".join(marked) or " ".join(marked) in " ".join(said)
        if said and (inside or (shared > 1 and shared >= _ALIKE * min(len(set(said)), len(set(marked))))):
            return kind
    return None


def _words(text: str) -> list[str]:
    return re.findall(r"\w+", text.lower())


def main() -> None:
    """Fit and write the model, or measure the committed one."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--check", nargs="+", type=Path, metavar="FILE")
    parser.add_argument("--rules", action="store_true", help="measure the rules without the model")
    options = parser.parse_args()
    if options.check:
        check(options.check, None if options.rules else load_gate(load_encoder().meanings))
        return
    messages = [*read(sorted(DIALOGUES.glob("*.jsonl"))), *read_turns(TURNS)]
    encoder = load_encoder()
    given = examples(messages, encoder.meanings)
    adapting = Adapting(messages, given)
    chances = cross_validated(messages, given, adapting)
    kept = np.array([bool(one.marked) for one in messages])
    told = [one for one in messages if one.kind]
    whole = whole_messages(told, encoder.meanings)
    pasted = pasted_chances(told, whole)
    calibration = {
        "threshold": THRESHOLD,
        "strict": max(threshold_for(chances, kept, STRICT_PRECISION), THRESHOLD + LEAST_STRICTER),
        "passed_over": passed_over(messages, given),
        "others": OTHERS,
        "pasted_from": PASTED_FROM,
        "may_be_pasted": flagged(told, pasted, OTHERS),
        "counted_as_pasted": flagged(told, pasted, PASTED_FROM),
        "cross_validated": figures(chances >= THRESHOLD, kept),
        "kept_of_chance": {
            f"{low / 10:.1f}": [int(inside.sum()), round(float(kept[inside].mean()), 2)]
            for low in range(10)
            if (inside := (chances >= low / 10) & (chances < (low + 1) / 10)).any()
        },
    }
    holds = np.array([float(one.holds_paste) for one in told])
    telling = levelled_networks(whole, holds, HIDDEN_PASTED, ROUNDS_PASTED)
    adapter, network = adapting.learned(np.ones(len(given), bool))
    arrays = {"kinds": kinds_of(given), **learned(given)}
    for beginning, some in ((FIRST, first_sight(given)), (PASTED, telling), (ADAPTED, network), (ADAPTER, adapter)):
        arrays |= {f"{beginning}{name}": one for name, one in some.items()}
    np.savez(MODEL, **{name: one.astype(np.float16) for name, one in arrays.items()})
    CALIBRATION.write_text(json.dumps(calibration, indent=2) + "\n", encoding="utf-8")
    print(CALIBRATION.read_text(encoding="utf-8"))


if __name__ == "__main__":
    main()
