"""The page's door for tests: before a page that says what it was asked, without a network."""

from dataclasses import dataclass, field

import anyio

from hybrid_memory_inspector.page.access import Door, DoorLimits
from hybrid_memory_inspector.page.events import Events
from hybrid_memory_inspector.page.passes import Passes

HOST, PORT = "127.9.8.7", 4321
ORIGIN = f"http://{HOST}:{PORT}"


@dataclass
class Answer:
    """What a browser got: headers by name, the last of each."""

    status: int = 0
    headers: dict = field(default_factory=dict)
    body: bytes = b""

    @property
    def text(self):
        return self.body.decode()


class Clock:
    """Seconds that the test lets pass."""

    now = 1000.0

    def __call__(self):
        return self.now


class NoMemory:
    """A memory in which nothing happens."""

    async def call(self, work):
        del work
        raise AssertionError("nobody asks this memory")

    def listen(self, listener, wanted):
        del listener, wanted
        return lambda: None


class House:
    """A door and the page behind it, which answers with the place, the path and the body that it was given."""

    def __init__(self, *, host=HOST, port=PORT, limits=None, app=None, memory=None):
        self.clock = Clock()
        self.served = []
        self.passes = Passes(self.clock)
        self.events = Events(memory or NoMemory(), pause_seconds=0)
        self.page = app
        self.door = Door(
            self.app_of,
            self.app_of("public"),
            self.events,
            self.passes,
            host=host,
            port=port,
            limits=limits or DoorLimits(),
        )

    def app_of(self, place):
        async def app(scope, receive, send):
            if self.page is not None:
                await self.page(scope, receive, send)
                return
            body, more = b"", True
            while more:
                message = await receive()
                body += message.get("body", b"")
                more = message.get("more_body", False)
            self.served.append((place, scope["method"], scope["path"], body))
            headers = [
                (b"content-type", b"text/html"),
                (b"cache-control", b"public, max-age=60"),
                (b"X-Frame-Options", b"x"),
            ]
            await send({"type": "http.response.start", "status": 200, "headers": headers})
            await send({"type": "http.response.body", "body": f"{place} {scope['path']}".encode()})

        return app

    def enter(self, place="mine"):
        """Return the Cookie header of a browser that was let in."""
        return f"{self.passes.cookie_name}={self.passes.new_cookie(place)}"

    async def ask(self, target="/", *, method="GET", body=(b"",), host=f"{HOST}:{PORT}", **headers):
        """Send one request; headers are written with underscores, a list gives one several times, None leaves it out."""
        path, _, query = target.partition("?")
        given = {"host": host, **{name.replace("_", "-"): value for name, value in headers.items()}}
        pairs = [
            (name.encode(), one.encode("latin-1"))
            for name, value in given.items()
            if value is not None
            for one in (value if isinstance(value, list) else [value])
        ]
        parts, answer = list(body), Answer()

        async def receive():
            if not parts:
                await anyio.sleep_forever()
            return {"type": "http.request", "body": parts.pop(0), "more_body": bool(parts)}

        async def send(message):
            if message["type"] == "http.response.start":
                answer.status = message["status"]
                answer.headers = {name.decode(): value.decode() for name, value in message["headers"]}
            else:
                answer.body += message.get("body", b"")

        scope = {"type": "http", "method": method, "path": path, "query_string": query.encode(), "headers": pairs}
        await self.door(scope, receive, send)
        return answer
