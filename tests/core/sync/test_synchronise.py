"""Stores that are written to apart come to hold the same, byte by byte, once each has seen all."""

import pytest
from tests.core.sync.machines import Machine


@pytest.fixture
def folder(tmp_path):
    place = tmp_path / "folder"
    place.mkdir()
    return place


@pytest.fixture
def machines(tmp_path):
    found = []

    def make(seed=1, **options):
        found.append(Machine(tmp_path / f"m{seed}", seed, **options))
        return found[-1]

    make.add = found.append
    yield make
    for one in found:
        one.close()


def rounds(folder, *machines, times=2):
    for _ in range(times):
        for one in machines:
            one.sync(folder)


def test_what_one_machine_was_told_is_on_the_other(folder, machines):
    one, other = machines(1), machines(2)
    id_ = one.write("The violin is in the attic.")
    rounds(folder, one, other, times=1)
    assert other.get(id_).content == "The violin is in the attic."
    assert one.export() == other.export()
