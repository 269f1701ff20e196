"""What takes too long for the quick tier: the real store and embedder under many writes."""

import pytest

from hybrid_memory.clock import SystemClock, SystemRandomSource
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService

SCOPE = Scope(session="long life", actor="stress")
TEXTS = (
    "The spare key lies under the blue flower pot",
    "猫は屋根の上で寝ている",
    "الكتاب على الطاولة",
    "🎉🎊 🦜",
    "marzipan " * 3000,
)

pytestmark = [pytest.mark.stress, pytest.mark.timeout(1200)]


def opened(folder):
    return MemoryService.open(folder, clock=SystemClock(), random_source=SystemRandomSource())


def first(service, text):
    return service.read(SCOPE, ReadRequest(query=text[:200], limit=3)).hits[0].memory


def test_old_memories_are_found_after_ten_thousand_further_writes_and_a_restart(tmp_path):
    service = opened(tmp_path)
    ids = [service.write(SCOPE, WriteRequest(content=text)).id for text in TEXTS]
    for number in range(10_000):
        service.write(SCOPE, WriteRequest(content=f"Remark {number} about the weather in week {number % 52}"))
    for _ in range(2):
        assert [first(service, text).id for text in TEXTS] == ids
        assert [first(service, text).content for text in TEXTS] == list(TEXTS)
        assert service.status(SCOPE).memories == 10_000 + len(TEXTS)
        service.close()
        service = opened(tmp_path)
    service.close()
