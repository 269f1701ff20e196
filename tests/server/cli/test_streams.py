"""What standard streams may do to a command: each ends in one line, or in none, and never in a traceback."""

import json
import subprocess
import sys

import pytest
from typer.testing import CliRunner

from hybrid_memory_mcp.cli.commands import app

PROGRAM = "import sys; from hybrid_memory_mcp.__main__ import main; sys.argv[0] = 'hybrid-memory-mcp'; main()"


def typed(words, tmp_path, **environment):
    """What `words` of a shell say; `program` stands for the command."""
    kept = {"PATH": "/usr/bin:/bin", "HOME": str(tmp_path), "HYBRID_MEMORY_HOME": str(tmp_path / "home")}
    given = {name: value for name, value in (kept | environment).items() if value is not None}
    program = f'{sys.executable} -c "{PROGRAM}"'
    line = f'program() {{ {program} "$@"; }}; {words}'
    return subprocess.run(["bash", "-c", line], capture_output=True, text=True, check=False, cwd=tmp_path, env=given)


@pytest.mark.slow
@pytest.mark.skipif(sys.platform != "linux", reason="/dev/full is Linux's")
@pytest.mark.parametrize("words", ["config", "config --json", "--version"])
def test_a_full_disk_is_one_line(words, tmp_path):
    done = typed(f"program {words} >/dev/full", tmp_path)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "the output cannot be written: No space left" in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize(("words", "code"), [("config >&-", 1), ("remember - <&-", 1), ("import --list 2>&-", 0)])
def test_a_closed_stream_is_no_traceback(words, code, tmp_path):
    done = typed(f"program {words}", tmp_path)
    assert done.returncode == code
    assert "Traceback" not in done.stderr


@pytest.mark.slow
@pytest.mark.parametrize("words", ["config", "config --json", "--help"])
def test_a_reader_that_leaves_early_is_no_fault(words, tmp_path):
    done = typed(f"program {words} | true; echo ${{PIPESTATUS[0]}}", tmp_path)
    assert (done.stdout, done.stderr.count("Traceback")) == ("0\n", 0)


@pytest.mark.parametrize("words", ["status", "list", "remember tea", "config", "embedder status"])
def test_a_user_without_a_home_folder_is_told_what_to_set(words, monkeypatch):
    def unknown(*_, **__):
        raise RuntimeError("could not determine the home directory for '~/.local/share'")

    for name in ("user_data_path", "user_data_dir"):
        monkeypatch.setattr(f"platformdirs.{name}", unknown)
    for name in ("HOME", "XDG_DATA_HOME", "HYBRID_MEMORY_HOME"):
        monkeypatch.delenv(name, raising=False)
    done = CliRunner().invoke(app, [*words.split(), "--json"])
    error = json.loads(done.stdout)["error"]
    assert (done.exit_code, error["code"]) == (1, "invalid_input")
    assert "HYBRID_MEMORY_HOME or --home" in error["message"]


@pytest.mark.slow
@pytest.mark.parametrize("words", ["HYBRID_MEMORY_HOME= program status", "program status --home ''"])
def test_an_empty_folder_is_none_and_not_the_one_at_hand(words, tmp_path):
    done = typed(words, tmp_path, HYBRID_MEMORY_HOME=None)
    assert f"{tmp_path}/.local/share/hybrid-memory-mcp" in done.stdout
