"""Out as a folder of Markdown and in again: the same as out as JSON lines and in again, byte by byte."""

from datetime import timedelta

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from tests.core.admin.sample_stores import exported, filled, imported, opened, unseen
from tests.core.store.making import memory

from hybrid_memory.admin.jsonl import header_line, item_line
from hybrid_memory.model import MemoryId
from hybrid_memory.store.transfer import MemoryItem, StoreContents
from hybrid_memory.testing import START
from hybrid_memory_importers.folder_export import FolderLayout, export_folder
from hybrid_memory_importers.formats import find_format
from hybrid_memory_importers.source import open_source

WORDS = st.lists(
    st.sampled_from([
        "I am vegan.", "---", "\n", "\r\n", " ", "\t", "```", "<b>", "[[x]]", "%%", "text: x", "# h", "\\<",
        "漢字", "עברית", "\u2028", "🌍",
        "exported: hybrid-memory/1 0123456789abcdef",
    ]),
    min_size=1,
    max_size=8,
).map("".join).filter(lambda text: any(one.isalnum() for one in text))  # fmt: skip


@st.composite
def lives(draw):
    """Some memories in order of time, with links to earlier ones."""
    made = []
    for number, content in enumerate(draw(st.lists(WORDS, min_size=1, max_size=5))):
        earlier = [one.id for one in made]
        link = (
            draw(st.sampled_from(["none", "parents", "duplicate_of", "disputes", "supersedes"])) if earlier else "none"
        )
        target = draw(st.sampled_from(earlier)) if earlier else None
        one = memory(f"m{number}", content=content, created_at=START + timedelta(hours=number), importance=0.5)
        made.append(one if link == "none" else _linked(one, link, target, made))
    return made


def _linked(one, link, target, made):
    if link == "parents":
        return memory(one.id, content=one.content, created_at=one.created_at, importance=0.5, parents=(target,))
    if link == "supersedes":
        at = next(number for number, other in enumerate(made) if other.id == target)
        if made[at].superseded_by is None:
            values = {name: getattr(made[at], name) for name in ("supersedes", "duplicate_of", "disputes", "parents")}
            made[at] = memory(target, content=made[at].content, created_at=made[at].created_at, importance=0.5,
                              superseded_by=MemoryId(one.id), **values)  # fmt: skip
    return memory(one.id, content=one.content, created_at=one.created_at, importance=0.5, **{link: target})


def lines_of_folder(folder):
    """What is read of a folder, as the lines of an export."""
    source = open_source(folder)
    memories = sorted(
        (one.exported for one in find_format(source).read(source)), key=lambda one: (one.created_at, one.id)
    )
    contents = StoreContents(
        embedder=None, dimensions=None, namespaces=("default",), memories=len(memories), buffers=0, conversations=0, entries=0,
        items=iter(()),
    )  # fmt: skip
    return header_line(contents) + b"".join(item_line(MemoryItem(one)) for one in memories)


@pytest.mark.daily
@pytest.mark.slow
@given(trusted=st.booleans(), made=lives(), layout=st.sampled_from(FolderLayout))
@settings(max_examples=5, suppress_health_check=[HealthCheck.too_slow], deadline=None)
def test_a_folder_brings_what_lines_bring(tmp_path_factory, trusted, made, layout):
    place = tmp_path_factory.mktemp("trip")
    store = filled(place / "home", [MemoryItem(one) for one in made])
    lines = exported(store, place / "lines.jsonl")
    export_folder(store, place / "folder", layout, on_progress=unseen)
    store.close()
    found = []
    for name, data in (("lines", lines), ("folder", lines_of_folder(place / "folder"))):
        fresh = opened(place / name / "home")
        imported(fresh, place / "in.jsonl", data, trusted=trusted)
        found.append(exported(fresh, place / "out.jsonl"))
        fresh.close()
    assert found[0] == found[1]
    if trusted:
        assert found[1].splitlines()[1:] == lines.splitlines()[1:]
