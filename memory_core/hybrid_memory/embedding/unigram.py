"""Cuts text into the pieces of a SentencePiece unigram model (Kudo, 2018, https://arxiv.org/abs/1804.10959), in plain Python.

A text is normalised by the map of characters that the model carries, a double array of darts-clone with what replaces each key,
and cut at blanks; of all ways to cut a word the likeliest pieces are taken. The model's pieces are kept as a trie in level order:
the children of a node have consecutive numbers, so three flat arrays hold it, which a file can be mapped to, and nothing is built
at a start. `arrays_of` makes them from a model file, in a third of a second.

It is made for models whose pieces hold no blank but at their beginning, and whose map joins no blank with what follows.
"""

from __future__ import annotations

import re
import struct
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

UNKNOWN, BEGIN, END = 0, 1, 2

_WORD_BEGINS = "\u2581".encode()  # stands for the blank before a word
_UNKNOWN_COST = 10.0  # by which a character without a piece is less likely than the rarest piece, as in SentencePiece
_CONTROLS = 6  # the first pieces stand for no text
_MAX_CACHED = 20_000
_MAX_CACHED_CHARACTERS = 24  # longer stretches are hardly words, and seldom come again
_BLANKS = re.compile(r"[ \t\n\f\r]+")
_FIRST_OF_TWO, _FIRST_OF_THREE, _FIRST_OF_FOUR = 0xC0, 0xE0, 0xF0  # UTF-8
_LABEL, _HAS_LEAF, _VALUE = 0x800000FF, 0x100, 0x7FFFFFFF  # darts-clone's bits of a unit
_LENGTH_DELIMITED, _FIXED_64, _FIXED_32 = 2, 1, 5  # protobuf's wire types


class UnigramTokenizer:
    """Cuts texts by the arrays of `arrays_of`; safe from several threads.

    With ``normalise`` a text is rewritten by that, and the arrays need no map of characters.
    """

    def __init__(self, arrays: Mapping[str, NDArray[Any]], normalise: Callable[[str], str] | None = None) -> None:
        self._labels = arrays["labels"].tobytes()  # bytes have a fast search, and these are few
        self._children = arrays["children"].data
        self._piece_at = arrays["piece_at"].data
        self._scores = arrays["scores"].data
        self._rewrite = normalise
        if normalise is None:
            self._units = arrays["units"].data
            self._replacements = arrays["replacements"].tobytes()
        self._unknown_score = float(arrays["scores"].min()) - _UNKNOWN_COST
        self._known: dict[str, tuple[int, ...]] = {}

    def pieces(self, text: str) -> list[int]:
        """Return the numbers of a text's pieces, without `BEGIN` and `END`; a character without a piece is `UNKNOWN`."""
        found: list[int] = []
        for stretch in _BLANKS.split(text):
            if stretch:
                found += self._pieces_of(stretch)
        return found

    def _pieces_of(self, stretch: str) -> tuple[int, ...]:
        known = self._known.get(stretch)
        if known is None:
            words = (stretch.encode(),) if stretch.isascii() else self._normalised(stretch).split(b" ")
            known = tuple(piece for word in words if word for piece in self._cut(_WORD_BEGINS + word))
            if len(stretch) <= _MAX_CACHED_CHARACTERS:
                if len(self._known) >= _MAX_CACHED:
                    self._known.clear()
                self._known[stretch] = known
        return known

    def _normalised(self, stretch: str) -> bytes:
        if self._rewrite is not None:
            return self._rewrite(stretch).encode("utf-8", "replace")
        raw = stretch.encode("utf-8", "replace")
        parts: list[bytes] = []
        at = 0
        while at < len(raw):
            end, part = self._replaced(raw, at)
            parts.append(part)
            at = end
        return b"".join(parts)

    def _replaced(self, raw: bytes, start: int) -> tuple[int, bytes]:
        """Return what the longest key at a place becomes, and where it ends; without a key the character itself."""
        units = self._units
        place = _offset(units[0])
        end, value = 0, 0
        for at in range(start, len(raw)):
            place ^= raw[at]
            unit = units[place]
            if unit & _LABEL != raw[at]:
                break
            place ^= _offset(unit)
            if unit & _HAS_LEAF:
                end, value = at + 1, units[place] & _VALUE
        if end:
            return end, self._replacements[value : self._replacements.index(0, value)]
        end = start + _width(raw[start])
        return end, raw[start:end]

    def _cut(self, word: bytes) -> list[int]:
        """Return the likeliest pieces of a word: for each place the best way to it, and back from the end."""
        labels, children, piece_at, scores = self._labels, self._children, self._piece_at, self._scores
        size = len(word)
        best: list[float | None] = [None] * (size + 1)
        best[0] = 0.0
        came: list[tuple[int, int]] = [(0, UNKNOWN)] * (size + 1)
        for start in range(size):
            base = best[start]
            if base is None:  # within a character
                continue
            one = start + _width(word[start])
            node, at, alone = 0, start, False
            while at < size:
                node = labels.find(word[at], children[node], children[node + 1])
                if node < 0:
                    break
                at += 1
                piece = piece_at[node]
                if piece >= 0:
                    alone = alone or at == one
                    score = base + scores[piece]
                    before = best[at]
                    if before is None or score > before:
                        best[at], came[at] = score, (start, piece)
            if not alone:
                score, before = base + self._unknown_score, best[one]
                if before is None or score > before:
                    best[one], came[one] = score, (start, UNKNOWN)
        return _way_back(came)


def _way_back(came: list[tuple[int, int]]) -> list[int]:
    found: list[int] = []
    at = len(came) - 1
    while at:
        at, piece = came[at]
        found.append(piece)
    return found[::-1]


def _width(first: int) -> int:
    """Return how many bytes the character has that begins with this one."""
    return 1 + (first >= _FIRST_OF_TWO) + (first >= _FIRST_OF_THREE) + (first >= _FIRST_OF_FOUR)


def _offset(unit: int) -> int:
    return (unit >> 10) << ((unit & 0x200) >> 6)


def arrays_of(model: bytes) -> dict[str, NDArray[Any]]:
    """Return the arrays for `UnigramTokenizer` from a SentencePiece model file.

    Raises:
        ValueError, IndexError, struct.error: it is none.
    """
    pieces: list[bytes] = []
    scores: list[float] = []
    units, replacements = b"", b""
    for field, value in _fields(model):
        if field == 1:
            parts = dict(_fields(value))
            pieces.append(parts[1])
            scores.append(struct.unpack("<f", parts[2])[0] if 2 in parts else 0.0)  # noqa: PLR2004 - the field of the score
        elif field == 3:  # noqa: PLR2004 - how the text is normalised
            charsmap = dict(_fields(value))[2]
            (size,) = struct.unpack_from("<I", charsmap)
            units, replacements = charsmap[4 : 4 + size], charsmap[4 + size :]
    return trie_of(pieces) | {
        "scores": np.array(scores, np.float32),
        "units": np.frombuffer(units, "<u4").astype(np.uint32),
        "replacements": np.frombuffer(replacements, np.uint8),
    }


def trie_of(pieces: list[bytes]) -> dict[str, NDArray[Any]]:
    """Return the trie of the pieces, level by level: `labels` and `piece_at` of each node, and where its children begin."""
    numbers = np.array(sorted(range(_CONTROLS, len(pieces)), key=pieces.__getitem__), np.int32)
    lengths = np.array([len(pieces[at]) for at in numbers])
    letters = np.array([pieces[at] for at in numbers]).view(np.uint8).reshape(len(numbers), -1)
    # How many letters each piece shares with the one before it: from there on its nodes are new.
    differs = np.ones((len(numbers), letters.shape[1] + 1), bool)
    differs[1:, :-1] = letters[1:] != letters[:-1]
    shared = differs.argmax(1)
    shared[0] = 0
    labels, parents, piece_at = [np.zeros(1, np.uint8)], [], [np.full(1, -1, np.int32)]
    rows, above, count = np.arange(len(numbers)), np.zeros(len(numbers), np.int64), 1
    for level in range(letters.shape[1]):
        kept = lengths[rows] > level
        rows, above = rows[kept], above[kept]
        new = shared[rows] <= level
        node = count + np.cumsum(new) - 1
        ends = lengths[rows] == level + 1
        held = np.full(int(new.sum()), -1, np.int32)
        held[node[ends] - count] = numbers[rows[ends]]
        labels.append(letters[rows[new], level])
        parents.append(above[new])
        piece_at.append(held)
        above, count = node, count + len(held)
    children = np.bincount(np.concatenate(parents), minlength=count).cumsum() + 1
    return {
        "labels": np.concatenate(labels),
        "children": np.concatenate(([1], children)).astype(np.int32),
        "piece_at": np.concatenate(piece_at),
    }


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Yield number and value of each field of a protobuf message that has bytes; numbers are passed over."""
    at = 0
    while at < len(message):
        tag, at = _varint(message, at)
        kind = tag & 7
        if kind == _LENGTH_DELIMITED:
            size, at = _varint(message, at)
        elif kind in (_FIXED_64, _FIXED_32):
            size = 8 if kind == _FIXED_64 else 4
        else:
            _, at = _varint(message, at)
            continue
        yield tag >> 3, message[at : at + size]
        at += size


def _varint(message: bytes, at: int) -> tuple[int, int]:
    value = shift = 0
    while True:
        byte = message[at]
        at += 1
        value |= (byte & 0x7F) << shift
        shift += 7
        if byte < 0x80:  # noqa: PLR2004 - the last of them
            return value, at
