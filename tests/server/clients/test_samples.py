"""Files as the clients have them: install, install again, take out gives the same bytes, and shows nobody's secrets."""

from __future__ import annotations

import json
import tomllib
from pathlib import Path

import pytest

from hybrid_memory_mcp.clients import jsonc
from hybrid_memory_mcp.clients.installer import carry_out, plan_install, plan_uninstall
from hybrid_memory_mcp.clients.places import Machine
from hybrid_memory_mcp.clients.table import BY_NAME

SAMPLES = sorted((Path(__file__).resolve().parents[2] / "data" / "clients").iterdir())
COMMAND = ["/opt/hybrid-memory/bin/hybrid-memory-mcp"]


def placed(sample, home):
    """Put a sample where its client has it on its platform; returns client, machine and path."""
    name, *kind, platform = sample.name.split(".")[:-1]
    client, machine = BY_NAME[name], Machine(platform, {"HOME": str(home)})
    places = client.hooks if kind in (["hooks"], ["settings"]) else client.servers
    path = machine.file(places)
    path = path.with_suffix(sample.suffix)
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(sample.read_bytes())
    return client, machine, path


def files_in(folder):
    return {str(path): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def value_of(path):
    text = path.read_text("utf-8-sig")
    return tomllib.loads(text) if path.suffix == ".toml" else jsonc.parse(text)


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_gets_the_memory_once_and_is_the_same_to_the_byte_without_it(sample, tmp_path):
    client, machine, path = placed(sample, tmp_path)
    before, folders = files_in(tmp_path), sorted(tmp_path.rglob("*"))
    assert carry_out(plan_install(client, machine, COMMAND)).state == "installed"
    assert value_of(machine.file(client.servers))[client.key]["memory"]["command"] in (COMMAND[0], COMMAND)
    installed = files_in(tmp_path)
    assert path.with_name(path.name + ".hybrid-memory-backup").read_bytes() == sample.read_bytes()
    assert carry_out(plan_install(client, machine, COMMAND)).state == "already there"
    assert files_in(tmp_path) == installed
    assert carry_out(plan_uninstall(client, machine)).state == "removed"
    assert files_in(tmp_path) == before
    assert sorted(tmp_path.rglob("*")) == folders


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_sample_that_lost_its_backup_keeps_all_that_is_not_ours(sample, tmp_path):
    client, machine, path = placed(sample, tmp_path)
    before = value_of(path)
    carry_out(plan_install(client, machine, COMMAND))
    for backup in tmp_path.rglob("*.hybrid-memory-backup"):
        backup.unlink()
    carry_out(plan_uninstall(client, machine))
    left = value_of(path) if path.exists() else {}
    assert {key: value for key, value in left.items() if value} == {
        key: value for key, value in before.items() if value
    }
    if before.get(client.key) and path.suffix != ".jsonc":
        assert path.read_bytes() == sample.read_bytes()


@pytest.mark.parametrize("sample", SAMPLES, ids=lambda sample: sample.name)
def test_a_diff_of_a_sample_shows_our_words_and_nobodys_secrets(sample, tmp_path):
    client, machine, _path = placed(sample, tmp_path)
    shown = "\n".join(step.diff() for step in plan_install(client, machine, COMMAND).steps)
    assert COMMAND[0] in shown
    assert "SECRET-TOKEN" not in shown
    assert "ada@example.org" not in shown


def test_every_client_has_a_sample():
    assert {sample.name.split(".")[0] for sample in SAMPLES} == set(BY_NAME)


def test_the_strict_samples_are_strict_after_the_installation_too(tmp_path):
    for sample in SAMPLES:
        client, machine, path = placed(sample, tmp_path / sample.name)
        if sample.suffix == ".json":
            try:
                json.loads(sample.read_bytes().decode("utf-8-sig"))
            except ValueError:
                continue
            carry_out(plan_install(client, machine, COMMAND))
            json.loads(path.read_bytes().decode("utf-8-sig"))
