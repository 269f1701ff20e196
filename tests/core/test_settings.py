import pytest

from hybrid_memory.errors import InvalidInput
from hybrid_memory.settings import client_settings, store_settings


def test_a_client_has_defaults(monkeypatch):
    monkeypatch.delenv("HYBRID_MEMORY_NAMESPACE", raising=False)
    settings = client_settings()
    assert (settings.namespace, settings.agent, settings.session) == ("default", "default", None)


def test_a_variable_sets_a_client_and_an_argument_wins_over_it(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "from the environment")
    assert client_settings().namespace == "from the environment"
    assert client_settings(namespace="from the argument").namespace == "from the argument"


def test_a_wrong_client_setting_is_named(monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_NAMESPACE", "")
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
