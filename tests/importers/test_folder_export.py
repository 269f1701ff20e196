"""Exports as folders of Markdown files: brought up to date, readable, and never over somebody else's files."""

import os
from dataclasses import replace
from datetime import timedelta
from itertools import pairwise
from pathlib import Path

import pytest
from tests.core.admin.sample_stores import filled, unseen
from tests.core.store.making import memory
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import Kind, MemoryId, Origin
from hybrid_memory.secret_detection.secret_policy import SecretPolicy
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory.testing import START
from hybrid_memory_importers.folder_export import (
    FolderLayout,
    check_folder,
    export_folder,
    file_name,
    folder_name,
    slug,
)
from hybrid_memory_importers.markdown.frontmatter import parse, split
from hybrid_memory_importers.markdown.memory_file import read_memory_file

KEY = "AKIA" + "QYLPMN5HFIQR7XYA"


@pytest.fixture
def folder(tmp_path):
    return tmp_path / "notes"


def three():
    return [
        memory("m1", content="I live in Munich.", created_at=START, superseded_by=MemoryId("m2")),
        memory("m2", content="I live in Berlin.", created_at=START + timedelta(days=40), supersedes=MemoryId("m1")),
        memory("m3", content="Moves often.", created_at=START + timedelta(days=41), kind=Kind.INSIGHT, origin=Origin.DERIVED,
               parents=(MemoryId("m1"), MemoryId("m2")), namespace="project:acme"),
    ]  # fmt: skip


@pytest.fixture
def store(tmp_path):
    made = filled(tmp_path / "home", [MemoryItem(one) for one in three()])
    yield made
    made.close()


def export(store, folder, layout=FolderLayout.MARKDOWN, **options):
    return export_folder(store, folder, layout, on_progress=unseen, **options)


def files(folder):
    return {
        path.relative_to(folder).as_posix(): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()
    }


def test_each_memory_is_a_file_that_says_what_it_holds(store, folder):
    done = export(store, folder)
    assert (done.memories, done.written, done.namespaces) == (3, 4, ("default", "project:acme"))
    names = list(files(folder))
    assert names[:3] == [
        "README.md",
        "default/2026-01/2026-01-10-i-live-in-munich-m1.md",
        "default/2026-02/2026-02-19-i-live-in-berlin-m2.md",
    ]
    assert names[3].startswith("project-acme-")


def test_memories_come_back_from_their_files(store, folder):
    export(store, folder)
    found = [read_memory_file(data.decode()) for name, data in files(folder).items() if name != "README.md"]
    expected = [
        replace(one, content_hash=again.content_hash, terms=()) for one, again in zip(three(), found, strict=True)
    ]
    assert found == expected


@pytest.mark.parametrize("layout", FolderLayout)
def test_the_same_contents_give_the_same_bytes_and_nothing_is_written_again(store, folder, layout):
    export(store, folder, layout)
    before = files(folder)
    again = export(store, folder, layout)
    assert (again.written, again.removed) == (0, 0)
    assert files(folder) == before


def test_a_memory_that_is_gone_from_the_store_goes_from_the_folder(store, folder, tmp_path):
    export(store, folder)
    rest = filled(tmp_path / "rest", [MemoryItem(one) for one in three()[1:]])
    done = export(rest, folder)
    rest.close()
    assert done.removed == 1
    assert not (folder / "default" / "2026-01").exists()


def test_an_edited_file_is_replaced_only_by_force(store, folder):
    export(store, folder)
    file = next(folder.rglob("*m1.md"))
    before = file.read_bytes()
    file.write_bytes(before.replace(b"Munich.", b"Hamburg."))
    with pytest.raises(InvalidInput, match="edited since"):
        export(store, folder)
    assert b"Hamburg" in file.read_bytes()
    export(store, folder, force=True)
    assert file.read_bytes() == before


def test_files_of_others_stay_whatever_is_forced(store, folder):
    folder.mkdir()
    (folder / "README.md").write_text("mine")
    (folder / "default").mkdir()
    (folder / "default" / "note.md").write_text("mine")
    with pytest.raises(InvalidInput, match="holds other files"):
        export(store, folder)
    done = export(store, folder, force=True)
    assert done.left_alone == 1
    assert [(folder / name).read_text() for name in ("README.md", "default/note.md")] == ["mine", "mine"]
    assert export(store, folder).written == 0


def test_a_folder_of_an_editor_or_of_git_counts_as_empty(store, folder):
    (folder / ".obsidian").mkdir(parents=True)
    assert export(store, folder).memories == 3


def test_no_link_in_the_folder_is_followed(store, folder, tmp_path):
    aside = tmp_path / "aside"
    aside.mkdir()
    folder.mkdir()
    (folder / "default").symlink_to(aside, target_is_directory=True)
    with pytest.raises(InvalidInput, match="is a link"):
        export(store, folder, force=True)
    assert list(aside.iterdir()) == []


def test_what_a_killed_export_left_is_swept(store, folder):
    export(store, folder)
    half = folder / "default" / "2026-01" / ".half.md.part"
    half.write_text("half")
    export(store, folder)
    assert not half.exists()


def test_one_namespace_is_exported_beside_the_others(store, folder):
    export(store, folder)
    done = export(store, folder, namespaces=["default"])
    assert (done.memories, done.removed) == (2, 0)
    with pytest.raises(InvalidInput):
        export(store, folder, namespaces=["missing"])


def test_secrets_are_masked_in_words_and_names(tmp_path, folder):
    store = filled(tmp_path / "home", [MemoryItem(memory("m1", content=f"The key is {KEY}."))])
    export(store, folder, secrets=SecretPolicy())
    assert KEY.encode().lower() not in b"".join([*files(folder).values(), *map(str.encode, files(folder))]).lower()
    export(store, folder)
    store.close()
    assert KEY in next(folder.rglob("*m1.md")).read_text()


def test_a_bundle_of_okf_follows_its_rules(store, folder):
    """Its conformance: frontmatter with a type in each concept, none in an index but the root's, days in the log, newest first."""
    export(store, folder, FolderLayout.OKF)
    concepts = [path for path in folder.rglob("*.md") if path.name not in ("index.md", "log.md")]
    assert len(concepts) == 3
    for path in concepts:
        fields = parse(split(path.read_text())[0])
        assert fields["type"] in ("Observation", "Insight")
        assert {"by", "at"} <= set(fields["generated"])
    assert parse(split((folder / "index.md").read_text())[0])["okf_version"] == "0.2"
    inner = [path.read_text() for path in folder.rglob("index.md") if path.parent != folder]
    assert inner
    assert not any(text.startswith("---") for text in inner)
    days = [line for line in (folder / "default" / "log.md").read_text().splitlines() if line.startswith("## ")]
    assert days == ["## 2026-02-19", "## 2026-01-10"]


def test_every_link_of_a_bundle_leads_to_a_file(store, folder):
    export(store, folder, FolderLayout.OKF)
    for index in folder.rglob("index.md"):
        targets = [
            line.partition("](")[2].partition(")")[0]
            for line in index.read_text().splitlines()
            if line.startswith("* ")
        ]
        assert targets
        assert all((index.parent / target).is_file() for target in targets)
    insight = parse(split(next(folder.rglob("*m3.md")).read_text())[0])
    assert all((folder / one["resource"].lstrip("/")).is_file() for one in insight["sources"])


def test_what_is_superseded_is_deprecated_in_a_bundle(store, folder):
    export(store, folder, FolderLayout.OKF)
    status = {path.stem[-2:]: parse(split(path.read_text())[0])["status"] for path in folder.rglob("*-m?.md")}
    assert status == {"m1": "deprecated", "m2": "stable", "m3": "stable"}


def test_a_title_in_an_index_does_nothing(tmp_path, folder):
    store = filled(tmp_path / "home", [MemoryItem(memory("m1", content="](http://x) <img src=y> [[z]]\n# h"))])
    export(store, folder, FolderLayout.OKF)
    store.close()
    line = next(
        line for line in (folder / "default" / "2026-01" / "index.md").read_text().splitlines() if line.startswith("* ")
    )
    assert line.count("](") - line.count("\\](") == 1
    assert "<" not in line.replace("\\<", "")


@pytest.mark.parametrize("place", ["home", "home/notes", "", "missing/notes", "file"])
def test_places_where_no_folder_may_be_written(tmp_path, place):
    (tmp_path / "home").mkdir()
    (tmp_path / "file").write_text("x")
    with pytest.raises(InvalidInput):
        check_folder(tmp_path / place, tmp_path / "home")


def test_files_are_for_their_owner_alone(store, folder):
    export(store, folder)
    assert {path.stat().st_mode & 0o077 for path in folder.rglob("*")} == {0}


@each(
    "content, expected",
    [
        ("I am allergic to peanuts!", "i-am-allergic-to-peanuts"),
        ("Ich heiße Jörg", "ich-heisse-jörg"),
        ("我住在上海。", "我住在上海"),
        ("मेरा नाम", "मेरा-नाम"),
        ("../../etc/passwd", "etc-passwd"),
        ("...", ""),
        ("x" * 200, "x" * 48),
    ],
)
def test_names_are_made_of_the_first_words(content, expected):
    assert slug(content) == expected


@each("id_", ["a/../b", "A", "a" * 200, "..", "con", "漢"])
def test_no_id_leads_out_of_its_folder(id_):
    name = file_name(memory(id_, content="x"))
    assert os.sep not in name
    assert len(name.encode()) < 120


@each("name", ["con", "NUL", "a/b", "..", "A", "index", "", "x" * 200, " "])
def test_names_of_namespaces_are_good_on_every_system(name):
    made = folder_name(name)
    assert made == made.casefold() != name.casefold()
    assert Path(made).name == made


def test_namespaces_have_folders_of_their_own():
    names = sorted(map(folder_name, ["a b", "a-b", "A B", "a_b", "project:a b"]))
    assert all(first != second for first, second in pairwise(names))
