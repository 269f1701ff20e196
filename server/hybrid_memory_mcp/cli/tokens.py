"""The commands ``token create``, ``token list`` and ``token revoke``; the tokens themselves are in ``http/access_tokens.py``."""

from __future__ import annotations

import re
from datetime import datetime, timedelta
from typing import TYPE_CHECKING, Annotated

import typer

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.errors import HybridMemoryError, InvalidInput
from hybrid_memory_mcp.cli.command_group import example
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, Namespace
from hybrid_memory_mcp.cli.output import moment, note, one_line_errors, print_json, print_result, print_rows, say

if TYPE_CHECKING:
    from pathlib import Path

    from hybrid_memory_mcp.http.access_tokens import Grant, Tokens

app = typer.Typer(help="Say who may use the memory over HTTP (`serve --http`).", no_args_is_help=True)


def _completed(incomplete: str) -> list[str]:
    """Complete the name of a token that there is, of the store that the variables name."""
    try:
        return [grant.name for grant in _tokens_of(None).grants() if grant.name.startswith(incomplete)]
    except HybridMemoryError:
        return []


Name = Annotated[
    str, typer.Argument(help="What the token is called here, as the client's name: it stands in the audit.")
]

Known = Annotated[str, typer.Argument(help="As `token list` shows it.", autocompletion=_completed)]

_UNITS = {"m": "minutes", "h": "hours", "d": "days", "w": "weeks"}
_MAX_LIFETIME = timedelta(days=36_500)  # a hundred years


@app.command(epilog=example("token create laptop --expires 90d"))
def create(
    name: Name,
    home: Home = None,
    namespace: Namespace = None,
    agent: Annotated[str | None, typer.Option(help="Name of the agent that remembers. Default: default.")] = None,
    expires: Annotated[
        str | None, typer.Option(help="How long it is good, as 90d, 12h or 30m. Default: for ever.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make a token and print it, this once; only its hash is kept."""
    from hybrid_memory.settings import client_settings
    from hybrid_memory_mcp.http.access_tokens import Tokens, tokens_folder

    with one_line_errors():
        settings = client_settings(home=home, namespace=namespace, agent=agent)
        lifetime = None if expires is None else _lifetime(expires)
        tokens = Tokens(tokens_folder(settings.folder()), SystemClock(), SystemRandomSource())
        token = tokens.create(name, namespace=settings.namespace, agent=settings.agent, lifetime=lifetime)
        (grant,) = (one for one in tokens.grants() if one.name == name)
    if as_json:
        print_json({"token": token, **_row(grant, SystemClock().now())})
        return
    typer.echo(token)
    note(
        f"Keep it: it is not shown again. Namespace {settings.namespace}; clients send it as Authorization: Bearer <token>."
    )
    if _has_no_role(settings.folder(), settings.namespace):
        note(
            f"The database has no role for {settings.namespace}: what hubs log in as sees all namespaces. `hybrid-memory-mcp postgres "
            "prepare` with --namespace and --hub makes one, and the server then keeps the token's calls to it."
        )


@app.command("list", epilog=example("token list"))
def list_tokens(home: Home = None, as_json: AsJson = False) -> None:
    """Show which tokens there are; never the tokens themselves."""
    with one_line_errors():
        grants = _tokens_of(home).grants()
    now = SystemClock().now()
    values = [_row(grant, now) for grant in grants]

    def table() -> None:
        rows = [
            (
                grant.name,
                grant.namespace,
                grant.agent,
                moment(grant.created_at),
                ("for ever" if grant.expires_at is None else moment(grant.expires_at))
                + (" (over)" if grant.expired(now) else ""),
            )
            for grant in grants
        ]
        if rows:
            print_rows(("name", "namespace", "agent", "made", "good until"), rows)
        else:
            note("there is no token yet; `hybrid-memory-mcp token create NAME` makes one")

    print_result(values, as_json, table)


@app.command(epilog=example("token revoke laptop"))
def revoke(name: Known, home: Home = None, as_json: AsJson = False) -> None:
    """Take a token back; a running server refuses it at once."""
    with one_line_errors():
        _tokens_of(home).revoke(name)
    print_result({"revoked": name}, as_json, lambda: say(f"{name} is revoked"))


def _has_no_role(folder: Path, namespace: str) -> bool:
    """Return whether the memory is in a database that has no role for a namespace; what cannot be known now counts as no."""
    from hybrid_memory.errors import StoreError
    from hybrid_memory.settings import store_settings
    from hybrid_memory.store.opening import database_of_settings

    try:
        database = database_of_settings(store_settings(folder))
        return database is not None and database.namespace_role(namespace) is None
    except (StoreError, InvalidInput, ImportError):
        return False


def _tokens_of(home: Home) -> Tokens:
    from hybrid_memory.settings import client_settings
    from hybrid_memory_mcp.http.access_tokens import Tokens, tokens_folder

    return Tokens(tokens_folder(client_settings(home=home).folder()), SystemClock(), SystemRandomSource())


def _row(grant: Grant, now: datetime) -> dict[str, object]:
    return {
        "name": grant.name,
        "namespace": grant.namespace,
        "agent": grant.agent,
        "created_at": grant.created_at.isoformat(),
        "expires_at": None if grant.expires_at is None else grant.expires_at.isoformat(),
        "expired": grant.expired(now),
    }


def _lifetime(text: str) -> timedelta:
    found = re.fullmatch(r"([1-9]\d{0,5})([mhdw])", text.strip().lower())
    if found is None:
        raise InvalidInput("expires", "is a number and m, h, d or w, as 90d")
    lifetime = timedelta(**{_UNITS[found[2]]: int(found[1])})
    if lifetime > _MAX_LIFETIME:
        raise InvalidInput("expires", "is at most a hundred years; leave it out for a token without an end")
    return lifetime
