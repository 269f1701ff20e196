"""The address of a store on a PostgreSQL server: what goes to libpq, what may be shown of it, and that the way there is encrypted.

Beyond this machine the connection uses TLS and the server proves its name (``sslmode=verify-full``); ``require`` and ``verify-ca`` are
taken when the address or ``PGSSLMODE`` names them, anything less is refused. A Unix socket and a loopback address need none.
Nothing here imports psycopg, so that a relay can compare addresses too.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from hashlib import sha256
from ipaddress import ip_address
from itertools import zip_longest
from pathlib import Path
from typing import TypeAlias
from urllib.parse import quote, unquote

from hybrid_memory.errors import InvalidInput
from hybrid_memory.store.engines import read_password

Conninfo: TypeAlias = str | Callable[[], str]
"""The parameters of a connection for libpq: text, or what gives it again for each one, since a password may be changed while hubs run."""

SCHEMES = ("postgresql://", "postgres://")
STORE = "store"

_LONGEST = 4096  # characters of an address; longer ones are a mistake
_STRICT, _ENCRYPTED = "verify-full", ("require", "verify-ca", "verify-full")
_MODES = ("disable", "allow", "prefer", *_ENCRYPTED)
_SECRETS = ("password", "sslpassword", "oauth_client_secret")
# Those of libpq that say where and how; a name that is none of these is a slip, and a service would hide what it says from us.
_PARAMETERS = frozenset(
    {
        *(
            "application_name",
            "channel_binding",
            "client_encoding",
            "connect_timeout",
            "dbname",
            "fallback_application_name",
        ),
        *(
            "gssdelegation",
            "gssencmode",
            "gsslib",
            "host",
            "hostaddr",
            "keepalives",
            "keepalives_count",
            "keepalives_idle",
        ),
        *(
            "keepalives_interval",
            "krbsrvname",
            "load_balance_hosts",
            "max_protocol_version",
            "min_protocol_version",
            "options",
        ),
        *("passfile", "password", "port", "require_auth", "requirepeer", "ssl_max_protocol_version"),
        *(
            "ssl_min_protocol_version",
            "sslcert",
            "sslcertmode",
            "sslcompression",
            "sslcrl",
            "sslcrldir",
            "sslkey",
            "sslmode",
        ),
        *("sslnegotiation", "sslpassword", "sslrootcert", "sslsni", "target_session_attrs", "tcp_user_timeout", "user"),
    }
)
_LISTS = ("host", "hostaddr", "port")  # with commas, and empty where nothing is between them
# What libpq takes of the environment and that decides where a connection goes, and whose it is.
_VARIABLES: Mapping[str, str] = {
    "host": "PGHOST",
    "hostaddr": "PGHOSTADDR",
    "port": "PGPORT",
    "user": "PGUSER",
    "dbname": "PGDATABASE",
    "sslmode": "PGSSLMODE",
}
# A network that is cut tells nobody: the server's silence is noticed after about ten seconds instead of after hours.
_DEFAULTS: Mapping[str, str] = {
    "application_name": "hybrid-memory-mcp",
    "connect_timeout": "5",
    "keepalives_idle": "10",
    "keepalives_interval": "3",
    "keepalives_count": "3",
    "tcp_user_timeout": "10000",
}
# Where systems keep the certificates that they trust; the libpq inside psycopg's package looks at the place of the system that built it.
_SYSTEM_CERTIFICATES = (
    "/etc/ssl/certs/ca-certificates.crt",
    "/etc/pki/ca-trust/extracted/pem/tls-ca-bundle.pem",
    "/etc/ssl/ca-bundle.pem",
    "/etc/ssl/cert.pem",
    "/opt/homebrew/etc/openssl@3/cert.pem",
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Target:
    """Where a store is.

    ``conninfo`` is for libpq alone: it may hold a password, so it is in no message and not in ``repr``. ``shown`` is the address as
    people may see it and type it. ``digest`` is the same for addresses of the same database, schema and user, whatever else they say.
    ``encrypted`` is whether connections have to use TLS. ``notices`` say what of the address is weaker than it could be.
    ``password_file`` is where the password of ``conninfo`` was read, if in a file.
    """

    conninfo: str = field(repr=False)
    shown: str
    digest: str
    encrypted: bool
    notices: tuple[str, ...] = ()
    password_file: Path | None = None

    def conninfo_now(self) -> str:
        """Return ``conninfo`` with the password that its file holds at this moment: it may have been changed since."""
        if self.password_file is None:
            return self.conninfo
        try:
            password = read_password(self.password_file)
        except InvalidInput:  # gone, or being written at this moment; the former may still do
            return self.conninfo
        return f"{self.conninfo} password={_quoted(password)}"  # of two libpq takes the latter


@dataclass(frozen=True, slots=True)
class _Address:
    """What an address says, by libpq's names; ``host`` and ``port`` may be lists with commas, which libpq tries in their order."""

    parameters: Mapping[str, str] = field(repr=False)


def conninfo_now(conninfo: Conninfo) -> str:
    """Return libpq's parameters for a connection that is made now."""
    return conninfo if isinstance(conninfo, str) else conninfo()


def is_address(text: str) -> bool:
    """Return whether a text is the address of a PostgreSQL store rather than a folder."""
    return text.strip().lower().startswith(SCHEMES)


def holds_secret(address: str) -> bool:
    """Return whether an address says a password; one that cannot be read counts as saying one."""
    try:
        parameters = _parsed(address).parameters
    except InvalidInput:
        return True
    return any(parameters.get(name) for name in _SECRETS)


def refuse_secret(address: str, place: str) -> str:
    """Return an address, unless it says a password in a place that others can read: arguments, ``config.toml``.

    Raises:
        InvalidInput: it does; ``place`` names the argument or setting.
    """
    if any(_parsed(address, place).parameters.get(name) for name in _SECRETS):
        raise InvalidInput(
            place,
            "holds a password, which others can read there. Leave it out, and give it in the file that store_password_file names, in the "
            "variable HYBRID_MEMORY_STORE or PGPASSWORD, or in ~/.pgpass",
        )
    return address


def shown_address(address: str) -> str:
    """Return what may be shown of any text that is meant as an address; never a secret, and never an error."""
    try:
        return _shown(_parsed(address))
    except InvalidInput:
        return "postgresql://?"


def target_of(address: str, environ: Mapping[str, str], password_file: Path | None = None) -> Target:
    """Return where a store is.

    ``environ`` is the process's environment, in which libpq looks for what the address leaves out. ``password_file`` holds the
    password alone; it wins over one in the address.

    Raises:
        InvalidInput: the address or the file cannot be used, or connections beyond this machine would not be encrypted. The text
            quotes nothing of either.
    """
    given = dict(_parsed(address).parameters)
    if environ.get("PGSERVICE"):
        raise InvalidInput(STORE, "cannot be read while PGSERVICE is set, which may change it; unset that variable")
    for name, variable in _VARIABLES.items():
        if not given.get(name) and environ.get(variable):
            given[name] = environ[variable]
    _check_ports(given)
    local = _is_local(given)
    notices = _secure(given, environ, local=local)
    for name, value in _DEFAULTS.items():
        given.setdefault(name, value)
    given["client_encoding"] = "UTF8"  # whatever PGCLIENTENCODING says to other programs
    if "," in given.get("host", ""):
        given.setdefault("target_session_attrs", "read-write")  # of several servers the one that takes writes
    where = _Address(given)
    if password_file is not None:
        given["password"] = read_password(password_file)
    return Target(
        conninfo=" ".join(f"{name}={_quoted(value)}" for name, value in sorted(given.items()) if value),
        shown=_shown(where),
        digest=_digest(given),
        encrypted=not local,
        notices=notices,
        password_file=password_file,
    )


def _secure(given: dict[str, str], environ: Mapping[str, str], *, local: bool) -> tuple[str, ...]:
    """Set what makes the connection a safe one; returns what is weaker than it could be."""
    mode = given.get("sslmode", "")
    if mode and mode not in _MODES:
        raise InvalidInput(STORE, "has an sslmode that PostgreSQL does not know; verify-full is the safest")
    if local:
        return ()
    if mode and mode not in _ENCRYPTED:
        raise InvalidInput(
            STORE,
            "would go to another machine without TLS; leave sslmode out (verify-full), or say sslmode=require for a server whose "
            "certificate nobody vouches for",
        )
    given["sslmode"] = mode or _STRICT
    given.setdefault("gssencmode", "disable")  # which would take the place of TLS without being asked
    if given["sslmode"] == "require":
        return ("the database's certificate is not checked (sslmode=require): whoever is on the way can pose as it",)
    if not given.get("sslrootcert") and not environ.get("PGSSLROOTCERT"):
        own = Path(environ.get("HOME") or "/nonexistent") / ".postgresql" / "root.crt"
        bundle = next((name for name in _SYSTEM_CERTIFICATES if Path(name).is_file()), None)
        if bundle and not own.is_file():
            given["sslrootcert"] = bundle
    return ()


def _is_local(given: Mapping[str, str]) -> bool:
    """Return whether connections stay on this machine: every host and address of the list does."""
    hosts, addresses = given.get("host", "").split(","), given.get("hostaddr", "").split(",")
    # An address wins over the name alongside it, but a name without one goes to the system's resolver.
    return all(_stays(address or name) for name, address in zip_longest(hosts, addresses, fillvalue=""))


def _stays(host: str) -> bool:
    if not host or host.startswith(("/", "@")) or host == "localhost":
        return True  # a socket, or the name that stands for loopback
    try:
        return ip_address(host).is_loopback
    except ValueError:
        return False


def _check_ports(given: Mapping[str, str], place: str = STORE) -> None:
    for port in given.get("port", "").split(","):
        if port and not (port.isascii() and port.isdigit() and 0 < int(port) < 65536):  # noqa: PLR2004 - ports have 16 bits
            raise InvalidInput(place, "has a port that is none")


def _parsed(address: str, place: str = STORE) -> _Address:
    """Return what an address says, as libpq reads it."""
    text = address.strip()
    rest = next((text[len(scheme) :] for scheme in SCHEMES if text.lower().startswith(scheme)), None)
    if rest is None:
        raise InvalidInput(place, "has to be an address as postgresql://user@host/database")
    if len(text) > _LONGEST or any(c.isspace() or not c.isprintable() for c in text):
        raise InvalidInput(
            place, "is too long for an address, or holds spaces or control characters; write those as %20"
        )
    login, at, behind = rest.partition("@")
    if not at or "/" in login:
        login, behind = "", rest
    user, _, password = login.partition(":")
    before, _, query = behind.partition("?")
    if "@" in before:
        # What is there is the rest of a password, and would be shown as a host or a database.
        raise InvalidInput(place, "has more than one @, or a / before it; within a password write them as %40 and %2F")
    hosts, _, database = before.partition("/")
    names, ports = _hosts_of(hosts, place)
    found = {
        "user": _decoded(user, place),
        "password": _decoded(password, place),
        "host": ",".join(_decoded(name, place) for name in names),
        "port": ",".join(ports),
        "dbname": _decoded(database, place),
    }
    for pair in query.split("&") if query else ():
        name, equals, value = pair.partition("=")
        name, value = _decoded(name, place), _decoded(value, place)
        if name == "ssl" and value == "true":
            name, value = "sslmode", "require"
        if not equals or name not in _PARAMETERS:
            raise InvalidInput(
                place,
                "has a parameter that PostgreSQL does not know, or that does not belong in the address of a store",
            )
        found[name] = value
    _check_ports(found, place)
    return _Address({name: value for name, value in found.items() if (value.strip(",") if name in _LISTS else value)})


def _hosts_of(text: str, place: str) -> tuple[list[str], list[str]]:
    names, ports = [], []
    for part in text.split(","):
        if part.startswith("["):
            name, bracket, port = part[1:].partition("]")
            if not bracket or (port and not port.startswith(":")):
                raise InvalidInput(place, "has a host in brackets that does not end")
            port = port[1:]
        else:
            name, _, port = part.partition(":")
        names.append(name)
        ports.append(port)
    return names, ports


def _decoded(text: str, place: str) -> str:
    try:
        found = unquote(text, errors="strict")
    except UnicodeDecodeError:
        raise InvalidInput(place, "has a character written with % that is no UTF-8") from None
    if "\0" in found:
        raise InvalidInput(place, "has a character that an address cannot hold")
    return found


def _shown(address: _Address) -> str:
    parameters = address.parameters
    hosts = parameters.get("host", parameters.get("hostaddr", "")).split(",")
    ports = parameters.get("port", "").split(",")
    query = []
    places = ""
    if any(one.startswith(("/", "@")) for one in hosts):
        # The folder of a socket has no place before the path.
        query.append(f"host={','.join(_written(one, '/:@') for one in hosts)}")
        query += [f"port={','.join(ports)}"] if any(ports) else []
    else:
        found = []
        for number, host in enumerate(hosts):
            port = ports[number] if number < len(ports) else ports[-1] if len(ports) == 1 else ""
            name = f"[{_written(host, ':')}]" if ":" in host else _written(host)
            found.append(name + (f":{port}" if port else ""))
        places = ",".join(found)
    if schema := _schema_of(parameters):
        query.append(f"options=-csearch_path%3D{_written(schema, ',')}")
    user = _written(parameters.get("user", ""))
    database = _written(parameters.get("dbname", ""))
    return f"postgresql://{user + '@' if user else ''}{places}/{database}" + (f"?{'&'.join(query)}" if query else "")


def _written(text: str, plain: str = "") -> str:
    """Return a part of an address as one can type it; ``plain`` are marks that mean nothing else there."""
    return "".join(c if c.isalnum() or c in "-._~" or c in plain else quote(c, safe="", errors="replace") for c in text)


def _schema_of(parameters: Mapping[str, str]) -> str:
    """Return the schemas that an address names in its options, as libpq's ``-c search_path=...`` has it."""
    options = parameters.get("options", "").replace("-c ", "-c")
    found = [one.partition("=")[2] for one in options.split() if one.startswith(("-csearch_path=", "--search_path="))]
    return found[-1] if found else ""


def _digest(given: Mapping[str, str]) -> str:
    """Return what two addresses of the same store as the same user have in common, and no others."""
    user = given.get("user", "")
    hosts = given.get("host", given.get("hostaddr", "")).lower()
    ports = [one or "5432" for one in given.get("port", "").split(",")]
    parts = (
        hosts,
        ",".join(ports * len(hosts.split(",")) if len(ports) == 1 else ports),  # one port is that of all hosts
        given.get("dbname", "") or user,
        user,
        _schema_of(given),
    )
    return sha256("\0".join(parts).encode("utf-8", "surrogatepass")).hexdigest()


def _quoted(value: str) -> str:
    """Return a value as libpq reads it in ``name='value'``."""
    return "'" + value.replace("\\", "\\\\").replace("'", "\\'") + "'"
