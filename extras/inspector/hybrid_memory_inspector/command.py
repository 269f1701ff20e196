"""The command ``inspect``: has the hub serve the page, prints its address, opens it, and stays until the page or the person ends it."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Annotated, Any

import typer

from hybrid_memory.errors import HybridMemoryError, StoreError
from hybrid_memory_mcp import __version__
from hybrid_memory_mcp.cli import project
from hybrid_memory_mcp.cli.command_group import refuse_own_options
from hybrid_memory_mcp.cli.operation_call import AsJson, Home, zone_here
from hybrid_memory_mcp.cli.output import fail, note, one_line_errors
from hybrid_memory_mcp.relay import connecting, paths, protocol
from hybrid_memory_mcp.relay.chosen_store import variables_for_hub
from hybrid_memory_mcp.relay.protocol import BrokenFrame, FrameReader, pack, pack_fields

_OPERATION = "inspect"
_FIRST_ANSWER_SECONDS = 60.0  # a store that has to be recovered first takes long to open
_POLL_SECONDS = 1.0  # so long Ctrl-C may take where a read of a socket cannot be interrupted
_CHUNK_BYTES = 1 << 16
_MINUTE = 60.0
_QUICK_SECONDS, _MAX_QUICK_ENDS = 5.0, 3  # hubs that end so soon, one after the other, all end for the same reason
_PAUSE_SECONDS = 0.2
_BROWSER_SECONDS = 10.0
_GOODBYE_SECONDS = 3.0  # the server lets what it is answering end for two
_ENDING_SIGNALS = {"SIGTERM", "SIGHUP"}  # as Ctrl-C: the hub may be in this process

# In a process of its own: a browser's words do not come between ours, and the address is in no list of processes.
_OPEN = "import sys, webbrowser; sys.exit(0 if webbrowser.open(sys.stdin.read()) else 1)"

_ENDED = {
    "idle": "no page was open for a while, so this ends; run hybrid-memory-mcp inspect again to look again",
    "page": "the page's server ended; the memory's log says why",
}


def inspect(
    context: typer.Context,
    home: Home = None,
    namespace: Annotated[
        str | None,
        typer.Option(help="Show this wall's memories. Default: yours, with those of the project in this folder."),
    ] = None,
    no_browser: Annotated[bool, typer.Option("--no-browser", help="Only print the address.")] = False,
    host: Annotated[
        str | None,
        typer.Option(
            help="Address of this machine to listen at. Default: one of its own, where the system has several."
        ),
    ] = None,
    port: Annotated[int, typer.Option(min=0, max=65535, help="Port to listen at. Default: a free one.")] = 0,
    idle: Annotated[
        float, typer.Option(min=0, help="End after so many minutes in which no page was open; 0 never.")
    ] = 10.0,
    as_json: AsJson = False,
) -> None:
    """Look at the memory in the browser, or in the terminal. The page shows what is remembered and why, and lets you put it right.

    The first line on stdout is its address, which lets one browser in, once. Only this user on this machine can open it. Ctrl-C ends it.
    The subcommands show a part of it in the terminal.
    """
    if context.invoked_subcommand is not None:
        refuse_own_options(context)
        return
    with one_line_errors():
        from hybrid_memory.settings import client_settings

        folder = client_settings(home=home, namespace=namespace).folder().absolute()
        asked = _place(home, namespace) | {
            "host": host,
            "port": port,
            "idle_seconds": idle * _MINUTE,
            "zone": zone_here(),
        }
        for name in _ENDING_SIGNALS & set(dir(signal)):
            signal.signal(getattr(signal, name), signal.default_int_handler)
        inspecting = _Inspecting(folder, asked, opens=not no_browser, as_json=as_json, idle=idle)
        try:
            reason = inspecting.run()
        except KeyboardInterrupt:
            return  # a person ends it so
    if reason == "page":
        fail(_ENDED[reason])
    note(_ENDED.get(reason, reason))


@dataclass
class _Inspecting:
    """One run of the command, over as many hubs as there are meanwhile."""

    folder: Path
    asked: Mapping[str, Any]
    opens: bool
    as_json: bool
    idle: float
    _former: tuple[str, int] | None = field(default=None, init=False)
    _told: bool = field(default=False, init=False)

    def run(self) -> str:
        """Stay until the page has ended; return why.

        Raises:
            HybridMemoryError: there is no page to be had.
        """
        quick_ends = 0
        if not self.asked["port"] and not self.asked["host"]:  # what is asked for may be refused, in one line
            note("the page is starting ...")
        while True:
            begun = time.monotonic()
            with _connected(self.folder) as connection:
                reason = self._serve(connection)
            if reason not in (None, "hub"):
                return str(reason)
            quick_ends = quick_ends + 1 if time.monotonic() - begun < _QUICK_SECONDS else 0
            if quick_ends >= _MAX_QUICK_ENDS:
                raise StoreError("the memory's hub ends again and again; logs/hub.log in the store's folder says why")
            if self._told:
                note("the memory's hub has ended; another one takes its place, and the page gets a new address")
            time.sleep(_PAUSE_SECONDS)

    def _serve(self, connection: socket.socket) -> str | None:
        """Serve one connection to a hub; return why the page ended, None where the hub just went."""
        given = {**self.asked, "former": self._former}
        hello = [
            ("protocol", str(protocol.PROTOCOL_VERSION)),
            ("version", __version__),
            ("relay", os.urandom(16).hex()),
            ("pid", str(os.getpid())),
            ("operation", _OPERATION),
            ("given", json.dumps(given)),
            ("namespace", str(self.asked["namespace"])),
            *(("variable", variable) for variable in variables_for_hub(os.environ)),  # noqa: TID251 - handed on
        ]
        with suppress(OSError):  # then there is nothing to read either
            connection.sendall(pack(protocol.HELLO, pack_fields(hello)))
        for kind, payload in _frames(connection, self.folder):
            if kind == protocol.REFUSED:
                raise HybridMemoryError(payload.decode("utf-8", "replace"))
            if kind == protocol.LEAVING:
                return None
            told = json.loads(payload)
            if kind == protocol.FAILED:
                from hybrid_memory_mcp.admin.hub_client import OperationFailed

                raise OperationFailed(told["message"], told.get("code"))
            if kind == protocol.RESULT and "ended" in told:
                return str(told["ended"])
            if kind == protocol.RESULT:
                self._tell(told)
        return None

    def _tell(self, told: Mapping[str, Any]) -> None:
        """Print where the page is, and open it."""
        url, origin = str(told["url"]), str(told["origin"])
        if self.as_json and not self._told:
            typer.echo(json.dumps({"url": url, "origin": origin, "joined": told["joined"]}))
        elif self.as_json:
            note(url)  # stdout is one JSON value
        else:
            typer.echo(url)
        sys.stdout.flush()
        if told["joined"] and not self._told and (self.asked["host"] or self.asked["port"]):
            note("the page is being served already, so --host and --port have no effect")
        name, _, port = origin.removeprefix("http://").rpartition(":")
        if name and port.isdigit():
            self._former = name.strip("[]"), int(port)
        if not self._told:
            minutes = "a minute" if self.idle == 1 else f"{self.idle:g} minutes"
            ends = f"; it ends by itself {minutes} after the last page was closed" if self.idle else ""
            note(
                f"The address above opens the page, once, in a browser of yours on this machine. Ctrl-C ends it{ends}."
            )
        self._told = True
        if self.opens and not _open_browser(url):
            note("No browser could be opened from here: open the address yourself.")


def _place(home: Path | None, namespace: str | None) -> dict[str, Any]:
    """Return whose memories are shown: of the namespace that is named, else the person's with those of the project at hand."""
    place = project.place_here(home, namespace)
    of_project = None if namespace is not None else project.namespace_of(place)
    if of_project is None:
        return {"namespace": place.personal, "personal": None}
    return {"namespace": of_project, "personal": place.personal}


@contextmanager
def _connected(folder: Path) -> Iterator[socket.socket]:
    """Give a connection to the store's hub, which is started if there is none, in this process where no other can be.

    Raises:
        StoreError: there is one that does not answer.
    """
    stop: Callable[[], None] = lambda: None  # noqa: E731 - nothing to stop
    try:
        connection = connecting.connect_or_start(str(folder), None, os.environ, hub_options=[paths.FOR_COMMAND])  # noqa: TID251 - handed on
    except connecting.HubNotAnswering as error:
        raise StoreError(str(error)) from None
    except connecting.HubUnavailable as error:
        from hybrid_memory_mcp.hub.run import host

        note("; ".join(["no hub could be started, so this command serves the page itself", *map(str, error.args)]))
        try:
            connection, stop = host(str(folder), None)
        except OSError:
            raise StoreError("the memory's hub has just started or is leaving; run the command again") from None
    try:
        with connection:
            try:
                yield connection
            finally:
                _say_goodbye(connection)
    finally:
        stop()


def _say_goodbye(connection: socket.socket) -> None:
    """Tell the hub that this command leaves, and wait a moment until the page's server has ended, if this was the last command."""
    with suppress(OSError):
        connection.shutdown(socket.SHUT_WR)
        connection.settimeout(_GOODBYE_SECONDS)
        while connection.recv(_CHUNK_BYTES):
            pass


def _frames(connection: socket.socket, folder: Path) -> Iterator[tuple[bytes, bytes]]:
    """Yield what the hub sends, until it ends; one that hangs before its first word is ended."""
    reader, begun, heard = FrameReader(), time.monotonic(), False
    connection.settimeout(_POLL_SECONDS)
    while True:
        try:
            chunk = connection.recv(_CHUNK_BYTES)
        except TimeoutError:
            if not heard and _has_hung(folder, time.monotonic() - begun):
                return
            continue
        except OSError:
            return
        if not chunk:
            return
        try:
            for frame in reader.feed(chunk):
                heard = True
                yield frame.kind, frame.payload
        except BrokenFrame:
            return


def _has_hung(folder: Path, waited: float) -> bool:
    """Return True if the hub had hung and was ended.

    Raises:
        StoreError: it cannot be ended, or takes too long.
    """
    try:
        ended = connecting.replace_hung_hub(str(folder), lambda: True)
    except connecting.HubNotAnswering as error:
        raise StoreError(str(error)) from None
    if ended is None and waited > _FIRST_ANSWER_SECONDS:
        raise StoreError("the memory's hub is at work and does not answer; try again later")
    return ended is not None


def _open_browser(url: str) -> bool:
    """Open a browser window; return whether that went well. A browser that lives in a terminal is none: it would take this one."""
    if not _has_screen():
        return False
    try:
        done = subprocess.run(  # noqa: S603 - our own program
            [sys.executable, "-I", "-c", _OPEN],
            input=url.encode(),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_BROWSER_SECONDS,
            check=False,
            start_new_session=True,
        )
    except (OSError, ValueError):
        return False
    except subprocess.TimeoutExpired:
        return True  # it is still at it
    return done.returncode == 0


def _has_screen() -> bool:
    """Return whether a person sees windows here; on Linux a browser without a screen is one for terminals."""
    if sys.platform != "linux":
        return True
    has = os.environ.get  # noqa: TID251 - where the person sits, no setting of ours
    return any(has(name) for name in ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER", "WSL_DISTRO_NAME"))
