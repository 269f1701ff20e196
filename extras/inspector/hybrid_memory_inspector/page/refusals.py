"""What somebody reads whom the door does not let in: a small page that says why and what to do, or the same as JSON for a program."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from html import escape

AGAIN = "Run hybrid-memory-mcp inspect again: it opens a new address."
STYLE = "/static/base.css"

_PAGE = """<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="robots" content="noindex">{refresh}
<title>{title}</title>
<link rel="stylesheet" href="{style}">
</head>
<body>
<main id="main" class="refusal">
<h1>{title}</h1>
<p>{text}</p>{link}
</main>
</body>
</html>
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Refusal:
    """Why a request is not served. ``link`` is an address of the page where it goes on, with the words on it.

    ``closing`` ends the connection, whose body nobody reads.
    """

    status: int
    code: str
    title: str
    text: str
    link: tuple[str, str] | None = None
    headers: Mapping[str, str] = field(default_factory=dict)
    closing: bool = False


WRONG_TOKEN = Refusal(
    status=403,
    code="token",
    title="This address opens the page once",
    text=f"It was used already, is too old, or was not copied whole. {AGAIN}",
)
NO_COOKIE = Refusal(
    status=403,
    code="cookie",
    title="This page is for the person who opened it",
    text=f"Your browser has not shown that it is yours, or the page's server was started anew meanwhile. {AGAIN}",
)
PREFETCHED = Refusal(
    status=403,
    code="prefetch",
    title="This address opens when a person opens it",
    text="It was asked for ahead of time, which would use it up.",
)
WRONG_HOST = Refusal(
    status=421,
    code="host",
    title="This page does not go by that name",
    text="Open the address as hybrid-memory-mcp inspect printed it, with the same name and port.",
    closing=True,
)
WRONG_ORIGIN = Refusal(
    status=403,
    code="origin",
    title="Another page asked for this",
    text="Only the page itself may ask. A program that asks sends the header Origin with the page's own address.",
    closing=True,
)
WRONG_METHOD = Refusal(
    status=405,
    code="method",
    title="That cannot be done here",
    text="Use GET or POST.",
    headers={"allow": "GET, HEAD, POST"},
)
WRONG_TARGET = Refusal(
    status=400, code="target", title="This is no address of the page", text="It begins with a slash."
)
TOO_LONG = Refusal(
    status=413, code="too_long", title="That is too much at once", text="Send less than 4 MiB.", closing=True
)
TOO_SLOW = Refusal(
    status=408,
    code="too_slow",
    title="That took too long",
    text="The request did not come whole in time.",
    closing=True,
)
TOO_MANY = Refusal(
    status=503,
    code="busy",
    title="Too many requests at once",
    text="Try again in a moment.",
    headers={"retry-after": "1"},
    closing=True,
)
LEAVING = Refusal(
    status=503,
    code="leaving",
    title="The page's server is ending",
    text=AGAIN,
    headers={"retry-after": "1"},
    closing=True,
)
FAILED = Refusal(
    status=500,
    code="internal",
    title="Something went wrong that should not",
    text="Nothing is lost. Try again; the memory's log says where it was.",
)


def as_page(refusal: Refusal, *, onward: str | None = None) -> str:
    """Return a refusal as HTML. ``onward`` is an address of the page to which the browser goes by itself."""
    link = refusal.link if onward is None else (onward, "Open the page")
    shown = "" if link is None else f'\n<p><a href="{escape(link[0])}" autofocus>{escape(link[1])}</a></p>'
    refresh = "" if onward is None else f'\n<meta http-equiv="refresh" content="0;url={escape(onward)}">'
    return _PAGE.format(
        title=escape(refusal.title), text=escape(refusal.text), link=shown, refresh=refresh, style=STYLE
    )


def as_json(refusal: Refusal) -> str:
    """Return a refusal for a program."""
    return json.dumps({"error": {"code": refusal.code, "message": f"{refusal.title}. {refusal.text}"}})
