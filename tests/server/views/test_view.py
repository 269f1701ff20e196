"""What a view is asked: parameters of an address."""

from __future__ import annotations

import pytest
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Scope
from hybrid_memory_mcp.views.view import ViewRequest


def request(**parameters: str) -> ViewRequest:
    return ViewRequest(scope=Scope(session="s"), parameters=parameters)


def test_a_number_that_is_not_given_is_the_default() -> None:
    assert request(limit=" ").number("limit", 20) == 20


@each("given", ["0", "-1", "1001", "ten", "1e3", "١٢", "9" * 5000])
def test_a_number_out_of_bounds_is_refused(given: str) -> None:
    with pytest.raises(InvalidInput, match="whole number from 1 to 1,000"):
        request(limit=given).number("limit", 20)


def test_secrets_are_shown_to_who_asks_alone() -> None:
    assert request(reveal="1").reveal
    assert not request().reveal
    assert not request(reveal="0").reveal
