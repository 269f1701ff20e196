"""Values that are secret because the name of their field says so: ``{"api_key": "hunter2zebraQ9", "cvv": 123}``.

A name is read in words (``apiKey``, ``API-KEY`` and ``api_key`` are one), and its last ones count: ``token_count`` and ``api_key_id``
name no secrets. The value has to be none of the plain words that stand under such names in notes: "in the safe", "tokenizer-v2", "page 2".
"""

from __future__ import annotations

from collections.abc import Callable

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.card_numbers import CARD_NUMBER, has_check_digit, is_issued
from hybrid_memory.secret_detection.passwords import KEY, PASSWORD, PIN, is_password_value, is_plain_identifier

_LONGEST = 1024  # characters: a key or a password, no text
_LONGEST_NAME = 64
_MOST_WORDS = 8  # of a passphrase
_LEAST_KEY = 8
_WORDS = LazyPattern(r"[A-Z]{2,64}(?![a-z])|[A-Z]?[a-z]{1,64}|[0-9]{1,64}")
_PASSWORDS = frozenset(("password", "passwort", "passwd", "passcode", "pwd", "kennwort"))
_PASSPHRASES = frozenset(("passphrase", "pass phrase"))
_KEYS = frozenset(
    (
        "token", "secret", "apikey", "api key", "access key", "secret key", "private key", "auth key", "signing key", "encryption key",
        "license key", "client key", "master key", "session key",
    )
)  # fmt: skip
_PINS = frozenset(("pin", "pin code", "pincode"))
_CARD_CODES = frozenset(("cvv", "cvc", "cvv2", "cvc2", "cvv 2", "cvc 2"))
_CARDS = frozenset(("card", "card number", "cardnumber", "credit card", "creditcard", "pan", "karte", "kartennummer"))
_DESCRIPTION = LazyPattern(
    r"(?:^|\W)(?:characters?|chars|words?|zeichen|wörter|digits?|letters?|at least|min|see|siehe"
    r"|none|unknown|stored|changed|expires?)(?:\W|$)",
    2,
)
_PIN_VALUE = LazyPattern("[0-9]{4,5}")
_CARD_CODE = LazyPattern("[0-9]{3,4}")
_CARD_DIGITS = LazyPattern("[0-9]{13,19}")


def named_secret(name: str, value: str) -> str | None:
    """Return the kind of secret that a value under a name is, None if it is none."""
    if not value or len(value) > _LONGEST or len(name) > _LONGEST_NAME:
        return None
    words = [word.lower() for word in _WORDS.findall(name)]
    last = {" ".join(words[-count:]) for count in (1, 2)}
    for names, kind, is_secret in _RULES:
        if not names.isdisjoint(last):
            return kind if is_secret(value) else None
    return None


def _is_card(value: str) -> bool:
    return _CARD_DIGITS.fullmatch(value) is not None and is_issued(value) and has_check_digit(value)


def _is_passphrase(value: str) -> bool:
    return (1 <= value.count(" ") < _MOST_WORDS and not _DESCRIPTION.search(value)) or is_password_value(value)


def _is_key(value: str) -> bool:
    """Return True for letters and digits in one row that are no name put together of words and versions."""
    if len(value) < _LEAST_KEY or not any(map(str.isdigit, value)) or not any(map(str.isalpha, value)):
        return False
    return is_password_value(value) and not is_plain_identifier(value)


_RULES: tuple[tuple[frozenset[str], str, Callable[[str], bool]], ...] = (
    (_PINS, PIN, lambda value: _PIN_VALUE.fullmatch(value) is not None),
    (_CARD_CODES, "card code", lambda value: _CARD_CODE.fullmatch(value) is not None),
    (_CARDS, CARD_NUMBER, _is_card),
    (_PASSPHRASES, PASSWORD, _is_passphrase),
    (_PASSWORDS, PASSWORD, is_password_value),
    (_KEYS, KEY, _is_key),
)
