import subprocess
import sys

import pytest

from hybrid_memory.clock import SystemClock
from hybrid_memory.errors import InvalidInput
from hybrid_memory.setting_sources import parse_setting, report_settings
from hybrid_memory.settings import store_settings
from hybrid_memory.store.opening import database_of_settings, open_store

ADDRESS = "postgresql://hub@127.0.0.1:5433/team"
WITH_PASSWORD = "postgresql://hub:tulip-9313@127.0.0.1:5433/team"  # noqa: S105 - of nobody


@pytest.fixture
def variable(monkeypatch):
    return lambda value: monkeypatch.setenv("HYBRID_MEMORY_STORE", value)


def test_without_the_setting_the_store_is_a_file_in_the_folder(tmp_path):
    store = open_store(store_settings(tmp_path), tmp_path, SystemClock())
    store.close()
    assert (tmp_path / "memory.duckdb").exists()


def test_the_variable_names_a_database(tmp_path, variable):
    variable(ADDRESS)
    assert database_of_settings(store_settings(tmp_path)).shown == ADDRESS


def test_the_file_of_settings_names_a_database(tmp_path):
    (tmp_path / "config.toml").write_text(f'store = "{ADDRESS}"\n')
    assert database_of_settings(store_settings(tmp_path)).shown == ADDRESS


def test_the_variable_wins_over_the_file(tmp_path, variable):
    (tmp_path / "config.toml").write_text('store = "postgresql://other@localhost/other"\n')
    variable(ADDRESS)
    assert database_of_settings(store_settings(tmp_path)).shown == ADDRESS


def test_a_variable_may_hold_a_password_which_nothing_shows(tmp_path, variable):
    variable(WITH_PASSWORD)
    settings = store_settings(tmp_path)
    assert "tulip" in database_of_settings(settings).at.conninfo
    assert "tulip" not in repr(settings)
    assert "tulip" not in repr(report_settings({"home": tmp_path}))


def test_the_file_of_settings_may_hold_none(tmp_path):
    (tmp_path / "config.toml").write_text(f'store = "{WITH_PASSWORD}"\n')
    with pytest.raises(InvalidInput, match="holds a password") as told:
        store_settings(tmp_path)
    assert "tulip" not in str(told.value)


def test_a_password_is_not_written_to_the_file_of_settings():
    with pytest.raises(InvalidInput, match="holds a password"):
        parse_setting("store", WITH_PASSWORD)


@pytest.mark.parametrize(
    ("address", "words"),
    [
        ("postgresql://hub@db.example/team?sslmode=prefer", "without TLS"),
        ("postgresql://hub@db.example:many/team", "a port that is none"),
        ("postgresql://hub@db.example/team?colour=red", "a parameter that PostgreSQL does not know"),
    ],
)
class TestAnAddressThatTheStartWouldRefuse:
    def test_is_refused_where_it_is_set(self, address, words):
        with pytest.raises(InvalidInput, match=words):
            parse_setting("store", address)

    def test_is_told_where_it_stands(self, tmp_path, address, words):
        (tmp_path / "config.toml").write_text(f'store = "{address}"\n')
        state = next(one for one in report_settings({"home": tmp_path}).settings if one.name == "store")
        assert words in (state.problem or "")


def test_a_file_is_set_by_its_whole_path_for_the_hub_runs_elsewhere(tmp_path, monkeypatch):
    file = tmp_path / "password"
    file.write_text("tulip-9313\n")
    file.chmod(0o600)
    monkeypatch.chdir(tmp_path)
    assert parse_setting("store_password_file", "password") == {"store_password_file": str(file)}


def test_a_password_file_that_cannot_be_read_is_refused_where_it_is_set(tmp_path):
    with pytest.raises(InvalidInput, match="cannot be read"):
        parse_setting("store_password_file", str(tmp_path / "absent"))


def test_a_report_tells_of_a_password_in_the_file(tmp_path):
    (tmp_path / "config.toml").write_text(f'store = "{WITH_PASSWORD}"\n')
    state = next(one for one in report_settings({"home": tmp_path}).settings if one.name == "store")
    assert "tulip" not in str(state)
    assert "holds a password" in (state.problem or "")


@pytest.mark.parametrize("text", ["/srv/memory", "mysql://a@b/c", "team", "tulip-9313"])
def test_what_is_no_address_is_refused_and_not_repeated(tmp_path, variable, text):
    variable(text)
    with pytest.raises(InvalidInput, match="postgresql://user@host/database") as told:
        store_settings(tmp_path)
    assert text not in str(told.value)


def test_without_the_driver_the_error_says_what_to_install(tmp_path, variable, monkeypatch):
    variable(ADDRESS)
    for name in [name for name in sys.modules if name.startswith("hybrid_memory_postgres.")]:
        monkeypatch.delitem(sys.modules, name)
    monkeypatch.setitem(sys.modules, "psycopg", None)
    with pytest.raises(InvalidInput, match=r"uv tool install --reinstall '\.\[postgresql\]'"):
        open_store(store_settings(tmp_path), tmp_path, SystemClock())


@pytest.mark.slow
def test_a_store_that_is_a_file_imports_nothing_of_postgresql(tmp_path):
    program = (
        "import sys, pathlib; from hybrid_memory.service.memory_service import MemoryService\n"
        f"MemoryService.open(pathlib.Path({str(tmp_path)!r})).close()\n"
        "print([name for name in sys.modules if 'psycopg' in name or 'hybrid_memory_postgres' in name])"
    )
    found = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert found.stdout.strip() == "[]"
