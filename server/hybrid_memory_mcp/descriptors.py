"""Taking standard input and output for the protocol, before anything else is imported. Standard library only."""

from __future__ import annotations

import os
from dataclasses import dataclass

_STDIN, _STDOUT, _STDERR = 0, 1, 2


@dataclass(frozen=True, slots=True)
class Wire:
    """The two descriptors that lead to the client."""

    reading: int
    writing: int


def claim() -> Wire:
    """Take standard input and output; from now on prints go to standard error and reads find nothing.

    A library that prints while it is imported, or a child process, then harms nothing.
    """
    wire = Wire(os.dup(_STDIN), os.dup(_STDOUT))
    nothing = os.open(os.devnull, os.O_RDONLY)
    os.dup2(nothing, _STDIN)
    os.close(nothing)
    os.dup2(_STDERR, _STDOUT)
    return wire
