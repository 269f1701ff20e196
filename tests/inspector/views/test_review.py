"""The view `review`: what waits for a person's word, and why."""

from dataclasses import replace

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId, Origin, Verdict
from hybrid_memory.requests import JudgeRequest
from hybrid_memory.store.writing import Insert, WriteBatch

SECRET = "The key is sk-ant-api03-" + "Ab3" * 30  # made up


def reasons(found):
    return {one["content"]: one["reason"] for one in found["memories"]}


def test_what_a_person_said_kept_by_a_hook_or_imported_does_not_wait(look, say):
    say("Ada has a dog")
    say("Ada has a cat", origin=Origin.AGENT)
    say("Ada sails", source="hook:codex")
    say("Ada rows", origin=Origin.IMPORT)
    assert look("review")["memories"] == []


def test_each_reason_is_told(look, say):
    said = say("Ada has a dog")
    say("Ada has a wolf", origin=Origin.TOOL, supersedes=said)
    say("Ada sails", source="hook:codex+pasted")
    say("A page says hello", origin=Origin.TOOL)
    assert list(reasons(look("review")).items()) == [
        ("Ada has a wolf", "disputed"),
        ("Ada sails", "pasted"),
        ("A page says hello", "untrusted"),
    ]


def test_a_guess_that_one_changes_another_does_not_wait(look, say, service, scope):
    first = service.revealed(scope, [say("The stand-up is on Monday")])
    likely = replace(
        *first.values(), id=MemoryId("guess"), content="The stand-up is on Friday", disputes=next(iter(first))
    )
    batch = WriteBatch(action="test", actor="test", inserts=(Insert(likely),))
    service.store.write("default", None, lambda _: batch)
    assert look("review")["total"] == 0


def test_one_sentence_said_often_waits_once_and_is_judged_at_once(look, say, service, scope):
    for number in range(35):
        say("Backups run at two" if number % 2 else "backups  run at TWO", origin=Origin.TOOL, session=f"s{number}")
    found = look("review")
    (one,) = found["memories"]
    assert (found["total"], len(one["ids"]), one["ids"][0]) == (1, 35, one["id"])
    service.acts.judge(scope, JudgeRequest(tuple(one["ids"]), Verdict.UNTRUE))
    assert look("review")["total"] == 0


def test_ten_at_most_are_shown_at_once(look, say):
    for number in range(12):
        say(f"page {number} says hello", origin=Origin.TOOL)
    assert [len(look("review", page=str(page))["memories"]) for page in (1, 2)] == [10, 2]


def test_behind_the_last_page_the_last_one_is_shown(look, say):
    say("A page says hello", origin=Origin.TOOL)
    assert (look("review", page="9")["page"], len(look("review", page="9")["memories"])) == (1, 1)


def test_what_says_otherwise_comes_first_with_what_it_contradicts(look, say):
    said = say("Ada has a dog")
    say("Ada has a wolf", origin=Origin.TOOL, supersedes=said)
    say("A page says hello", origin=Origin.TOOL)
    first = look("review")["memories"][0]
    assert (first["content"], first["other"]["content"]) == ("Ada has a wolf", "Ada has a dog")


def test_a_secret_waits_masked_with_its_kind(look, say):
    say(SECRET)
    (one,) = look("review", reason="secret")["memories"]
    assert "Ab3Ab3" not in one["content"]
    assert one["secret_kinds"]


def test_a_secret_is_found_in_any_language(look, say):
    say(f"Der Schlüssel für das Haus am See ist {SECRET[11:]}, und das ist nicht gut so")
    assert look("review", reason="secret")["total"] == 1


def test_who_speaks_of_secrets_has_none(look, say):
    say("Ada keeps a secret")
    assert look("review", reason="secret")["total"] == 0


@pytest.mark.parametrize("verdict", list(Verdict))
def test_what_was_judged_waits_no_longer(look, say, service, scope, verdict):
    one = say("A page says hello", origin=Origin.TOOL)
    service.acts.judge(scope, JudgeRequest((one,), verdict))
    assert look("review")["total"] == 0


def test_a_dispute_is_settled_when_the_disputed_memory_is_confirmed(look, say, service, scope):
    said = say("Ada has a dog")
    say("Ada has a wolf", origin=Origin.TOOL, supersedes=said)
    service.acts.judge(scope, JudgeRequest((said,), Verdict.TRUE))
    assert [one["reason"] for one in look("review")["memories"]] == ["untrusted"]


def test_facets_count_each_statement_for_its_most_pressing_reason(look, say):
    said = say("Ada has a dog")
    say("Ada has a wolf", origin=Origin.TOOL, supersedes=said)
    say("A page says hello", origin=Origin.TOOL)
    counts = {one["name"]: one["count"] for one in look("review", reason="untrusted")["facets"]}
    assert counts == {"disputed": 1, "untrusted": 1}


def test_a_page_has_its_share(look, say):
    for number in range(5):
        say(f"page {number} says hello", origin=Origin.TOOL)
    found = look("review", page="2", limit="2")
    assert ([one["content"] for one in found["memories"]], found["total"]) == (
        ["page 2 says hello", "page 1 says hello"],
        5,
    )


def test_the_last_acts_are_there_to_be_undone(look, say, service, scope):
    one = say("Ada has a dog")
    service.acts.pin(scope, [one])
    (act,) = look("review")["acts"]
    assert (act["action"], act["ids"]) == ("pin", [one])


def test_another_reason_is_refused(look):
    with pytest.raises(InvalidInput, match="reason"):
        look("review", reason="boredom")
