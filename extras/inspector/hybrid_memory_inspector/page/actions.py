"""``POST /actions/<verb>``: what a person does on the page. Who may ask is checked before it (`page.access`).

A request is JSON or a form. Who wants JSON gets the answer of `hybrid_memory_mcp.admin.acting.act`; a form that was sent without
scripts a page that says what was done, with a button that undoes it and the way back. Nothing is destroyed here but by ``purge``, for
which the person types how many memories go, as the command `purge` tells it.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import replace
from functools import partial
from http import HTTPStatus
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import HTMLResponse, Response
from starlette.routing import BaseRoute, Route

from hybrid_memory.errors import ChangedSince, ConfirmationNeeded, HybridMemoryError, InvalidInput, NotFound, error_code
from hybrid_memory.service.homes import home_of
from hybrid_memory_inspector.page.rendering import Frame, render_page
from hybrid_memory_mcp.admin.acting import PERSON_ON_PAGE, VERBS, act

if TYPE_CHECKING:
    from hybrid_memory.model import MemoryId, Scope
    from hybrid_memory.service.memory_service import MemoryService
    from hybrid_memory_inspector.page.app import PageResources
    from hybrid_memory_mcp.views.view import ViewRequest

_LARGEST = 4 * 2**20  # bytes of a request
_LISTS = frozenset({"ids", "parts"})  # what a form may hold several times
_BACK = "back"  # the path that a form was sent from, for who has no scripts


def routes(resources: PageResources) -> list[BaseRoute]:
    """Return the addresses of the actions."""
    actions = _Actions(resources)
    return [
        Route("/actions/purge", actions.purge, methods=["POST"]),
        Route("/actions/{verb}", actions.act, methods=["POST"]),
    ]


class _Actions:
    """Does what is asked, and answers in the way that was asked for."""

    def __init__(self, resources: PageResources) -> None:
        self._resources = resources

    async def act(self, request: Request) -> Response:
        """Do one of the verbs."""
        verb = str(request.path_params["verb"])
        if verb not in VERBS:
            raise HTTPException(HTTPStatus.NOT_FOUND)
        asked, given = self._asked(request), dict[str, Any]()
        try:
            given = await _given(request)
            work = partial(act, scope=_as_person(asked), verb=verb, given=given, reveal=asked.reveal, zone=asked.zone)
            done = await self._resources.memory.call(work)
        except HybridMemoryError as error:
            return self._refuse(request, asked, given, error)
        return self._tell(request, asked, given, done)

    async def purge(self, request: Request) -> Response:
        """Erase memories for good, if the person typed how many go."""
        asked, given = self._asked(request), dict[str, Any]()
        try:
            given = await _given(request)
            typed = str(given.get("typed", "")).strip()
            if self._resources.operation is None:
                raise InvalidInput("purge", "cannot be done by this page; `hybrid-memory-mcp purge` does it")
            scope, ids = await self._resources.memory.call(partial(_places, asked, given))
            arguments: dict[str, Any] = {
                "ids": list(ids),
                "session": None,
                "forgotten": False,
                "everything": False,
                "derived": True,
                "count": None,
                "preview": True,
            }
            seen = await self._resources.operation("purge", arguments, scope)
            if typed != str(seen["memories"]):
                return self._ask(request, asked, given, seen | {"ids": ids})
            arguments |= {"count": seen["memories"], "preview": False}
            erased = await self._resources.operation("purge", arguments, scope)
        except HybridMemoryError as error:
            return self._refuse(request, asked, given, error)
        done: dict[str, Any] = {
            "done": f"{erased['memories']} erased for good",
            "verb": "purge",
            "undo": None,
            "memories": [],
        }
        return self._tell(request, asked, given, done | {"purged": erased})

    def _ask(self, request: Request, asked: ViewRequest, given: Mapping[str, Any], seen: Mapping[str, Any]) -> Response:
        """Say what would go, and ask for the number of it."""
        count = seen["memories"]
        told = f"{count} {'memory goes' if count == 1 else 'memories go'} for good; type {count} to erase"
        if _wants_json(request):
            error = {"code": "confirmation_needed", "message": told, "field": "typed"}
            return json_response({"error": error, "count": count, "goes": dict(seen)}, HTTPStatus.CONFLICT)
        values = {"title": "Erase for good?", "said": told, "seen": seen, "ids": seen["ids"]}
        return self._page(asked, given, HTTPStatus.CONFLICT, values)

    def _tell(
        self, request: Request, asked: ViewRequest, given: Mapping[str, Any], done: Mapping[str, Any]
    ) -> Response:
        if _wants_json(request):
            return json_response(done)
        return self._page(asked, given, HTTPStatus.OK, {"title": "Done", "said": done["done"], "done": done})

    def _refuse(
        self, request: Request, asked: ViewRequest, given: Mapping[str, Any], error: HybridMemoryError
    ) -> Response:
        status = _status_of(error)
        if _wants_json(request):
            told = {"code": error_code(error), "message": str(error)}
            if isinstance(error, InvalidInput):
                told |= {"field": error.field, "message": f"{error.field}: {error.problem}"}
            return json_response({"error": told}, status)
        return self._page(asked, given, status, {"title": "Nothing was changed", "said": str(error)})

    def _page(self, asked: ViewRequest, given: Mapping[str, Any], status: int, values: Mapping[str, Any]) -> Response:
        frame = Frame(
            now=self._resources.clock.now(),
            zone=self._resources.zone,
            path="/",
            parameters={name: text for name, text in asked.parameters.items() if name in ("namespace", "reveal")},
            here=asked.scope.namespaces,
        )
        text = render_page("done.html.j2", frame, {"back": _way_back(given)} | dict(values))
        return HTMLResponse(text, status_code=status)

    def _asked(self, request: Request) -> ViewRequest:
        return self._resources.asked(dict(request.query_params))


async def _given(request: Request) -> dict[str, Any]:
    """Return the arguments of a request.

    Raises:
        InvalidInput: its body is neither JSON nor a form.
    """
    body = bytearray()
    async for part in request.stream():
        body += part
        if len(body) > _LARGEST:
            raise HTTPException(HTTPStatus.REQUEST_ENTITY_TOO_LARGE)
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind == "application/json":
        try:
            value = json.loads(bytes(body) or b"{}")
        except (ValueError, RecursionError):
            raise InvalidInput("body", "is no JSON") from None
        if not isinstance(value, dict):
            raise InvalidInput("body", "must be a JSON object")
        return value
    if kind in ("application/x-www-form-urlencoded", ""):
        return _form(bytes(body))
    raise InvalidInput("body", "must be JSON or a form")


def _form(body: bytes) -> dict[str, Any]:
    try:
        pairs = parse_qsl(body.decode("ascii"), keep_blank_values=True, errors="strict", max_num_fields=2000)
    except ValueError:
        raise InvalidInput("body", "is no form") from None
    given: dict[str, Any] = {}
    for name, value in pairs:
        if name in _LISTS:
            given.setdefault(name, []).extend(value.split() if name == "ids" else value.splitlines())
        else:
            given[name] = value
    return given


def _as_person(asked: ViewRequest) -> Scope:
    return replace(asked.scope, actor=PERSON_ON_PAGE)


def _places(asked: ViewRequest, given: Mapping[str, Any], service: MemoryService) -> tuple[Scope, tuple[MemoryId, ...]]:
    """Return where the memories that are to be erased lie, and their ids.

    Raises:
        InvalidInput: they lie in two namespaces.
    """
    texts = given.get("ids") or given.get("id") or ()
    wanted = texts.split() if isinstance(texts, str) else [str(one) for one in texts]
    if not wanted:
        raise InvalidInput("ids", "name at least one memory")
    scope = _as_person(asked)
    ids = tuple(dict.fromkeys(service.whole_ids(scope, wanted)))
    homes = list(dict.fromkeys(home_of(service.store, scope, one) for one in ids))
    if len(homes) > 1:
        raise InvalidInput("ids", "some are yours and some the project's; erase them apart")
    return homes[0], ids


def _status_of(error: HybridMemoryError) -> int:
    if isinstance(error, NotFound):
        return HTTPStatus.NOT_FOUND
    if isinstance(error, ChangedSince | ConfirmationNeeded):
        return HTTPStatus.CONFLICT
    return HTTPStatus.BAD_REQUEST if isinstance(error, InvalidInput) else HTTPStatus.SERVICE_UNAVAILABLE


def _wants_json(request: Request) -> bool:
    return request.headers.get("accept", "").startswith("application/json")


def json_response(value: Mapping[str, Any], status: int = HTTPStatus.OK) -> Response:
    """Return an answer that is JSON in UTF-8."""
    text = json.dumps(value, ensure_ascii=False, default=str).encode("utf-8", "replace")
    return Response(text, status_code=status, media_type="application/json")


def _way_back(given: Mapping[str, Any]) -> str:
    """Return the path that a form was sent from, of this page alone; the beginning where nobody says."""
    back = given.get(_BACK)
    if not isinstance(back, str) or not back.startswith("/") or back.startswith(("//", "/\\", "/actions")):
        return "/"
    return back
