"""Each real assistant lives one life with us (`life.py`): one command, and the next conversation knows what was said."""

import tempfile
from pathlib import Path

import pytest
from tests.clients.hosts import life
from tests.clients.hosts.hosts import HOSTS
from tests.clients.hosts.machine import machine_with
from tests.clients.hosts.results import keep_seconds

TOOLS = ("write_memory", "read_memories", "reflect", "update_memory", "forget_memories")
AT_MOST_BESIDE_AN_UNKNOWN = 80  # characters
AT_MOST_SECONDS = 60.0  # from the command to a conversation that knows something of the one before


@pytest.fixture(scope="module", params=HOSTS, ids=[host.name for host in HOSTS])
def lived(request):
    made = tempfile.TemporaryDirectory(prefix="hm-", ignore_cleanup_errors=True)
    with made as folder, machine_with(request.param, Path(folder)) as machine:
        found = life.live(machine)
    keep_seconds(request.param, found.seconds)
    return request.param, found


@pytest.fixture
def remembering(lived):
    """A life with an assistant that runs hooks; others only have the tools."""
    host, found = lived
    if not host.runs_hooks:
        pytest.skip(f"{host.shown} is given no hooks: its model has the tools alone")
    return host, found


def test_the_model_is_told_of_the_tools(lived):
    _, found = lived
    assert [tool for tool in TOOLS if tool not in found.read.requests[-1].text] == []


def test_what_the_model_writes_it_reads_in_the_next_conversation(lived):
    _, found = lived
    assert life.WRITTEN in found.read.requests[-1].text


@pytest.mark.parametrize("known", ["tabs instead of spaces", "PostgreSQL", "Thursdays", "Graz"])
def test_the_next_conversation_begins_with_what_was_said(remembering, known):
    _, found = remembering
    assert known in found.morning.first.text


def test_a_conversation_that_goes_on_is_told_once(remembering):
    _, found = remembering
    assert found.went_on.first.text.count("Graz") == 1


def test_small_talk_is_not_remembered(remembering):
    _, found = remembering
    assert "gorgeous weather" not in found.morning.first.text


def test_a_question_brings_what_is_known(remembering):
    host, found = remembering
    assert "tabs instead of spaces" in host.told_at_prompt(found.question.first)


def test_a_question_about_the_unknown_adds_next_to_nothing(remembering):
    host, found = remembering
    assert len(host.told_at_prompt(found.unknown.first)) <= AT_MOST_BESIDE_AN_UNKNOWN


def test_a_killed_hub_is_not_noticed(remembering):
    _, found = remembering
    assert (found.after_kill.exit_code, "Graz" in found.after_kill.first.text) == (0, True)


def test_a_broken_store_does_not_break_the_assistant(lived):
    _, found = lived
    assert (found.with_broken_store.exit_code, "Still here." in found.with_broken_store.output) == (0, True)


def test_nothing_of_ours_is_left_after_taking_it_out(lived):
    _, found = lived
    assert (found.left, [str(name) for name, text in found.files_after.items() if "hybrid" in text]) == ((), [])


def test_what_was_there_before_is_there_after(lived):
    host, found = lived
    assert host.without_its_own_notes(found.files_after) == host.without_its_own_notes(found.files_before)


def test_a_fact_is_remembered_within_a_minute_of_the_command(lived):
    _, found = lived
    assert ("tabs instead of spaces" in found.first_morning.requests[-1].text, found.seconds < AT_MOST_SECONDS) == (
        True,
        True,
    )
