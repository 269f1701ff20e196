import os
from pathlib import Path

import platformdirs
import pytest

from hybrid_memory import extras
from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import FORMER_SETTINGS, StoreSettings, cache_folder, client_settings, store_settings


def test_a_client_has_defaults(monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_NAMESPACE", raising=False)
    settings = client_settings()
    assert (settings.namespace, settings.agent, settings.session) == ("default", "default", None)


def test_a_variable_sets_a_client_and_an_argument_wins_over_it(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "from the environment")
    assert client_settings().namespace == "from the environment"
    assert client_settings(namespace="from the argument").namespace == "from the argument"


def test_an_empty_variable_counts_as_not_set(monkeypatch, tmp_path):
    for name in ("HOME", "NAMESPACE", "SESSION", "KEEP_BACKUPS", "HOOKS"):
        monkeypatch.setenv(f"HYBRID_MEMORY_{name}", "")
    assert (client_settings().home, client_settings().namespace) == (None, "default")
    assert store_settings(tmp_path).keep_backups == StoreSettings.model_fields["keep_backups"].default


def test_a_wrong_client_setting_is_named(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "n" * 201)
    with pytest.raises(InvalidInput, match="HYBRID_MEMORY_NAMESPACE"):
        client_settings()


def test_a_store_reads_its_config_file(tmp_path):
    (tmp_path / "config.toml").write_text("sensory_buffer = 7\n")
    assert store_settings(tmp_path).sensory_buffer == 7


def test_a_variable_wins_over_the_file(tmp_path, monkeypatch):
    (tmp_path / "config.toml").write_text("sensory_buffer = 7\n")
    monkeypatch.setenv("HYBRID_MEMORY_SENSORY_BUFFER", "9")
    assert store_settings(tmp_path).sensory_buffer == 9


@pytest.mark.parametrize(
    "text", ["sensory_buffer = -1", "sensory_buffer = 'many'", "sensory_buffer =", "sensory_bufer = 4"]
)
def test_a_wrong_file_is_refused(tmp_path, text):
    (tmp_path / "config.toml").write_text(text)
    with pytest.raises(InvalidInput):
        store_settings(tmp_path)


def test_a_folder_without_a_file_has_the_defaults(tmp_path):
    settings = store_settings(tmp_path)
    assert (settings.sensory_buffer, settings.short_term_buffer, settings.embedder) == (4, 10, "static")


HOSTILE = [
    ("sensory_bufer = 4", "sensory_bufer: is no setting; the nearest is sensory_buffer (in config.toml)"),
    ("qqqq = 4", "qqqq: is no setting; `hybrid-memory-mcp config` names them all (in config.toml)"),
    ('"a\\u0007b\\n" = 1', "a?b?: is no setting; `hybrid-memory-mcp config` names them all (in config.toml)"),
    ("[sensory_buffer]\nx = 1", "sensory_buffer: must be a whole number (in config.toml)"),
    ("sensory_buffer = 'many'", "sensory_buffer: must be a whole number (in config.toml)"),
    ("sensory_buffer = 4.5", "sensory_buffer: must be a whole number (in config.toml)"),
    ("sensory_buffer = -1", "sensory_buffer: must be at least 0 (in config.toml)"),
    ("keep_backups = 99999999999999999999", "keep_backups: must be at most 10000 (in config.toml)"),
    ("keep_readings_days = inf", "keep_readings_days: must be at most 36500 (in config.toml)"),
    ("keep_readings_days = 0", "keep_readings_days: must be more than 0 (in config.toml)"),
    ("alpha = nan", "alpha: must be a number (in config.toml)"),
    ("alpha = 1e300", "alpha: must be at most 1e+06 (in config.toml)"),
    ("scorer = 'best'", "scorer: must be 'fused', 'reference', 'lexical' or 'dense' (in config.toml)"),
    ("embedder = 3", "embedder: must be text (in config.toml)"),
    ("embedder = '" + "x" * 5000 + "'", "embedder: must have at most 4096 characters (in config.toml)"),
    ("alpha = 1\nalpha = 2", "config.toml: is not valid TOML: Cannot overwrite a value (at end of document)"),
    ("alpha = " + "9" * 5000, "config.toml: is not valid TOML: it holds a number or a date that is out of range"),
    ("alpha = " + "[" * 5000 + "]" * 5000, "config.toml: is not valid TOML: it is nested too deep"),
    ("x = " + "{y = " * 5000, "config.toml: is not valid TOML: it is nested too deep"),
    ("# " + "x" * 300_000, "config.toml: is longer than 256 KiB; no store has so many settings"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "said"), HOSTILE, ids=range(len(HOSTILE)))
def test_what_is_wrong_with_a_file_is_one_sentence_that_names_the_setting(tmp_path, text, said, monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_EMBEDDER", raising=False)
    (tmp_path / "config.toml").write_text(text, encoding="utf-8")
    with pytest.raises(InvalidInput) as caught:
        store_settings(tmp_path)
    assert str(caught.value) == said


@pytest.mark.parametrize("data", [b"alpha = 1\xff", "alpha = 1".encode("utf-16")])
def test_a_file_in_another_encoding_is_told(tmp_path, data):
    (tmp_path / "config.toml").write_bytes(data)
    with pytest.raises(InvalidInput, match=r"config\.toml: cannot be read: it is not text in UTF-8"):
        store_settings(tmp_path)


def test_a_byte_order_mark_does_no_harm(tmp_path):
    (tmp_path / "config.toml").write_bytes(b"\xef\xbb\xbfsensory_buffer = 7\r\n")
    assert store_settings(tmp_path).sensory_buffer == 7


@pytest.mark.skipif(not hasattr(os, "mkfifo"), reason="no pipes with names")
def test_a_pipe_in_the_place_of_the_file_is_refused_at_once(tmp_path):
    os.mkfifo(tmp_path / "config.toml")
    with pytest.raises(InvalidInput, match=r"config\.toml: is no plain file"):
        store_settings(tmp_path)


def test_a_folder_in_the_place_of_the_file_is_refused(tmp_path):
    (tmp_path / "config.toml").mkdir()
    with pytest.raises(InvalidInput, match=r"config\.toml: is no plain file"):
        store_settings(tmp_path)


def test_a_wrong_variable_is_told_as_such(tmp_path, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_SENSORY_BUFFER", "9" * 5000)
    with pytest.raises(InvalidInput, match=r"sensory_buffer: must be .* \(the variable HYBRID_MEMORY_SENSORY_BUFFER\)"):
        store_settings(tmp_path)


def test_a_namespace_that_is_no_text_is_told(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "a\udcffb")
    with pytest.raises(
        InvalidInput, match=r"namespace: must be text in UTF-8 \(the variable HYBRID_MEMORY_NAMESPACE\)"
    ):
        client_settings()


@pytest.mark.parametrize(
    "environment", [{"HOME": "/home/ada"}, {"HOME": "/home/ada", "XDG_CACHE_HOME": "/c"}, {"XDG_CACHE_HOME": "c"}, {}]
)
def test_the_cache_is_where_platformdirs_says(monkeypatch, environment):
    for name in ("HOME", "XDG_CACHE_HOME", "ANDROID_ROOT", "ANDROID_DATA"):
        monkeypatch.delenv(name, raising=False)
    for name, value in environment.items():
        monkeypatch.setenv(name, value)
    assert cache_folder() == Path(platformdirs.user_cache_path("hybrid-memory-mcp", appauthor=False))


@pytest.mark.parametrize("name", sorted(FORMER_SETTINGS))
def test_a_file_with_a_setting_of_an_earlier_version_opens_and_one_line_is_logged(tmp_path, name, caplog, monkeypatch):
    monkeypatch.setattr("hybrid_memory.settings._logged", set())
    (tmp_path / "config.toml").write_text(f"{name} = 7\nsensory_buffer = 9\n")
    assert [store_settings(tmp_path).sensory_buffer for _ in range(2)] == [9, 9]
    said = f"{name} in config.toml is no longer used; `hybrid-memory-mcp config unset {name}` takes it out"
    assert caplog.messages == [said]


def test_a_table_of_an_extra_is_no_setting_of_the_store(tmp_path, monkeypatch):
    (tmp_path / "config.toml").write_text("keep_backups = 3\n[theirs]\nx = 1\n")
    monkeypatch.setattr(extras, "_offered", lambda _: {"theirs": None})
    assert store_settings(tmp_path).keep_backups == 3
    monkeypatch.setattr(extras, "_offered", lambda _: {})
    with pytest.raises(InvalidInput, match="theirs: is no setting"):
        store_settings(tmp_path)
