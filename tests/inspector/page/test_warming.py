"""What is made ready while a person looks at the first page."""

from __future__ import annotations

from pathlib import Path

import pytest
from tests.server.services import SCOPE

from hybrid_memory.model import MemoryId
from hybrid_memory_inspector.overview.overviews import Overviews
from hybrid_memory_inspector.page.app import warm_up
from hybrid_memory_inspector.page.rendering import environment
from hybrid_memory_inspector.views.table import VIEWS


def warmed(page):
    page.remember("Ada lives in Porto.")
    warm_up(lambda work: work(page.service), SCOPE, Path())
    return page.service


@pytest.mark.slow
def test_every_template_is_compiled(page):
    environment.cache_clear()
    warmed(page)
    compiled = {name for _, name in environment().cache}
    assert compiled >= {view.template for view in VIEWS}


def test_it_is_no_use_of_a_memory(page):
    memory_id = MemoryId(page.remember("Ada is a cartographer."))
    service = warmed(page)
    service.flush_recalls()
    assert service.store.usage(SCOPE.namespace, [memory_id]) == {}


def test_it_is_no_question_of_an_assistant(page):
    service = warmed(page)
    service.flush_recalls()
    assert service.store.readings.latest() == []


def test_the_map_and_the_names_wait_to_be_asked_for(page, monkeypatch):
    asked = []
    monkeypatch.setattr(Overviews, "map", lambda *_, **__: asked.append("map"))
    monkeypatch.setattr(Overviews, "names", lambda *_, **__: asked.append("names"))
    warmed(page)
    assert asked == []
