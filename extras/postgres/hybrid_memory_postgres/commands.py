"""The commands ``postgres prepare``, by which an administrator makes a database ready for hubs, and ``postgres migrate``."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Annotated

import typer

from hybrid_memory.clock import SystemClock
from hybrid_memory_mcp.cli.command_group import example, unwrapped
from hybrid_memory_mcp.cli.operation_call import AsJson
from hybrid_memory_mcp.cli.output import note, one_line_errors, print_result, say
from hybrid_memory_postgres.migrate_command import migrate

app = typer.Typer(help="Keep the store in PostgreSQL, which several machines can share.", no_args_is_help=True)


@app.command(epilog=example("postgres prepare postgresql://admin@db.example/memory --role hub"))
def prepare(
    address: Annotated[
        str, typer.Argument(help="The database, with the login of its administrator and without a password.")
    ],
    role: Annotated[
        str,
        typer.Option(help="The role to make or complete: what hubs log in as or, with --namespace, what they become."),
    ],
    namespace: Annotated[
        list[str] | None,
        typer.Option(
            help="The role sees this namespace, and no other that is not named too; can be given several times."
        ),
    ] = None,
    hub: Annotated[
        str | None, typer.Option(help="With --namespace: the login of hubs that take the role for these.")
    ] = None,
    password_file: Annotated[
        Path | None, typer.Option(help="A file with the administrator's password. Else PGPASSWORD or ~/.pgpass.")
    ] = None,
    as_json: AsJson = False,
) -> None:
    """Make the tables and a role that may do what a hub needs and no more, in a PostgreSQL database.

    Row-level security keeps namespaces apart there. With --namespace the role stands for those: hubs that log in as --hub take it for
    whatever concerns them, and the server itself shows them nothing of another. Doing it again completes what is missing.
    """
    from hybrid_memory.project_names import check_namespace
    from hybrid_memory.settings import database_environment
    from hybrid_memory_postgres.engine import typed_target

    with one_line_errors():
        bound = [check_namespace(one) for one in namespace or ()]
        target = typed_target(address, "address", database_environment(), password_file=password_file)
        from hybrid_memory_postgres.connections import Connections
        from hybrid_memory_postgres.preparing import prepare as prepare_store

        with Connections(target.conninfo, size=1) as connections:
            done = prepare_store(connections, SystemClock().now(), role, bound, hub)

    def show() -> None:
        what = f"stands for {', '.join(done.namespaces)}" if done.namespaces else "is for hubs to log in as"
        say(
            f"The store is ready (schema {done.schema}). The role {done.role} {'was made and ' if done.made else ''}{what}."
        )
        if done.made and not done.namespaces:
            note(
                f"It has no password yet: `\\password {done.role}` in psql gives it one, or the server's pg_hba.conf lets it in."
            )
        if done.namespaces and done.hub is None:
            note("No hub takes it yet: --hub names the login of those that shall.")
        if not done.temporary_revoked:
            note(
                "Every login may still make temporary tables in this database, as it has another owner or holds tables of other programs. "
                "Its owner takes that away with REVOKE TEMPORARY ON DATABASE ... FROM PUBLIC."
            )

    print_result(asdict(done), as_json, show)


_FOLDER_TO_DATABASE = "postgres migrate ~/.local/share/hybrid-memory-mcp postgresql://hub@db.example/memory"
app.command(help=unwrapped(migrate.__doc__ or ""), epilog=example(_FOLDER_TO_DATABASE))(migrate)
