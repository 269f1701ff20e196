"""What a marker with ``about_me = "personal"`` gives to the person: what is told of the person, never of the project."""

import pytest

from hybrid_memory.capture.model import Statement, StatementKind
from hybrid_memory.capture.oneself import is_about_oneself


def said(text, kind):
    return Statement(text=text, kind=kind, importance=0.5, occurred_at=None, tags=())


@pytest.mark.parametrize(
    "text",
    [
        "I prefer short answers",
        "My sister Nora is allergic to peanuts",
        "Ich wohne in Graz",
        "Mi hija se llama Ana",
        "我喜欢绿茶",
    ],
)
def test_what_one_tells_of_oneself_is_ones_own(text):
    assert is_about_oneself(said(text, StatementKind.FACT))


@pytest.mark.parametrize(
    "text",
    [
        "We use Terraform here",
        "Our CTO is Priya Nair",
        "the staging host is otter",
        "I think we use Helm here",
        "我们用 Helm",
    ],
)
def test_what_one_tells_of_the_project_is_the_projects(text):
    assert not is_about_oneself(said(text, StatementKind.FACT))


def test_a_decision_is_the_projects_whoever_took_it():
    assert not is_about_oneself(said("I decided to use Kafka", StatementKind.DECISION))
