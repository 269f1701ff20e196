"""Who may see the page: tokens that are good once, and the cookies that they are exchanged for. All of it dies with the page's server.

Only hashes are kept, so what is compared tells nothing by how long the comparison takes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from hashlib import sha256
from typing import Generic, TypeVar

P = TypeVar("P")

TOKEN_BYTES = 32  # 256 random bits
TOKEN_SECONDS = 15 * 60.0  # until a token that nobody used is good for nothing: it is in a terminal that others may see
MAX_TOKENS = 64  # waiting at once; the oldest goes first
MAX_BROWSERS = 64  # cookies at once; the one that was given first goes first

_NAME_BYTES = 8
_MAX_COOKIES_TRIED = 50  # of our name in one request; a browser sends one


@dataclass(frozen=True, slots=True)
class _Token(Generic[P]):
    place: P
    until: float


class Passes(Generic[P]):
    """Tokens and cookies of one server of the page. ``P`` is what each of them stands for: whose memories are looked at.

    ``now`` is a clock in seconds that never goes back.
    """

    def __init__(self, now: Callable[[], float]) -> None:
        # A page at another port of the same address could set a cookie of a name that it knows.
        self.cookie_name = f"page_{secrets.token_hex(_NAME_BYTES)}"
        self._now = now
        self._tokens: dict[bytes, _Token[P]] = {}
        self._browsers: dict[bytes, P] = {}

    def new_token(self, place: P) -> str:
        """Return a token that is good once."""
        token = secrets.token_urlsafe(TOKEN_BYTES)
        self._tokens[_hash(token)] = _Token(place, self._now() + TOKEN_SECONDS)
        _drop_oldest(self._tokens, MAX_TOKENS)
        return token

    def withdraw(self, token: str) -> None:
        """Make a token good for nothing."""
        self._tokens.pop(_hash(token), None)

    def spend(self, token: str) -> P | None:
        """Return what a token stands for, and make it good for nothing; None for one that is wrong, too old or was used."""
        found = self._tokens.pop(_hash(token), None)
        return None if found is None or self._now() > found.until else found.place

    def new_cookie(self, place: P) -> str:
        """Return the value of a cookie for a browser."""
        value = secrets.token_urlsafe(TOKEN_BYTES)
        self._browsers[_hash(value)] = place
        _drop_oldest(self._browsers, MAX_BROWSERS)
        return value

    def cookie_of(self, headers: Iterable[str]) -> str | None:
        """Return the cookie of ours that is among some Cookie headers; None without one.

        There may be several of our name, which somebody else put there: those are passed over, and change nothing.
        """
        tried = 0
        for header in headers:
            for pair in header.split(";"):
                name, _, value = pair.strip().partition("=")
                if name == self.cookie_name and tried < _MAX_COOKIES_TRIED:
                    tried += 1
                    if _hash(value) in self._browsers:
                        return value
        return None

    def place_of(self, cookie: str) -> P | None:
        """Return what a cookie stands for."""
        return self._browsers.get(_hash(cookie))

    def move(self, cookie: str, place: P) -> None:
        """Let a cookie stand for something else from now on: its person came again, from another folder."""
        if _hash(cookie) in self._browsers:
            self._browsers[_hash(cookie)] = place

    def set_cookie(self, value: str) -> str:
        """Return the header that gives a browser a cookie: out of reach of scripts and of other pages' requests."""
        return f"{self.cookie_name}={value}; Path=/; HttpOnly; SameSite=Strict"


def _hash(value: str) -> bytes:
    return sha256(value.encode("utf-8", "surrogatepass")).digest()


def _drop_oldest(kept: dict[bytes, P], most: int) -> None:
    while len(kept) > most:
        del kept[next(iter(kept))]
