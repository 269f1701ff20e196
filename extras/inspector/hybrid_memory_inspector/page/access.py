"""The page's door: an ASGI application before the page's own, through which every request goes.

The steps of a request, in `Door._answer`: its address (Host, form), who asks (Origin, Sec-Fetch-Site), method; then what needs no cookie
(styles, the one-time token); the cookie; the body, within limits; then the page. Each response gets the headers that keep other pages out.
"""

from __future__ import annotations

import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Generic, TypeVar
from urllib.parse import parse_qsl, quote, urlencode, urlsplit

import anyio
from starlette.datastructures import Headers
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from hybrid_memory_inspector.page import refusals
from hybrid_memory_inspector.page.events import PATH as EVENTS
from hybrid_memory_inspector.page.events import Events
from hybrid_memory_inspector.page.passes import Passes
from hybrid_memory_inspector.page.refusals import Refusal, as_json, as_page
from hybrid_memory_mcp.runtime.error_log import log, log_failure
from hybrid_memory_mcp.runtime.http_bodies import replayed

P = TypeVar("P")

CONTENT_SECURITY_POLICY = "; ".join(
    (
        "default-src 'none'",
        *(f"{kind}-src 'self'" for kind in ("script", "style", "img", "font", "connect", "manifest")),
        "form-action 'self'",
        "frame-ancestors 'none'",
        "base-uri 'none'",
    )
)
SAFETY_HEADERS = {
    "content-security-policy": CONTENT_SECURITY_POLICY,
    "x-frame-options": "DENY",
    "x-content-type-options": "nosniff",
    "referrer-policy": "no-referrer",
    "cross-origin-opener-policy": "same-origin",
    "cross-origin-resource-policy": "same-origin",
    "cross-origin-embedder-policy": "require-corp",
    "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=(), usb=()",
    "x-robots-tag": "noindex",
    "x-dns-prefetch-control": "off",
}
TOKEN = "token"  # noqa: S105 - the name of a parameter
NEXT = "next"

_STATIC = "/static/"
_PUBLIC = frozenset({"/favicon.ico", "/favicon.svg"})  # and what is below _STATIC
_READS, _METHODS = frozenset({"GET", "HEAD"}), frozenset({"GET", "HEAD", "POST"})
_MAX_PATH = 2000  # characters of an address to go on to
_WEB_PORT = 80  # a Host header leaves it out
_IN_PATH = "/:@!$&'()*+,;=~-._%"


@dataclass(frozen=True, slots=True, kw_only=True)
class DoorLimits:
    """How much the page bears; ``bodies`` are read at once, ``requests`` served at once alongside streams of events."""

    max_body_bytes: int = (
        4 * 1024 * 1024
    )  # the longest memory, with every character written as a form writes it, three times
    body_timeout_seconds: float = 30
    write_timeout_seconds: float = 30
    bodies: int = 8
    requests: int = 64
    leave_seconds: float = 2


class Door(Generic[P]):
    """Lets in whoever has the cookie that the one-time token was exchanged for; `running` must be entered.

    ``app_of`` gives the page of what a cookie stands for, ``public`` serves what needs no cookie. ``host`` and ``port`` are those of the
    page's address; requests by any other name are refused.
    """

    def __init__(
        self,
        app_of: Callable[[P], ASGIApp],
        public: ASGIApp,
        events: Events,
        passes: Passes[P],
        *,
        host: str,
        port: int,
        limits: DoorLimits | None = None,
    ) -> None:
        self._app_of = app_of
        self._public = public
        self.events = events
        self.passes = passes
        name = f"[{host}]" if ":" in host else host
        self._hosts = frozenset({f"{name}:{port}"} | ({name} if port == _WEB_PORT else set()))
        self.origin = f"http://{name}" if port == _WEB_PORT else f"http://{name}:{port}"
        self._limits = limits or DoorLimits()
        self._busy = self._bodies = 0
        self._leaving = False
        self._emptied = anyio.Event()
        self._used_at = time.monotonic()

    def address(self, place: P, path: str = "/") -> tuple[str, str]:
        """Return an address that opens the page once, and the token in it."""
        token = self.passes.new_token(place)
        self._used_at = time.monotonic()
        return f"{self.origin}{own_path(path)}{'&' if '?' in own_path(path) else '?'}{TOKEN}={token}", token

    @property
    def unused_seconds(self) -> float:
        """For how long no page was open: none held its stream of events, and none asked for anything."""
        return 0.0 if self._busy or self.events.streams else time.monotonic() - self._used_at

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Serve while the body runs."""
        async with self.events.running():
            yield

    async def leave(self) -> None:
        """Take nothing new, end streams, and wait a while for what is being answered."""
        self._leaving = True
        self.events.leave()
        with anyio.move_on_after(self._limits.leave_seconds):
            while self._busy or self.events.streams:
                self._emptied = anyio.Event()
                await self._emptied.wait()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Serve one request; whatever happens, nobody else notices."""
        if scope["type"] != "http":
            return
        response = _Response(send, scope, self._limits.write_timeout_seconds)
        try:
            refusal = await self._answer(scope, receive, response)
            if refusal is not None:
                await response.refuse(refusal)
        except GaveUp:
            log.info("a page was given up that did not read its answer")
        except Exception as error:  # noqa: BLE001 - the last line before the browser
            log_failure("a request of the page", error)
            await response.refuse(refusals.FAILED)

    async def _answer(self, scope: Scope, receive: Receive, response: _Response) -> Refusal | None:
        headers = Headers(scope=scope)
        refusal = self._refuse_address(scope, headers) or self._refuse_asker(scope, headers)
        if refusal is not None:
            return refusal
        if scope["path"].startswith(_STATIC) or scope["path"] in _PUBLIC:
            return await self._serve(self._public, scope, receive, response)
        cookie = self.passes.cookie_of(headers.getlist("cookie"))
        given = _parameters(scope)
        if TOKEN in given and scope["method"] in _READS:
            return await self._enter(given, cookie, scope, headers, response)
        place = None if cookie is None else self.passes.place_of(cookie)
        if place is None:
            return _come_again(scope, headers)
        return refusals.LEAVING if self._leaving else await self._show(place, scope, receive, response)

    async def _show(self, place: P, scope: Scope, receive: Receive, response: _Response) -> Refusal | None:
        """Serve somebody who was let in."""
        self._used_at = time.monotonic()
        if scope["path"] != EVENTS:
            return await self._serve(self._app_of(place), scope, receive, response)
        if scope["method"] != "GET":
            return refusals.WRONG_METHOD
        try:
            await self.events(scope, receive, response.send)
        finally:
            self._note_end()
        return None

    def _refuse_address(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Refuse a foreign name that was made to lead here (DNS rebinding), and a target that a proxy would be sent."""
        hosts = headers.getlist("host")
        if len(hosts) != 1 or hosts[0].lower() not in self._hosts:
            return refusals.WRONG_HOST
        return None if scope["path"].startswith("/") else refusals.WRONG_TARGET

    def _refuse_asker(self, scope: Scope, headers: Headers) -> Refusal | None:
        """Refuse what another page has the browser ask, even one at another port of this address; a link to this page may be followed."""
        if scope["method"] not in _METHODS:
            return refusals.WRONG_METHOD
        sites, origins = headers.getlist("sec-fetch-site"), headers.getlist("origin")
        by_page_itself = sites == ["same-origin"]
        # A form of a page that sends no referrer has the origin "null"; that it is ours, the browser tells elsewhere.
        if any(origin != self.origin and not (origin == "null" and by_page_itself) for origin in origins):
            return refusals.WRONG_ORIGIN
        if scope["method"] not in _READS:
            proved = by_page_itself or (not sites and origins == [self.origin])
            return None if proved else refusals.WRONG_ORIGIN
        if not sites or by_page_itself or sites == ["none"]:  # a program; this page; an address that a person typed
            return None
        followed = headers.get("sec-fetch-mode") == "navigate" and headers.get("sec-fetch-dest") == "document"
        return None if followed and _is_document(scope["path"]) else refusals.WRONG_ORIGIN

    async def _enter(
        self, given: dict[str, str], cookie: str | None, scope: Scope, headers: Headers, response: _Response
    ) -> Refusal | None:
        """Exchange the token for a cookie, and send the browser on to the page without it."""
        if scope["method"] == "HEAD" or "prefetch" in headers.get("sec-purpose", headers.get("purpose", "")):
            return refusals.PREFETCHED
        place = None if self._leaving else self.passes.spend(given[TOKEN])
        if place is None:
            again = ("You are in already: open the page", own_path(given.get(NEXT, "/")))
            return refusals.WRONG_TOKEN if cookie is None else _with_link(refusals.WRONG_TOKEN, again)
        self._used_at = time.monotonic()
        rest = urlencode({name: value for name, value in given.items() if name not in (TOKEN, NEXT)})
        onward = own_path(given[NEXT] if NEXT in given else scope["path"] + (f"?{rest}" if rest else ""))
        more = []
        if cookie is None:
            more.append((b"set-cookie", self.passes.set_cookie(self.passes.new_cookie(place)).encode("ascii")))
        else:
            self.passes.move(cookie, place)
        if headers.get("sec-fetch-site", "none") in ("none", "same-origin"):
            await response.whole(303, "", [(b"location", onward.encode("ascii")), *more])
        else:
            # Somebody followed a link on another page: a redirect would still be of that page, and the cookie not be sent.
            shown = Refusal(status=200, code="entered", title="Welcome", text="The page opens in a moment.")
            await response.whole(200, as_page(shown, onward=onward), more)
        return None

    async def _serve(self, app: ASGIApp, scope: Scope, receive: Receive, response: _Response) -> Refusal | None:
        if self._busy >= self._limits.requests:
            return refusals.TOO_MANY
        self._busy += 1
        try:
            if scope["method"] in _READS:
                await app(scope, receive, response.send)
                return None
            if self._bodies >= self._limits.bodies:
                return refusals.TOO_MANY
            self._bodies += 1
            try:
                body = await self._read_body(scope, receive)
            finally:
                self._bodies -= 1
            if body is None or isinstance(body, Refusal):
                return body
            await app(scope, replayed(body, receive), response.send)
            return None
        finally:
            self._busy -= 1
            self._note_end()

    async def _read_body(self, scope: Scope, receive: Receive) -> bytes | Refusal | None:
        """Return the whole body, why it is refused, or None when the browser left."""
        declared = Headers(scope=scope).get("content-length", "0")
        if int(declared[:20]) > self._limits.max_body_bytes:  # the parser has checked that it is a number
            return refusals.TOO_LONG
        parts = bytearray()
        with anyio.move_on_after(self._limits.body_timeout_seconds):
            while True:
                message = await receive()
                if message["type"] != "http.request":
                    return None
                parts += message.get("body", b"")
                if len(parts) > self._limits.max_body_bytes:
                    return refusals.TOO_LONG
                if not message.get("more_body", False):
                    return bytes(parts)
        return refusals.TOO_SLOW

    def _note_end(self) -> None:
        self._used_at = time.monotonic()
        self._emptied.set()


class GaveUp(Exception):
    """A browser did not read its answer in time."""


class _Response:
    """The way back to one browser: adds the headers of safety, and gives up a browser that does not read."""

    def __init__(self, send: Send, scope: Scope, timeout_seconds: float) -> None:
        self._send = send
        self._scope = scope
        self._timeout_seconds = timeout_seconds
        self._started = self._ended = False

    async def send(self, message: Message) -> None:
        """Send a part of the response.

        Raises:
            GaveUp: the browser does not read.
        """
        if message["type"] == "http.response.start":
            self._started = True
            message = {**message, "headers": self._safe(message.get("headers", ()))}
        elif message["type"] == "http.response.body":
            self._ended = not message.get("more_body", False)
        try:
            with anyio.fail_after(self._timeout_seconds):
                await self._send(message)
        except TimeoutError:
            raise GaveUp from None

    async def refuse(self, refusal: Refusal) -> None:
        """Send a refusal, or end what was begun."""
        if self._started:
            if not self._ended:
                await self.send({"type": "http.response.body", "body": b"", "more_body": False})
            return
        more = [(name.encode("ascii"), value.encode("ascii")) for name, value in refusal.headers.items()]
        if refusal.closing or self._scope["method"] not in _READS:  # a body may be on its way that nobody reads
            more.append((b"connection", b"close"))
        if _wants_json(self._scope):
            await self.whole(refusal.status, as_json(refusal), more, kind="application/json")
        else:
            await self.whole(refusal.status, as_page(refusal), more)

    async def whole(
        self, status: int, text: str, more: list[tuple[bytes, bytes]], *, kind: str = "text/html; charset=utf-8"
    ) -> None:
        """Send a response as a whole."""
        body = text.encode()
        headers = [(b"content-type", kind.encode("ascii")), (b"content-length", b"%d" % len(body)), *more]
        await self.send({"type": "http.response.start", "status": status, "headers": headers})
        await self.send({"type": "http.response.body", "body": b"" if self._scope["method"] == "HEAD" else body})

    def _safe(self, headers: object) -> list[tuple[bytes, bytes]]:
        given = [(bytes(name).lower(), bytes(value)) for name, value in headers]  # type: ignore[attr-defined] # pairs of ASGI
        kept = [pair for pair in given if pair[0].decode("latin-1") not in SAFETY_HEADERS]
        # Styles and scripts hold nothing of anybody's memory: a browser may keep them, as the page itself says.
        keeps = self._scope["path"].startswith(_STATIC) and any(name == b"cache-control" for name, _ in kept)
        if not keeps:
            kept = [pair for pair in kept if pair[0] != b"cache-control"] + [(b"cache-control", b"no-store")]
        return kept + [(name.encode("ascii"), value.encode("ascii")) for name, value in SAFETY_HEADERS.items()]


def own_path(path: str) -> str:
    """Return an address of this page, in ASCII, to which a browser may be sent; ``/`` for anything else."""
    parts = urlsplit(path) if len(path) <= _MAX_PATH and path.isprintable() and "\\" not in path else None
    if parts is None or parts.scheme or parts.netloc or not parts.path.startswith("/") or path.startswith("//"):
        return "/"
    query = f"?{quote(parts.query, safe=_IN_PATH + '?/')}" if parts.query else ""
    found = f"{quote(parts.path, safe=_IN_PATH)}{query}"
    return "/" if found.startswith("//") else found


def _parameters(scope: Scope) -> dict[str, str]:
    """Return the parameters of the address, the first value of each."""
    found: dict[str, str] = {}
    for name, value in parse_qsl(scope.get("query_string", b"").decode("utf-8", "replace"), keep_blank_values=True):
        found.setdefault(name, value)
    return found


def _come_again(scope: Scope, headers: Headers) -> Refusal:
    """Refuse somebody without a cookie; a browser that came over a link of another page has one perhaps, and sends it when asked again."""
    if headers.get("sec-fetch-site") in ("cross-site", "same-site"):
        query = scope.get("query_string", b"").decode("utf-8", "replace")
        here = own_path(scope["path"] + (f"?{query}" if query else ""))
        return _with_link(refusals.NO_COOKIE, ("If it is yours, open it from here", here))
    return refusals.NO_COOKIE


def _with_link(refusal: Refusal, link: tuple[str, str]) -> Refusal:
    words, path = link
    return Refusal(status=refusal.status, code=refusal.code, title=refusal.title, text=refusal.text, link=(path, words))


def _is_document(path: str) -> bool:
    """Return True for an address that only shows a page."""
    return "." not in path.rpartition("/")[2] and path != EVENTS and not path.startswith(("/actions/", _STATIC))


def _wants_json(scope: Scope) -> bool:
    accepted = Headers(scope=scope).get("accept", "")
    return scope["path"].endswith(".json") or ("application/json" in accepted and "text/html" not in accepted)
