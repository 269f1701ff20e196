"""What all Python drivers share: orders come as JSON lines, and each is answered with one.

A driver gives `play` a context manager that connects its client to the server of a job. The object that it yields has ``tools()``, which
returns names, and ``call(tool, arguments)``, which returns what a model would be shown and whether it is told as an error (None where
the client does not say), and where it can ``subscribe(uri)`` and ``heard()``.
"""

import json
import os
import sys
import traceback
from contextlib import suppress

import anyio
import anyio.to_thread

# Answers go where the test reads; what libraries print does not.
_ANSWERS = os.fdopen(os.dup(1), "w", encoding="utf-8")
os.dup2(2, 1)

JOB = json.loads(sys.argv[1])
HEADERS = {"Authorization": f"Bearer {JOB.get('token', '')}"}


def _answer(**values):
    _ANSWERS.write(json.dumps(values) + "\n")
    _ANSWERS.flush()


async def _order():
    line = await anyio.to_thread.run_sync(sys.stdin.readline)
    return json.loads(line) if line else {"does": "end"}


def _told(error):
    """Return the innermost errors of groups in one line."""
    while getattr(error, "exceptions", None):
        error = error.exceptions[0]
    return f"{type(error).__name__}: {error}"


async def _obey(client, order):
    if order["does"] == "call":
        text, failed = await client.call(order["tool"], order["arguments"])
        return {"text": text, "failed": failed}
    if order["does"] == "tools":
        return {"text": " ".join(sorted(await client.tools()))}
    if order["does"] == "subscribe":
        await client.subscribe(order["uri"])
        return {"text": ""}
    with anyio.fail_after(15):
        return {"text": await client.heard()}


async def _play(connect):
    order = {}
    while order.get("does") != "end":
        async with connect() as client:
            _answer(text="connected")
            while (order := await _order())["does"] not in ("end", "reconnect"):
                try:
                    _answer(**await _obey(client, order))
                except Exception as error:
                    traceback.print_exc()
                    _answer(raised=_told(error))


def play(connect):
    """Obey until there are no more orders."""
    try:
        anyio.run(_play, connect)
    except BaseException as error:
        traceback.print_exc()
        with suppress(OSError):
            _answer(raised=_told(error), ended=True)
        raise


def shown(result):
    """Return the text of a tool's result."""
    return "\n".join(part.text for part in result.content if hasattr(part, "text"))
