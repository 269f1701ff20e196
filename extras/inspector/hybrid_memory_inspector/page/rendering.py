"""Makes HTML of what a view returned: the templates, their filters, and the addresses that they write.

Everything is escaped unless a template says otherwise, and none does for stored text (`inert`).
"""

from __future__ import annotations

import re
import unicodedata
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

from hybrid_memory.language.text import visible
from hybrid_memory.project_names import namespace_name
from hybrid_memory_inspector.views.table import VIEWS, View
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.memory_words import TIER_NAMES
from hybrid_memory_mcp.words import times_and_numbers as words
from hybrid_memory_mcp.words.client_words import client_name
from hybrid_memory_mcp.words.tier_words import TIER_WORDS

FOLDER = Path(__file__).parent
STATIC = FOLDER / "static"

_KEPT = ("namespace", "reveal")  # parameters that links to other views keep
_PATH_CHARACTERS = ":@-._~!$&'()*+,;="  # need no escape in a path
_NAMED = tuple(view.path.partition("{")[0] for view in VIEWS if view.path.endswith("}"))  # what comes before a name
_CONTROL_PICTURES = 0x2400
_SHORT_NAMES = {
    "\x7f": "␡", "\u2028": "LS", "\u2029": "PS", "\u202a": "LRE", "\u202b": "RLE", "\u202c": "PDF", "\u202d": "LRO", "\u202e": "RLO",
    "\u200b": "ZWSP", "\u200c": "ZWNJ", "\u200d": "ZWJ", "\u200e": "LRM", "\u200f": "RLM", "\u061c": "ALM",
    "\u2060": "WJ", "\u2066": "LRI", "\u2067": "RLI", "\u2068": "FSI", "\u2069": "PDI", "\ufeff": "BOM",
}  # fmt: skip
_BREAKS = re.compile(r"\s+")
_LONGEST_FOLD = 10_000  # characters laid into a page unseen; longer texts are whole on the memory's own page
_GROUPS: tuple[tuple[str, tuple[str, ...]], ...] = (
    ("See", ("now", "search", "timeline", "map")),
    ("About", ("names", "insights", "sessions")),
    ("Assistants", ("brief", "recalls")),
    ("Care", ("review", "health")),
)
_OTHER_VIEWS = "More"


@dataclass(frozen=True, slots=True)
class MenuGroup:
    """Some views under one heading."""

    title: str
    views: tuple[View, ...]


@dataclass(frozen=True, kw_only=True)
class Frame:
    """What is around a view: the moment, the address that was asked for, and which memories there are to choose from.

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
        """Return this address with changed parameters; a list begins again unless its page is named."""
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


def menu_of(views: Sequence[View]) -> tuple[MenuGroup, ...]:
    """Return the views that the menu shows in their groups; one that no group names is in the last."""
    shown = {view.name: view for view in views if view.in_menu}
    groups = [MenuGroup(title, tuple(shown.pop(name) for name in names if name in shown)) for title, names in _GROUPS]
    groups.append(MenuGroup(_OTHER_VIEWS, tuple(shown.values())))
    return tuple(group for group in groups if group.views)


def inert(
    text: object, cut: int | None = None, href: str | None = None, marks: Sequence[Mapping[str, Any]] = ()
) -> Markup:
    """Return stored text as HTML that does nothing.

    Of a text longer than ``cut`` characters the rest is folded away. Where it is very long, ``href`` is linked in the place of the rest.
    ``marks`` are places that stand out, in order and apart: each has ``begin``, ``end`` and ``near`` (it stands out less).
    """
    whole = str(text)
    if cut is None or len(whole) <= cut + cut // 4:  # nothing is folded away for a few words
        return Markup('<bdi class="words" dir="auto">{}</bdi>').format(_marked(whole, 0, len(whole), marks))
    shown = Markup('<bdi class="words" dir="auto">{}<span class="cut">…</span></bdi>').format(
        _marked(whole, 0, cut, marks)
    )
    if len(whole) > _LONGEST_FOLD and href is not None:
        return shown + Markup(' <a class="more" href="{}">show all {} characters</a>').format(href, f"{len(whole):,}")
    return shown + Markup(
        '<details class="more"><summary>show all {} characters</summary><bdi class="words" dir="auto">{}</bdi></details>'
    ).format(f"{len(whole):,}", _marked(whole, cut, len(whole), marks))


def _marked(text: str, begin: int, end: int, marks: Sequence[Mapping[str, Any]]) -> Markup:
    """Return a part of a text, escaped, with what of the marks lies in it."""
    parts: list[Markup] = []
    at = begin
    for one in marks:
        first, last = max(one["begin"], at), min(one["end"], end)
        if first < last:
            parts += [_visible(text[at:first]), Markup("<mark>{}</mark>").format(_visible(text[first:last]))]
            at = last
    return Markup("").join([*parts, _visible(text[at:end])])


def excerpt(text: object, length: int = 80) -> str:
    """Return the beginning of stored text as one plain line, for lists, titles and labels; it must still be escaped."""
    whole = str(text).strip()
    begin = whole[: length * 4]
    line = visible(_BREAKS.sub(" ", begin), lambda one: f"⟦{_sign(one)}⟧").strip()
    cut = len(line) > length or len(begin) < len(whole)
    return (line[: length - 1].rstrip() + "…" if cut else line) or "(no words)"


def _visible(text: str) -> Markup:
    """Return escaped text in which hidden characters are symbols, and each end of a line is one character."""
    return Markup(visible(str(escape(text.replace("\r\n", "\n"))), _symbol))  # noqa: S704 - escaped, and signs of ours


def _symbol(character: str) -> Markup:
    name = unicodedata.name(character, "control character")
    return Markup('<span class="hidden-sign" title="U+{} {}">{}</span>').format(
        f"{ord(character):04X}", name.lower(), _sign(character)
    )


def _sign(character: str) -> str:
    code = ord(character)
    if code < ord(" "):
        return chr(_CONTROL_PICTURES + code)
    return _SHORT_NAMES.get(character, f"{code:04X}")
