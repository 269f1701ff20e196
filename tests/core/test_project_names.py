import string

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.project_names import (
    PREFIX,
    check_project_name,
    namespace_name,
    project_namespace,
    project_of,
    shown_project,
)
from hybrid_memory.validation import check_name

NAMES = st.text(string.ascii_letters + string.digits + "._- äß日", min_size=1, max_size=20)


def accepted(name):
    try:
        return check_project_name("project", name)
    except InvalidInput:
        return None


@given(st.text(), st.text(min_size=1, max_size=200))
def test_a_projects_namespace_is_never_that_of_a_person(name, person):
    if accepted(name) is not None:
        assert project_namespace(name, person) not in (person, "default")
        assert project_namespace(name, person).startswith(PREFIX)


@given(NAMES, NAMES, st.text(min_size=1), st.text(min_size=1))
def test_two_projects_or_two_people_have_two_namespaces(one, other, person, second):
    names = accepted(one), accepted(other)
    if None not in names and (names[0], person) != (names[1], second):
        assert project_namespace(one, person) != project_namespace(other, second)


@given(NAMES, st.text(st.characters(exclude_categories=("C",)), min_size=1, max_size=200))
def test_the_namespace_can_be_stored_and_tells_its_project(name, person):
    named = accepted(name)
    if named is not None:
        namespace = project_namespace(name, person)
        assert check_name("namespace", namespace) == namespace
        assert project_of(namespace) == named


@each("name", ["", " ", "../x", "a/b", ".", "..", "x\n", "a@b", "project:x", "auto", "OFF", "x" * 10_000, "a\u202eb"])
def test_what_is_no_projects_name_is_refused_without_being_repeated(name):
    with pytest.raises(InvalidInput) as refused:
        check_project_name("project", name)
    assert len(str(refused.value)) < 200


def test_a_persons_namespace_is_of_no_project():
    assert project_of("default") is None
    assert project_of("ada") is None


@each(
    "name, shown",
    [
        ("shopfront-1b1cddb5548d88ba", "shopfront"),
        ("acme", "acme"),
        ("acme-2026", "acme-2026"),
        ("1b1cddb5548d88ba", "1b1cddb5548d88ba"),
    ],
)
def test_a_project_is_shown_without_the_digits_of_its_repository(name, shown):
    assert shown_project(name) == shown


OF_A_REPOSITORY = "project:shopfront-1b1cddb5548d88ba@bob"


def test_a_namespace_is_called_as_people_call_it():
    assert [
        namespace_name(one) for one in ("default", "project:acme", "project:acme@bob", "work", OF_A_REPOSITORY)
    ] == [
        "yours",
        "project acme",
        "project acme of bob",
        "work",
        "project shopfront of bob",
    ]
