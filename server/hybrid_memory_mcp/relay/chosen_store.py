"""What a client, a hook or a command was told by its variables, as the hub hears of it: which store to use, never with a password."""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

STORE = "HYBRID_MEMORY_STORE"

_PREFIX = "HYBRID_MEMORY_"

# What PostgreSQL's library takes for an address where that leaves it out.
_PARTS = ("PGHOST", "PGHOSTADDR", "PGPORT", "PGUSER", "PGDATABASE")
_SECRETS = ("password", "sslpassword", "oauth_client_secret")


def variables_for_hub(environment: Mapping[str, str], others: Sequence[str] = ("TZ",)) -> list[str]:
    """Return the variables of a process, as ``NAME=value``, that its hub is told: settings, ``others``, and which store is meant."""
    told = [
        f"{name}={value}"
        for name, value in environment.items()
        if (name.upper().startswith(_PREFIX) and name.upper() != STORE) or name in others
    ]
    return told + chosen_store(environment)


def chosen_store(environment: Mapping[str, str]) -> list[str]:
    """Return the variables, as ``NAME=value``, that say which store is meant; none where the settings of the folder say it."""
    chosen = next((value for name, value in environment.items() if name.upper() == STORE and value), None)
    if chosen is None:
        return []
    parts = [f"{name}={environment[name]}" for name in _PARTS if environment.get(name)]
    return [f"{STORE}={without_secret(chosen)}", *parts]


def without_secret(address: str) -> str:
    """Return an address without the passwords in it, and without a parameter whose name is written so that it could be one."""
    scheme, colon, rest = address.strip().partition("://")
    if not colon:
        return "?"
    before, _, query = rest.partition("?")
    login, at, behind = before.rpartition("@")
    kept = [pair for pair in query.split("&") if pair and not _may_be_secret(pair)]
    return f"{scheme}://{login.partition(':')[0]}{at}{behind}{'?' if kept else ''}{'&'.join(kept)}"


def _may_be_secret(pair: str) -> bool:
    name = pair.partition("=")[0].lower()
    return name in _SECRETS or "%" in name
