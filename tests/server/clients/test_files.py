"""A client's file is replaced at once, keeps what it is, and never loses what another program writes meanwhile."""

from __future__ import annotations

import os
import stat
import sys
import threading
import time

import pytest

from hybrid_memory_mcp.clients.files import FileProblem, backup_of, change_file
from hybrid_memory_mcp.clients.jsonc import DamagedText

NO_WINDOWS = pytest.mark.skipif(sys.platform == "win32", reason="there it has other means")


def no_wait(seconds):
    pass


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def add(mark=b"ours"):
    """An edit that adds a mark once, and keeps what was there as the backup."""

    def edit(content, backup):
        if mark in (content or b""):
            return content, backup
        return (content or b"") + mark, content

    return edit


def take_away(content, backup):
    return None, None


@pytest.fixture
def file(tmp_path):
    path = tmp_path / "settings.json"
    path.write_bytes(b"theirs ")
    return path


def test_a_changed_file_has_its_backup_beside_it(file):
    change = change_file(file, add(), wait=no_wait)
    assert file.read_bytes() == b"theirs ours"
    assert change.backup == backup_of(file)
    assert backup_of(file).read_bytes() == b"theirs "
    assert names(file.parent) == ["settings.json", "settings.json.hybrid-memory-backup"]


@NO_WINDOWS
def test_a_file_and_its_backup_keep_mode_and_times_change(file):
    file.chmod(0o600)
    change_file(file, add(), wait=no_wait)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    assert stat.S_IMODE(backup_of(file).stat().st_mode) == 0o600


@NO_WINDOWS
@pytest.mark.skipif(not hasattr(os, "geteuid") or os.geteuid() != 0, reason="only root can give files away")
def test_a_file_keeps_its_owner(file):
    os.chown(file, 12345, 54321)
    change_file(file, add(), wait=no_wait)
    assert (file.stat().st_uid, file.stat().st_gid) == (12345, 54321)


@NO_WINDOWS
def test_a_link_stays_a_link_and_the_file_it_leads_to_is_changed(file, tmp_path):
    link = tmp_path / "client" / "settings.json"
    link.parent.mkdir()
    link.symlink_to(file)
    change_file(link, add(), wait=no_wait)
    assert link.is_symlink()
    assert file.read_bytes() == b"theirs ours"
    assert backup_of(link).read_bytes() == b"theirs "


@NO_WINDOWS
def test_a_link_that_leads_nowhere_is_refused(tmp_path):
    link = tmp_path / "settings.json"
    link.symlink_to(tmp_path / "gone.json")
    with pytest.raises(FileProblem, match="link"):
        change_file(link, add(), wait=no_wait)
    assert names(tmp_path) == ["settings.json"]


@NO_WINDOWS
def test_a_read_only_file_is_refused_in_words_and_stays(file):
    file.chmod(0o444)
    with pytest.raises(FileProblem, match="read-only"):
        change_file(file, add(), wait=no_wait)
    assert names(file.parent) == ["settings.json"]


def test_a_folder_in_the_place_of_a_file_is_refused(tmp_path):
    (tmp_path / "settings.json").mkdir()
    with pytest.raises(FileProblem, match="folder"):
        change_file(tmp_path / "settings.json", add(), wait=no_wait)


def test_a_file_in_the_place_of_a_folder_is_refused(file):
    with pytest.raises(FileProblem, match="file stands where"):
        change_file(file / "mcp.json", add(), wait=no_wait)


def test_nothing_changes_means_nothing_is_touched(file):
    before = file.stat()
    assert not change_file(file, lambda content, backup: (content, backup), wait=no_wait).changed
    assert file.stat() == before
    assert names(file.parent) == ["settings.json"]


def test_folders_made_for_a_file_go_with_it(tmp_path):
    path = tmp_path / "new" / "client" / "mcp.json"
    change_file(path, add(), wait=no_wait)
    assert path.read_bytes() == b"ours"
    assert change_file(path, take_away, wait=no_wait).removed
    assert names(tmp_path) == []


def test_a_folder_that_was_there_stays_when_the_file_goes(tmp_path):
    (tmp_path / "client").mkdir()
    path = tmp_path / "client" / "mcp.json"
    change_file(path, add(), wait=no_wait)
    change_file(path, take_away, wait=no_wait)
    assert names(tmp_path) == ["client"]


def test_a_folder_made_for_a_file_stays_if_something_else_came_in(tmp_path):
    path = tmp_path / "client" / "mcp.json"
    change_file(path, add(), wait=no_wait)
    (tmp_path / "client" / "theirs").touch()
    change_file(path, take_away, wait=no_wait)
    assert names(tmp_path / "client") == ["theirs"]


@pytest.mark.parametrize("how", ["replaced", "in place"])
def test_what_a_client_writes_between_our_reading_and_our_writing_is_not_lost(file, how):
    rounds = []

    def edit(content, backup):
        if not rounds:  # the client writes while we think
            if how == "replaced":
                other = file.with_name("other")
                other.write_bytes(b"theirs, newer ")
                other.replace(file)
            else:
                file.write_bytes(b"theirs, newer ")
        rounds.append(content)
        return add()(content, backup)

    change_file(file, edit, wait=no_wait)
    assert file.read_bytes() == b"theirs, newer ours"
    assert rounds == [b"theirs ", b"theirs, newer "]
    assert backup_of(file).read_bytes() == b"theirs, newer "


@NO_WINDOWS
def test_what_a_client_writes_into_the_file_it_has_open_while_we_replace_it_is_not_lost(file):
    pauses = []
    stream = file.open("r+b")

    def wait(seconds):
        if not pauses:  # the first pause is right after the replacement
            stream.write(b"written late ")
            stream.flush()
        pauses.append(seconds)

    change_file(file, add(), wait=wait)
    stream.close()
    assert file.read_bytes() == b"written late ours"


def test_a_file_that_appears_meanwhile_is_not_lost(tmp_path):
    path = tmp_path / "mcp.json"

    def edit(content, backup):
        if content is None and not path.exists():
            path.write_bytes(b"theirs ")
            return b"ours", None
        return add()(content, backup)

    change_file(path, edit, wait=no_wait)
    assert path.read_bytes() == b"theirs ours"


def test_a_file_that_is_half_written_is_read_again_when_it_is_whole(file):
    file.write_bytes(b"{ half")

    def edit(content, backup):
        if content == b"{ half":
            raise DamagedText("the file ends in the middle", 1)
        return add()(content, backup)

    def wait(seconds):
        if file.read_bytes() == b"{ half":
            file.write_bytes(b"whole ")

    change_file(file, edit, wait=wait)
    assert file.read_bytes() == b"whole ours"


def test_an_empty_file_is_given_a_moment_since_it_may_be_about_to_be_written(file):
    file.write_bytes(b"")

    def wait(seconds):
        if not file.read_bytes():
            file.write_bytes(b"now ")

    change_file(file, add(), wait=wait)
    assert file.read_bytes() == b"now ours"


def test_a_file_that_is_written_again_and_again_is_given_up_in_words(file):
    def edit(content, backup):
        file.write_bytes(os.urandom(8))
        return b"ours", content

    with pytest.raises(FileProblem, match="again and again"):
        change_file(file, edit, wait=no_wait)


def test_several_installations_at_once_all_come_through(file):
    marks = [f"<{number}>".encode() for number in range(8)]
    threads = [threading.Thread(target=change_file, args=(file, add(mark)), kwargs={"wait": no_wait}) for mark in marks]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert file.read_bytes().startswith(b"theirs ")
    assert all(mark in file.read_bytes() for mark in marks)
    assert len(names(file.parent)) == 2


def test_the_lock_of_the_client_is_waited_for_and_given_back(file):
    lock = file.with_name("settings.json.lock")
    lock.mkdir()

    def wait(seconds):
        if lock.exists() and file.read_bytes() == b"theirs ":
            lock.rmdir()

    change_file(file, add(), lock_folder=True, wait=wait)
    assert file.read_bytes() == b"theirs ours"
    assert not lock.exists()


def test_a_lock_that_the_client_left_behind_is_taken_over(file):
    lock = file.with_name("settings.json.lock")
    lock.mkdir()
    os.utime(lock, (time.time() - 60,) * 2)  # noqa: TID251 - a file's time
    change_file(file, add(), lock_folder=True, wait=no_wait)
    assert file.read_bytes() == b"theirs ours"


def test_a_lock_that_is_held_for_long_is_said_and_nothing_is_changed(file):
    file.with_name("settings.json.lock").mkdir()
    with pytest.raises(FileProblem, match="locked by the client"):
        change_file(file, add(), lock_folder=True, wait=no_wait)
    assert file.read_bytes() == b"theirs "
