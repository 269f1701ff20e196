"""How likely a new statement changes an earlier one ("standup is on Mondays" - "it's on Thursdays now"). Deterministic.

Two logistic regressions choose. The first reads the new statement alone: does it sound like a change, or like a repetition? The second
reads it alongside the earlier statements that are nearest to it: likeness, rare words in common, figures, names, time and conversation.
Small networks then decide on the likeliest; they also see what a transformer makes of the new statement when it reads it behind the
earlier one. No word is listed. ``tools/fit_changes.py`` fits all on the lives in ``tools/dialogues`` and ``tools/streams`` and
writes their calibration: of pairs that get a chance of p, about p are changes.
"""

from __future__ import annotations

import json
import math
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from hybrid_memory.capture.gate import NETWORK, mean_chance
from hybrid_memory.embedding.contextual import load_contextual
from hybrid_memory.embedding.unigram import END
from hybrid_memory.language.lazy_pattern import LazyPattern

if TYPE_CHECKING:
    from numpy.typing import NDArray

MODEL = Path(__file__).with_name("data") / "changes.npz"
CALIBRATION = MODEL.with_suffix(".json")

LEAST = 0.05
"""Chance, by the regressions alone, from which on an earlier statement is read alongside the new one; reading takes milliseconds."""
MOST_READ = 3
"""Earlier statements that are read."""

_MOST_PIECES = 80  # of a statement that is read; the words that tell a change come early
_VECTOR_WEIGHT = 3.0  # so that the penalty of the fit weighs a vector as it does the shape
_MOST_WORDS = 20  # of a statement; what is longer counts as long
_MOST_RARITY = 3.0
_LEAST_SPREAD = 0.05  # of cosines; a few statements that lie closer together do not tell what is usual
_MOST_DEVIATIONS = 6.0
_FIGURES = LazyPattern(r"\d+")
_NAME = LazyPattern(r"(?:(?<=[^.!?\s] )|^)[A-ZÀ-ÖØ-Þ][\w-]+")


Usual = tuple[float, float]
"""Mean and standard deviation of the cosines of all statements of a store with a new one."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """A statement as the model sees it: words, unit vector, the hashes of its terms, when it was said and in which conversation.

    A new one may answer the assistant: ``answers`` is what that said, ``answered`` the hashes of its terms, ``behind`` the unit vector of
    both together.
    """

    text: str
    vector: NDArray[np.float32]
    terms: frozenset[int]
    at: datetime
    session: str
    answers: str = ""
    answered: frozenset[int] = frozenset()
    behind: NDArray[np.float32] | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ChangeModel:
    """The weights of two regressions (the last row of each is the constant) and of the ``networks`` (`mean_chance`).

    ``alone`` has a column for "changes something" and one for "says it again"; ``pair`` reads the features of a pair minus ``means``,
    divided by ``scales``. ``in_context`` gives (pairs, values) float32 for earlier statements, the new one, and what it answers
    (`read_in_context`). From
    ``linked`` on the later statement is shown before the earlier one, of what says that it puts something right from ``corrected`` on; from
    ``hinted`` on the writer hears of it.
    """

    alone: NDArray[np.float32]
    pair: NDArray[np.float32]
    means: NDArray[np.float32]
    scales: NDArray[np.float32]
    networks: Mapping[str, NDArray[np.float32]]
    in_context: Callable[[Sequence[str], str, str], NDArray[np.float32]]
    corrected: float
    linked: float
    hinted: float

    def judged(
        self, new: Statement, earlier: Sequence[Statement], rarity: Mapping[int, float], usual: Usual
    ) -> list[float]:
        """Return for each earlier statement the chance (0..1) that the new one changes it; `LEAST` at most for what is not read.

        ``earlier`` are those nearest to it by vector and words; ``rarity`` tells of a term how few memories hold it, 0..1.
        """
        if not earlier:
            return []
        rows, odds = self.regressed(new, earlier, rarity, usual)
        chances = _chances(odds)
        read = chosen(chances)
        chances = np.minimum(chances, np.float32(LEAST))
        if len(read):
            seen = self.in_context([earlier[at].text for at in read], new.text, new.answers)
            chances[read] = mean_chance(read_features(rows[read], odds[read], seen), self.networks)
        return [float(one) for one in chances]

    def regressed(
        self, new: Statement, earlier: Sequence[Statement], rarity: Mapping[int, float], usual: Usual
    ) -> tuple[NDArray[np.float32], NDArray[np.float32]]:
        """Return what the second regression reads of each pair, and its log odds."""
        rows = (pair_features(new, earlier, rarity, usual, self.sounds_like(new)) - self.means) / self.scales
        return rows, rows @ self.pair[:-1] + self.pair[-1]

    def sounds_like(self, new: Statement) -> tuple[float, float]:
        """Return the log odds, a third of them, that a statement read alone changes something, and that it repeats something."""
        odds = np.clip(features_alone(new) @ self.alone[:-1] + self.alone[-1], -9, 9) / 3
        return float(odds[0]), float(odds[1])


def chosen(chances: NDArray[np.float32]) -> NDArray[np.intp]:
    """Return the places of the earlier statements that are read, by the chances that the regressions give."""
    likeliest = np.argsort(-chances, kind="stable")[:MOST_READ]
    found: NDArray[np.intp] = likeliest[chances[likeliest] >= LEAST]
    return found


def read_features(
    rows: NDArray[np.float32], odds: NDArray[np.float32], seen: NDArray[np.float32]
) -> NDArray[np.float32]:
    """Return (pairs, features) float32: what the networks see."""
    return np.concatenate((rows, odds[:, None], seen), axis=1, dtype=np.float32)


def read_in_context(earlier: Sequence[str], new: str, answers: str = "") -> NDArray[np.float32]:
    """Return (earlier statements, values) float32: the mean of what is seen at the pieces of a new statement, read behind an earlier one.

    What it ``answers`` is read between them.

    Raises:
        EmbedderUnavailable: a file of the installation cannot be read.
    """
    reader = load_contextual()
    last = reader.pieces(new)[:_MOST_PIECES]
    between = [*reader.pieces(answers)[-_MOST_PIECES:], END, END] if answers else []
    texts = [[*reader.pieces(one)[:_MOST_PIECES], END, END, *between, *last] for one in earlier]
    found = np.zeros((len(texts), reader.seen), np.float32)
    if last:
        for at, states in enumerate(reader.states(texts)):
            found[at] = states[-len(last) :].mean(0)
    return found


def features_alone(new: Statement) -> NDArray[np.float32]:
    """Return what the first regression reads."""
    said = new.text.split()
    shape = (
        min(len(said), 2 * _MOST_WORDS) / _MOST_WORDS,
        new.text[:1].islower(),
        _FIGURES.search(new.text) is not None,
        new.text.rstrip()[-1:] == "!",
    )
    return np.concatenate((_VECTOR_WEIGHT * new.vector, np.array(shape, np.float32)), dtype=np.float32)


def pair_features(
    new: Statement,
    earlier: Sequence[Statement],
    rarity: Mapping[int, float],
    usual: Usual,
    sounds: tuple[float, float],
) -> NDArray[np.float32]:
    """Return (earlier statements, features) float32: what the second regression reads."""
    change, repeats = sounds
    mean, spread = usual[0], max(usual[1], _LEAST_SPREAD)
    cosines = _cosines(new.vector, earlier)
    shared = [new.terms & one.terms for one in earlier]
    weights = np.array([_weight(one, rarity) for one in shared], np.float32)
    by_vector, by_words = _ranks(cosines), _ranks(weights)
    own = _weight(new.terms, rarity) or 1.0
    figures, names = _found(_FIGURES, new.text), _found(_NAME, new.text)
    words_of_new = min(len(new.terms), _MOST_WORDS) / _MOST_WORDS
    rows = []
    for place, old in enumerate(earlier):
        cosine, weight = float(cosines[place]), float(weights[place])
        of_old = weight / (_weight(old.terms, rarity) or 1.0)
        rarest = max((rarity.get(term, 0.0) for term in shared[place]), default=0.0)
        here = old.session == new.session
        said_since = sum(other.session == new.session and other.at > old.at for other in earlier) if here else 0
        days = max(0.0, (new.at - old.at).total_seconds() / 86_400)
        old_figures, old_names = _found(_FIGURES, old.text), _found(_NAME, old.text)
        rows.append(
            (
                cosine,
                1 / (1 + by_vector[place]),
                1 / (1 + by_words[place]) if weight > 0 else 0.0,
                here,
                1 / (1 + said_since) if here else 0.0,
                math.log1p(days) / 5,
                change,
                repeats,
                min(weight, _MOST_RARITY) / _MOST_RARITY,
                of_old,
                weight / own,
                rarest,
                not figures.isdisjoint(old_figures),
                bool(figures and old_figures) and figures.isdisjoint(old_figures),
                not names.isdisjoint(old_names),
                bool(names - old_names and old_names - names),
                min(len(old.terms), _MOST_WORDS) / _MOST_WORDS,
                words_of_new,
                float(cosines.max()) - cosine,
                cosine * change,
                of_old * change,
                rarest * change,
                change / (1 + by_vector[place]),
                by_vector[place] == 0,
                here * change,
                min((cosine - mean) / spread, _MOST_DEVIATIONS) / _MOST_DEVIATIONS,
                mean,
            )
        )
    found: NDArray[np.float32] = np.concatenate(
        (np.array(rows), _answering(new, earlier, rarity, change)), 1, dtype=np.float32
    )
    return found


def _answering(
    new: Statement, earlier: Sequence[Statement], rarity: Mapping[int, float], change: float
) -> NDArray[np.float32]:
    """Return (earlier statements, features): how near they are to a new one and what it answers, nothing where it answers nothing.

    An assistant often says what it knows of an earlier statement ("110 g for Biscuit, as always"), and is put right ("90").
    """
    if new.behind is None:
        return np.zeros((len(earlier), 8), np.float32)
    cosines = _cosines(new.behind, earlier)
    near = 1 / (1 + np.array(_ranks(cosines), np.float32))
    repeated = np.array(
        [_weight(new.answered & one.terms, rarity) / (_weight(one.terms, rarity) or 1) for one in earlier]
    )
    said, figures = _found(_FIGURES, new.answers), _found(_FIGURES, new.text)
    told = [_found(_FIGURES, one.text) for one in earlier]
    same = np.array([not said.isdisjoint(one) for one in told])
    other = np.array([bool(figures) and figures.isdisjoint(one) for one in told])
    first = repeated >= max(repeated.max(), 0.01)
    return np.stack(
        (np.ones_like(near), cosines, near, change * near, repeated, first, same, same & other),
        axis=1,
        dtype=np.float32,
    )


def _weight(terms: Iterable[int], rarity: Mapping[int, float]) -> float:
    return sum(rarity.get(term, 0.0) for term in terms)


@cache
def load_changes() -> ChangeModel:
    """Return the fitted model."""
    with np.load(MODEL, allow_pickle=False) as held:
        arrays = {name: held[name].astype(np.float32) for name in held.files}
    told = json.loads(CALIBRATION.read_text(encoding="utf-8"))
    return ChangeModel(
        **{name: arrays[name] for name in ("alone", "pair", "means", "scales")},
        networks={name: arrays[name] for name in NETWORK},
        in_context=read_in_context,
        **{name: told[name] for name in ("corrected", "linked", "hinted")},
    )


def _chances(odds: NDArray[np.float32]) -> NDArray[np.float32]:
    found: NDArray[np.float32] = np.reciprocal(1 + np.exp(-np.clip(odds, -30, 30)), dtype=np.float32)
    return found


def _cosines(vector: NDArray[np.float32], earlier: Sequence[Statement]) -> NDArray[np.float32]:
    return np.array([one.vector @ vector for one in earlier], np.float32)


def _ranks(values: NDArray[np.float32]) -> list[int]:
    """Return for each value how many are larger."""
    ranks = np.empty(len(values), np.intp)
    ranks[np.argsort(-values, kind="stable")] = np.arange(len(values))
    return [int(one) for one in ranks]


def _found(pattern: re.Pattern[str] | LazyPattern, text: str) -> frozenset[str]:
    return frozenset(found.group().lower() for found in pattern.finditer(text))
