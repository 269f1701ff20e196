"""Many random stores leave and come back; two hundred canaries are purged out of every file."""

import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st
from tests.core.admin.sample_stores import ITEMS
from tests.core.admin.test_export_import import round_trip
from tests.core.admin.test_purge import canaries, purge_everywhere

pytestmark = [pytest.mark.stress, pytest.mark.timeout(600)]


@settings(
    max_examples=500, phases=(Phase.explicit, Phase.generate), deadline=None, suppress_health_check=list(HealthCheck)
)
@given(ITEMS, st.booleans())
def test_five_hundred_random_stores_are_the_same_after_export_and_import(items, vectors):
    round_trip(items, vectors=vectors)


def test_two_hundred_canaries_are_gone_from_every_file(tmp_path):
    purge_everywhere(tmp_path / "home", *canaries(200))
