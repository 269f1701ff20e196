"""Makes HTML of what a view returned: the templates, their filters, and the addresses that they write.

Everything is escaped unless a template says otherwise, and none does for stored text (`page.inert`).
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, tzinfo
from functools import cache
from pathlib import Path
from typing import Any
from urllib.parse import quote, urlencode

from jinja2 import Environment, FileSystemLoader, pass_context
from jinja2.runtime import Context
from markupsafe import Markup, escape

from hybrid_memory.project_names import namespace_name
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.inspector.client_words import client_name
from hybrid_memory_mcp.inspector.table import VIEWS
from hybrid_memory_mcp.inspector.tier_words import TIER_WORDS
from hybrid_memory_mcp.inspector.view import View
from hybrid_memory_mcp.memory_words import TIER_NAMES
from hybrid_memory_mcp.page import words
from hybrid_memory_mcp.page.inert import excerpt, inert
from hybrid_memory_mcp.page.menu import menu_of

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"

_KEPT = ("namespace", "reveal")  # parameters that links to other views keep
_PATH_CHARACTERS = ":@-._~!$&'()*+,;="  # need no escape in a path
_NAMED = tuple(view.path.partition("{")[0] for view in VIEWS if view.path.endswith("}"))  # what comes before a name


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What stands around a view: the moment, the address that was asked for, and which memories there are to choose from.

    ``path`` is decoded; ``fragment`` says that the view alone is wanted, without the page around it.
    """

    now: datetime
    zone: tzinfo | None = None
    path: str = "/"
    parameters: Mapping[str, str] = field(default_factory=dict)
    namespaces: Sequence[str] = ()
    here: Sequence[str] = ()
    fragment: bool = False


def render_view(view: View, data: Mapping[str, Any], frame: Frame) -> str:
    """Return the page of a view; the template sees ``data`` and what `_context` gives."""
    return environment().get_template(view.template).render(_context(frame, view) | {"data": data})


def render_error(status: int, title: str, problem: str, advice: str, frame: Frame) -> str:
    """Return the page that tells what went wrong and what to do."""
    values = {"status": status, "error_title": title, "problem": problem, "advice": advice}
    return environment().get_template("error.html.j2").render(_context(frame, None) | values)


def render_page(template: str, frame: Frame, values: Mapping[str, Any]) -> str:
    """Return a page that is no view's."""
    return environment().get_template(template).render(_context(frame, None) | dict(values))


@cache
def environment() -> Environment:
    """Return the templates with their filters; made once in a process."""
    made = Environment(
        loader=FileSystemLoader(FOLDER / "templates"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        auto_reload=False,
    )
    made.filters |= {
        "when": _when,
        "moment": _moment,
        "day": _day,
        "number": words.number,
        "count": words.count,
        "percent": words.percent,
        "bytes": words.size,
        "inert": inert,
        "excerpt": excerpt,
        "namespace_name": namespace_name,
        "client_name": client_name,
    }
    made.globals |= {
        "static": static,
        "version": __version__,
        "TIER_WORDS": TIER_WORDS,
        "TIER_NAMES": TIER_NAMES,
    }
    return made


@cache
def static(name: str) -> str:
    """Return the address of a file of the page: one for all who ask, so that a module is never loaded twice.

    Raises:
        FileNotFoundError: there is no such file.
    """
    if not (STATIC / name).is_file():
        raise FileNotFoundError(name)
    return f"/static/{name}"


def address(path: str, parameters: Mapping[str, object] | None = None) -> str:
    """Return an address of the page; parameters that are None or empty are left out."""
    given = {name: _text(value) for name, value in (parameters or {}).items() if value not in (None, "", False)}
    asked = urlencode(given, errors="replace")
    return _path(path) + (f"?{asked}" if asked else "")


def _path(path: str) -> str:
    """Return a path with its escapes.

    What a view's path ends in is a name, and one part of the address whatever is in it. Names that a browser or the router would read as
    something else, dots, a stroke at the end, the ending of data, get a stroke behind them, which the page takes off.
    """
    view = next((one for one in _NAMED if path.startswith(one) and len(path) > len(one)), None)
    if view is None:
        return quote(path, safe="/" + _PATH_CHARACTERS, errors="replace")
    name = path.removeprefix(view)
    ended = "%2F" if name in (".", "..") or name.endswith(("/", ".json")) else ""
    return view + quote(name, safe=_PATH_CHARACTERS, errors="replace") + ended


def _text(value: object) -> str:
    return "1" if value is True else str(value)


def _context(frame: Frame, view: View | None) -> dict[str, Any]:
    kept = {name: frame.parameters[name] for name in _KEPT if frame.parameters.get(name)}

    def url(path: str, **parameters: object) -> str:
        """Return the address of another view, with the parameters that go along."""
        return address(path, kept | parameters)

    def here(**changed: object) -> str:
        """Return this address with changed parameters; a list begins anew unless its page is named."""
        stay = {name: value for name, value in frame.parameters.items() if name != "page"}
        return address(frame.path, stay | changed)

    def here_data() -> str:
        """Return the address of this view's data, with the same parameters."""
        path = "/index" if frame.path == "/" else frame.path
        return _path(path + ".json").removesuffix("%2F") + address("", frame.parameters)

    return {
        "frame": frame,
        "now": frame.now,
        "zone": frame.zone,
        "params": frame.parameters,
        "view": view,
        "views": VIEWS,
        "menu": menu_of(VIEWS),
        "url": url,
        "here": here,
        "here_data": here_data,
        "here_alone": lambda: address(frame.path),
        "kept": kept,
    }


@pass_context
def _when(context: Context, value: datetime | str | None) -> Markup:
    """Return how long ago something was, with the exact moment at hand."""
    return _time(context, value, lambda moment: words.relative(moment, context["now"]), relative=True)


@pass_context
def _moment(context: Context, value: datetime | str | None) -> Markup:
    """Return a moment to the minute."""
    return _time(context, value, lambda moment: words.to_the_minute(moment, context["zone"]))


@pass_context
def _day(context: Context, value: datetime | str | None) -> Markup:
    """Return the day of a moment."""
    return _time(context, value, lambda moment: words.day_name(moment, context["zone"]))


def _time(context: Context, value: datetime | str | None, told: Any, *, relative: bool = False) -> Markup:
    if value is None or value == "":
        return Markup("")
    try:
        moment = words.as_moment(value)
    except ValueError:
        return escape(value)
    exact = words.exact(moment, context["zone"])
    mark = Markup(' data-relative="{}"').format(exact) if relative else ""
    return Markup('<time datetime="{}" title="{}"{}>{}</time>').format(moment.isoformat(), exact, mark, told(moment))
