"""What a person does on the page, over HTTP: verbs, answers, undo, and what is refused."""

import pytest

from hybrid_memory.model import Origin
from hybrid_memory_mcp.admin.acting import VERBS


def post(page, verb, body, **more):
    return page.ask("POST", f"/actions/{verb}", json=body, headers={"Accept": "application/json"}, **more)


def done(page, verb, body):
    answer = post(page, verb, body)
    assert answer.status_code == 200, answer.text
    return answer.json()


def stands(page, memory_id):
    return page.get(f"/memories/{memory_id}.json").json()["memory"]


def test_a_correction_is_the_persons_and_is_undone(page):
    old = page.remember("Ada lives in Rome")
    answer = done(page, "edit", {"id": old, "text": "Ada lives in Oslo"})
    (new,) = answer["memories"]
    assert (new["content"], new["origin"], answer["before"]) == ("Ada lives in Oslo", "user", [old])
    assert done(page, "undo", {"undo": answer["undo"]})["done"] == "Undone"
    assert stands(page, old)["state"] == "current"


@pytest.mark.slow
@pytest.mark.parametrize(
    ("verb", "more", "field", "value"),
    [
        ("pin", {}, "pinned", True),
        ("forget", {}, "state", "forgotten"),
        ("judge", {"verdict": "true"}, "trust", "confirmed"),
        ("confirm", {}, "verdict", "true"),
        ("untrue", {}, "verdict", "untrue"),
        ("ended", {}, "state", "expired"),
    ],
)
def test_each_verb_does_it_to_many_and_is_undone_at_once(page, verb, more, field, value):
    ids = [page.remember(text) for text in ("Ada has a dog", "Ada has a cat")]
    before = [stands(page, one) for one in ids]
    answer = done(page, verb, {"ids": ids, **more})
    assert [one[field] for one in answer["memories"]] == [value, value]
    done(page, "undo", {"undo": answer["undo"]})
    after = [stands(page, one) for one in ids]
    assert [one.get(field) for one in after] == [one.get(field) for one in before]


def test_memories_are_merged_and_split(page):
    ids = [page.remember(text) for text in ("Ada has a dog", "Ada has a cat")]
    merged = done(page, "merge", {"ids": ids, "text": "Ada has a dog and a cat"})
    assert merged["done"] == "2 memories are one now"
    parts = done(page, "split", {"id": merged["memories"][0]["id"], "parts": ["Ada has a dog", "Ada has a cat"]})
    assert parts["done"] == "One memory is 2 now"


def test_ids_may_be_begun_and_given_as_one_text(page):
    one, other = page.remember("Ada has a dog"), page.remember("Ada has a cat")
    assert len(done(page, "pin", {"ids": f"{one} {other}"})["memories"]) == 2


def test_the_log_knows_the_person(page):
    one = page.remember("Ada has a dog")
    done(page, "pin", {"ids": [one]})
    assert page.service.store.history("default", [one])[-1].actor == "person (page)"


@pytest.mark.parametrize(
    ("verb", "body", "status"),
    [
        ("forget", {"ids": []}, 400),
        ("forget", {"ids": ["06h082aa7p6hm85pxyqj"]}, 404),
        ("judge", {"ids": ["x" * 20]}, 400),
        ("undo", {"undo": "nothing"}, 404),
        ("undo", {}, 400),
        ("merge", {"ids": 7}, 400),
        ("edit", {"id": ["a", "b"]}, 400),
    ],
)
def test_what_is_wrong_is_said(page, verb, body, status):
    answer = post(page, verb, body)
    assert (answer.status_code, bool(answer.json()["error"]["message"])) == (status, True)


def test_what_was_changed_since_is_a_conflict(page):
    one = page.remember("Ada has a dog")
    pinned = done(page, "pin", {"ids": [one]})
    done(page, "edit", {"id": one, "text": "Ada has a cat"})
    answer = post(page, "undo", {"undo": pinned["undo"]})
    assert (answer.status_code, answer.json()["error"]["code"]) == (409, "changed_since")


@pytest.mark.parametrize("verb", VERBS)
def test_nothing_is_done_by_looking(page, verb):
    assert page.get(f"/actions/{verb}").status_code in (404, 405)


def test_an_unknown_verb_is_no_address(page):
    assert post(page, "explode", {}).status_code == 404


@pytest.mark.parametrize("body", [b"{", b"[1]", b'"x"'])
def test_a_body_that_is_no_object_is_refused(page, body):
    answer = page.ask(
        "POST", "/actions/pin", content=body, headers={"Accept": "application/json", "Content-Type": "application/json"}
    )
    assert answer.status_code == 400


def test_a_form_without_scripts_is_told_what_was_done_and_offered_the_undo(page):
    one = page.remember("<b>Ada</b> has a dog")
    answer = page.ask("POST", "/actions/forget", data={"ids": one, "back": "/review?page=2"})
    assert answer.status_code == 200
    assert "1 memory forgotten" in answer.text
    assert "/actions/undo" in answer.text
    assert 'href="/review?page=2"' in answer.text
    assert "<b>Ada" not in answer.text


@pytest.mark.parametrize("back", ["https://evil.example/", "//evil.example", "/\\evil.example", "/actions/forget", ""])
def test_the_way_back_leads_nowhere_else(page, back):
    one = page.remember("Ada has a dog")
    answer = page.ask("POST", "/actions/pin", data={"ids": one, "back": back})
    assert "evil" not in answer.text


def test_a_project_named_in_the_address_is_where_it_is_done(page):
    one = page.remember("Ada has a dog")
    assert post(page, "pin", {"ids": [one]}, params={"namespace": "elsewhere"}).status_code == 404


class Operations:
    """Stands for the hub's operations."""

    def __init__(self, count):
        self.count = count
        self.asked = []

    async def __call__(self, name, arguments, scope):
        self.asked.append((name, arguments["preview"], arguments["count"], scope.actor, scope.namespace))
        counts = {"memories": self.count, "named": 1, "versions": self.count - 1, "derived": 0}
        return counts | {"rewritten": 0, "removed": 0}


def with_operations(page, count):
    from dataclasses import replace

    page.resources = replace(page.resources, operation=Operations(count))
    return page.resources.operation


def test_nothing_is_erased_before_the_number_of_it_is_typed(page):
    operations = with_operations(page, 3)
    one = page.remember("Ada has a dog")
    for typed in ({}, {"typed": "2"}, {"typed": "yes"}):
        answer = post(page, "purge", {"ids": [one], **typed})
        assert (answer.status_code, answer.json()["count"]) == (409, 3)
    assert [one[1] for one in operations.asked] == [True, True, True]


def test_who_types_the_number_erases_by_the_operation_of_the_command(page):
    operations = with_operations(page, 3)
    one = page.remember("Ada has a dog")
    assert post(page, "purge", {"ids": [one], "typed": "3"}).status_code == 200
    assert operations.asked[-1] == ("purge", False, 3, "person (page)", "default")


def test_without_the_hub_nothing_is_erased(page):
    one = page.remember("Ada has a dog")
    assert post(page, "purge", {"ids": [one], "typed": "1"}).status_code == 400
    assert stands(page, one)["state"] == "current"


def test_without_scripts_erasing_asks_on_a_page(page):
    with_operations(page, 2)
    one = page.remember("Ada has a dog")
    answer = page.ask("POST", "/actions/purge", data={"ids": one})
    assert answer.status_code == 409
    assert 'name="typed"' in answer.text


def test_the_review_page_shows_what_waits_with_a_button_for_each_answer(page):
    page.remember("<script>a tool said so</script>", origin=Origin.TOOL)
    text = page.get("/review").text
    assert "<script>a tool" not in text
    for verb in ("confirm", "forget", "untrue", "ended"):
        assert f'data-action="{verb}"' in text


def test_an_empty_review_says_what_will_come_there(page):
    assert "Nothing waits for you" in page.get("/review").text
