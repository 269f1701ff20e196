"""How many tokens a text costs a model: a sum over its characters that no common tokenizer exceeds by much. Pure.

Nobody knows which model reads an answer, and the tokenizers of models differ. So each character has a price, such that the sum is an
upper bound for GPT (cl100k, o200k), Llama 3, Qwen 3, Gemma 3, Mistral's Tekken and Claude 3 to 4.6, in prose of about a hundred
languages, code, JSON, hex, ids and emoji. Claude 4.7 and later cost up to a third more in some prose. `benchmarks/token_costs.py`
measures it; docs/benchmarks.md has the table.

Most letters are cheap, because whole English words are one token. What shows that letters are no English words has a price of its own:
letters that other languages use more, four consonants in a row, a digit alongside a letter, a capital behind a small letter.
Characters outside ASCII are priced by their script.

Prices are in twentieths of a token. Costs add up exactly where pieces meet at anything but letters and digits.
"""

from __future__ import annotations

import string
import zlib

PARTS = 20
"""Of a token, the unit of costs."""

# Tokens a character, fitted to the dearest of the tokenizers on texts of about 1,000 characters.
_ASCII = (
    ("cdefghilmnoprstvwxy", 0.2),
    (" ", 0.2),
    (".,", 0.3),
    ("u", 0.35),
    ("a", 0.75),
    ("\"'", 0.8),
    ("ABCDEFGHIJKLMNOPQRSTUVWXYZ", 0.9),
    ("0123456789-_/:", 1.0),
    ("bjkqz", 1.0),
)
_OTHER_ASCII = 1.2  # brackets, signs, line ends, control characters

# What shows that letters are no words, in twentieths as all prices below.
_CONSONANTS = 24  # four in a row, for the fourth and each that follows
_BESIDE_DIGIT = 8  # a small letter, on either side
_HUMP = 28  # a capital behind a small letter

# By the first byte of their UTF-8 form, which tells 64 characters apart: the scripts up to U+07FF.
_OF_TWO_BYTES = (
    (0xC2, 0xC2, 2.0),  # signs of Latin-1
    (0xC3, 0xC3, 2.4),  # its letters: they split a word
    (0xC4, 0xC5, 1.7),  # more Latin letters
    (0xC6, 0xCD, 2.2),  # rare ones, phonetic ones, combining marks
    (0xCE, 0xCF, 1.1),  # Greek
    (0xD0, 0xD0, 0.6),  # Cyrillic, the most common letters
    (0xD1, 0xD1, 1.1),
    (0xD2, 0xD3, 2.6),  # Cyrillic beyond Slavic languages
    (0xD4, 0xD5, 2.2),  # Armenian
    (0xD6, 0xD6, 1.7),
    (0xD7, 0xD7, 1.2),  # Hebrew
    (0xD8, 0xD8, 0.7),  # Arabic, the most common letters
    (0xD9, 0xD9, 1.2),
    (0xDA, 0xDB, 2.0),  # Arabic letters of other languages
    (0xDC, 0xDF, 2.3),  # Syriac, Thaana, N'Ko
)
# By the first byte of their UTF-16 form, which tells 256 characters apart: from U+0800 on.
_OF_MORE_BYTES = (
    (0x08, 0x2F, 3.35),  # where nothing below says otherwise
    (0x09, 0x09, 1.4),  # Devanagari, Bengali
    (0x0A, 0x0A, 2.5),  # Gurmukhi, Gujarati
    (0x0B, 0x0B, 1.6),  # Oriya, Tamil
    (0x0C, 0x0C, 2.05),  # Telugu, Kannada
    (0x0D, 0x0D, 1.8),  # Malayalam, Sinhala
    (0x0E, 0x0E, 1.05),  # Thai, Lao
    (0x0F, 0x0F, 2.65),  # Tibetan
    (0x10, 0x10, 2.1),  # Burmese, Georgian
    (0x17, 0x17, 2.9),  # Khmer
    (0x1E, 0x1E, 2.4),  # Vietnamese
    (0x1F, 0x1F, 3.0),  # old Greek
    (0x20, 0x20, 2.5),  # dashes, quotation marks, joiners
    (0x21, 0x23, 2.9),  # arrows, mathematics
    (0x25, 0x25, 2.3),  # lines and boxes
    (0x30, 0x30, 1.3),  # kana
    (0x31, 0x33, 2.8),
    (0x34, 0x4D, 3.2),  # rare ideographs
    (0x4E, 0x9F, 1.3),  # ideographs
    (0xA0, 0xAB, 3.3),
    (0xAC, 0xD7, 1.4),  # Hangul
    (0xD8, 0xDB, 4.0),  # all beyond U+FFFF, emoji above all: its other half costs nothing
    (0xE0, 0xFE, 3.1),
    (0xFF, 0xFF, 2.0),  # wide forms of ASCII
)


def estimate_tokens(text: str) -> int:
    """Return how many tokens a text costs a model at most, about; the module tells for which models that holds."""
    return -(-token_cost(text) // PARTS)


def token_cost(text: str) -> int:
    """Return the same in `PARTS` of a token, not rounded."""
    encoded = text.encode("utf-8", "surrogatepass")
    cost = _sum(encoded.translate(_BY_UTF8)) + _strangeness(encoded)
    if not text.isascii():
        cost += _sum(text.encode("utf-16-be", "surrogatepass")[::2].translate(_BY_UTF16))
    return cost


def _strangeness(encoded: bytes) -> int:
    """Return the price of what shows that letters are no words.

    The text is looked at as one number, each byte of which tells the sort of a character: neighbours are counted ten times as fast.
    """
    sorts = int.from_bytes(encoded.translate(_SORTS))
    every = int.from_bytes(b"\x01" * len(encoded))
    small, digit, capital, consonant = (sorts >> bit & every for bit in range(4))
    two = consonant & consonant << 8
    return (
        (two & two << 16).bit_count() * _CONSONANTS
        + ((small & digit << 8).bit_count() + (digit & small << 8).bit_count()) * _BESIDE_DIGIT
        + (small & capital << 8).bit_count() * _HUMP
    )


def _table(*rows: tuple[int, int, float]) -> bytes:
    prices = bytearray(256)
    for first, last, price in rows:
        prices[first : last + 1] = bytes([round(price * PARTS)]) * (last + 1 - first)
    return bytes(prices)


_LAST_ASCII = 0x7F
_BY_UTF8 = _table(
    (0, _LAST_ASCII, _OTHER_ASCII),
    *((ord(one), ord(one), price) for some, price in _ASCII for one in some),
    *_OF_TWO_BYTES,
)
_BY_UTF16 = _table(*_OF_MORE_BYTES)
_SORTS = bytes(
    sum(
        1 << bit
        for bit, some in enumerate(
            (string.ascii_lowercase, string.digits, string.ascii_uppercase, "bcdfghjklmnpqrstvwxz")
        )
        if chr(code) in some
    )
    for code in range(256)
)

# The lower half of an Adler-32 is 1 and the sum of the bytes, as long as that is below 65,521: thirty times as fast as `sum`.
_SUMMED = 65_519 // max(*_BY_UTF8, *_BY_UTF16)


def _sum(prices: bytes) -> int:
    return sum((zlib.adler32(prices[at : at + _SUMMED]) & 0xFFFF) - 1 for at in range(0, len(prices), _SUMMED))
