"""What is counted of a short life."""

import pytest
from benchmarks.corrections import Found, counted

NOWHERE = Found(None, None, marked=False)


@pytest.mark.parametrize(
    ("page", "right", "told"),
    [
        (Found(None, 0, marked=False), True, True),
        (Found(1, 0, marked=True), True, True),
        (Found(1, 0, marked=False), True, False),
        (Found(0, 1, marked=True), False, True),
        (Found(0, None, marked=False), False, False),
        (NOWHERE, False, False),
    ],
)
def test_a_change_is_right_where_what_holds_is_first_or_alone(page, right, told):
    found = counted({"kind": "replaces"}, page, NOWHERE, NOWHERE)
    assert (found["current alone or first"], found["ended or marked"]) == (right, told)


def test_a_decoy_is_wrong_where_the_later_one_is_first():
    assert counted({"kind": "decoy"}, Found(1, 0, marked=False), NOWHERE, NOWHERE)["decoys: not first"] == 1
    assert counted({"kind": "decoy"}, Found(0, 1, marked=False), NOWHERE, NOWHERE)["decoys: not first"] == 0


def test_a_brief_that_has_the_earlier_one_alone_is_stale():
    assert counted({"kind": "ends"}, NOWHERE, Found(3, None, marked=False), NOWHERE)["brief: stale only"] == 1
