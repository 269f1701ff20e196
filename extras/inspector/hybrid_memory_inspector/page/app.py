"""The page's application: an address and one for its data for each view, files, and errors that say what to do.

Who may ask is checked before it (`page.access`). A request goes these steps: `_Pages.asked` makes a `ViewRequest` of the address;
the view's ``load`` and the template run in a worker thread of the memory (`MemoryAccess.call`); what a view raises becomes a page.
"""

from __future__ import annotations

import json
from collections.abc import Awaitable, Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta, tzinfo
from functools import partial
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from starlette.applications import Starlette
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import Mount, Route
from starlette.staticfiles import StaticFiles
from starlette.types import Scope as AsgiScope

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import HybridMemoryError, InvalidInput, NotFound, error_code
from hybrid_memory.model import Scope
from hybrid_memory_inspector.page import actions
from hybrid_memory_inspector.page.actions import json_response
from hybrid_memory_inspector.page.rendering import STATIC, Frame, environment, render_error, render_view
from hybrid_memory_inspector.views.map import points
from hybrid_memory_inspector.views.table import VIEWS, View
from hybrid_memory_mcp.runtime.error_log import log_failure
from hybrid_memory_mcp.views.view import ViewRequest

if TYPE_CHECKING:
    from hybrid_memory.clock import Clock
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_mcp.runtime.provider import MemoryAccess

T = TypeVar("T")

_DATA = ".json"
_LONGEST_PARAMETER = 4000  # characters of one parameter
_MOST_PARAMETERS = 40
_GATHERED = ("search", "brief", "sessions", "review", "health")
_QUESTION = "Ada"  # whatever is asked, a search needs the same
_KEEP_BUT_ASK = "no-cache"  # files may be kept, and are asked for again: an update of the program changes them
LAST_LOOK = "last-look.json"
"""When a person looked last, in the store's folder: a browser forgets with the page's address. It holds moments and names of namespaces."""
SITTING = timedelta(minutes=30)
"""Looks that are not farther apart are one: what was new at the first is new at the second, too."""

_MOST_PLACES = 50


@dataclass(frozen=True, slots=True)
class Looked:
    """``since`` is when the sitting before this one ended, None in the first; ``seen`` is the latest look."""

    since: datetime | None
    seen: datetime


@dataclass(frozen=True, kw_only=True)
class PageResources:
    """What the page is on.

    ``scope`` says whose memories are shown where the address names no namespace, and as who a person acts; ``memory`` is the way to
    them; ``clients`` tells who is connected; ``zone`` is that of days and exact times, None for this process's own. ``operation`` does one
    of `hybrid_memory_mcp.admin.operations` by its name, with its arguments, for a scope; without it nothing is erased here.
    """

    memory: MemoryAccess
    scope: Scope
    home: Path = field(default_factory=Path)
    zone: tzinfo | None = None
    clients: Callable[[], list[dict[str, Any]]] = list
    clock: Clock = field(default_factory=SystemClock)
    operation: Callable[[str, Mapping[str, Any], Scope], Awaitable[dict[str, Any]]] | None = None

    def asked(self, parameters: Mapping[str, str]) -> ViewRequest:
        """Return what the parameters of an address ask of a view or an action."""
        namespace = parameters.get("namespace", "").strip()
        scope = replace(self.scope, namespace=namespace, personal=None) if namespace else self.scope
        return ViewRequest(scope=scope, parameters=parameters, zone=self.zone, home=self.home, clients=self.clients)


def build_page_app(resources: PageResources) -> Starlette:
    """Return the application of the page."""
    pages = _Pages(resources)
    own = [
        *actions.routes(resources),
        Route("/map/points.bin", _points(resources, pages.asked)),
        Mount("/static", _Files(directory=STATIC), name="static"),
        *(Route("/index.json", pages.data(view)) for view in VIEWS if view.path == "/"),
        # Data first: the address of a page would match that of its data too.
        *(Route(_pattern(view.data_path), pages.data(view)) for view in VIEWS),
        *(Route(_pattern(view.path), pages.page(view)) for view in VIEWS),
        *(
            Route(_pattern(view.path) + "/", pages.page(view))
            for view in VIEWS
            if view.path.endswith("}")  # see `rendering.address`
        ),
    ]
    app = Starlette(
        routes=own,
        exception_handlers={HTTPException: pages.refuse, Exception: pages.fail},
    )
    app.router.redirect_slashes = False
    return app


class _Pages:
    """Answers requests for views, as pages and as data."""

    def __init__(self, resources: PageResources) -> None:
        self._resources = resources

    def page(self, view: View) -> Callable[[Request], Any]:
        """Return what answers with the page of a view."""

        async def answer(request: Request) -> Response:
            asked = self.asked(request)
            try:
                text = await self._resources.memory.call(lambda service: self._render(view, asked, request, service))
            except HybridMemoryError as error:
                return await self._error_page(request, *_told(error))
            return HTMLResponse(text)

        return answer

    def data(self, view: View) -> Callable[[Request], Any]:
        """Return what answers with the data of a view."""

        async def answer(request: Request) -> Response:
            asked = self.asked(request)
            try:
                found = await self._resources.memory.call(partial(self._data, view, asked))
            except HybridMemoryError as error:
                return _error_as_json(_told(error)[0], error_code(error), str(error))
            return json_response(found)

        return answer

    async def refuse(self, request: Request, error: Exception) -> Response:
        """Answer what no route takes."""
        status = error.status_code if isinstance(error, HTTPException) else HTTPStatus.NOT_FOUND
        if status == HTTPStatus.METHOD_NOT_ALLOWED:
            problem, advice = "This address only shows.", "What changes memories are the buttons on the pages."
        else:
            problem, advice = "There is nothing at this address.", "The menu has all views; Ctrl-K finds them by name."
        if _wants_data(request):
            return _error_as_json(status, "not_found", problem)
        return await self._error_page(request, status, HTTPStatus(status).phrase, problem, advice)

    async def fail(self, request: Request, error: Exception) -> Response:
        """Answer where this program failed; its log says where."""
        log_failure("a page", error)
        problem = "This page failed inside. What you have remembered is not touched by that."
        if _wants_data(request):
            return _error_as_json(HTTPStatus.INTERNAL_SERVER_ERROR, "failed", problem)
        advice = "Load it again. If it fails again, `hybrid-memory-mcp doctor` says more, and so does the log."
        return await self._error_page(request, HTTPStatus.INTERNAL_SERVER_ERROR, "Something broke", problem, advice)

    def asked(self, request: Request) -> ViewRequest:
        return self._resources.asked(_parameters(request))

    def _render(self, view: View, asked: ViewRequest, request: Request, service: MemoryService) -> str:
        frame = self._frame(request, asked)
        if view.path == "/":  # a page that follows what happens is nobody's look
            asked = self._looked_at(asked, service, looks=not frame.fragment)
        found = view.load(service, asked)
        frame = replace(frame, now=service.now(), namespaces=tuple(service.store.namespaces()))
        return render_view(view, found, frame)

    def _data(self, view: View, asked: ViewRequest, service: MemoryService) -> dict[str, Any]:
        return view.load(service, self._looked_at(asked, service, looks=False) if view.path == "/" else asked)

    def _looked_at(self, asked: ViewRequest, service: MemoryService, *, looks: bool) -> ViewRequest:
        moment = last_look(self._resources.home, asked.scope.namespaces, service.now(), looks=looks)
        return replace(asked, last_look=moment)

    def _frame(self, request: Request, asked: ViewRequest) -> Frame:
        return Frame(
            now=self._resources.clock.now(),
            zone=self._resources.zone,
            path=str(request.scope["path"]).removesuffix("/") or "/",  # the stroke that ends a name
            parameters={name: text for name, text in asked.parameters.items() if name in request.query_params},
            here=asked.scope.namespaces,
            fragment=request.headers.get("hx-request-type") == "partial",
        )

    async def _error_page(self, request: Request, status: int, title: str, problem: str, advice: str) -> Response:
        try:
            asked = self.asked(request)
        except HTTPException:  # it is what is wrong
            asked = self._resources.asked({})
        frame = self._frame(request, asked)
        return HTMLResponse(render_error(status, title, problem, advice, frame), status_code=status)


def _points(resources: PageResources, asked: Callable[[Request], ViewRequest]) -> Callable[[Request], Any]:
    """Return what answers with the points of the map as bytes (`views.map.packed`)."""

    async def answer(request: Request) -> Response:
        wanted = asked(request)
        found = await resources.memory.call(lambda service: points(service, wanted))
        if found is None:
            return Response("the map is being drawn", HTTPStatus.SERVICE_UNAVAILABLE, media_type="text/plain")
        return Response(found, media_type="application/octet-stream")

    return answer


class _Files(StaticFiles):
    """The page's own files."""

    async def get_response(self, path: str, scope: AsgiScope) -> Response:
        response = await super().get_response(path, scope)
        response.headers["cache-control"] = _KEEP_BUT_ASK
        return response


def _pattern(path: str) -> str:
    """Return a view's path as the router has it: the last parameter may hold strokes, as names do."""
    before, brace, last = path.rpartition("}")
    return f"{before}:path}}{last}" if brace else path


def _parameters(request: Request) -> dict[str, str]:
    """Return the parameters of an address, of its path and behind its ``?``; of one given twice the last.

    Raises:
        HTTPException: they are too many or too long.
    """
    given = dict(request.query_params)
    if len(given) > _MOST_PARAMETERS or any(len(text) > _LONGEST_PARAMETER for text in given.values()):
        raise HTTPException(HTTPStatus.REQUEST_URI_TOO_LONG)
    ended = "/" if request.scope["path"].endswith("/") else ""
    return given | {name: str(value).removesuffix(ended) for name, value in request.path_params.items()}


def _wants_data(request: Request) -> bool:
    return request.url.path.endswith(_DATA) or request.headers.get("accept", "").startswith("application/json")


def _told(error: HybridMemoryError) -> tuple[int, str, str, str]:
    """Return status, title, what happened and what to do."""
    if isinstance(error, NotFound):
        said = "The menu above leads to all that is there; another namespace may have it."
        return HTTPStatus.NOT_FOUND, "Not found", str(error), said
    if isinstance(error, InvalidInput):
        said = "Change that part of the address, or leave it out."
        return HTTPStatus.BAD_REQUEST, "That cannot be asked", f"“{error.field}” {error.problem}", said
    said = "Load the page again in a moment."
    return HTTPStatus.SERVICE_UNAVAILABLE, "The memory cannot be read now", str(error), said


def _error_as_json(status: int, code: str, message: str) -> Response:
    return json_response({"error": {"code": code, "message": message}}, status)


def compile_first() -> None:
    """Compile the template of the page that a browser opens first."""
    environment().get_template(VIEWS[0].template)


def warm_up(run: Callable[[Callable[[MemoryService], Any]], Any], scope: Scope, home: Path) -> None:
    """Do what the first look at each view would otherwise wait for; ``run`` runs work with the open memory.

    A template takes 20 to 100 ms to compile, and some views gather what is then kept: the order of sessions, what looks like a secret.
    Nothing is shown or counts as a use, and what takes seconds, the map and the names, waits to be asked for.

    Raises:
        HybridMemoryError: the memory is closed meanwhile.
    """
    for view in VIEWS:
        environment().get_template(view.template)
    request = ViewRequest(scope=scope, parameters={"q": _QUESTION}, home=home)
    for view in VIEWS:
        if view.name in _GATHERED:
            run(partial(_look, view, request))


def _look(view: View, request: ViewRequest, service: MemoryService) -> None:
    with suppress(InvalidInput, NotFound):  # who opens this view hears it
        view.load(service, request)


def looked_again(before: Looked | None, now: datetime) -> Looked:
    """Return what is known after one more look. Pure; a clock that was set back begins again."""
    if before is None or before.seen > now:
        return Looked(None, now)
    return Looked(before.since if now - before.seen <= SITTING else before.seen, now)


def last_look(home: Path, namespaces: Sequence[str], now: datetime, *, looks: bool) -> datetime | None:
    """Return when somebody looked at some namespaces before this sitting; where somebody ``looks`` now, note that."""
    known, place = _read_looks(home / LAST_LOOK), " ".join(namespaces)
    before = known.pop(place, None)
    if not looks:
        return before.since if before else None
    after = looked_again(before, now)
    kept = {place: after} | dict(sorted(known.items(), key=lambda one: one[1].seen)[-_MOST_PLACES:])
    _write_looks(home / LAST_LOOK, kept)
    return after.since


def _read_looks(file: Path) -> dict[str, Looked]:
    try:
        found = json.loads(file.read_text(encoding="utf-8"))
        return {
            name: Looked(None if since is None else datetime.fromisoformat(since), datetime.fromisoformat(seen))
            for name, (since, seen) in found.items()
        }
    except (OSError, ValueError, TypeError, AttributeError):
        return {}


def _write_looks(file: Path, known: dict[str, Looked]) -> None:
    values = {name: [one.since and one.since.isoformat(), one.seen.isoformat()] for name, one in known.items()}
    making = file.with_name(f"{file.name}.new")
    with suppress(OSError):
        making.write_text(json.dumps(values), encoding="utf-8")
        making.chmod(0o600)
        making.replace(file)
