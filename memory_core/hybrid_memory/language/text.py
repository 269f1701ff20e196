"""Text to content hashes, words, hashes of words and excerpts; all that looks at characters is here. Pure.

`TextEncoder` and imports make the stored hash of a memory with it; `hybrid_memory.language.terms` makes terms of the hashes of words.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import unicodedata
from collections.abc import Callable, Iterator

from hybrid_memory.language.languages import ENGLISH, all_function_words, function_words, stemmer
from hybrid_memory.language.lazy_pattern import LazyPattern


def content_hash(text: str) -> str:
    """Return 32 hex digits that are equal for texts differing only in case, width or white space.

    They are the first half of the SHA-256 of the text after NFKC, case folding and collapsing of white space.
    """
    folded = unicodedata.normalize("NFKC", unicodedata.normalize("NFKC", text).casefold())
    return hashlib.sha256(" ".join(folded.split()).encode("utf-8", "surrogatepass")).hexdigest()[:32]


def words(text: str, language: str = ENGLISH) -> list[str]:
    """Return the words by which a text is found, in order.

    Case, width and accents are folded, and invisible characters inside words vanish. English endings behind an
    apostrophe are cut; words get their Snowball stem in the language (https://snowballstem.org), in English those of ASCII
    letters alone. Scripts without spaces between words (Chinese, Japanese, Korean, Thai, Lao, Khmer, Burmese) give pairs of
    neighbouring characters, and an ideograph alone among other characters also stands for itself. A symbol outside ASCII, an
    emoji above all, is a word; skin tones are not told apart. The language's stop words are dropped unless nothing else remains.
    """
    return [stem_in(language, marked) for _, marked in spelled_words(text, language)]


def word_hashes(text: str, language: str = ENGLISH) -> list[int]:
    """Return the `hash_of_word` of each of the `words`, in order.

    In another language than English those of the English stems that differ stand behind the others: what a name or a
    borrowed word is in a question, nobody can tell.
    """
    found = [marked for _, marked in spelled_words(text, language)]
    hashed = [hash_in(language, word) for word in found]
    if language != ENGLISH:
        english = [hash_in(ENGLISH, word) for word in found]
        hashed += [other for own, other in zip(hashed, english, strict=True) if own != other]
    return hashed


def asks_something(text: str) -> bool:
    """Return True if a text holds a question mark of any script."""
    return _QUESTION_MARK.search(text) is not None


def spellings(text: str) -> list[str]:
    """Return all words of a text as they are spelled, folded: stop words too, and no stems."""
    return list(_split(_fold(text)))


def holds_words(text: str, wanted: str) -> bool:
    """Return whether some words are in a text, one after the other.

    Case, accents, punctuation and English endings do not count ("peanut" is in "Peanuts!"); half a word is no word ("rat" is not in
    "separate"). Signs that tell words apart ("C++") and scripts without spaces are looked for as they are written.
    """
    looked_for = [] if not _PLAIN.fullmatch(wanted) or has_unspaced_script(wanted) else spellings(wanted)
    if not looked_for:
        return " ".join(_fold(wanted).split()) in " ".join(_fold(text).split())
    found, stems, width = spellings(text), [stem_in(ENGLISH, word) for word in looked_for], len(looked_for)
    return any(
        found[at : at + width] == looked_for or [stem_in(ENGLISH, word) for word in found[at : at + width]] == stems
        for at in range(len(found) - width + 1)
    )


def compounds(text: str) -> list[str]:
    """Return the words of several parts, whole and folded: tickets, files, hyphenated names, dates in digits.

    Their parts are `words`; the whole tells ``api-gateway`` from ``api-gateway-v2``, and ``lib/parser.py`` from ``lib/parsers.py``.
    What grammar joins ("a-t-elle", "up-to-date") is no such word: a part of it is a function word of some language.
    """
    if not _SEPARATOR.search(text):
        return []
    found = (_fold(one[0]) for one in _COMPOUND.finditer(text))
    return [one for one in found if not (one.replace("-", "").isalpha() and _joined_by_grammar(one))]


def _joined_by_grammar(hyphenated: str) -> bool:
    return not _function_words().isdisjoint(hyphenated.split("-"))


@functools.cache
def _function_words() -> frozenset[str]:
    return frozenset(map(_without_marks, all_function_words()))


def hash_of_word(word: str) -> int:
    """Return the 64 bits of BLAKE2b (RFC 7693) that stand for a word as it is, a stem or one of the `compounds`."""
    return int.from_bytes(hashlib.blake2b(word.encode("utf-8", "surrogatepass"), digest_size=8).digest(), "big")


def hash_in(language: str, marked: str) -> int:
    """Return the hash of the stem of a word, in lower case and with its accents, in a language."""
    return (
        _stemmed(language, marked)[1]
        if len(marked) <= _MAX_STEMMED_CHARACTERS
        else hash_of_word(_without_marks(marked))
    )


def stem_in(language: str, marked: str) -> str:
    """Return the stem of a word, in lower case and with its accents, in a language; the stem itself has none."""
    return _stemmed(language, marked)[0] if len(marked) <= _MAX_STEMMED_CHARACTERS else _without_marks(marked)


@functools.lru_cache(maxsize=16_384)
def _stemmed(language: str, marked: str) -> tuple[str, int]:
    """Return the stem of a word and its hash."""
    stem = _stem(language, marked)
    return stem, hash_of_word(stem)


def _stem(language: str, marked: str) -> str:
    if language != ENGLISH:
        return _without_marks(stemmer(language)(marked))
    word = marked if marked.isascii() else _without_marks(marked)
    return stemmer(ENGLISH)(word) if word.isascii() else word


def spelled_words(text: str, language: str) -> list[tuple[str, str]]:
    """Return the words of a text as they are spelled, folded, and with their accents; without stop words, if others are there."""
    if text.isascii() and text.isalpha():  # one word
        return [(text.lower(), text.lower())]
    stop_words = _stop_words(language)
    if text.isascii() or language == ENGLISH:
        found = spellings(text)
        return [(word, word) for word in found if word not in stop_words] or [(word, word) for word in found]
    both = [(_without_marks(word), word) for word in _split(_marked(text))]
    return [one for one in both if one[0] not in stop_words] or both


@functools.cache
def _stop_words(language: str) -> frozenset[str]:
    return frozenset(map(_without_marks, function_words(language)))


def dense_text(content: str, speaker: str | None) -> str:
    """Return the text whose words and vector find a memory: ``Speaker: content``, or the content alone."""
    return f"{speaker}: {content}" if speaker else content


def is_mostly_of_other_scripts(text: str) -> bool:
    """Return True if more than half of the letters of a text are not Latin ones."""
    if text.isascii():
        return False
    letters = [letter for letter in text if letter.isalpha()]
    return 2 * sum(letter > _LAST_LATIN for letter in letters) > len(letters)


def has_unspaced_script(text: str) -> bool:
    """Return True if a text holds a character of a script without spaces between words."""
    return not text.isascii() and any(_character_class(character) == "dense" for character in text)


def excerpt(text: str, limit: int) -> str:
    """Return the text if it has at most ``limit`` characters, else its beginning, cut between words, with an ellipsis.

    The result never has more than ``limit`` characters (at least 1) and splits no combined character.
    """
    if len(text) <= limit:
        return text
    end = max(limit, 1) - 1
    if not (text[end].isspace() or text[end - 1 : end].isspace()):
        space = max(text.rfind(" ", end // 2, end), text.rfind("\n", end // 2, end))
        end = space if space > 0 else end
    return text[: whole_characters(text, end)].rstrip() + "…"


def whole_characters(text: str, end: int, begin: int = 0) -> int:
    """Return the last place up to ``end`` at which a text can be cut without splitting a combined character; ``begin`` at least."""
    while begin < end < len(text) and (_joins(text[end]) or text[end - 1] == _JOINER):
        end -= 1
    return end


def as_json_escape(character: str) -> str:
    r"""Return a character as JSON writes one that is escaped, as ``\u202e``."""
    return json.dumps(character)[1:-1]


def visible(text: str, sign: Callable[[str], str] = as_json_escape) -> str:
    r"""Return text in which what acts on a terminal, is invisible or turns the order of words round is written out.

    That are control characters, line ends other than ``\n``, joiners, zero-width and direction marks, and tag characters outside
    the flag of a region. Line feeds and tabs stay. ``sign`` gives what stands for one of them; JSON text keeps its value.
    """
    if text.isascii() and text.isprintable():
        return text
    return _HIDDEN.sub(lambda found: found[0] if len(found[0]) > 1 else sign(found[0]), text)


_HIDDEN = LazyPattern(
    "\U0001f3f4[\U000e0030-\U000e0039\U000e0061-\U000e007a]{3,6}\U000e007f"  # a flag, of characters that are invisible elsewhere
    "|[\x00-\x08\x0b-\x1f\x7f-\x9f\u061c\u200b-\u200f\u2028-\u202e\u2060-\u206f\ud800-\udfff\ufeff\ufff9-\ufffb]"
    "|[\U000e0000-\U000e007f]"
)
_LAST_LATIN = "\u02ff"  # Greek and what follows; the rare Latin letters behind it are accents' own
_SEPARATOR = LazyPattern(r"\w[-_./:#@+]\w")
_COMPOUND = LazyPattern(r"(?<!\w)[^\W_]+(?:[-_./:#@+]{1,2}[^\W_]+)+(?!\w)")
_PLAIN = LazyPattern(
    r"""[\w\s.,;:!?'’"“”()/-]*"""
)  # words, and what separates them; other signs ("C++", "a@b.com") tell words apart
_MAX_STEMMED_CHARACTERS = 64  # a longer run of letters is no word
_JOINER = "\u200d"
_QUESTION_MARK = LazyPattern("[?\u00bf\u037e\u055e\u061f\u1367\u2047-\u2049\ufe56\uff1f]")

_SCRIPTS_WITHOUT_SPACES = (
    (0x0E00, 0x0EFF),  # Thai, Lao
    (0x1000, 0x109F),  # Burmese
    (0x1780, 0x17FF),  # Khmer
    (0x1100, 0x11FF),  # Hangul letters
    (0x3005, 0x3007),  # ideographic iteration, closing mark and zero
    (0x3040, 0x30FF),  # kana
    (0x3105, 0x318F),  # Bopomofo, Hangul letters
    (0x31F0, 0x31FF),  # more kana
    (0xAC00, 0xD7FF),  # Hangul syllables
)
_IDEOGRAPHS = ((0x3005, 0x3007), (0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x3FFFF))
_FOLDED_MARKS = LazyPattern("[\u0300-\u036f\u0591-\u05bd\u05bf\u05c1\u05c2\u0610-\u061a\u064b-\u065f\u0670]")
_INVISIBLE = LazyPattern("[\u00ad\u200c-\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff]")
_ENDING = LazyPattern(r"(?<=[^\W_])['’ʼ](?:s|t|d|ll|m|re|ve)(?![^\W_])")
_PLAIN_WORD = LazyPattern("[a-z0-9]+")
_SKIN_TONES = range(0x1F3FB, 0x1F400)
_FLAG_LETTERS = range(0x1F1E6, 0x1F200)


def _fold(text: str) -> str:
    if text.isascii():
        return _ENDING.sub("", text.lower()) if "'" in text else text.lower()
    return _ENDING.sub("", _without_marks(_INVISIBLE.sub("", text).casefold()))


def _marked(text: str) -> str:
    apart = unicodedata.normalize("NFKC", _INVISIBLE.sub("", text).casefold()).casefold()
    return _ENDING.sub("", unicodedata.normalize("NFKC", apart))


def _without_marks(text: str) -> str:
    if text.isascii():
        return text
    apart = unicodedata.normalize("NFKD", text)
    return unicodedata.normalize("NFKC", _FOLDED_MARKS.sub("", apart)).casefold()


def _split(text: str) -> Iterator[str]:
    if text.isascii():
        yield from _PLAIN_WORD.findall(text)
        return
    for kind, run in itertools.groupby(text, _character_class):
        if kind == "word":
            yield "".join(run)
        elif kind == "dense":
            yield from _pairs("".join(run))
        elif kind == "flag":
            yield from (a + b for a, b in itertools.zip_longest(run, run, fillvalue=""))
        elif kind == "symbol":
            yield from run


@functools.lru_cache(maxsize=16_384)
def _character_class(character: str) -> str:
    """Return what a character is part of: a "word", a "dense" script without spaces, a "flag", a "symbol", a "gap", or "nothing"."""
    code = ord(character)
    if _within(code, _SCRIPTS_WITHOUT_SPACES) or _within(code, _IDEOGRAPHS):
        return "dense" if unicodedata.category(character)[0] in "LMN" else "gap"
    category = unicodedata.category(character)
    if code in _SKIN_TONES or 0xFE00 <= code <= 0xFE0F:  # noqa: PLR2004 - the variation selectors
        return "nothing"
    if category[0] in "LMN":
        return "word"
    if code in _FLAG_LETTERS:
        return "flag"
    return "symbol" if category[0] == "S" and code > 0x7F else "gap"  # noqa: PLR2004 - the last of ASCII


def _within(code: int, ranges: tuple[tuple[int, int], ...]) -> bool:
    return any(first <= code <= last for first, last in ranges)


def _pairs(run: str) -> Iterator[str]:
    """Yield neighbouring pairs of a run; a mark stays with the character that carries it."""
    units: list[str] = []
    for character in run:
        if units and unicodedata.category(character)[0] == "M":
            units[-1] += character
        else:
            units.append(character)
    if len(units) == 1:
        yield units[0]
        return
    ideograph = [_within(ord(unit[0]), _IDEOGRAPHS) for unit in units]
    for at, unit in enumerate(units):
        if ideograph[at] and not any(ideograph[max(at - 1, 0) : at]) and not any(ideograph[at + 1 : at + 2]):
            yield unit
        if at + 1 < len(units):
            yield unit + units[at + 1]


def _joins(character: str) -> bool:
    """Return True if a character belongs to the one before it."""
    code = ord(character)
    return (
        unicodedata.category(character)[0] == "M"
        or character == _JOINER
        or code in _SKIN_TONES
        or 0xE0020 <= code <= 0xE007F  # noqa: PLR2004 - the tags' block
    )
