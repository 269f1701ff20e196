import os
import socket
import stat
import zipfile
from datetime import UTC, datetime
from pathlib import Path

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers import source as sources
from hybrid_memory_importers.source import Source, open_source


def _contents(source: Source) -> dict[str, bytes]:
    found = {}
    for one in source.files():
        with one.open() as stream:
            found[one.path] = stream.read()
    return found


def _archive(folder: Path, files: dict[str, bytes], name: str = "export.zip") -> Path:
    with zipfile.ZipFile(folder / name, "w", zipfile.ZIP_DEFLATED) as archive:
        for path, content in files.items():
            archive.writestr(path, content)
    return folder / name


def _make_socket(path: Path) -> None:
    with socket.socket(socket.AF_UNIX) as one:
        one.bind(str(path))


def test_a_file_is_a_source_of_itself(tmp_path):
    (tmp_path / "a.json").write_bytes(b"[]")
    source = open_source(tmp_path / "a.json")
    assert (source.name, source.is_folder, _contents(source)) == ("a.json", False, {"a.json": b"[]"})


def test_a_folder_gives_its_files_by_their_paths(tmp_path):
    for path in ("b/z.md", "a.md", "b/c/y.md"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text(path)
    source = open_source(tmp_path)
    assert source.is_folder
    assert list(_contents(source)) == ["a.md", "b/c/y.md", "b/z.md"]


def test_an_archive_gives_its_files_whatever_its_name(tmp_path):
    file = _archive(
        tmp_path, {"x/b.json": b"2", "a.json": b"1", "__MACOSX/._a.json": b"", "x/.DS_Store": b""}, "download"
    )
    assert _contents(open_source(file)) == {"a.json": b"1", "x/b.json": b"2"}


def test_a_file_can_be_opened_again(tmp_path):
    source = open_source(_archive(tmp_path, {"a": b"1"}))
    assert _contents(source) == _contents(source) == {"a": b"1"}


def test_when_a_file_was_changed_is_known(tmp_path):
    (tmp_path / "a").write_bytes(b"")
    os.utime(tmp_path / "a", (0, 1_600_000_000))
    (found,) = open_source(tmp_path / "a").files()
    assert found.modified_at == datetime(2020, 9, 13, 12, 26, 40, tzinfo=UTC)


def test_links_pipes_and_sockets_are_passed_over_and_told(tmp_path):
    folder = tmp_path / "notes"
    folder.mkdir()
    (folder / "a.md").write_text("a")
    (folder / "itself").symlink_to(folder)
    (folder / "passwd").symlink_to("/etc/passwd")
    os.mkfifo(folder / "pipe")
    source = open_source(folder)
    assert list(_contents(source)) == ["a.md"]
    assert {(one.where, one.reason.split()[1]) for one in source.left_out} == {
        ("itself", "link,"),
        ("passwd", "link,"),
        ("pipe", "pipe,"),
    }


@pytest.mark.parametrize("make", [os.mkfifo, _make_socket])
def test_a_special_file_is_refused_at_once(tmp_path, monkeypatch, make):
    monkeypatch.chdir(tmp_path)  # a socket's name may not be long
    make(Path("special"))
    with pytest.raises(InvalidInput, match="no plain file"):
        open_source(tmp_path / "special")


@pytest.mark.parametrize("name", ["nothing", "bad\0name"])
def test_what_is_not_there_is_told(tmp_path, name):
    with pytest.raises(InvalidInput, match="not there"):
        open_source(tmp_path / name)


@pytest.mark.parametrize("name", ["../out.json", "/etc/passwd", "a/../../b", "C:\\x", "..\\x"])
def test_an_archive_with_a_name_that_leads_out_of_it_is_refused(tmp_path, name):
    with pytest.raises(InvalidInput, match="leads out"):
        list(open_source(_archive(tmp_path, {name: b"1"})).files())


def test_a_link_in_an_archive_is_passed_over(tmp_path):
    link = zipfile.ZipInfo("link")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        archive.writestr(link, "/etc/passwd")
    source = open_source(tmp_path / "a.zip")
    assert (_contents(source), len(source.left_out)) == ({}, 1)


def test_an_archive_that_expands_beyond_measure_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_SMALL", 1 << 20)
    file = _archive(tmp_path, {"zeros": bytes(4 << 20)})
    with pytest.raises(InvalidInput, match="expands far beyond"):
        list(open_source(file).files())


def test_one_file_of_an_archive_that_expands_beyond_measure_is_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "_SMALL", 1 << 20)
    source = open_source(_archive(tmp_path, {"zeros": bytes(4 << 20), "picture": os.urandom(1 << 19)}))
    (zeros,) = (one for one in source.files() if one.path == "zeros")
    with pytest.raises(InvalidInput, match="expands far beyond"):
        zeros.open()


@pytest.mark.parametrize("keep", [0.3, 0.9])
def test_an_archive_that_was_not_downloaded_whole_is_refused(tmp_path, keep):
    file = _archive(tmp_path, {"a": os.urandom(1000), "b": b"2"})
    file.write_bytes(file.read_bytes()[: int(file.stat().st_size * keep)])
    with pytest.raises(InvalidInput, match="damaged or not whole"):
        list(open_source(file).files())


def test_a_damaged_file_of_an_archive_is_told_by_its_name(tmp_path):
    file = _archive(tmp_path, {"a.json": os.urandom(1000)})
    data = bytearray(file.read_bytes())
    data[500] ^= 255
    file.write_bytes(data)
    with pytest.raises(InvalidInput, match=r"a\.json: is an archive that is damaged"):
        _contents(open_source(file))


def test_other_archives_are_named(tmp_path):
    (tmp_path / "a.gz").write_bytes(b"\x1f\x8b\x08\x00")
    with pytest.raises(InvalidInput, match="gzip"):
        open_source(tmp_path / "a.gz")


def test_too_many_files_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_FILES", 3)
    for number in range(5):
        (tmp_path / str(number)).touch()
    with pytest.raises(InvalidInput, match="more than 3 files"):
        list(open_source(tmp_path).files())


def test_folders_that_lie_too_deep_are_passed_over(tmp_path, monkeypatch):
    monkeypatch.setattr(sources, "MOST_DEPTH", 2)
    (tmp_path / "1/2/3").mkdir(parents=True)
    (tmp_path / "1/2/a").touch()
    (tmp_path / "1/2/3/b").touch()
    source = open_source(tmp_path)
    assert list(_contents(source)) == ["1/2/a"]
    assert [one.where for one in source.left_out] == ["1/2/3"]


def test_what_is_appended_while_a_file_is_read_is_not_read(tmp_path):
    file = tmp_path / "transcript.jsonl"
    file.write_bytes(b"1\n2\n")
    (found,) = open_source(file).files()
    with found.open() as stream:
        with file.open("ab") as other:
            other.write(b"3\n")
        assert stream.read() == b"1\n2\n"


def test_a_file_that_shrinks_while_it_is_read_is_refused(tmp_path):
    file = tmp_path / "a"
    file.write_bytes(bytes(1 << 20))
    (found,) = open_source(file).files()
    with found.open() as stream:
        stream.read(10)
        file.write_bytes(b"")
        with pytest.raises(InvalidInput, match="changed while it was read"):
            stream.read()


def test_a_name_that_is_no_text_can_be_shown(tmp_path):
    (tmp_path / os.fsdecode(b"caf\xe9.md")).write_text("x")
    assert list(_contents(open_source(tmp_path))) == ["caf?.md"]


def test_the_first_bytes_of_what_cannot_be_read_are_none(tmp_path):
    (tmp_path / "a").write_bytes(b"abc")
    (found,) = open_source(tmp_path / "a").files()
    (tmp_path / "a").unlink()
    assert found.head() == b""


@pytest.mark.parametrize("packed", [True, False])
def test_a_file_may_be_read_again_from_its_beginning(tmp_path, packed):
    path = tmp_path / "one"
    if packed:
        with zipfile.ZipFile(path, "w") as archive:
            archive.writestr("a.json", b"0123456789" * 1000)
    else:
        path.write_bytes(b"0123456789" * 1000)
    (file,) = open_source(path).files()
    with file.open() as stream:
        stream.read(4001)
        stream.seek(0)
        assert stream.read() == b"0123456789" * 1000


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-be"])
def test_text_in_utf_16_is_given_as_utf_8_and_may_be_read_again(tmp_path, encoding):
    words = "Grüße aus 東京 " * 20_000
    (tmp_path / "a.json").write_bytes((("\ufeff" if encoding != "utf-16" else "") + words).encode(encoding))
    (one,) = open_source(tmp_path / "a.json").files()
    with one.open() as stream:
        first = stream.read().decode()
        stream.seek(0)
        assert (first, stream.read().decode()) == (words, words)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_files_of_one_name_in_an_archive_are_counted(tmp_path):
    with zipfile.ZipFile(tmp_path / "a.zip", "w") as archive:
        for words in ("one", "two", "three"):
            archive.writestr("a.md", words)
    source = open_source(tmp_path / "a.zip")
    assert _contents(source) == {"a.md": b"one"}
    assert [one.reason for one in source.left_out] == ["a second file of the same name in the archive"] * 2
