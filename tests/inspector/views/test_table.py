"""The addresses of views and of their data."""

from hybrid_memory_inspector.views.table import View


def test_the_data_of_a_view_has_an_address_beside_it():
    assert View("search", "/search", "Search", "a.module").data_path == "/search.json"


def test_the_data_of_the_first_view_is_named_after_it():
    assert View("now", "/", "Now", "a.module").data_path == "/now.json"
