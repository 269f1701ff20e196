"""The name that a client gives itself, as it may stand in the audit and in status."""

from __future__ import annotations

from mcp.types import CLIENT_INFO_META_KEY, JSONRPCRequest

UNKNOWN = "unknown"
MAX_NAME_LENGTH = 100  # characters; the name is stored with every write


def clean_client_name(name: str) -> str:
    """Return the printable characters of a name, at most `MAX_NAME_LENGTH`; `UNKNOWN` where none are left."""
    return "".join(c for c in name if c.isprintable()).strip()[:MAX_NAME_LENGTH] or UNKNOWN


def client_name_of(message: JSONRPCRequest) -> str | None:
    """Return the cleaned name that a request tells, None when it tells none.

    Up to protocol 2025-11-25 it stands in ``initialize``, from 2026-07-28 on in the metadata of every request.
    """
    params = message.params or {}
    in_handshake = message.method == "initialize"
    info = params.get("clientInfo") if in_handshake else (params.get("_meta") or {}).get(CLIENT_INFO_META_KEY)
    return clean_client_name(str(info.get("name", ""))) if isinstance(info, dict) else None
