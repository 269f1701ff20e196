"""Logs tell where something failed, not what was stored."""

import io
import logging

import pytest

from hybrid_memory_mcp.runtime import library_patches


@pytest.fixture
def told(monkeypatch):
    """What the root logger's only handler writes."""
    stream = io.StringIO()
    monkeypatch.setattr(logging.getLogger(), "handlers", [logging.StreamHandler(stream)])
    library_patches.redact_tracebacks()
    return stream


def fail():
    raise RuntimeError("the violin is in the attic")


def test_a_traceback_of_a_library_becomes_one_line_without_the_error_s_text(told):
    try:
        fail()
    except RuntimeError:
        logging.getLogger("library").exception("request %d failed", 7)
    assert told.getvalue().count("\n") == 1
    assert told.getvalue().startswith("request 7 failed: RuntimeError < test_library_patches.py:")
    assert "violin" not in told.getvalue()


def test_other_messages_stay_as_they_are(told):
    logging.getLogger("library").warning("%d%% done", 50)
    assert told.getvalue() == "50% done\n"
