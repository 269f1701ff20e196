"""The passage of a long text that answers a question: its sentences with most of the question's words. Pure."""

from __future__ import annotations

import itertools
import math
import re
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from hybrid_memory.language.languages import language_of
from hybrid_memory.language.text import excerpt, whole_characters, words

# Set by hand.
PASSAGE_CHARACTERS = 400  # of a passage alongside other memories: some sentences
_BEGINNING_CHARACTERS = 80  # of a text: enough to see what it is
_PIECE_CHARACTERS = 160  # of a sentence; a longer one is taken in pieces
_LEAST_CHARACTERS = 20  # of a passage; a shorter one shows nothing
_SHRINKING = 0.75  # of a passage that does not fit, what is tried next

_SENTENCE_END = re.compile(r"[.!?]+[\"”»')\]]*\s+|[。！？…]+|\n+")


@dataclass(frozen=True, slots=True)
class _Piece:
    begin: int
    end: int
    asked: frozenset[str]


class Passages:
    """The passages of long texts that answer one question; a text is taken to pieces once, however often its passage is cut again."""

    def __init__(self, question: str) -> None:
        """Look for passages about a question; there are none if it is empty."""
        self._question = question
        self._pieces: dict[str, Sequence[_Piece]] = {}

    def find(self, text: str, fits: Callable[[str], bool], *, mark: str, most: int = PASSAGE_CHARACTERS) -> str | None:
        """Return a text's beginning and its sentences that hold most of the question's words, then ``mark``.

        These are at most ``most`` characters. Rare words of the text count more. ``fits`` tells whether there is room. None where the
        text has none of the words, or where there is no room for any passage: the beginning alone does then. No combined character
        is split.
        """
        if not self._question:
            return None
        if text not in self._pieces:
            self._pieces[text] = _pieces(text, self._question)
        return _passage(text, self._pieces[text], fits, mark, most)


def _passage(text: str, pieces: Sequence[_Piece], fits: Callable[[str], bool], mark: str, most: int) -> str | None:
    while most >= _LEAST_CHARACTERS:
        window = _best_window(text, pieces, most)
        if window is None:
            return None
        begin, end = window
        beginning = excerpt(text, min(_BEGINNING_CHARACTERS, most // 3))
        apart = begin >= len(beginning)
        shown = f"{beginning} {text[begin:end].strip()}{mark}" if apart else f"{text[:end].rstrip()}{mark}"
        if fits(shown):
            return shown
        most = int(most * _SHRINKING)
    return None


def _pieces(text: str, question: str) -> Sequence[_Piece]:
    language = language_of(text)
    asked = frozenset(words(question, language))
    borders = [0]
    for end in (*(match.end() for match in _SENTENCE_END.finditer(text)), len(text)):
        while end - borders[-1] > _PIECE_CHARACTERS:
            borders.append(_near(text, borders[-1], borders[-1] + _PIECE_CHARACTERS))
        if (whole := whole_characters(text, end, borders[-1])) > borders[-1]:
            borders.append(whole)
    return [
        _Piece(begin, end, asked.intersection(words(text[begin:end], language)))
        for begin, end in itertools.pairwise(borders)
    ]


def _near(text: str, begin: int, end: int) -> int:
    """Return where a piece that begins at ``begin`` ends, at a space before ``end`` if there is one."""
    space = text.rfind(" ", begin + 1, end)
    whole = whole_characters(text, space + 1 if space > 0 else end, begin)
    return whole if whole > begin else end


def _best_window(text: str, pieces: Sequence[_Piece], most: int) -> tuple[int, int] | None:
    """Return begin and end of the neighbouring pieces that hold most of what is asked, with what is around them as far as it fits."""
    counts = Counter(word for piece in pieces for word in piece.asked)
    weights = {word: math.log1p(len(pieces) / count) for word, count in counts.items()}
    best, chosen = (0.0, 0), None
    for first, piece in enumerate(pieces):
        if not piece.asked:
            continue
        held: frozenset[str] = frozenset()
        for last in range(first, len(pieces)):
            length = pieces[last].end - piece.begin
            if length > most and last > first:
                break
            held |= pieces[last].asked
            worth = sum(weights[word] for word in held), -length
            if worth > best:
                best, chosen = worth, (first, last)
    if chosen is None:
        return None
    first, last = chosen
    while last + 1 < len(pieces) and pieces[last + 1].end - pieces[first].begin <= most:
        last += 1
    while first and pieces[last].end - pieces[first - 1].begin <= most:
        first -= 1
    begin = pieces[first].begin
    return begin, whole_characters(text, min(pieces[last].end, begin + most), begin)
