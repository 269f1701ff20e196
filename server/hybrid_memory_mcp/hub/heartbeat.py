"""A hub's heartbeat: a thread of its own that tells whoever waits for an answer that the hub is there (``relay/heartbeat.py``).

It sleeps until somebody asks. It also sees what cannot be seen from outside, an event loop that makes no turn while other threads
run: after `LOOP_TIMEOUT_SECONDS` of questions it ends the process, as if it had been killed, and the relays go on with the next one.
A call that takes long, or forever, is neither: it has a thread of its own, and the loop and this one go on.
"""

from __future__ import annotations

import faulthandler
import logging
import os
import socket
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NoReturn

from hybrid_memory_mcp.relay import connecting

if TYPE_CHECKING:
    from anyio.lowlevel import EventLoopToken

# The loop only hands things on; a message of 16 MB takes it half a second.
LOOP_TIMEOUT_SECONDS = 30.0 * connecting.PATIENCE
EXIT_CODE = 70  # of a program that found itself broken, in the manner of sysexits.h

_QUESTION_SECONDS = (
    5.0 * connecting.PATIENCE
)  # counted at most between two questions: the process may have been stopped
_ACCEPT_RETRY_SECONDS = 0.1  # accepting fails for want of descriptors
_ALIVE = b"+"

log = logging.getLogger("hybrid_memory_mcp")


class Heartbeat:
    """Answers at a listening socket until it is closed; ``on_question`` is called before each answer."""

    def __init__(self, listening: socket.socket, on_question: Callable[[], None]) -> None:
        self._listening = listening
        self._on_question = on_question
        self._closed = False
        listening.settimeout(None)
        threading.Thread(target=self._accept_all, name="heartbeat", daemon=True).start()

    def close(self) -> None:
        """Answer nobody any more."""
        self._closed = True
        with suppress(OSError):
            self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread, which `close` does not
        self._listening.close()

    def _accept_all(self) -> None:
        while not self._closed:
            try:
                stream, _ = self._listening.accept()
            except OSError:
                if not self._closed:
                    time.sleep(_ACCEPT_RETRY_SECONDS)
                continue
            # Over loopback anybody may ask: the answer tells nothing but that somebody is there.
            with stream, suppress(OSError):
                self._on_question()
                stream.settimeout(0)  # a byte fits into a new connection
                stream.send(_ALIVE)


class LoopWatch:
    """Tells whether an event loop makes turns while it is asked; one that does not ends the process."""

    def __init__(self, end_process: Callable[[float], None] | None = None) -> None:
        """Watch no loop yet. ``end_process`` is told for how many seconds there was no turn."""
        self._end_process = end_process or _end_process
        self._looking = threading.Lock()
        self._start_turn: Callable[[], threading.Event] | None = None
        self._turn: threading.Event | None = None
        self._asked = 0.0
        self._silent = 0.0

    @contextmanager
    def watching(self) -> Iterator[None]:
        """Watch the event loop in which this is called while the body runs."""
        from anyio.lowlevel import current_token

        token = current_token()
        with self._looking:
            self._start_turn, self._turn = lambda: _start_turn(token), None
        try:
            yield
        finally:
            with self._looking:
                self._start_turn = None

    def ask(self) -> None:
        """Ask the loop for a turn, without waiting for it. Only the time between questions counts, and not all of a long one."""
        with self._looking:
            now = time.monotonic()
            if self._start_turn is None:
                self._silent = 0.0
            elif self._turn is None or self._turn.is_set():
                self._silent, self._turn = 0.0, self._start_turn()
            else:
                self._silent += min(now - self._asked, _QUESTION_SECONDS)
            self._asked = now
            if self._silent >= LOOP_TIMEOUT_SECONDS:
                self._end_process(self._silent)


def _start_turn(token: EventLoopToken) -> threading.Event:
    """Let an event loop set the event that is returned, at its next turn. A thread waits for it, as anyio has no call that does not."""
    turn = threading.Event()

    def wait() -> None:
        from anyio.from_thread import run_sync

        with suppress(RuntimeError):  # the loop has ended
            run_sync(turn.set, token=token)

    threading.Thread(target=wait, name="loop-watch", daemon=True).start()
    return turn


def _end_process(seconds: float) -> NoReturn:
    log.critical("the hub's event loop made no turn for %.0f s; the process ends", seconds)
    with suppress(Exception):  # standard error may be closed
        faulthandler.dump_traceback(sys.stderr)
    os._exit(EXIT_CODE)
