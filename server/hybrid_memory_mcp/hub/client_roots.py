"""The roots of a client of the older protocol: asked for once it is initialized, and again when it says that they changed.

Roots are deprecated and told by many clients all the same. The question is the hub's own and not the SDK's, so that the relay can keep
the answer and send it to later hubs as a part of the conversation.
"""

from __future__ import annotations

from mcp.types import JSONRPCError, JSONRPCMessage, JSONRPCRequest, JSONRPCResponse

from hybrid_memory_mcp.projects import folder_of_uri
from hybrid_memory_mcp.runtime.client_place import ClientPlace

_LIST = "roots/list"
_NAME = "roots"


class ClientRoots:
    """Asks one client for its roots and tells its place the first of them. ``epoch`` tells the questions of one hub from another's."""

    def __init__(self, where: ClientPlace, epoch: int) -> None:
        self._where = where
        self._epoch = epoch
        self._has_roots = False
        self._asked = 0

    def note_capability(self, initialize: JSONRPCRequest) -> None:
        """Note whether the client says that it has roots; if so, calls that come before they are told wait a moment."""
        capabilities = (initialize.params or {}).get("capabilities")
        self._has_roots = isinstance(capabilities, dict) and isinstance(capabilities.get("roots"), dict)
        if self._has_roots:
            self._where.expect_roots()

    def question(self) -> JSONRPCRequest | None:
        """Return the request for the roots, None for a client without."""
        if not self._has_roots:
            return None
        self._asked += 1
        self._where.expect_roots()
        return JSONRPCRequest(jsonrpc="2.0", id=f"{self._epoch}-{_NAME}{self._asked}", method=_LIST)

    def take(self, message: JSONRPCMessage) -> bool:
        """Take an answer about roots, of this hub's question or of a former one's; return False if it is about something else."""
        if not isinstance(message, JSONRPCResponse | JSONRPCError):
            return False
        _, _, name = str(message.id).partition("-")
        if not name.startswith(_NAME):
            return False
        if isinstance(message, JSONRPCResponse):
            self._where.set_roots(_first_folder(message.result))
        else:
            self._where.roots_unknown()
        return True


def _first_folder(result: object) -> str | None:
    """Return the folder of the first root, None where it is none of this machine."""
    roots = result.get("roots") if isinstance(result, dict) else None
    first = roots[0] if isinstance(roots, list) and roots else None
    uri = first.get("uri") if isinstance(first, dict) else None
    return folder_of_uri(uri) if isinstance(uri, str) else None
