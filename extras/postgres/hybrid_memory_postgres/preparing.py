"""What an administrator does once: tables, a role for hubs with no more rights than they need, roles that stand for namespaces.

A hub needs rows, not tables: it may read and change rows, and have a table rewritten after an erasure (`row_security`). It owns nothing,
makes nothing, and may not say who is bound to what. Statements that name a role or a table are put together by the server (``format``),
which quotes names as it reads them.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial

from hybrid_memory.errors import InvalidInput
from hybrid_memory_postgres.connections import EVERYTHING, Connections
from hybrid_memory_postgres.migrating import migrate
from hybrid_memory_postgres.row_security import WALLED
from hybrid_memory_postgres.sql_session import PgSession
from hybrid_memory_postgres.table_changes import changing_tables

SHARED = ("embedder", "store", "hub", "lease", "moving", "sync_note", "sync_segment")
"""The tables without a namespace that hubs change."""
ONLY_READ = ("migration", "role_namespace")
"""Those that they only read."""

_LONGEST_NAME = 63  # bytes of a name in PostgreSQL, which cuts longer ones without a word

_ROLE = """
    SELECT rolsuper OR rolbypassrls, rolcanlogin, rolname = current_user FROM pg_catalog.pg_roles WHERE rolname = $1
"""
_MAY_MAKE_ROLES = "SELECT rolsuper OR rolcreaterole FROM pg_catalog.pg_roles WHERE rolname = current_user"
_IS_HUB = """
    SELECT EXISTS (
        SELECT 1 FROM pg_catalog.pg_policies
        WHERE schemaname = current_schema() AND tablename = 'memory' AND policyname = 'hubs' AND $1 = ANY (roles)
    )
"""
_IS_BOUND = "SELECT EXISTS (SELECT 1 FROM role_namespace WHERE role = $1)"
_MAKE_ROLE = "SELECT format('CREATE ROLE %I NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS LOGIN', $1::text)"
_MAKE_NAMESPACE_ROLE = (
    "SELECT format('CREATE ROLE %I NOSUPERUSER NOCREATEDB NOCREATEROLE NOBYPASSRLS NOLOGIN', $1::text)"
)
# Tables and function of a role that is to serve hubs go to anyone who prepares the store.
_TAKE_OVER = """
    SELECT format('ALTER TABLE %I OWNER TO CURRENT_USER', t.relname)
    FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace JOIN pg_catalog.pg_roles r ON r.oid = t.relowner
    WHERE n.nspname = current_schema() AND t.relkind = 'r' AND t.relname = ANY ($2::text[]) AND r.rolname = $1
    UNION ALL
    SELECT format('ALTER FUNCTION rewrite_table(TEXT) OWNER TO CURRENT_USER')
    FROM pg_catalog.pg_proc f JOIN pg_catalog.pg_namespace n ON n.oid = f.pronamespace JOIN pg_catalog.pg_roles r ON r.oid = f.proowner
    WHERE n.nspname = current_schema() AND f.proname = 'rewrite_table' AND r.rolname = $1
    UNION ALL
    SELECT format('ALTER POLICY keeper ON role_namespace TO CURRENT_USER') FROM pg_catalog.pg_policies
    WHERE schemaname = current_schema() AND policyname = 'keeper' AND roles <> array[current_user::name]
"""
# ``$1`` are names of roles, quoted and with commas between: whoever prepares a store completes the rights of all its roles, so that a
# table which came with an upgrade is there for each of them.
_FOR_HUBS = """
    SELECT format('GRANT USAGE ON SCHEMA %I TO %s', current_schema(), $1::text)
    UNION ALL SELECT format('GRANT CONNECT, TEMPORARY ON DATABASE %I TO %s', current_database(), $1::text)
    UNION ALL SELECT format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO %s', unnest($2::text[]), $1::text)
    UNION ALL SELECT format('GRANT SELECT ON %I TO %s', unnest($3::text[]), $1::text)
    UNION ALL SELECT format('GRANT EXECUTE ON FUNCTION rewrite_table(TEXT) TO %s', $1::text)
    UNION ALL SELECT format('GRANT USAGE, SELECT, UPDATE ON SEQUENCE %I TO %s', s.relname, $1::text)
        FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
        JOIN pg_catalog.pg_depend d ON d.refobjid = t.oid AND d.deptype = 'i'
        JOIN pg_catalog.pg_class s ON s.oid = d.objid AND s.relkind = 'S'
        WHERE n.nspname = current_schema() AND t.relname = ANY ($2::text[])
"""
# Those that are not for all roles yet. That of ``memory`` comes last: by it a login is known as one that hubs use.
_POLICIES = """
    SELECT format('ALTER POLICY hubs ON %I TO CURRENT_USER, %s', tablename, $1::text) FROM pg_catalog.pg_policies
    WHERE schemaname = current_schema() AND policyname = 'hubs' AND NOT roles @> ($2::text[] || current_user::text)::name[]
    ORDER BY tablename = 'memory', tablename
"""
# Of the store's own row everything but the secret key of its terms.
_FOR_NAMESPACE_ROLES = """
    SELECT format('GRANT USAGE ON SCHEMA %I TO %s', current_schema(), $1::text)
    UNION ALL SELECT format('GRANT SELECT, INSERT, UPDATE, DELETE ON %I TO %s', unnest($2::text[]), $1::text)
    UNION ALL SELECT format('GRANT SELECT ON %I TO %s', unnest(array['migration', 'role_namespace', 'embedder']), $1::text)
    UNION ALL SELECT format('GRANT SELECT (%s) ON store TO %s', string_agg(quote_ident(c.attname), ', '), $1::text)
        FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
        JOIN pg_catalog.pg_attribute c ON c.attrelid = t.oid AND c.attnum > 0 AND NOT c.attisdropped
        WHERE n.nspname = current_schema() AND t.relname = 'store' AND c.attname <> 'term_key'
"""
_HUB_ROLES = """
    SELECT string_agg(DISTINCT quote_ident(one), ', '), array_agg(DISTINCT one::text) FROM (
        SELECT unnest(roles) AS one FROM pg_catalog.pg_policies
        WHERE schemaname = current_schema() AND tablename = 'memory' AND policyname = 'hubs'
        UNION SELECT $1::text::name WHERE $1::text IS NOT NULL
    ) AS known WHERE one <> current_user
"""
_NAMESPACE_ROLES = """
    SELECT string_agg(DISTINCT quote_ident(p.rolname), ', ') FROM role_namespace r JOIN pg_catalog.pg_roles p ON p.rolname = r.role
"""
# Before version 16 whoever may take a role has its rights too, which are none that a hub has not.
_MAY_TAKE = """
    SELECT format(CASE WHEN current_setting('server_version_num')::int >= 160000
        THEN 'GRANT %I TO %I WITH INHERIT FALSE, SET TRUE' ELSE 'GRANT %I TO %I' END, $1::text, $2::text)
"""
# Everybody may make temporary tables in a database unless that is revoked. In one that other programs use too, it is left to its owner.
_REVOKE_TEMPORARY = """
    SELECT format('REVOKE TEMPORARY ON DATABASE %I FROM PUBLIC', d.datname) FROM pg_catalog.pg_database d
    WHERE d.datname = current_database() AND pg_catalog.pg_has_role(d.datdba, 'USAGE') AND NOT EXISTS (
        SELECT 1 FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
        WHERE t.relkind IN ('r', 'p', 'f') AND n.nspname !~ '^(pg_|information_schema$)'
            AND NOT (n.nspname = current_schema() AND t.relname = ANY ($1::text[]))
            AND NOT EXISTS (SELECT 1 FROM pg_catalog.pg_depend x WHERE x.objid = t.oid AND x.deptype = 'e')
    )
"""
_IS_REVOKED = "SELECT NOT pg_catalog.has_database_privilege('public', current_database(), 'TEMPORARY')"
_UNBIND = "DELETE FROM role_namespace WHERE role = $1 AND NOT namespace = ANY ($2::text[])"
_BIND = """
    INSERT INTO role_namespace (role, namespace) SELECT $1, unnest($2::text[]) ON CONFLICT (role, namespace) DO NOTHING
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """What was done: the number of the schema, whether the role was made, the namespaces that it stands for (none: a hub's login).

    ``temporary_revoked`` is False where every login of the database may still make temporary tables: it has another owner, or holds
    other programs' tables.
    """

    schema: int
    role: str
    made: bool
    namespaces: tuple[str, ...] = ()
    hub: str | None = None
    temporary_revoked: bool = True


def prepare(
    connections: Connections, now: datetime, role: str, namespaces: Collection[str] = (), hub: str | None = None
) -> Prepared:
    """Make or complete tables, role and rights; doing it again changes nothing, or what is given otherwise.

    Without ``namespaces`` the role is one that hubs log in as, and sees all of them. With them it stands for these, and no others
    from now on; ``hub`` is the hubs' login that may take it.

    Raises:
        InvalidInput: the role cannot be what is asked for.
        ConstraintViolation: whoever is logged in here may not do that.
    """
    for place, name in (("role", role), ("hub", hub)):
        if name is not None and (not name or len(name.encode()) > _LONGEST_NAME or "\0" in name):
            raise InvalidInput(place, f"has to be the name of a role, of at most {_LONGEST_NAME} bytes")
    if hub is not None and not namespaces:
        raise InvalidInput(
            "hub", "names who takes a role of namespaces; say with --namespace which these are, or leave it out"
        )
    schema = migrate(connections, now)
    stands_for = sorted(set(namespaces))
    made = changing_tables(connections, lambda session: _prepare_role(session, role, stands_for, hub))
    _let_hubs_in(connections, None if stands_for else role)
    with connections.reading(EVERYTHING) as session:
        revoked = bool(session.rows(_IS_REVOKED)[0][0])
    return Prepared(
        schema=schema, role=role, made=made, namespaces=tuple(stands_for), hub=hub, temporary_revoked=revoked
    )


def _prepare_role(session: PgSession, role: str, namespaces: Sequence[str], hub: str | None) -> bool:
    """Make or complete a role and all rights; returns whether it was made."""
    made = _make_sure_of_role(session, role, is_hub=not namespaces)
    if namespaces:
        _stand_for(session, role, namespaces, hub)
    else:
        _serve_hubs(session, role)
    _complete_rights(session, None if namespaces else role)
    if hub is not None:
        _run(session, _MAY_TAKE, role, hub)
    return made


def _make_sure_of_role(session: PgSession, role: str, *, is_hub: bool) -> bool:
    found = session.row(_ROLE, role)
    if found is None:
        if not session.rows(_MAY_MAKE_ROLES)[0][0]:
            raise InvalidInput(
                "role",
                "is not there, and the login that prepares the store may not make roles (CREATEROLE). Have somebody make it who may "
                f"(CREATE ROLE name {'LOGIN' if is_hub else 'NOLOGIN'}), then do this again",
            )
        _run(session, _MAKE_ROLE if is_hub else _MAKE_NAMESPACE_ROLE, role)
        return True
    above_walls, _, is_me = found
    if above_walls:
        raise InvalidInput("role", "is a superuser or has BYPASSRLS: no wall would hold it. Name another one")
    if is_me:
        raise InvalidInput("role", "is the login that prepares the store, and owns its tables. Name another one")
    return False


def _serve_hubs(session: PgSession, role: str) -> None:
    if session.rows(_IS_BOUND, role)[0][0]:
        raise InvalidInput("role", "stands for namespaces already, so hubs cannot log in as it. Name another one")
    _run(session, _TAKE_OVER, role, [*WALLED, *SHARED, *ONLY_READ])


def _stand_for(session: PgSession, role: str, namespaces: Sequence[str], hub: str | None) -> None:
    if session.rows(_IS_HUB, role)[0][0]:
        raise InvalidInput("role", "is one that hubs log in as, which sees every namespace. Name another one")
    if hub is not None and not session.rows(_IS_HUB, hub)[0][0]:
        raise InvalidInput("hub", "is no role that hubs log in as; prepare that one first, without --namespace")
    session.change(_UNBIND, role, list(namespaces))
    session.change(_BIND, role, list(namespaces))


def _complete_rights(session: PgSession, hub: str | None) -> None:
    """Give all roles of the store the rights that they need; ``hub`` is a new one of hubs."""
    hubs, _ = session.rows(_HUB_ROLES, hub)[0]
    if hubs:
        _run(session, _FOR_HUBS, hubs, [*WALLED, *SHARED], list(ONLY_READ))
    bound = session.rows(_NAMESPACE_ROLES)[0][0]
    if bound:
        _run(session, _FOR_NAMESPACE_ROLES, bound, list(WALLED))
    _run(session, _REVOKE_TEMPORARY, [*WALLED, *SHARED, *ONLY_READ])


def _let_hubs_in(connections: Connections, hub: str | None) -> None:
    """Let the policies of all tables know the roles of hubs, ``hub`` being a new one.

    Each in a transaction of its own: with two tables held, hubs that read both could wait for this, and this for them.
    """
    with connections.reading(EVERYTHING) as session:
        hubs, names = session.rows(_HUB_ROLES, hub)[0]
        missing = session.rows(_POLICIES, hubs, names) if hubs else []
    for (statement,) in missing:
        changing_tables(connections, partial(_send, statement))


def _send(statement: str, session: PgSession) -> None:
    session.send(statement)


def _run(session: PgSession, which: str, *values: object) -> None:
    """Run the statements that the server put together."""
    for (statement,) in session.rows(which, *values):
        session.send(statement)
