from __future__ import annotations

import json
from dataclasses import replace
from datetime import UTC, datetime

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.language.token_estimate import PARTS, estimate_tokens, token_cost
from hybrid_memory.model import Kind, Memory, MemoryId, Origin, Scope, Tier
from hybrid_memory.requests import GroupSort, Hit, ReadResult, ReflectionGroup
from hybrid_memory_mcp.mcp_api import passages, tool_results
from hybrid_memory_mcp.mcp_api.tool_results import (
    ENOUGH_TOKENS,
    HELD_BACK,
    REFLECT_TOKEN_BUDGET,
    TOO_SMALL,
    WORDS_ALONE,
    read_result,
    reflect_result,
)

NOW = datetime(2026, 1, 10, 12, tzinfo=UTC)
SCOPE = Scope(session="s-here")


def parts(result):
    (content,) = result.content
    return result.structured_content, content.text


def read_parts(*arguments, **options):
    return parts(read_result(*arguments, **options))


def reflect_parts(*arguments):
    return parts(reflect_result(*arguments))


def memory(content, number=0, **fields):
    return Memory(
        **{
            "id": MemoryId(f"{number:020d}"),
            "namespace": "default",
            "session": "s-here",
            "agent": "default",
            "content": content,
            "kind": Kind.OBSERVATION,
            "tier": Tier.SHORT_TERM,
            "importance": 0.5,
            "created_at": NOW,
            "content_hash": "",
        }
        | fields
    )


def page(
    hits, *, total=None, missing=(), offset=0, pending=0, below_floor=0, words_alone=False, unknown=False, held_back=0
):
    return ReadResult(
        hits=tuple(hits),
        total=offset + len(hits) if total is None else total,
        offset=offset,
        missing=missing,
        pending=pending,
        words_alone=words_alone,
        below_floor=below_floor,
        unknown=unknown,
        held_back=held_back,
        fingerprint=b"ffff",
        asked_at=NOW,
    )


LONG = {
    "cjk": "記" * 100_000,
    "ascii": "a" * 100_000,
    "escaped": '"\\\n' * 9_000,
    "ends": "\u2028" * 9_000,
    "": "🙂" * 5_000,
}
hits = st.builds(
    lambda text, tags, speaker, insight, terms: Hit(
        memory=memory(
            LONG.get(text, text),
            tags=tuple(f"tag-{n}" for n in range(tags)),
            speaker="é" * speaker,
            kind=Kind.INSIGHT if insight else Kind.OBSERVATION,
            origin=Origin.DERIVED,
            session="x" * 200,
            occurred_at=NOW,
            metadata={"a": text[:500]},
            parents=(MemoryId("p" * 20),) * 50,
        ),
        score=-12345.678,
        section=("pinned", "about the user", "open", "recent")[len(text) % 4],
        newer=MemoryId("n" * 20),
        weak=True,
        terms=terms,
    ),
    st.one_of(st.text(min_size=1, max_size=500), st.sampled_from(sorted(LONG))),
    st.sampled_from([0, 1, 5, 1000]),
    st.sampled_from([0, 3, 5_000]),
    st.booleans(),
    st.dictionaries(st.text(max_size=10), st.floats(-1, 1), max_size=5),
)


NOTE = "Notes of the allotment club. " + "Somebody brought cake and somebody told a story. " * 900
ANSWERED = NOTE + "The key of the shed hangs behind the blue barrel. " + "Then it rained. " * 20


def long_note(number=0):
    return Hit(memory=memory(ANSWERED, number), score=1.0)


def short_note(number):
    return Hit(memory=memory(f"short note {number}", number), score=0.5)


def test_a_long_note_is_shown_by_the_passage_that_answers_the_question():
    structured, text = read_parts(
        page([long_note(), short_note(1)]), 1500, SCOPE, UTC, question="Where is the key of the shed?"
    )
    first = structured["memories"][0]
    assert "behind the blue barrel" in first["text"]
    assert "behind the blue barrel" in text
    assert first["text"].startswith("Notes of the allotment club.")
    assert first["text"].endswith("…[cut; read by ids]")
    assert first["cut"]


def test_a_passage_leaves_the_page_to_other_memories():
    structured, _ = read_parts(
        page([long_note(), *map(short_note, range(1, 9))]), 1000, SCOPE, UTC, question="Where is the key of the shed?"
    )
    assert len(structured["memories"]) == 9
    assert len(structured["memories"][0]["text"]) < 600


def test_a_long_note_behind_others_is_shown_by_its_passage_too():
    structured, _ = read_parts(
        page([short_note(1), long_note(2), short_note(3)]), 1500, SCOPE, UTC, question="Where is the key of the shed?"
    )
    assert [one.get("cut", False) for one in structured["memories"]] == [False, True, False]
    assert "blue barrel" in structured["memories"][1]["text"]


def test_a_note_that_was_asked_for_by_its_id_is_shown_from_its_beginning():
    structured, _ = read_parts(page([long_note()]), 1500, SCOPE, UTC, question="the key of the shed", whole=True)
    assert ANSWERED.startswith(structured["memories"][0]["text"].removesuffix("…[cut; raise token_budget]"))


def test_a_note_with_none_of_the_words_is_cut_behind_its_beginning():
    structured, _ = read_parts(page([long_note(), short_note(1)]), 1500, SCOPE, UTC, question="glacier")
    assert ANSWERED.startswith(structured["memories"][0]["text"].removesuffix("…[cut; read by ids]"))


@pytest.mark.daily
@pytest.mark.slow
@settings(max_examples=20, deadline=None)
@given(
    found=st.lists(hits, max_size=4),
    budget=st.sampled_from([100, 101, 150, 200, ENOUGH_TOKENS, 300, 1500, 20_000]),
    more=st.integers(0, 10**6),
    missing=st.integers(0, 100),
    whole=st.booleans(),
    unknown=st.booleans(),
    question=st.sampled_from(["", "a", "記", "0 🙂"]),
)
def test_no_part_of_a_page_is_ever_over_the_budget(found, budget, more, missing, whole, unknown, question):
    asked = page(
        found,
        total=2 * 10**6 + more if found else 0,
        missing=tuple(MemoryId(f"{n:020d}") for n in range(missing)),
        offset=10**6 if found and not unknown else 0,
        pending=more,
        below_floor=more,
        unknown=unknown,
    )
    structured, text = read_parts(asked, budget, SCOPE, UTC, question=question, whole=whole)
    assert estimate_tokens(json.dumps(structured, ensure_ascii=False)) <= budget
    assert estimate_tokens(text) <= budget
    assert bool(structured["memories"]) == bool(found) or (budget < ENOUGH_TOKENS and text == structured["note"])
    if "too small" in text:
        enough = int(text.rsplit(" ", 1)[1])
        assert budget < enough <= ENOUGH_TOKENS
        assert read_parts(asked, enough, SCOPE, UTC, question=question, whole=whole)[0]["memories"] or not found


def test_a_budget_that_is_too_small_costs_a_few_attempts_and_one_look_at_a_long_text(monkeypatch):
    packed, looked_at = [], []
    fill, pieces = tool_results._fill, passages._pieces
    monkeypatch.setattr(tool_results, "_fill", lambda *given, **options: packed.append(1) or fill(*given, **options))
    monkeypatch.setattr(passages, "_pieces", lambda *given: looked_at.append(1) or pieces(*given))
    long = Hit(memory=memory("記" * 20_000), score=0.5, section="open", weak=True)
    structured, text = read_parts(page([long], total=2 * 10**6, offset=10**6), 50, SCOPE, UTC, question="a")
    assert "too small" in text
    assert not structured["memories"]
    assert (len(looked_at), len(packed) <= 14) == (1, True)


@each("content", ["🙂" * 400, "አማርኛ" * 100, "deadbeef01" * 60, "x = {y: [z]}\n" * 50, "Ada likes tea. " * 60])
def test_a_page_costs_no_more_than_its_budget_by_the_prices_of_characters(content):
    """Seen before: a token for four ASCII characters and one for any other let a page cost up to 2.4 times its budget."""
    structured, text = read_parts(page([Hit(memory=memory(content, n)) for n in range(8)]), 1500, SCOPE, UTC)
    assert token_cost(json.dumps(structured, ensure_ascii=False)) <= 1500 * PARTS
    assert token_cost(text) <= 1500 * PARTS


def test_a_budget_that_is_too_small_for_a_memory_gives_none_and_names_one_that_is_not():
    found = page([Hit(memory=memory("Ada likes tea"))], total=7)
    structured, text = read_parts(found, 100, SCOPE, UTC)
    note = TOO_SMALL.format(enough=130)
    assert structured == {"memories": [], "remaining": 7, "cursor": None, "below_floor": 0, "note": note}
    assert text == note
    assert [one["text"] for one in read_parts(found, 130, SCOPE, UTC)[0]["memories"]] == ["Ada likes tea"]


@pytest.mark.parametrize("section", [None, "recent"])
def test_a_small_budget_holds_a_short_memory_that_is_all_there_is(section):
    structured, text = read_parts(page([Hit(memory=memory("Ada likes tea"), section=section)]), 105, SCOPE, UTC)
    assert structured["memories"][0]["text"] == "Ada likes tea"
    assert '"Ada likes tea"' in text


def test_a_memory_is_not_cut_to_a_mark_without_words():
    for budget in range(100, ENOUGH_TOKENS, 5):
        structured, _ = read_parts(page([Hit(memory=memory("x" * 5_000))], total=9), budget, SCOPE, UTC)
        assert all(one["text"].startswith("x" * 16) for one in structured["memories"])


def test_a_memory_that_is_alone_too_long_is_cut_with_a_mark():
    structured, _ = read_parts(page([Hit(memory=memory("記" * 100_000))]), 1500, SCOPE, UTC)
    (entry,) = structured["memories"]
    assert entry["cut"] is True
    assert entry["text"].endswith("…[cut; read by ids]")
    assert 950 < len(entry["text"]) < 1150


def test_a_memory_fetched_by_id_and_cut_says_to_raise_the_budget():
    structured, _ = read_parts(page([Hit(memory=memory("a" * 100_000))]), 1500, SCOPE, UTC, whole=True)
    assert structured["memories"][0]["text"].endswith("…[cut; raise token_budget]")


def test_a_first_memory_that_is_too_long_leaves_room_for_the_next_ones():
    short = [Hit(memory=memory(f"short {n}", n)) for n in range(1, 4)]
    structured, _ = read_parts(page([Hit(memory=memory("x" * 30_000)), *short]), 1500, SCOPE, UTC)
    assert [one.get("cut", False) for one in structured["memories"]] == [True, False, False, False]


def test_a_second_long_memory_waits_for_the_cursor():
    found = [Hit(memory=memory("short", 1)), Hit(memory=memory("a" * 100_000, 2))]
    structured, text = read_parts(page(found), 1500, SCOPE, UTC)
    assert [one["text"] for one in structured["memories"]] == ["short"]
    assert structured["remaining"] == 1
    assert structured["cursor"] in text


def test_a_thousand_tags_do_not_displace_the_text():
    tagged = memory("the text", tags=tuple(f"tag-{n}" for n in range(1000)))
    structured, _ = read_parts(page([Hit(memory=tagged)]), 300, SCOPE, UTC)
    (entry,) = structured["memories"]
    assert entry["text"] == "the text"
    assert "tags" not in entry


def test_a_page_that_fits_is_not_cut():
    structured, _ = read_parts(
        page([Hit(memory=memory("tea and a scone " * 12, n)) for n in range(8)]), 1500, SCOPE, UTC
    )
    assert len(structured["memories"]) == 8
    assert not any("cut" in one for one in structured["memories"])


def test_all_missing_ids_are_named_when_there_is_room():
    missing = tuple(MemoryId(f"{n:020d}") for n in range(20))
    structured, _ = read_parts(page([], missing=missing), 1500, SCOPE, UTC)
    assert structured["missing"] == list(missing)


def test_missing_ids_that_are_not_named_are_counted():
    missing = tuple(MemoryId(f"{n:020d}") for n in range(100))
    structured, _ = read_parts(page([], missing=missing), 100, SCOPE, UTC)
    assert structured["note"] == f"{100 - len(structured.get('missing', []))} more ids missing"


def test_times_are_shown_in_the_zone_of_the_client():
    from zoneinfo import ZoneInfo

    structured, _ = read_parts(page([Hit(memory=memory("x"))]), 1500, SCOPE, ZoneInfo("Europe/Berlin"))
    assert structured["memories"][0]["created_at"] == "2026-01-10T13:00:00+01:00"


def test_the_moment_at_the_end_of_the_calendar_can_be_shown():
    from zoneinfo import ZoneInfo

    last = memory("x", created_at=datetime.max.replace(tzinfo=UTC))
    structured, _ = read_parts(page([Hit(memory=last)]), 1500, SCOPE, ZoneInfo("Asia/Tokyo"))
    assert structured["memories"][0]["created_at"].startswith("9999")


@pytest.mark.slow
@pytest.mark.parametrize("content", ["a" * 100_000, "記" * 100_000, "\u2028" * 5_000, '"' * 9_000, "short"])
@pytest.mark.parametrize("count", [2, 30, 500])
def test_offered_groups_stay_within_their_budget(content, count):
    group = ReflectionGroup(memories=tuple(memory(content, n) for n in range(count)), worth=1.0)
    changed = replace(group, silent=True, changed=tuple(one.id for one in group.memories))
    structured, text = reflect_parts((replace(group, sort=GroupSort.CONFLICT), group, changed), UTC)
    assert estimate_tokens(json.dumps(structured, ensure_ascii=False)) <= REFLECT_TOKEN_BUDGET
    assert estimate_tokens(text) <= REFLECT_TOKEN_BUDGET
    assert all(len(one["memories"]) >= 2 for one in structured["groups"])


def test_an_offered_memory_is_told_with_the_day_on_which_it_happened():
    then = replace(memory("Ada moved to Porto"), occurred_at=datetime(2021, 3, 1, 12, tzinfo=UTC))
    structured, text = reflect_parts((ReflectionGroup(memories=(then,), worth=1.0),), UTC)
    assert structured["groups"][0]["memories"][0]["occurred_at"] == "2021-03-01T12:00:00Z"
    assert 'Mon 2021-03-01 "Ada moved to Porto"' in text


def test_a_group_says_in_both_parts_what_it_asks_for_and_what_it_changed():
    here, gone = memory("Ada lives in Porto"), memory("Ada lives in Graz", 1).id
    conflict = ReflectionGroup(memories=(here,), worth=1.0, sort=GroupSort.CONFLICT)
    subject = ReflectionGroup(memories=(here,), worth=1.0, changed=(gone,))
    structured, text = reflect_parts((conflict, subject), UTC)
    assert structured["groups"][0]["asks"] in text
    assert (structured["groups"][1]["changed"], "asks" in structured["groups"][1]) == ([gone], False)
    assert f"changed since: {gone}" in text


def test_a_search_by_words_alone_says_so_in_both_parts():
    structured, text = read_parts(page([Hit(memory=memory("red"))], pending=1, words_alone=True), 500, SCOPE, UTC)
    assert structured["note"] == WORDS_ALONE
    assert text.endswith(WORDS_ALONE)


def test_what_is_probably_not_known_is_said_first_in_both_parts():
    structured, text = read_parts(page([Hit(memory=memory("red"))], unknown=True), 500, SCOPE, UTC)
    assert structured["unknown"] is True
    assert text.splitlines()[0] == "Probably nothing is known about this. Closest:"


def test_a_question_that_may_be_answered_makes_no_claim():
    structured, text = read_parts(page([Hit(memory=memory("red"), weak=True)], below_floor=1), 500, SCOPE, UTC)
    assert "unknown" not in structured
    assert "nothing" not in text.lower()


def test_what_is_probably_not_known_is_said_on_the_first_page_only():
    structured, text = read_parts(page([Hit(memory=memory("red"))], offset=3, unknown=True), 500, SCOPE, UTC)
    assert "unknown" not in structured
    assert "Probably" not in text


def test_an_empty_store_does_not_announce_memories_that_stand_nearest():
    _, text = read_parts(page([], unknown=True), 500, SCOPE, UTC)
    assert text == "No memories found."


def line_of(hit, *, zone=UTC, whole=False):
    _, text = read_parts(page([hit]), 1500, SCOPE, zone, whole=whole)
    return text.split(" ", 1)[1]


def test_a_line_is_id_day_and_text():
    _, text = read_parts(page([Hit(memory=memory("Ada sails"), score=0.5)]), 1500, SCOPE, UTC)
    assert text == f'{0:020d} Sat 2026-01-10 "Ada sails"'


def test_the_day_of_a_line_is_that_of_what_happened_in_the_zone_of_the_client():
    from zoneinfo import ZoneInfo

    happened = memory("Ada sailed", occurred_at=datetime(2026, 1, 3, 23, 30, tzinfo=UTC))
    assert line_of(Hit(memory=happened), zone=ZoneInfo("Asia/Tokyo")).startswith("Sun 2026-01-04 ")
    assert line_of(Hit(memory=happened), zone=ZoneInfo("America/New_York")).startswith("Sat 2026-01-03 ")


@each(
    "fields, remark",
    [
        ({"speaker": "Ada"}, '(said by "Ada")'),
        ({"origin": Origin.TOOL}, "(from a tool)"),
        ({"origin": Origin.IMPORT}, "(imported)"),
        ({"origin": Origin.DERIVED, "kind": Kind.INSIGHT}, "(concluded)"),
        ({"key": "task"}, '(key "task")'),
        ({"origin": Origin.USER}, None),
        ({"origin": Origin.AGENT, "tags": ("sea",), "session": "s-other", "tier": Tier.LONG_TERM}, None),
    ],
)
def test_a_line_tells_what_a_model_can_use_and_nothing_else(fields, remark):
    told = 'Sat 2026-01-10 "Ada sails"'
    assert line_of(Hit(memory=memory("Ada sails", **fields))) == (f"{told} {remark}" if remark else told)


def test_a_line_says_how_often_a_thing_was_said():
    hit = Hit(memory=memory("Ada sails"), repeats=(MemoryId("m" * 20), MemoryId("n" * 20)))
    assert line_of(hit).endswith('"Ada sails" (said 3 times)')


def test_a_line_names_the_newer_memory_and_says_what_is_weak():
    hit = Hit(memory=memory("Ada sails"), newer=MemoryId("n" * 20), weak=True)
    assert line_of(hit).endswith(f'"Ada sails" (weak; newer {"n" * 20})')


@given(st.text(min_size=1, max_size=200), st.text(min_size=1, max_size=50))
def test_neither_text_nor_speaker_nor_key_can_pass_for_anything_else_of_a_line(content, name):
    line = line_of(Hit(memory=memory(content, speaker=name, key=name)))
    day, rest = line[:15], line[15:]
    text, end = json.JSONDecoder().raw_decode(rest)
    key, _ = json.JSONDecoder().raw_decode(rest[end + len(" (key ") :])
    assert (day, text, key) == ("Sat 2026-01-10 ", content, name)
    assert len(line.splitlines()) == 1


def test_who_fetches_by_id_is_told_the_rest_in_the_text_too():
    hit = Hit(memory=memory("Ada sails", tags=("sea",), session="s-other"))
    assert '"tags": ["sea"]' in line_of(hit, whole=True)
    assert '"session": "s-other"' in line_of(hit, whole=True)


def test_the_parts_of_a_score_are_in_the_text_where_they_were_asked_for():
    assert '"explain": {"lexical": 0.5}' in line_of(Hit(memory=memory("Ada sails"), score=0.5, terms={"lexical": 0.5}))


def test_the_sections_of_a_brief_are_headings():
    found = [Hit(memory=memory(f"note {n}", n), section="pinned" if n < 2 else "recent") for n in range(4)]
    _, text = read_parts(page(found), 1500, SCOPE, UTC)
    assert [line for line in text.splitlines() if "note" not in line] == ["pinned:", "recent:"]


def test_the_lines_of_a_section_stand_together_however_they_were_chosen():
    order = ["pinned", "recent", "about the user", "recent", "pinned"]
    found = [Hit(memory=memory(f"note {n}", n), section=section) for n, section in enumerate(order)]
    structured, text = read_parts(page(found), 1500, SCOPE, UTC)
    assert [one["text"] for one in structured["memories"]] == [f"note {n}" for n in (0, 4, 2, 1, 3)]
    assert [line for line in text.splitlines() if line.endswith(":")] == ["pinned:", "about the user:", "recent:"]


def test_a_long_memory_takes_one_line_of_a_brief():
    found = [Hit(memory=memory("x" * 5_000, n), section="recent") for n in range(10)]
    structured, _ = read_parts(page(found), 2500, SCOPE, UTC)
    assert len(structured["memories"]) == 10
    assert all(one["cut"] and one["text"].endswith("…[cut; read by ids]") for one in structured["memories"])


def test_a_memory_cut_for_the_smallest_budget_has_one_mark():
    structured, _ = read_parts(page([Hit(memory=memory("x" * 5_000), section="recent")]), ENOUGH_TOKENS, SCOPE, UTC)
    assert structured["memories"][0]["text"].count("[cut") == 1


@pytest.mark.parametrize(("forgotten", "told"), [(2, "all"), (1, "1 of 2")])
def test_an_insight_says_how_much_of_its_evidence_was_forgotten(forgotten, told):
    insight = memory("Ada likes music", kind=Kind.INSIGHT, parents=(MemoryId("p" * 20), MemoryId("q" * 20)))
    structured, text = read_parts(page([Hit(memory=insight, evidence_forgotten=forgotten)]), 1500, SCOPE, UTC)
    assert structured["memories"][0]["evidence_forgotten"] == told
    assert f"({told} of its evidence forgotten)" in text


def test_a_page_says_that_untrusted_memories_were_held_back():
    structured, text = read_parts(page([Hit(memory=memory("tea"))], held_back=3), 1500, SCOPE, UTC)
    assert structured["note"] == f"3 {HELD_BACK}"
    assert text.endswith(f"3 {HELD_BACK}")


def test_a_page_from_which_nothing_was_held_back_says_nothing_of_it():
    structured, _ = read_parts(page([Hit(memory=memory("tea"))]), 1500, SCOPE, UTC)
    assert "note" not in structured
