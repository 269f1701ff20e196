"""What the memories of a region or place have in common, in their own words. numpy alone, no chance.

Which terms tell a hill from the rest is counted on the terms of all memories (class-based TF-IDF; Grootendorst, "BERTopic", 2022, of
which this takes the logarithm of the odds). A term is a number that nothing leads back from, so a few memories that hold the telling
ones are read, and the words are spelled as most of those spell them: in any language and script that search knows.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import all_function_words, language_of
from hybrid_memory.language.terms import QUESTION_TERM
from hybrid_memory.language.text import has_unspaced_script

if TYPE_CHECKING:
    from hybrid_memory.language.terms import TermHasher

Rows = NDArray[np.intp]

CANDIDATES = 14  # terms of a hill that may be among its words
_LOOKED_AT = 1_000  # memories of a hill among which those are chosen
_READ = 10  # memories of a hill that are read to spell them
_LEAST_SHARE = 0.03  # of the hill's memories hold a term that tells of it, at least
_LEAST = 2  # ... and so many
_LONGEST = 28  # characters of a word; what is longer is a path or a code, and no name for a region
_SHORTEST = 3  # letters, in scripts with spaces between words


@dataclass(frozen=True, slots=True, eq=False)
class Telling:
    """For one hill: the terms that tell it from the rest, the best first, and the places of memories that hold most of them."""

    terms: tuple[int, ...]
    read: tuple[int, ...]


def telling(
    terms: NDArray[np.int32], sizes: NDArray[np.int64], hill_of: NDArray[np.int16], hills: int
) -> list[Telling]:
    """Return what tells each hill from the rest.

    ``terms`` are those of all memories end to end, ``sizes`` how many each has; ``hill_of`` is the hill of each memory, -1 for none.
    """
    count = len(sizes)
    if not hills or not len(terms):
        return [Telling((), ()) for _ in range(hills)]
    codes, code_of = np.unique(terms, return_inverse=True)
    memory_of = np.repeat(np.arange(count), sizes)
    # Each term counts once a memory.
    pairs = np.sort(memory_of * np.int64(len(codes)) + code_of)
    pairs = pairs[np.append(True, pairs[1:] != pairs[:-1])]
    memory_of, code_of = pairs // len(codes), (pairs % len(codes)).astype(np.intp)
    hill = hill_of[memory_of].astype(np.intp)
    here = hill >= 0
    held = np.bincount(hill[here] * len(codes) + code_of[here], minlength=hills * len(codes)).reshape(hills, -1)
    everywhere = np.bincount(code_of, minlength=len(codes))
    inside = np.bincount(hill_of[hill_of >= 0], minlength=hills)[:, None]
    # How much more often a term is here than elsewhere, by how often it does.
    rest = (everywhere[None, :] - held + 1) / (count - inside + 2)
    lift = np.log(np.maximum((held / np.maximum(inside, 1)) / rest, 1))
    worth = held * lift
    worth[(held < _LEAST) | (held < _LEAST_SHARE * inside)] = 0
    worth[:, codes == QUESTION_TERM] = 0
    best = np.argsort(-worth, axis=1, kind="stable")[:, :CANDIDATES]
    wanted = [[int(code) for code in row if worth[at, code] > 0] for at, row in enumerate(best)]
    begins = np.concatenate(([0], np.cumsum(np.bincount(memory_of, minlength=count))))
    return [
        Telling(
            tuple(codes[row].tolist()), _to_read(np.array(row, np.intp), np.flatnonzero(hill_of == at), begins, code_of)
        )
        for at, row in enumerate(wanted)
    ]


def _to_read(
    wanted: NDArray[np.intp], members: Rows, begins: NDArray[np.int64], code_of: NDArray[np.intp]
) -> tuple[int, ...]:
    """Return memories that together hold most of some terms, each of them several times if it can be."""
    members = members[:_LOOKED_AT]
    rank = np.full(int(code_of.max()) + 1, -1, np.intp)
    rank[wanted] = np.arange(len(wanted))
    holds = np.zeros((len(members), len(wanted)), np.bool_)
    for at, member in enumerate(members.tolist()):
        ranks = rank[code_of[begins[member] : begins[member + 1]]]
        holds[at, ranks[ranks >= 0]] = True
    need, chosen = np.full(len(wanted), 3.0), []
    for _ in range(min(_READ, len(members))):
        gain = holds @ np.maximum(need, 0.05)
        at = int(np.argmax(gain))
        if not len(wanted) or gain[at] <= 0:
            break
        chosen.append(int(members[at]))
        need -= holds[at]
        holds[at] = False
    return tuple(chosen)


def spelled(terms: Sequence[int], texts: Iterable[str], hasher: TermHasher) -> list[str]:
    """Return the words of some terms as most of the ``texts`` spell them, without those that name nothing."""
    spellings: dict[int, Counter[str]] = {}
    wanted = set(terms)
    for text in texts:
        for spelling, _, term in hasher.spelled_terms(text, language_of(text)):
            if term in wanted:
                spellings.setdefault(term, Counter())[_as_written(spelling, text)] += 1
    found: dict[str, str] = {}
    for term in terms:
        if term in spellings:
            # Of equally frequent ones that with small letters: a capital may come from its place.
            word = min(spellings[term], key=lambda one: (-spellings[term][one], -sum(map(str.islower, one)), one))
            if _names_something(word):
                found.setdefault(word.casefold(), word)
    return _joined(list(found.values()))


def _as_written(spelling: str, text: str) -> str:
    """Return a folded word as it is in a text, with its capitals where it never occurs without."""
    at = text.lower().find(spelling)
    if at < 0 or len(text.lower()) != len(text) or spelling in text:
        return spelling
    return text[at : at + len(spelling)]


def _names_something(word: str) -> bool:
    if _names_nothing(word.casefold()) or not any(map(str.isalpha, word)) or len(word) > _LONGEST:
        return False
    return len(word) >= _SHORTEST or has_unspaced_script(word) or (word.isupper() and len(word) > 1)


def _names_nothing(folded: str) -> bool:
    """Return True for a word that names nothing, however often it occurs."""
    return folded in all_function_words() or folded in lexicon.words("topics.empty")


def _joined(words: list[str]) -> list[str]:
    """Return words in which pairs of characters that overlap are one word again: scripts without spaces give such pairs."""
    found: list[str] = []
    for word in words:
        for at, other in enumerate(found):
            if has_unspaced_script(word) and has_unspaced_script(other):
                if word in other:
                    break
                if other[-1] == word[0]:
                    found[at] = other + word[1:]
                    break
                if word[-1] == other[0]:
                    found[at] = word + other[1:]
                    break
        else:
            found.append(word)
    return found


def named(
    words: Sequence[Sequence[str]], counts: Sequence[int], most: int, known: Sequence[Sequence[str]] | None = None
) -> list[list[str]]:
    """Return at most so many words for each hill, of those given best first, none of them for two hills if it can be.

    The hill with the most memories chooses first; one for which nothing is left keeps the first of its own. With ``known``, what stands
    over each hill already, one for which nothing is left has none.
    """
    taken: set[str] = set()
    found: dict[int, list[str]] = {}
    for at in sorted(range(len(words)), key=lambda one: (-counts[one], one)):
        over = {word.casefold() for word in known[at]} if known else set()
        found[at] = [word for word in words[at] if word.casefold() not in taken | over][:most]
        if known is None:
            found[at] = found[at] or list(words[at][:1])
        taken |= {word.casefold() for word in found[at]}
    return [found[at] for at in range(len(words))]
