"""Every client of the table plays the scenario over every transport that it has."""

import pytest
from tests.clients.driving import play
from tests.clients.environments import clients
from tests.clients.results import keep_result

RUNS = [(client, run) for client in clients() for run in client.runs]


@pytest.mark.parametrize(("client", "run"), RUNS, ids=[f"{client.name} {run}" for client, run in RUNS])
def test_a_client_plays_the_scenario(client, run, folder):
    outcomes = play(client, run, folder)
    keep_result(client, run, outcomes)
    problems = {one.step: one.problem for one in outcomes if one.problem}
    differs = client.steps_that_differ(run)
    unforeseen = [f"{step}: {problem}" for step, problem in problems.items() if step not in differs]
    if unforeseen:
        pytest.fail("\n".join(unforeseen), pytrace=False)
    assert set(differs) <= set(problems), "what differs no longer does: take its line out of versions.toml"
