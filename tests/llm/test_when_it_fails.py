"""Whatever goes wrong, nothing is changed, and ``status`` says in one line what it was."""

import json
from types import SimpleNamespace

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory_llm import endpoint as module

KEEP = {"keep": [{"id": "n1", "kind": "fact"}]}
NOTHING = "nothing was changed"


@pytest.fixture
def said(life):
    life.tell("my sister Ines fires the kiln on Sundays", passing=True)
    return life


def last(life):
    return life.state.partition("; last: ")[2]


ANSWERS = [
    "",
    "I am sorry, I cannot help with that.",
    "[]",
    "null",
    '{"keep": [{"id": "n1"}]}',
    '{"keep": [{"id": "n1", "kind": "fact"}], "more": 1}',
    '{"keep": [{"id": "n2", "kind": "fact"}]}',
    '{"keep": {"id": "n1", "kind": "fact"}}',
    '{"keep": [{"id": "n1", "kind": "fact"}]',
    '{"changes": [{"id": "n1", "earlier": "n1", "how": "replaces"}]}',
    '{"insights": [{"text": "alone", "sources": ["n1"]}]}',
    "{" * 100_000,
]


@pytest.mark.parametrize("text", ANSWERS, ids=range(len(ANSWERS)))
def test_an_answer_that_is_not_as_it_has_to_be_changes_nothing(said, endpoint, text):
    before = said.everything
    endpoint.says = text
    said.end()
    assert last(said) == f"its answer was not as it has to be; {NOTHING}"
    assert said.everything == before


def test_an_answer_with_words_around_it_counts(said, endpoint):
    endpoint.says = f"```json\n{json.dumps(KEEP)}\n```"
    said.end()
    assert last(said) == "changed 1 memories, replaced 0 and concluded 0 things"


STATUS = [
    (400, "it cannot serve this now"),
    (401, "it refused the key"),
    (404, "it does not know this address or model"),
    (429, "it is asked too often, or there is no credit left"),
    (500, "it cannot serve this now"),
]


@pytest.mark.parametrize(("code", "problem"), STATUS)
def test_what_the_service_refuses_is_told_and_costs_nothing(said, endpoint, code, problem):
    endpoint.status, endpoint.body, before = code, b'{"error": "sk-secret"}', said.everything
    said.end()
    assert last(said) == f"127.0.0.1 answers {code}: {problem}; {NOTHING}"
    assert (said.everything, len(endpoint.asked)) == (before, 1)
    assert "0 of 50,000 tokens today, 0 in all" in said.state


def test_a_redirect_is_not_followed(said, endpoint):
    said.configure(base_url=endpoint.url, key_variable="PATH")
    endpoint.status, endpoint.headers = 302, {"Location": f"{endpoint.url}/elsewhere"}
    said.end()
    assert last(said) == f"127.0.0.1 answers 302: it cannot serve this now; {NOTHING}"
    assert len(endpoint.asked) == 1


def test_a_service_that_never_answers_is_given_up_and_may_have_cost_something(said, endpoint):
    endpoint.silent = True
    said.configure(base_url=endpoint.url, seconds=0.05)
    said.end()
    assert last(said) == f"127.0.0.1 gave no answer in 0.05 seconds; {NOTHING}"
    assert " 0 of" not in said.state


def test_a_service_that_hangs_up_may_have_cost_something(said, endpoint):
    endpoint.silent = True
    endpoint.over.set()
    said.end()
    assert last(said) == f"127.0.0.1 cannot be reached; {NOTHING}"
    assert " 0 of" not in said.state


def test_an_answer_whose_end_does_not_come_is_given_up(said, endpoint, monkeypatch):
    """Each part of it comes in time."""
    moments = iter([0.0, 61.0])
    monkeypatch.setattr(module, "time", SimpleNamespace(monotonic=lambda: next(moments)))
    endpoint.says = KEEP
    said.end()
    assert last(said) == f"127.0.0.1 gave no answer in 60 seconds; {NOTHING}"


def test_where_nobody_listens_nothing_is_changed(said, endpoint):
    endpoint.close()
    said.end()
    assert last(said) == f"127.0.0.1 cannot be reached; {NOTHING}"
    assert " 0 of" in said.state


@pytest.mark.parametrize(
    "body", [b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": {}}]}', b"\xff" * 2_000_000]
)
def test_what_is_no_such_service_is_told(said, endpoint, body):
    endpoint.body = body
    said.end()
    assert last(said) == f"127.0.0.1 did not answer as such a service does; {NOTHING}"


def test_a_budget_that_is_used_up_sends_nothing_until_the_next_day(said, endpoint):
    said.configure(base_url=endpoint.url, tokens_a_day=4_000)
    endpoint.tokens = 3_900
    said.end()
    said.tell("my brother Tom glazes the pots on Mondays", passing=True)
    said.end()
    assert last(said) == "what it may use on one day is used up; nothing was sent"
    said.clock.advance(days=1)
    said.end()
    assert len(endpoint.asked) == 2
    assert "3,900 of 4,000 tokens today, 7,800 in all" in said.state


@pytest.mark.parametrize("counted", [None, 0, -5, "many", True])
def test_where_the_service_does_not_count_the_estimate_counts(said, endpoint, counted):
    endpoint.tokens = counted
    said.end()
    used = int(said.state.partition("127.0.0.1, ")[2].partition(" ")[0].replace(",", ""))
    assert used > module.ANSWER_TOKENS


def test_a_meter_that_is_damaged_begins_again(said, endpoint):
    (said.home / "llm.json").write_text("{")
    said.end()
    assert "700 of 50,000 tokens today, 700 in all" in said.state


def test_the_key_comes_from_the_variable_that_is_named(said, endpoint, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "sk-1234")
    said.configure(base_url=endpoint.url, key_variable="SHOP_KEY")
    said.end()
    assert endpoint.asked[0][1]["Authorization"] == "Bearer sk-1234"
    assert "sk-1234" not in (said.home / "llm.json").read_text() + said.state


def test_without_a_key_nothing_is_sent_where_one_is_named(said, endpoint, monkeypatch):
    monkeypatch.delenv("SHOP_KEY", raising=False)
    said.configure(base_url=endpoint.url, key_variable="SHOP_KEY")
    said.end()
    assert endpoint.asked == []
    assert (
        last(said) == "the variable that key_variable names is not set where the memory's server runs; nothing was sent"
    )


def test_a_key_that_no_header_can_hold_is_no_crash(said, endpoint, monkeypatch):
    monkeypatch.setenv("SHOP_KEY", "sk-1\r\nX-Evil: 1")
    said.configure(base_url=endpoint.url, key_variable="SHOP_KEY")
    said.end()
    assert (endpoint.asked, last(said)) == ([], f"127.0.0.1 cannot be reached; {NOTHING}")


def test_a_machine_of_the_own_network_is_asked_past_the_proxy(said, endpoint, monkeypatch):
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
    said.end()
    assert len(endpoint.asked) == 1


def test_a_key_is_sent_to_nobody_who_needs_none(said, endpoint):
    said.end()
    assert "Authorization" not in endpoint.asked[0][1]


@pytest.mark.parametrize(
    ("answer_format", "asked_for"), [("json_schema", "json_schema"), ("json_object", "json_object"), ("none", None)]
)
def test_json_is_asked_for_as_the_service_takes_it(said, endpoint, answer_format, asked_for):
    said.configure(base_url=endpoint.url, answer_format=answer_format, answer_limit="max_completion_tokens")
    said.end()
    body = endpoint.asked[0][2]
    assert body.get("response_format", {}).get("type") == asked_for
    assert body["max_completion_tokens"] == module.ANSWER_TOKENS
    assert "max_tokens" not in body


WRONG = [
    ({"base_url": None}, "needs base_url and model"),
    ({"base_url": "api.example.com"}, "must be an address as https://"),
    ({"base_url": "http://api.example.com/v1"}, "must begin with https://"),
    ({"base_url": "https://me:sk-1@api.example.com/v1"}, "must hold no key"),
    ({"base_url": "https://api.example.com/v1?key=sk-1"}, "must hold no key"),
    ({"base_url": "https://[::1"}, "must be an address as https://"),
    ({"key_variable": "sk-1234"}, "must be the name of a variable, never the key itself"),
    ({"key": "sk-1234"}, "is no setting"),
    ({"tokens_a_day": -1}, "must be at least 0"),
]


@pytest.mark.parametrize(("values", "problem"), WRONG, ids=[one[1] for one in WRONG])
def test_a_setting_that_is_wrong_stops_nothing_but_the_judge(said, endpoint, values, problem):
    lines = [f"{name} = {json.dumps(value)}" for name, value in {"on": True, "model": "m", **values}.items() if value]
    lines += ["tokens_a_day = -1"] if "tokens_a_day" in values else []
    (said.home / "config.toml").write_text("\n".join(["[llm]", *dict.fromkeys(lines)]))
    with pytest.raises(InvalidInput, match="llm"):
        said.end()
    assert said.state.startswith("cannot be used: ")
    assert problem in said.state
    assert "sk-1" not in said.state


@pytest.mark.parametrize("host", ["http://localhost:11434/v1", "http://192.168.0.7/v1", "http://[::1]:8000/v1"])
def test_a_machine_of_the_own_network_may_be_asked_without_tls(life, host):
    life.configure(base_url=host)
    assert life.state.startswith("small-1 at ")
