"""The plugin folder of this repository in the real assistants that take it: as good as `install`."""

import pytest
from tests.clients.hosts import life
from tests.clients.hosts.hosts import HOSTS
from tests.clients.hosts.machine import REPOSITORY, machine_with

WITH_PLUGINS = [host for host in HOSTS if host.plugin_commands(REPOSITORY)]


@pytest.mark.parametrize("host", WITH_PLUGINS, ids=[host.name for host in WITH_PLUGINS])
def test_with_the_plugin_the_next_conversation_begins_with_what_was_said(host, folder):
    with machine_with(host, folder) as machine:
        machine.install_plugin()
        machine.say(life.PREFERENCE)
        assert "tabs instead of spaces" in machine.say(life.GREETING).first.text


@pytest.mark.parametrize("host", WITH_PLUGINS, ids=[host.name for host in WITH_PLUGINS])
def test_who_has_the_plugin_and_the_installation_is_told_once(host, folder):
    with machine_with(host, folder) as machine:
        machine.install()
        machine.install_plugin()
        machine.say(life.PREFERENCE)
        assert machine.say(life.GREETING).first.text.count("tabs instead of spaces") == 1
