"""The access tokens of the HTTP server: each is bound to one namespace and agent, and only its SHA-256 is kept.

They stand in ``tokens.json`` of the store's folder. The ``token`` commands change that file; ``http/app.py`` asks `Tokens.grant_of`
at each request, which reads the file again when its date has changed, so a revocation counts at once. A file that cannot be read,
or that others may change, gives nobody access.
"""

from __future__ import annotations

import hashlib
import hmac
import logging
import os
import re
import stat
from base64 import urlsafe_b64encode
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Literal

from filelock import FileLock
from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from hybrid_memory.clock import Clock, RandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory.private_files import open_plain_file, replace_private

TOKENS = "tokens.json"
TOKEN_PREFIX = "hmm_"  # noqa: S105 - by which people and scanners of secrets know such a token
MAX_TOKENS = 1000  # comparing with so many hashes takes 0.05 ms a request

_SECRET_BITS = 256  # random, so that a plain hash of it is enough: there is nothing to guess slowly
_LOCK_TIMEOUT_SECONDS = 10.0  # another command writes the file in milliseconds
_NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,63}")

log = logging.getLogger("hybrid_memory_mcp")


def tokens_folder(home: Path) -> Path:
    """Return the folder with the tokens for the store in ``home``: its own, or the one that its settings name.

    Raises:
        InvalidInput: a setting is wrong.
    """
    from hybrid_memory.settings import store_settings

    return store_settings(home).tokens_folder or home


@dataclass(frozen=True, slots=True, kw_only=True)
class Grant:
    """What a token allows: to be this agent in this namespace, until it expires. ``digest`` is the token's SHA-256 in hex."""

    name: str
    namespace: str
    agent: str
    digest: str
    created_at: datetime
    expires_at: datetime | None = None

    def expired(self, now: datetime) -> bool:
        """Return True if the token's time is over."""
        return self.expires_at is not None and now >= self.expires_at


class Tokens:
    """The tokens in a folder; safe in any thread."""

    def __init__(self, folder: Path, clock: Clock, random_source: RandomSource) -> None:
        self.home = folder
        self._file = folder / TOKENS
        self.clock = clock
        self._random_source = random_source
        self._seen: tuple[int, ...] | None = None
        self._grants: dict[str, Grant] = {}

    def create(self, name: str, *, namespace: str, agent: str, lifetime: timedelta | None = None) -> str:
        """Make a token and return it; it cannot be shown again.

        Raises:
            InvalidInput: the name is taken or no name, there are too many tokens, or the file cannot be read or written.
        """
        if not _NAME.fullmatch(name):
            raise InvalidInput("name", "has letters, digits, dots, dashes and underscores, 64 at most")
        token = TOKEN_PREFIX + urlsafe_b64encode(
            self._random_source.bits(_SECRET_BITS).to_bytes(_SECRET_BITS // 8, "big")
        ).decode().rstrip("=")
        now = self.clock.now()
        grant = Grant(
            name=name,
            namespace=namespace,
            agent=agent,
            digest=_digest(token),
            created_at=now,
            expires_at=None if lifetime is None else now + lifetime,
        )
        with self._changing() as (grants, store):
            if any(one.name == name for one in grants):
                raise InvalidInput("name", "is taken by another token; revoke that one first, or take another name")
            if len(grants) >= MAX_TOKENS:
                raise InvalidInput("name", f"there are {MAX_TOKENS} tokens already; revoke one first")
            store((*grants, grant))
        return token

    def revoke(self, name: str) -> None:
        """Take a token back; a running server refuses it from now on and ends what was opened with it.

        Raises:
            InvalidInput: there is no such token, or the file cannot be read or written.
        """
        with self._changing() as (grants, store):
            left = tuple(one for one in grants if one.name != name)
            if len(left) == len(grants):
                raise InvalidInput("name", "is not the name of a token; `token list` shows them")
            store(left)

    def grants(self) -> tuple[Grant, ...]:
        """Return what is granted, expired tokens too, in the order in which they were made.

        Raises:
            InvalidInput: the file cannot be read, or others may change it.
        """
        return _read(self._file)

    def grant_of(self, token: str) -> Grant | None:
        """Return what a token allows, None for one that is unknown, revoked or expired; each takes the same time."""
        self._look()
        digest = _digest(token)
        found = None
        for known, grant in self._grants.items():
            if hmac.compare_digest(known, digest):
                found = grant
        return None if found is None or found.expired(self.clock.now()) else found

    def still_good(self, grant: Grant) -> bool:
        """Return True if what a token allowed is still allowed."""
        self._look()
        return self._grants.get(grant.digest) == grant and not grant.expired(self.clock.now())

    def _look(self) -> None:
        """Read the file again if it is another one than last time; what cannot be read lets nobody in."""
        try:
            found = self._file.stat()
            now = (found.st_mtime_ns, found.st_ctime_ns, found.st_size, found.st_ino, found.st_mode)
        except OSError:
            now = None
        if now == self._seen:
            return
        self._seen = now
        try:
            self._grants = {grant.digest: grant for grant in _read(self._file)}
        except InvalidInput as error:
            self._grants = {}
            log.error("nobody is let in: %s", error)  # noqa: TRY400 - the message says it all

    @contextmanager
    def _changing(self) -> Iterator[tuple[tuple[Grant, ...], Callable[[tuple[Grant, ...]], None]]]:
        try:
            self._file.parent.mkdir(mode=0o700, parents=True, exist_ok=True)
            with FileLock(self._file.with_suffix(".lock"), timeout=_LOCK_TIMEOUT_SECONDS, mode=0o600):
                yield _read(self._file), self._store
        except OSError:
            raise InvalidInput(TOKENS, "cannot be written; nothing was changed") from None

    def _store(self, grants: tuple[Grant, ...]) -> None:
        entries = [
            _Entry(
                name=one.name,
                namespace=one.namespace,
                agent=one.agent,
                sha256=one.digest,
                created_at=one.created_at,
                expires_at=one.expires_at,
            )
            for one in grants
        ]
        content = _File(version=1, tokens=entries).model_dump_json(indent=2) + "\n"
        replace_private(self._file, content.encode())


class _Entry(BaseModel):
    model_config = ConfigDict(extra="forbid")

    name: str
    namespace: str = Field(min_length=1, max_length=200)
    agent: str = Field(min_length=1, max_length=200)
    sha256: str = Field(pattern="^[0-9a-f]{64}$")
    created_at: AwareDatetime
    expires_at: AwareDatetime | None = None


class _File(BaseModel):
    model_config = ConfigDict(extra="forbid")

    version: Literal[1]
    tokens: list[_Entry] = Field(max_length=MAX_TOKENS)


def _read(file: Path) -> tuple[Grant, ...]:
    try:
        with open_plain_file(file) as stream:
            others = os.fstat(stream.fileno()).st_mode & (stat.S_IWGRP | stat.S_IWOTH)
            if os.name == "posix" and others:
                raise InvalidInput(TOKENS, "can be changed by other users; run chmod 600 on it")
            found = _File.model_validate_json(stream.read())
    except FileNotFoundError:
        return ()
    except OSError:
        raise InvalidInput(TOKENS, "cannot be read") from None
    except ValidationError:
        raise InvalidInput(TOKENS, "is damaged; remove it and make new tokens") from None
    return tuple(
        Grant(
            name=one.name,
            namespace=one.namespace,
            agent=one.agent,
            digest=one.sha256,
            created_at=one.created_at,
            expires_at=one.expires_at,
        )
        for one in found.tokens
    )


def _digest(token: str) -> str:
    return hashlib.sha256(token.encode("utf-8", "surrogatepass")).hexdigest()
