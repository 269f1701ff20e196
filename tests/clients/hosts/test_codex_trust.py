"""Codex runs no hook that its person has not trusted, and asks again for a changed one."""

from tests.clients.hosts import life
from tests.clients.hosts.hosts import Codex
from tests.clients.hosts.machine import machine_with


def test_the_installation_says_that_its_hooks_wait_for_trust(folder):
    with machine_with(Codex("codex"), folder) as machine:
        told = machine.command("install", "--yes", "codex").stdout
        assert ("/hooks" in told, len(machine.hooks_without_trust())) == (True, 9)


def test_installing_again_asks_for_no_new_trust(folder):
    with machine_with(Codex("codex"), folder) as machine:
        machine.install()
        machine.command("install", "--yes", "codex")
        assert machine.hooks_without_trust() == []


def test_without_trust_codex_works_as_before(folder):
    with machine_with(Codex("codex"), folder) as machine:
        machine.command("install", "--yes", "codex")
        said = machine.say(life.GREETING)
        assert (said.exit_code, "hook:" in said.output) == (0, False)
