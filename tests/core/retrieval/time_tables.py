"""Tables of questions with the windows they mean, written as dates."""

from __future__ import annotations

from datetime import UTC, datetime


def at(written):
    """Return the moment that an ISO date or time names, in UTC."""
    return datetime.fromisoformat(written).replace(tzinfo=UTC)


def rows(table):
    """Return pairs from lines of the form ``left -> right``."""
    return [tuple(part.strip() for part in line.split("->")) for line in table.strip().splitlines()]


def shown(windows):
    """Return windows as ``since to until``, with ``open`` for an open end and the hour only where it is not midnight."""
    return ", ".join(f"{_side(window.since)} to {_side(window.until)}" for window in windows)


def _side(moment):
    if moment is None:
        return "open"
    return moment.strftime("%Y-%m-%d" if (moment.hour, moment.minute) == (0, 0) else "%Y-%m-%dT%H:%M")
