"""What the model of many teams says of ordinary changes."""

from dataclasses import replace

import pytest
from benchmarks.team_model import Teams, largest_namespace, loads

pytestmark = pytest.mark.tools


def share(found, what):
    return next(one.share for one in found if one.what == what)


def test_the_fullest_part_comes_first():
    shares = [one.share for one in loads(Teams(), 20)]
    assert shares == sorted(shares, reverse=True)


def test_a_hub_for_each_of_ten_thousand_people_breaks_by_its_connections_first():
    first = loads(Teams(), 10_000)[0]
    assert first.what == "connections"
    assert first.share > 1


def test_a_few_hubs_in_the_middle_hold():
    assert loads(Teams(), 20)[0].share < 1


def test_twice_the_hubs_halve_what_each_holds_and_double_what_follows():
    few, many = loads(Teams(), 10), loads(Teams(), 20)
    assert share(many, "RAM of a hub") == pytest.approx(share(few, "RAM of a hub") / 2)
    assert share(many, "connections") == pytest.approx(2 * share(few, "connections"))


def test_longer_vectors_make_the_largest_namespace_smaller():
    short, long = largest_namespace(256), largest_namespace(1024)
    assert all(long[what] < short[what] for what in short)


def test_nothing_is_used_where_nobody_is():
    nobody = replace(Teams(), people=0)
    assert share(loads(nobody, 5), "commits of the server") == 0
