"""What a person called true stays so: no check of the rows takes it for damage."""

from __future__ import annotations

import pytest

from hybrid_memory.admin import health_check
from hybrid_memory.clock import SystemClock
from hybrid_memory.model import Origin, Scope, Trust, Verdict
from hybrid_memory.requests import JudgeRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService

SCOPE = Scope(session="s", actor="person")


@pytest.mark.slow
@pytest.mark.parametrize("origin", [Origin.TOOL, Origin.IMPORT])
def test_the_word_of_a_person_for_what_a_tool_or_an_import_said_is_no_damage(tmp_path, origin):
    service = MemoryService.open(tmp_path)
    memory_id = service.write(SCOPE, WriteRequest(content="The harbour opens at nine.", origin=origin)).id
    service.acts.judge(SCOPE, JudgeRequest(ids=(memory_id,), verdict=Verdict.TRUE))
    report = health_check.check_open(service.store)
    service.close()
    assert report.sound
    assert not [one for one in report.findings if "trusted as more" in one.what]
    health_check.repair(tmp_path, SystemClock())
    again = MemoryService.open(tmp_path)
    assert again.get(SCOPE, memory_id).trust is Trust.CONFIRMED
    again.close()
