"""What is said in a project is told there alone; what is said outside is told everywhere."""

import pytest
from tests.clients.hosts import life
from tests.clients.hosts.hosts import HOSTS
from tests.clients.hosts.machine import machine_with

WITH_HOOKS = [host for host in HOSTS if host.runs_hooks]


@pytest.mark.parametrize("host", WITH_HOOKS, ids=[host.name for host in WITH_HOOKS])
def test_two_projects_and_a_person(host, folder):
    told = {}
    with machine_with(host, folder) as machine:
        machine.install()
        machine.say("My sister Nora lives in Graz.")
        for project in ("alpha", "beta"):
            machine.project = folder / project
            machine.project.mkdir()
            (machine.project / ".hybrid-memory.toml").write_text(f'namespace = "{project}"\n')
            machine.say(f"We decided to use PostgreSQL for the billing service of {project}.")
        for project in ("alpha", "beta", "project"):
            machine.project = folder / project
            text = machine.say(life.GREETING).first.text
            told[project] = [known for known in ("Graz", "service of alpha", "service of beta") if known in text]
    assert told == {
        "alpha": ["Graz", "service of alpha"],
        "beta": ["Graz", "service of beta"],
        "project": ["Graz"],
    }
