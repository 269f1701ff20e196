"""Walls between namespaces that the server itself keeps (row-level security), and the roles that stand for namespaces.

Every transaction says for which namespaces it is (`connections`). Two policies on each table with a namespace hold it to them:

* ``hubs``, for the roles that hubs log in as (at first the one that made the tables): rows of the namespaces that were said, or all
  where ``hybrid_memory.everything`` is on.
* ``bound``, for every role: rows of the namespaces that were said *and* that ``role_namespace`` binds the role to.

Nothing said is no row, and a role that is neither sees none, whatever it says. A hub takes the role of a namespace for each
transaction on it, where there is one (`NamespaceRoles`): a statement that forgets its ``WHERE namespace`` finds nothing of another, nor
does one that changes what was said. The owner of the tables is held too (FORCE); superusers and roles with BYPASSRLS are not, unless
they take the role of a namespace (`wall_findings` tells).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from threading import Lock
from typing import TYPE_CHECKING

from hybrid_memory.errors import ConstraintViolation
from hybrid_memory.store.findings import Finding, Severity

if TYPE_CHECKING:
    from hybrid_memory.store.sql.session import Row
    from hybrid_memory_postgres.sql_session import PgSession

WALLED = (
    *("memory", "vector", "usage", "namespace", "log", "buffer", "request", "undo", "conversation", "entry", "reading"),
    *("sync_log", "sync_row", "sync_usage", "sync_item", "sync_folder"),
)
"""The tables whose rows belong to a namespace."""
NO_ROLE = "none"
"""What PostgreSQL calls the role of a session that has taken no other than its login's."""

_REFRESH_SECONDS = 10.0  # a role that was made meanwhile counts from then on

_BINDINGS = (
    'CREATE TABLE role_namespace (role NAME NOT NULL, namespace TEXT COLLATE "C" NOT NULL, PRIMARY KEY (role, namespace))',
    "ALTER TABLE role_namespace ENABLE ROW LEVEL SECURITY",
    "ALTER TABLE role_namespace FORCE ROW LEVEL SECURITY",
    "CREATE POLICY keeper ON role_namespace TO CURRENT_USER USING (true)",
    "CREATE POLICY hubs ON role_namespace FOR SELECT TO CURRENT_USER USING (true)",
    "CREATE POLICY own ON role_namespace FOR SELECT USING (role = CURRENT_USER)",
)

# The tables of `WALLED` that have none yet. What was said is a sub-SELECT, so that it is read once a statement and not once a row.
_RAISE = """
    DO $walls$
    DECLARE
        place RECORD;
        said CONSTANT TEXT := '(SELECT nullif(current_setting(''hybrid_memory.namespaces'', true), '''')::text[])::text[]';
        every CONSTANT TEXT := '(SELECT current_setting(''hybrid_memory.everything'', true)) = ''on''';
    BEGIN
        FOR place IN
            SELECT t.relname, CASE t.relname WHEN 'namespace' THEN 'name' ELSE 'namespace' END AS attname
            FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
            WHERE n.nspname = current_schema() AND t.relkind = 'r' AND NOT t.relrowsecurity AND t.relname IN (
                'memory', 'vector', 'usage', 'namespace', 'log', 'buffer', 'request', 'undo', 'conversation', 'entry', 'reading',
                'sync_log', 'sync_row', 'sync_usage', 'sync_item', 'sync_folder')
        LOOP
            EXECUTE format('ALTER TABLE %I ENABLE ROW LEVEL SECURITY', place.relname);
            EXECUTE format('ALTER TABLE %I FORCE ROW LEVEL SECURITY', place.relname);
            EXECUTE format(
                'CREATE POLICY hubs ON %I TO CURRENT_USER USING (%s OR %I = ANY (%s))', place.relname, every, place.attname, said);
            EXECUTE format(
                'CREATE POLICY bound ON %I USING (%I = ANY (%s) AND %I IN '
                '(SELECT r.namespace FROM role_namespace r WHERE r.role = CURRENT_USER))',
                place.relname, place.attname, said, place.attname);
        END LOOP;
    END $walls$
"""

# Deleted rows leave their bytes in a table's file. Only its owner may have them removed (VACUUM FULL); for a hub that is not, this
# function of the owner's writes the table again in the same way. A table without a key is written by changing it there and back.
_REWRITE_TABLE = """
    DO $make$
    BEGIN
        EXECUTE format($function$
            CREATE FUNCTION rewrite_table(which TEXT) RETURNS VOID LANGUAGE plpgsql SECURITY DEFINER
            SET search_path = pg_catalog, pg_temp AS $rewrite$
            DECLARE
                in_schema CONSTANT TEXT := %L;
                key TEXT;
            BEGIN
                PERFORM 1 FROM pg_class t JOIN pg_namespace n ON n.oid = t.relnamespace
                WHERE n.nspname = in_schema AND t.relname = which AND t.relkind = 'r' AND t.relrowsecurity;
                IF NOT FOUND THEN
                    RAISE EXCEPTION 'no table of memories' USING ERRCODE = 'insufficient_privilege';
                END IF;
                SELECT i.relname INTO key FROM pg_class t
                JOIN pg_namespace n ON n.oid = t.relnamespace
                JOIN pg_index x ON x.indrelid = t.oid AND x.indisprimary
                JOIN pg_class i ON i.oid = x.indexrelid
                WHERE n.nspname = in_schema AND t.relname = which;
                IF key IS NULL THEN
                    EXECUTE format('ALTER TABLE %%I.%%I SET UNLOGGED', in_schema, which);
                    EXECUTE format('ALTER TABLE %%I.%%I SET LOGGED', in_schema, which);
                ELSE
                    EXECUTE format('CLUSTER %%I.%%I USING %%I', in_schema, which, key);
                END IF;
            END $rewrite$
        $function$, current_schema());
    END $make$
"""

STATEMENTS: tuple[str, ...] = (
    *_BINDINGS,
    _RAISE,
    _REWRITE_TABLE,
    "REVOKE ALL ON FUNCTION rewrite_table(TEXT) FROM PUBLIC",
)
"""What makes the walls, run after the tables are there."""

_ROLES = """
    SELECT r.role::text, array_agg(r.namespace) FROM role_namespace r
    JOIN pg_catalog.pg_roles p ON p.rolname = r.role AND NOT p.rolsuper AND NOT p.rolbypassrls
    WHERE r.role <> session_user AND pg_catalog.pg_has_role(session_user, p.oid, 'MEMBER')
    GROUP BY r.role ORDER BY count(*), r.role
"""
_STATE = """
    SELECT p.rolsuper, p.rolbypassrls,
        EXISTS (
            SELECT 1 FROM pg_catalog.pg_policies y JOIN pg_catalog.pg_roles r ON r.rolname = ANY (y.roles)
            WHERE y.schemaname = current_schema() AND y.tablename = 'memory' AND y.policyname = 'hubs'
                AND pg_catalog.pg_has_role(p.oid, r.oid, 'USAGE')
        ),
        EXISTS (
            SELECT 1 FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
            WHERE n.nspname = current_schema() AND t.relname = ANY ($1::text[]) AND t.relkind = 'r' AND t.relowner = p.oid
        ),
        (
            SELECT count(*) FROM pg_catalog.pg_class t JOIN pg_catalog.pg_namespace n ON n.oid = t.relnamespace
            WHERE n.nspname = current_schema() AND t.relname = ANY ($1::text[]) AND t.relkind = 'r'
                AND NOT (t.relrowsecurity AND t.relforcerowsecurity)
        )
    FROM pg_catalog.pg_roles p WHERE p.rolname = session_user
"""


class NamespaceRoles:
    """Which role a transaction takes; safe in several threads.

    ``load`` asks the database for the roles that this login may take, with their namespaces; ``now`` counts seconds.
    """

    def __init__(self, load: Callable[[], Sequence[tuple[str, frozenset[str]]]], now: Callable[[], float]) -> None:
        self._load = load
        self._now = now
        self._lock = Lock()
        self._roles: Sequence[tuple[str, frozenset[str]]] = ()
        self._loaded_at: float | None = None

    def role_for(self, namespaces: Sequence[str]) -> str:
        """Return the role with the fewest namespaces that has all of these, `NO_ROLE` where there is none.

        What was loaded last serves while another thread loads. Before the first time each loads for itself: if they took turns while the
        database is away, the last would wait as many times as long as there are threads.
        """
        loaded_at = self._loaded_at
        if loaded_at is None:
            self._refresh()
        elif self._now() - loaded_at > _REFRESH_SECONDS and self._lock.acquire(blocking=False):
            try:
                self._refresh()
            finally:
                self._lock.release()
        wanted = frozenset(namespaces)
        return next((role for role, reach in self._roles if wanted and wanted <= reach), NO_ROLE)

    def forget(self) -> None:
        """Ask the database again before the next transaction: what was known of roles is true no more."""
        self._loaded_at = None

    def _refresh(self) -> None:
        self._roles = self._load()
        self._loaded_at = self._now()


def roles_of_login(session: PgSession) -> Sequence[tuple[str, frozenset[str]]]:
    """Return the roles that stand for namespaces and that this login may take, those with the fewest namespaces first."""
    return [(role, frozenset(reach)) for role, reach in session.rows(_ROLES)]


def check_login(session: PgSession) -> tuple[str, ...]:
    """Return what is to be told of the walls and this login, nothing where all is well.

    Raises:
        ConstraintViolation: this login is none that hubs use: it would see no memory, as if the store were empty.
    """
    superuser, bypasses, serves, _, _ = _state(session)
    if not (superuser or bypasses or serves):
        raise ConstraintViolation(
            "this login may enter the database but is none that hubs use: it would see no memory. Have the administrator run "
            "`hybrid-memory-mcp postgres prepare` with its name as --role"
        )
    return tuple(f"{one.what}; {one.remedy}" for one in wall_findings(session) if one.severity is not Severity.NOTE)


def _state(session: PgSession) -> Row:
    return session.rows(_STATE, list(WALLED))[0]


def wall_findings(session: PgSession) -> list[Finding]:
    """Return what is wrong with the walls, and what of this login weakens them."""
    superuser, bypasses, _, owns, open_tables = _state(session)
    found: list[Finding] = []
    if open_tables:
        found.append(
            Finding(
                Severity.ERROR,
                f"{open_tables} of the store's tables have no row-level security: namespaces are kept apart by this program alone",
                "have the owner of the tables run ENABLE and FORCE ROW LEVEL SECURITY on them, or restore a backup into a new database",
            )
        )
    if superuser or bypasses:
        found.append(
            Finding(
                Severity.WARNING,
                "the hub logs in to the database as a role that row-level security does not bind (superuser or BYPASSRLS)",
                "make a role for it with `hybrid-memory-mcp postgres prepare`, and log in as that",
            )
        )
    elif owns:
        found.append(
            Finding(
                Severity.NOTE,
                "the hub logs in to the database as the owner of the tables: it is held by the walls, but could take them down",
                "make a role for it with `hybrid-memory-mcp postgres prepare`, and log in as that",
            )
        )
    return found
