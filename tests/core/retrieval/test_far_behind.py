"""An index that is far behind the store, as after an import, is loaded again; one that is a little behind follows."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from tests.tables import each

from hybrid_memory import MemoryService, ReadRequest, WriteRequest
from hybrid_memory.admin.export_import import ImportPolicy, import_file
from hybrid_memory.retrieval import index_cache
from hybrid_memory.retrieval.index_cache import _is_far_behind


@each("changes, size, far", [
    (1000, 0, False), (1001, 0, True), (1001, 12_000, False), (1001, 11_000, True), (5000, 10**6, False), (5001, 10**6, True),
])  # fmt: skip
def test_how_far_is_far(changes, size, far):
    assert _is_far_behind(changes, size) is far


@pytest.mark.slow
@pytest.mark.parametrize("personal", [None, "person"])
def test_what_an_import_brought_is_found_by_an_index_that_was_loaded_anew(
    scope, clock, random_source, tmp_path, monkeypatch, personal
):
    monkeypatch.setattr(index_cache, "_FOLLOWED_ANYWAY", 10)
    service = MemoryService.open(tmp_path / "store", clock=clock, random_source=random_source)
    scope = replace(scope, personal=personal)
    service.write(scope, WriteRequest(content="Ada is allergic to peanuts."))
    service.read(scope, ReadRequest(query="peanuts"))
    before = service._index_cache.get_all(scope.namespaces)
    lines = tmp_path / "lines.jsonl"
    lines.write_text(
        "".join(json.dumps({"content": f"Parcel {number} went to Lisbon."}) + "\n" for number in range(50))
    )
    policy = ImportPolicy(now=clock.now())
    import_file(service.store, lines, policy, embed=service.encode_texts, actor="test", on_progress=lambda *_: None)
    found = service.read(scope, ReadRequest(query="Where did parcel 33 go?"))
    assert found.hits[0].memory.content == "Parcel 33 went to Lisbon."
    assert service._index_cache.get_all(scope.namespaces) is not before
    service.close()
