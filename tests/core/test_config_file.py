"""Writing ``config.toml``."""

import os

import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import change_config, model_folders, store_settings

MINE = """# what I like
sensory_buffer = 3  # small

embedder = "static"
"""


def written(home):
    return (home / "config.toml").read_text(encoding="utf-8")


def test_a_value_is_changed_and_all_else_stays(tmp_path):
    (tmp_path / "config.toml").write_text(MINE, encoding="utf-8")
    change_config(tmp_path, {"embedder": "fastembed:a/b"})
    assert written(tmp_path) == MINE.replace('"static"', '"fastembed:a/b"')


def test_a_value_is_removed(tmp_path):
    (tmp_path / "config.toml").write_text(MINE, encoding="utf-8")
    change_config(tmp_path, {"embedder": None, "former_embedder": None})
    assert written(tmp_path) == MINE.replace('embedder = "static"\n', "")


@pytest.mark.parametrize("value", ['C:\\models\\"mine"', "/models/ünïcode 模型", "a\nb", "'"])
def test_every_text_is_read_back_as_it_was(tmp_path, value, monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)
    change_config(tmp_path / "new", {"embedder": value})
    assert store_settings(tmp_path / "new").embedder == value


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_folder_and_file_are_for_their_owner_alone(tmp_path):
    change_config(tmp_path / "new", {"embedder": "static"})
    assert (tmp_path / "new").stat().st_mode & 0o077 == 0
    assert (tmp_path / "new" / "config.toml").stat().st_mode & 0o077 == 0


@pytest.mark.parametrize("content", [b"embedder = = 3", b"\xff\xfe"])
def test_what_cannot_be_read_is_left_as_it_is(tmp_path, content):
    (tmp_path / "config.toml").write_bytes(content)
    with pytest.raises(InvalidInput, match=r"config\.toml"):
        change_config(tmp_path, {"embedder": "static"})
    assert (tmp_path / "config.toml").read_bytes() == content
    assert [file.name for file in tmp_path.iterdir()] == ["config.toml"]


def test_a_folder_that_cannot_be_made_is_told_without_its_path(tmp_path):
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InvalidInput) as raised:
        change_config(tmp_path / "file", {"embedder": "static"})
    assert str(tmp_path) not in str(raised.value)


def test_models_lie_where_a_restart_does_not_remove_them(monkeypatch):
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)
    assert model_folders()[0].parts[-2:] == ("hybrid-memory-mcp", "models")


def test_a_variable_names_the_only_folder_of_models(tmp_path, monkeypatch):
    monkeypatch.setenv("FASTEMBED_CACHE_PATH", str(tmp_path))
    assert model_folders() == (tmp_path,)


@pytest.mark.skipif(os.name == "nt", reason="rights of POSIX")
def test_a_shared_folder_of_models_counts_only_if_nobody_else_writes_there(tmp_path, monkeypatch):
    monkeypatch.delenv("FASTEMBED_CACHE_PATH", raising=False)
    monkeypatch.setattr("tempfile.tempdir", str(tmp_path))
    assert len(model_folders()) == 1
    shared = tmp_path / "fastembed_cache"
    shared.mkdir(0o755)
    assert model_folders()[1] == shared
    shared.chmod(0o777)
    assert len(model_folders()) == 1
