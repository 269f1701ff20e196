"""The folder of an open store is removed: nothing is acknowledged that would be gone with it, and what to do is said."""

import shutil
import sys

import pytest

from hybrid_memory.errors import StoreRemoved
from hybrid_memory.model import Scope
from hybrid_memory.requests import ReadRequest, WriteRequest
from hybrid_memory.service.memory_service import MemoryService

pytestmark = pytest.mark.skipif(sys.platform == "win32", reason="Windows removes no file that is open")

SCOPE = Scope(session="s-here")


@pytest.fixture
def home(tmp_path):
    return tmp_path / "store"


def write(service, content):
    return service.write(SCOPE, WriteRequest(content=content))


def test_a_write_says_that_the_folder_is_gone_and_writes_nothing(home):
    service = MemoryService.open(home)
    write(service, "Ada plays the cello")
    shutil.rmtree(home)
    for _ in range(2):
        with pytest.raises(StoreRemoved, match="removed or replaced while it was open: nothing was written"):
            write(service, "Grace plays the viola")
    service.close()
    assert not (home / "memory.duckdb").exists()


def test_a_file_in_its_place_is_not_taken_for_it(home):
    service = MemoryService.open(home)
    (home / "memory.duckdb").unlink()
    (home / "memory.duckdb").write_bytes(b"another")
    with pytest.raises(StoreRemoved):
        write(service, "Grace plays the viola")
    service.close()
    assert (home / "memory.duckdb").read_bytes() == b"another"


@pytest.mark.slow
def test_opening_again_beside_it_says_what_to_close_and_after_that_goes_on(home):
    service = MemoryService.open(home)
    write(service, "Ada plays the cello")
    assert service.read(SCOPE, ReadRequest(query="Who plays the cello?")).recalled
    shutil.rmtree(home)
    with pytest.raises(StoreRemoved, match="close that one, then open it again for a new, empty store"):
        MemoryService.open(home)
    service.close()
    new = MemoryService.open(home)
    write(new, "Grace plays the viola")
    assert [hit.memory.content for hit in new.read(SCOPE, ReadRequest(query="Who plays?")).hits] == [
        "Grace plays the viola"
    ]
    new.close()
