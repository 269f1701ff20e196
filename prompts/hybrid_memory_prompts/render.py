"""Turning templates into text, and the rule by which stored text may appear in it. Resources and prompts are made here.

Stored text is data. It travels as `Stored`, which nothing can print by accident: only the ``lines`` filter unwraps it, and
only the macro in ``_quote.md.j2`` uses that filter. There each of its lines begins with a bar, and the whole is between
two marks that carry 128 random bits drawn for this rendering, so that no text stored before can close the quotation or
look like anything outside it.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import lru_cache
from importlib import resources
from pathlib import Path
from typing import Any

from jinja2 import BaseLoader, Environment, StrictUndefined, TemplateError, TemplateNotFound, TemplateSyntaxError
from jinja2.sandbox import SandboxedEnvironment

from hybrid_memory.clock import RandomSource, SystemRandomSource
from hybrid_memory.errors import InvalidInput
from hybrid_memory.language.text import visible

NONCE_BITS = 128  # no text can guess the marks around a quotation
SEED_VARIABLES = ("most_recent_memories", "question", "thought")

_PACKAGE = "hybrid_memory_prompts"
_NOT_REPLACEABLE = "_"  # how the names of templates begin that users cannot replace
_MAX_ATTRIBUTE_LENGTH = 80  # characters of a name in the first line of a quotation


class Stored:
    """Stored text on its way to a template; printing it anywhere but through the quoting macro fails."""

    __slots__ = ("_text",)

    def __init__(self, text: str) -> None:
        self._text = text

    def __str__(self) -> str:
        raise TypeError("stored text is printed by quote() only")

    __repr__ = __str__
    __format__ = object.__format__

    def __bool__(self) -> bool:
        return bool(self._text)


@dataclass(frozen=True, slots=True, kw_only=True)
class Quoted:
    """A memory as templates see it: ``text`` and ``speaker`` are stored text, the rest is the server's own knowledge.

    ``section`` is the part of a brief that it is in; those of one section follow one another. ``disputes`` is the id of the more
    trusted memory that it contradicts, ``disputed_by`` are those that contradict it and are trusted less, ``contradicted_by`` is a later
    one that likely says what changed.
    """

    id: str
    time: str
    origin: str
    trust: str
    tier: str
    text: Stored
    speaker: Stored | None = None
    section: str = ""
    disputes: str = ""
    disputed_by: tuple[str, ...] = ()
    contradicted_by: str = ""


class Renderer:
    """Renders templates by name; a file of the same name in the ``override`` folder replaces a built-in one.

    Templates whose names begin with an underscore, that is the quoting macro, cannot be replaced.
    """

    def __init__(self, random_source: RandomSource | None = None, override: Path | None = None) -> None:
        self._random_source = random_source or SystemRandomSource()
        self._environment = _environment(_Loader(override))

    def render(self, name: str, *, memories: Iterable[Quoted] = (), **variables: Any) -> str:
        """Return the text of a template; its variables are ``memories``, ``nonce`` and those given.

        Raises:
            InvalidInput: the template (a user's own) does not exist or does not work; names it and the line.
        """
        quoted = tuple(memories)
        with _explained(name):
            template = self._environment.get_template(name)
            text: str = template.render(memories=quoted, nonce=self._nonce(quoted), **variables)
        return text

    def _nonce(self, memories: tuple[Quoted, ...]) -> str:
        while True:
            nonce = f"{self._random_source.bits(NONCE_BITS):0{NONCE_BITS // 4}x}"
            if not any(nonce in text for text in _texts(memories)):
                return nonce


def render_text(template_source: str, **variables: Any) -> str:
    """Return the text of a template given as source by a programmer, in the style of the seeds.

    The variables ``most_recent_memories``, ``question`` and ``thought`` are empty unless given; any other that the
    template names must be given. The source must never be stored text; values may be.

    Raises:
        InvalidInput: the template does not work; names the line.
    """
    texts: dict[str, Any] = dict.fromkeys(SEED_VARIABLES, "")
    with _explained("template"):
        text: str = _compiled(template_source).render(texts | variables)
    return text


@lru_cache(maxsize=64)
def _compiled(template_source: str) -> Any:
    return _environment(None).from_string(template_source)


class _explained:  # noqa: N801 - used like a function
    """Turns what a template does wrong into `InvalidInput` that names template and line."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __enter__(self) -> None:
        return None

    def __exit__(self, _: object, error: BaseException | None, __: object) -> None:
        if isinstance(error, InvalidInput):
            return
        if isinstance(error, TemplateNotFound):
            raise InvalidInput(self._name, "there is no such template") from None
        if isinstance(error, TemplateSyntaxError):
            raise InvalidInput(self._name, f"line {error.lineno} is not valid template language") from None
        if isinstance(error, TemplateError):
            raise InvalidInput(self._name, f"cannot be rendered: {type(error).__name__}; check its variables") from None
        if isinstance(error, TypeError | ValueError | ArithmeticError | LookupError | RecursionError):
            raise InvalidInput(self._name, "cannot be rendered; stored text is printed by quote() only") from None


class _Loader(BaseLoader):
    """Finds templates in the user's folder first, then alongside this module."""

    def __init__(self, override: Path | None) -> None:
        self._override = override

    def get_source(self, environment: Environment, template: str) -> tuple[str, str | None, Callable[[], bool]]:
        del environment
        if not re.fullmatch(r"[a-z_]+\.md\.j2", template):
            raise TemplateNotFound(template)
        own = None if self._override is None or template.startswith(_NOT_REPLACEABLE) else self._override / template
        try:
            if own is not None and own.is_file():
                return own.read_text("utf-8"), None, lambda: True
            return resources.files(_PACKAGE).joinpath(template).read_text("utf-8"), None, lambda: True
        except FileNotFoundError:
            raise TemplateNotFound(template) from None
        except (OSError, UnicodeDecodeError):
            raise InvalidInput(template, "the file in the folder of templates cannot be read as UTF-8") from None


def _environment(loader: BaseLoader | None) -> Environment:
    # Texts for a model need no HTML escaping; stored text cannot pass unquoted, because Stored refuses to be printed.
    environment = SandboxedEnvironment(
        loader=loader, undefined=StrictUndefined, autoescape=False, keep_trailing_newline=False
    )
    environment.filters["lines"] = _lines
    environment.filters["attribute"] = _attribute
    return environment


def _lines(stored: Stored) -> str:
    """Return stored text with a bar before each of its lines, whatever ends them."""
    lines = stored._text.splitlines() or [""]  # noqa: SLF001 - the one place that unwraps it
    return "\n".join(f"| {visible(line)}" for line in lines)


def _attribute(stored: Stored) -> str:
    """Return a short stored name in double quotes on one line."""
    shown = " ".join(stored._text.split())[:_MAX_ATTRIBUTE_LENGTH]  # noqa: SLF001 - the one place that unwraps it
    return visible(json.dumps(shown, ensure_ascii=False)).replace("<", "\\u003c")


def _texts(memories: tuple[Quoted, ...]) -> Iterator[str]:
    for memory in memories:
        yield memory.text._text  # noqa: SLF001 - to be sure that no text holds the nonce
        if memory.speaker is not None:
            yield memory.speaker._text  # noqa: SLF001 - as above
