"""`find_secrets`: all secrets of a text, each character in one of them at most."""

from __future__ import annotations

from collections.abc import Iterator

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.card_numbers import find_card_numbers
from hybrid_memory.secret_detection.findings import SecretFound
from hybrid_memory.secret_detection.passwords import (
    PASSWORD,
    find_keys,
    find_login_lines,
    find_passwords,
    find_pins,
    find_seed_phrases,
    may_hold_keys,
    may_hold_passwords,
)
from hybrid_memory.secret_detection.token_shapes import find_tokens, url_passwords

_SHORTEST = 4  # characters of the shortest secret; a shorter text holds none
# Cheap looks before expensive ones: what the values of each sort need.
_LONG_WORD = LazyPattern(r"\S{16}")
_LONG_NUMBER = LazyPattern("[0-9][0-9 .\u00a0\u202f-]{11}")
_FOUR_DIGITS = LazyPattern(r"[0-9]{4}")
_INVISIBLE_CHARACTERS = frozenset("\u00ad\u200b\u200c\u200d\u2060\ufeff")
_INVISIBLE = LazyPattern(f"[{''.join(sorted(_INVISIBLE_CHARACTERS))}]")
_NO_URL_PASSWORDS = frozenset({"password", "pass", "passwd", "pwd", "secret", "xxx", "xxxx", "xxxxx", "token", "port"})


def find_secrets(text: str) -> tuple[SecretFound, ...]:
    """Return the secrets of a text in their order; where two overlap, the longer one."""
    if len(text) < _SHORTEST:
        return ()
    if text.isascii() or _INVISIBLE.search(text) is None:
        return _apart(list(_candidates(text)))
    # A secret with characters in it that nobody sees is one all the same.
    places = [place for place, one in enumerate(text) if one not in _INVISIBLE_CHARACTERS]
    found = list(_candidates("".join(text[place] for place in places)))
    return _apart([SecretFound(places[one.start], places[one.end - 1] + 1, one.kind) for one in found])


def _apart(found: list[SecretFound]) -> tuple[SecretFound, ...]:
    """Return what was found in its order, without what overlaps something longer."""
    if len(found) < 2:  # noqa: PLR2004 - nothing to compare
        return tuple(found)
    kept: list[SecretFound] = []
    for one in sorted(found, key=lambda one: (one.start, -one.end)):
        if not kept or one.start >= kept[-1].end:
            kept.append(one)
        elif one.end - one.start > kept[-1].end - kept[-1].start:
            kept[-1] = one
    return tuple(kept)


def _candidates(text: str) -> Iterator[SecretFound]:
    has_long_word = _LONG_WORD.search(text) is not None
    if has_long_word:
        yield from find_tokens(text)
    if "://" in text:
        for start, end in url_passwords(text):
            if text[start:end].lower() not in _NO_URL_PASSWORDS and text[start] not in "<${%*[":
                yield SecretFound(start, end, PASSWORD)
    if _LONG_NUMBER.search(text) is not None:
        yield from find_card_numbers(text)
    lowered = text.lower()
    if may_hold_passwords(lowered):
        yield from find_passwords(text)
    yield from find_login_lines(text, lowered)
    if has_long_word and may_hold_keys(lowered):
        yield from find_keys(text)
    if "pin" in lowered and _FOUR_DIGITS.search(text) is not None:
        yield from find_pins(text)
    if "seed" in lowered or "phrase" in lowered or "mnemonic" in lowered or "wiederherst" in lowered:
        yield from find_seed_phrases(text)
