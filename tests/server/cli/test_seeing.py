"""What search, timeline, tiers and show print: on terminals of any width, in pipes, of texts in any script and of hostile ones."""

from __future__ import annotations

import json
import re
from contextlib import suppress
from importlib import import_module
from io import StringIO

import pytest
from rich.cells import cell_len
from rich.console import Console
from tests.server.services import SCOPE, ObservedService

from hybrid_memory.model import MemoryType, Origin
from hybrid_memory.requests import ForgetRequest, UpdateRequest
from hybrid_memory_mcp.admin.hub_client import HubEnded
from hybrid_memory_mcp.cli import seeing
from hybrid_memory_mcp.cli.pictures import UNICODE
from hybrid_memory_mcp.views.view import ViewRequest

HOSTILE = "\x1b[31mred\x07 \u202egpj.exe \x1b]0;title\x07 [bold]markup[/bold] \x00".replace("\x00", "")
SCRIPTS = {
    "hebrew": "עדה גרה בפורטו ליד הנהר כבר שנים רבות מאוד ואוהבת את העיר",
    "chinese": "艾达住在波尔图河边的一间公寓里，她非常喜欢这座城市。" * 3,
    "one word": "Ada" + "x" * 300,
}


@pytest.fixture
def service():
    service = ObservedService()
    yield service
    service.close()


@pytest.fixture
def porto(service):
    """Ada lived in Berlin, then in Porto; a tool disputes it."""
    old = service.keep("Ada lives in Berlin.", memory_type=MemoryType.LONG_TERM, origin=Origin.USER)
    service.clock.advance(days=100)
    new = service.update(SCOPE, UpdateRequest(id=old.id, content="Ada lives in Porto.", origin=Origin.USER))
    service.clock.advance(days=100)
    return new.id


def load(service, name, **parameters):
    view = import_module(f"hybrid_memory_mcp.views.{name}")
    return json.loads(json.dumps(view.load(service, ViewRequest(scope=SCOPE, parameters=parameters))))


@pytest.fixture
def terminal(monkeypatch, capsys):
    """Calls a function on a terminal of some width; returns the lines that it prints."""

    def lines(width, function, *arguments, environment=()):
        monkeypatch.setattr(seeing, "is_terminal", lambda: True)
        for name, value in dict(environment, COLUMNS=str(width)).items():
            monkeypatch.setenv(name, value)
        function(*arguments)
        return capsys.readouterr().out.splitlines()

    return lines


def draw_tiers(found):
    console = Console(highlight=False, emoji=False)
    console.print(seeing.tiers_shown(found, console.width, UNICODE, frozenset()))


def draw_life(found):
    seeing.draw_life(Console(highlight=False, emoji=False), found)


def drawn(service, terminal, width, memory_id, **options):
    """Return the lines of all four."""
    return {
        "search": terminal(width, seeing.print_search, load(service, "search", q="Where does Ada live?"), **options),
        "timeline": terminal(width, seeing.print_timeline, load(service, "timeline"), **options),
        "life": terminal(width, draw_life, load(service, "memory", id=memory_id), **options),
        "tiers": terminal(width, draw_tiers, load(service, "now"), **options),
    }


@pytest.mark.slow
@pytest.mark.parametrize("width", [40, 60, 200])
@pytest.mark.parametrize("script", SCRIPTS)
def test_no_line_is_wider_than_the_terminal(service, terminal, porto, script, width):
    service.keep(SCRIPTS[script], origin=Origin.TOOL, tags=["home", "x" * 60])
    new = service.update(SCOPE, UpdateRequest(id=porto, content=f"Ada lives: {SCRIPTS[script]}")).id
    for lines in drawn(service, terminal, width, new).values():
        assert [line for line in lines if cell_len(line) > width] == []


def test_the_words_are_all_there_on_a_narrow_terminal(service, terminal, porto):
    lines = terminal(60, seeing.print_search, load(service, "search", q="Where does Ada live?"))
    told = " ".join(" ".join(lines).split())
    assert "Ada lives in Porto." in told
    assert "Found" in told
    assert "Not shown to an assistant" in told
    assert "Ada lives in Berlin." in told


@pytest.mark.parametrize("width", [60, 200])
def test_what_is_stored_does_nothing_to_a_terminal(service, terminal, porto, width):
    text = HOSTILE.replace("\x1b", "").replace("\x07", "")
    service.keep(text)
    new = service.update(SCOPE, UpdateRequest(id=porto, content=f"Ada says {text}")).id
    for lines in drawn(service, terminal, width, new, environment={"NO_COLOR": "1"}).values():
        told = "\n".join(lines)
        assert "\u202e" not in told
        assert "\\u202e" in told
        assert "[bold]markup[/bold]" in told or "…" in told


def test_a_timeline_shows_what_was_before_with_its_days(service, terminal, porto):
    told = "\n".join(terminal(100, seeing.print_timeline, load(service, "timeline")))
    assert "learned, by the" in told
    assert "true since then, by the" in told
    assert re.search(r"\d+ \w+ 2026 – \d+ \w+ 2026: Ada lives in .*Berlin", told)


def test_a_moment_that_is_asked_about_is_pointed_at(service, terminal, porto):
    found = load(service, "timeline", as_of="2026-02-01")
    told = "\n".join(terminal(100, seeing.print_timeline, found))
    assert "▲" in told
    assert "what was believed on 1 Feb 2026" in told or "what was believed on 2 Feb 2026" in told
    assert "Ada lives in Berlin." in told


def test_where_nothing_is_coloured_changes_are_in_brackets(service, terminal, porto):
    lines = terminal(100, draw_life, load(service, "memory", id=porto), environment={"NO_COLOR": "1"})
    assert any("[-Berlin-]{+Porto+}" in line for line in lines)


def test_a_life_is_a_picture_with_what_was_said_when(service, terminal, porto):
    told = "\n".join(terminal(80, draw_life, load(service, "memory", id=porto)))
    assert "●━" in told
    assert "what it said, and when that was true" in told
    assert "what happened" in told
    assert "Learned by" in told


def test_parts_of_memory_stand_beside_each_other_where_there_is_room(service, terminal):
    service.keep("Ada likes tea")
    wide, narrow = (terminal(width, draw_tiers, load(service, "now")) for width in (200, 60))
    assert "just heard" in wide[0]
    assert "kept" in wide[0]
    assert "kept" not in narrow[0]


@pytest.mark.parametrize(("width", "height"), [(60, 24), (60, 40), (200, 24)])
def test_all_parts_of_memory_fit_on_a_screen(service, width, height):
    for number in range(60):
        service.keep(
            f"Ada saw film number {number}", memory_type=MemoryType.LONG_TERM if number % 2 else MemoryType.SHORT_TERM
        )
    console = Console(record=True, width=width, file=StringIO())
    console.print(seeing.tiers_shown(load(service, "now"), width, UNICODE, frozenset(), height))
    lines = console.export_text().splitlines()
    assert len(lines) <= height - 2
    assert all(name in "\n".join(lines) for name in ("just heard", "in mind", "kept", "faded", "what happened last"))


def test_what_moved_is_lit_up_and_says_why(service):
    service.keep("Ada likes tea")
    found = load(service, "now")
    (told,) = (one for one in found["tiers"] if one["tier"] == "sensory")
    told["memories"][0]["why"] = "it was said again"
    console = Console(record=True, width=60, file=StringIO())
    console.print(seeing.tiers_shown(found, 60, UNICODE, frozenset({told["memories"][0]["id"]})))
    assert "● Ada likes tea\n  it was said again" in "\n".join(
        line.rstrip() for line in console.export_text().splitlines()
    )


@pytest.mark.parametrize(("name", "columns"), [("search", 4), ("timeline", 6)])
def test_in_a_pipe_a_memory_is_one_line(service, capsys, porto, name, columns):
    service.keep("Ada lives\nin two\tlines")
    found = load(service, name, **({"q": "Where does Ada live?"} if name == "search" else {}))
    (seeing.print_search if name == "search" else seeing.print_timeline)(found)
    out = capsys.readouterr().out
    memories = found["hits" if name == "search" else "memories"]
    assert [line.count("\t") for line in out.splitlines()] == [columns - 1] * len(memories)
    assert "\x1b" not in out


def test_in_a_pipe_the_parts_of_memory_are_lines(service):
    service.keep("Ada likes\ntea")
    (line,) = seeing._tier_lines(load(service, "now"))
    assert line.split("\t")[0] == "sensory"
    assert line.endswith("Ada likes ⏎ tea")


def test_nothing_is_told_as_such(service, terminal, capsys):
    assert terminal(80, seeing.print_timeline, load(service, "timeline")) == []
    terminal(80, seeing.print_search, load(service, "search", q="Ada"))
    terminal(80, draw_tiers, load(service, "now"))


def moved(before, after):
    return [(earlier, tier, one["id"]) for earlier, tier, one in seeing.moved_since(before, after)]


def test_what_comes_in_and_what_moves_is_noticed(service):
    service.keep("Ada likes tea")
    before = seeing.places_of(load(service, "now"))
    new = service.keep("Ada has a cat").id
    after = load(service, "now")
    assert moved(before, after) == [(None, "sensory", new)]
    assert moved(seeing.places_of(after), after) == []
    elsewhere = dict.fromkeys(seeing.places_of(after), "faded")
    assert {(earlier, tier) for earlier, tier, _ in moved(elsewhere, after)} == {("faded", "sensory")}


def test_what_only_comes_into_sight_has_not_moved(service):
    kept = [service.keep(f"fact number {number} of Ada", memory_type=MemoryType.LONG_TERM).id for number in range(12)]
    before = seeing.places_of(load(service, "now"))
    assert kept[0] not in before
    service.forget(SCOPE, ForgetRequest(ids=tuple(kept[-3:])))
    assert moved(before, load(service, "now")) == []


class Ended(Exception):
    """Stands for Ctrl-C."""


def until_ended(looks):
    """Return all that is yielded until Ctrl-C."""
    found = []
    with suppress(Ended):
        for one in looks:
            found.append(one)  # noqa: PERF402 - `extend` would forget all of them at the end
    return found


@pytest.fixture
def looks(service, monkeypatch, tmp_path):
    """Looks at the parts of memory as `inspect tiers --live` does; between two looks the next of some steps is taken."""

    def made(*steps):
        waiting = list(steps)

        def step(_seconds):
            if not waiting:
                raise Ended
            waiting.pop(0)()

        monkeypatch.setattr(seeing, "done_here", lambda *_: load(service, "now"))
        monkeypatch.setattr(seeing._Looks, "_has_hub", lambda _: True)
        monkeypatch.setattr(seeing.time, "sleep", step)
        return seeing._Looks(tmp_path, None, {})

    return made


def test_a_live_picture_lights_up_what_came_in_meanwhile(service, looks):
    seen = until_ended(looks(lambda: service.keep("Ada has a cat"), lambda: None).pictures())
    (new,) = service.memories
    assert [fresh for _, fresh in seen] == [frozenset(), {new}, {new}]


def test_a_pipe_is_told_each_move_once(service, looks):
    service.keep("Ada likes tea")
    changes = until_ended(looks(lambda: service.keep("Ada has a cat"), lambda: None).changes())
    assert [(earlier, tier, one["content"]) for earlier, tier, one in changes] == [(None, "sensory", "Ada has a cat")]


def test_a_hub_that_leaves_leaves_the_picture_as_it_was(service, looks, monkeypatch):
    service.keep("Ada likes tea")
    answers = iter([load(service, "now"), HubEnded(), load(service, "now")])

    def answer(*_):
        found = next(answers)
        if isinstance(found, Exception):
            raise found
        return found

    live = looks(lambda: None, lambda: None)
    monkeypatch.setattr(seeing, "done_here", answer)
    assert [len(seeing.places_of(found)) for found, _ in until_ended(live.pictures())] == [1, 1, 1]
