"""The container: what its file promises, and whether it knows that it is well."""

import importlib.util
import re
from pathlib import Path

import pytest

PROJECT = Path(__file__).resolve().parents[2]
FILE = (PROJECT / "Dockerfile").read_text(encoding="utf-8")
LAST_STAGE = FILE.rpartition("\nFROM ")[2]


@pytest.fixture(scope="module")
def healthcheck():
    place = PROJECT / "packaging" / "container" / "healthcheck.py"
    specification = importlib.util.spec_from_file_location("healthcheck", place)
    module = importlib.util.module_from_spec(specification)
    specification.loader.exec_module(module)
    return module


def test_the_program_is_nobody_special_in_it():
    user = re.findall(r"^USER (\S+)", LAST_STAGE, re.MULTILINE)
    assert user == ["10001"]
    assert LAST_STAGE.index("USER 10001") < LAST_STAGE.index("ENTRYPOINT")


def test_the_store_lies_in_a_volume():
    assert "HYBRID_MEMORY_HOME=/data" in LAST_STAGE
    assert 'VOLUME ["/data"]' in LAST_STAGE


def test_what_is_copied_into_it_is_not_kept_from_it():
    kept = (PROJECT / ".dockerignore").read_text(encoding="utf-8")
    wheel = ("server", "memory_core", "prompts", "extras", "pyproject.toml", "README.md", "LICENSE", "NOTICE")
    for needed in (*wheel, "packaging/container"):
        assert f"\n!{needed}\n" in kept
        assert (PROJECT / needed).exists()


def test_it_takes_no_file_of_a_person_into_it():
    assert (PROJECT / ".dockerignore").read_text(encoding="utf-8").splitlines()[1] == "*"


@pytest.mark.parametrize(
    ("arguments", "port"),
    [(["serve", "--http"], 8765), (["serve", "--http", "--port", "9000"], 9000), (["serve", "--port=9001"], 9001)],
)
def test_health_is_asked_for_at_the_port_of_the_server(healthcheck, arguments, port):
    assert healthcheck.port_of(["hybrid-memory-mcp", *arguments]) == port


@pytest.mark.parametrize(("answering", "code"), [(True, 0), (False, 1)])
def test_over_http_it_is_well_if_it_answers(healthcheck, monkeypatch, answering, code):
    monkeypatch.setattr(healthcheck, "arguments_of_server", lambda: ["hybrid-memory-mcp", "serve", "--http"])
    monkeypatch.setattr(healthcheck, "answers", lambda _: answering)
    assert healthcheck.main() == code


def test_over_stdin_and_stdout_it_is_well_as_long_as_it_is_there(healthcheck, monkeypatch):
    monkeypatch.setattr(healthcheck, "arguments_of_server", lambda: ["hybrid-memory-mcp", "serve", "--standalone"])
    assert healthcheck.main() == 0
