"""The command ``import``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from hybrid_memory_mcp.cli.operation_call import AsJson, Home, absolute, call_or_exit
from hybrid_memory_mcp.cli.output import print_result, progress, say


def import_(
    file: Annotated[Path, typer.Argument(help="JSON lines: an export, or objects with at least `content`.")],
    home: Home = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Where the memories go. Of an export with several namespaces, the only one that comes in."),
    ] = None,
    trusted: Annotated[
        bool,
        typer.Option("--trusted", help="The file is my own export: keep origin, trust and all else as they are in it."),
    ] = False,
    as_json: AsJson = False,
) -> None:
    """Remember what a file holds. It is read whole first; when a line is wrong, nothing happens.

    Without --trusted only words, times and links within the file count, and all goes into one namespace: the memories
    have origin `import` and are untrusted. What is there already is passed over, so an import that was interrupted is
    done again. Lines of another program may have content, created_at, occurred_at, expires_at, tags, metadata, source,
    speaker and session (importance is not believed).
    """
    arguments = {"file": absolute(file), "namespace": namespace, "trusted": trusted}
    with progress("importing") as on_progress:
        done = call_or_exit(home, "import", arguments, may_be_new=True, on_progress=on_progress)

    def table() -> None:
        say(f"new: {done['new']}, here already: {done['there']}, left out: {done['left_out']}")
        if done.get("secrets"):
            told = f"lines with what looks like a secret: {done['secrets']}"
            say(f"{told}; `secrets` in config.toml says what is done about them")
        if done["trusted"] or "namespace" not in done:  # a hub that was started before an upgrade does not tell it
            return
        say(f"into the namespace {done['namespace']}, untrusted")
        if done["other_namespaces"]:
            say(f"of other namespaces, left out: {done['other_namespaces']}; name one with --namespace")
        if done["links_dropped"]:
            say(f"links to memories that are not new with this file, dropped: {done['links_dropped']}")
        if done["ours"]:
            say("if the file is your own, `--trusted` (into a store without them) keeps trust, origin and buffers")

    print_result(done, as_json, table)
