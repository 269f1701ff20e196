"""The view `review`: what waits for a person's word, and why."""

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Origin, Verdict
from hybrid_memory.requests import JudgeRequest

SECRET = "The key is sk-ant-api03-" + "Ab3" * 30  # made up


def reasons(found):
    return {one["content"]: one["reasons"] for one in found["memories"]}


def test_what_a_person_and_their_assistant_said_does_not_wait(look, say):
    say("Ada has a dog")
    say("Ada has a cat", origin=Origin.AGENT)
    assert look("review")["memories"] == []


def test_each_reason_is_told(look, say):
    said = say("Ada has a dog")
    say("Ada has a wolf", origin=Origin.TOOL, supersedes=said)
    say("Ada sails", source="hook:codex")
    say("Ada rows", origin=Origin.IMPORT)
    assert reasons(look("review")) == {
        "Ada has a wolf": ["disputed", "untrusted"],
        "Ada sails": ["hook"],
        "Ada rows": ["untrusted", "imported"],
    }


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
    assert [one["reasons"] for one in look("review")["memories"]] == [["untrusted"]]


def test_facets_count_what_waits_for_each_reason(look, say):
    say("Ada rows", origin=Origin.IMPORT)
    say("A page says hello", origin=Origin.TOOL)
    counts = {one["name"]: one["count"] for one in look("review", reason="imported")["facets"]}
    assert counts == {"untrusted": 2, "imported": 1}


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
