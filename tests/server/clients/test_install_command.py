"""`hybrid-memory-mcp install`, as a person types it."""

from __future__ import annotations

import json
import re
import subprocess
import sys
import threading
import tomllib

import pytest

from hybrid_memory_mcp.clients.changes import is_ours
from hybrid_memory_mcp.clients.command import Start
from hybrid_memory_mcp.clients.installer import carry_out, plan_install
from hybrid_memory_mcp.clients.table import BY_NAME, CLIENTS

NAMES = [
    "claude-desktop",
    "claude-code",
    "cursor",
    "vscode",
    "windsurf",
    "zed",
    "codex",
    "gemini",
    "opencode",
    "copilot",
    "lmstudio",
]


def entry_of(client, path):
    text = path.read_text("utf-8")
    value = tomllib.loads(text) if client.shape == "toml" else json.loads(text)
    return value[client.key]["memory"]


def test_the_names_of_the_clients_are_those_that_were_promised():
    assert list(BY_NAME) == NAMES


@pytest.mark.parametrize("client", CLIENTS, ids=NAMES)
def test_a_named_client_gets_its_entry_on_an_empty_machine_and_nothing_is_left_when_it_is_taken_out(person, client):
    before = person.tree()
    assert person.install(client.name, "--yes").exit_code == 0
    path = person.machine().file(client.servers)
    assert path.is_relative_to(person.home)
    assert is_ours({"command": entry_of(client, path)["command"]})
    installed = person.tree()
    again = person.install(client.name, "--yes")
    assert again.exit_code == 0
    assert "already there" in again.output
    assert person.tree() == installed
    assert person.install(client.name, "--uninstall", "--yes").exit_code == 0
    assert person.tree() == before


def test_without_names_a_person_can_choose_among_those_that_are_here(person):
    person.write(".cursor/mcp.json", "{}")
    person.write(".gemini/settings.json", "{}")
    result = person.install("--no-hooks", answers="c\nn\ny\n")
    assert result.exit_code == 0
    assert person.json(".cursor/mcp.json") == {}
    assert "memory" in person.json(".gemini/settings.json")["mcpServers"]


@pytest.mark.parametrize("answer", ["y", "", "Yes"])
def test_one_answer_is_for_all_that_are_here(person, answer):
    person.write(".cursor/mcp.json", "{}")
    person.write(".gemini/settings.json", "{}")
    assert person.install(answers=f"{answer}\n").exit_code == 0
    assert "memory" in person.json(".cursor/mcp.json")["mcpServers"]
    assert "memory" in person.json(".gemini/settings.json")["mcpServers"]


@pytest.mark.parametrize("answer", ["n\n", "maybe\nno\n", "c\nn\nn\n"])
def test_after_a_no_every_file_is_as_it_was(person, answer):
    person.write(".cursor/mcp.json", "{}")
    person.write(".gemini/settings.json", "{}")
    before = person.tree()
    result = person.install(answers=answer)
    assert result.exit_code == 0
    assert "Nothing was changed." in result.output
    assert person.tree() == before


def test_it_says_what_each_file_gets_in_a_line_and_shows_no_diff_unasked(person):
    person.write(".codex/config.toml", "a = 1\n")
    shown = person.install("codex", "gemini", "--dry-run").stdout.splitlines()
    assert shown[:3] == [
        "codex\tadds the server `memory`\t~/.codex/config.toml",
        "codex\tadds 9 hooks\t~/.codex/hooks.json",
        "gemini\tadds the server `memory` and 6 hooks\t~/.gemini/settings.json",
    ]
    assert len(shown) < 8


def test_taking_out_says_what_goes_from_which_file_and_shows_the_diff_only_if_asked(person):
    person.write(".codex/config.toml", "a = 1\n")
    person.install("codex", "--yes")
    shown = person.install("--uninstall", "--dry-run").stdout
    assert "codex\tremoves 9 hooks, and the file\t~/.codex/hooks.json\n" in shown
    assert "codex\tremoves the server `memory`\t~/.codex/config.toml\n" in shown
    assert "\n-" not in shown
    assert "-[mcp_servers.memory]" in person.install("--uninstall", "--dry-run", "--diff").stdout


def test_the_plugin_is_named_where_claude_code_has_neither(person):
    way = "claude plugin install hybrid-memory@hybrid-memory-mcp"
    assert way in person.install("claude-code", "--dry-run").stdout
    person.install("claude-code", "--yes")
    assert way not in person.install("claude-code", "--yes").stdout
    assert way not in person.install("claude-code", "--uninstall", "--dry-run").stdout


def test_what_others_wrote_there_is_not_shown(person):
    person.write(".cursor/mcp.json", '{\n  "mcpServers": {\n    "x": {"env": {"TOKEN": "sk-12345"}}\n  }\n}\n')
    result = person.install("cursor", "--yes", "--diff")
    assert "sk-12345" not in result.output
    assert '+    "memory": {' in result.output


@pytest.mark.parametrize(
    ("name", "text"),
    [
        (".codex/config.toml", "[mcp_servers.x]\nPIN = 123456789\nday = 1990-01-02\n"),
        (".cursor/mcp.json", '{\n  "PIN": 123456789,\n  "mcpServers": {}\n}\n'),
        (
            ".cursor/mcp.json",
            '{"mcpServers": {\n"memory": {\n"command": "/old/hybrid-memory-mcp",\n"headers": {"A": "123456789"}\n}\n}}',
        ),
    ],
)
def test_numbers_dates_and_what_a_person_added_to_our_entry_are_not_shown_either(person, name, text):
    person.write(name, text)
    shown = person.install("codex", "cursor", "--dry-run", "--diff").output
    assert '"memory": {' in shown
    assert "123456789" not in shown
    assert "1990" not in shown


def test_the_entry_of_somebody_else_is_refused_and_stays(person):
    text = '{"mcpServers": {"memory": {"command": "npx", "args": ["-y", "@modelcontextprotocol/server-memory"]}}}'
    path = person.write(".cursor/mcp.json", text)
    result = person.install("cursor", "--yes")
    assert result.exit_code == 1
    assert "--replace" in result.output
    assert path.read_text("utf-8") == text
    assert not (person.home / ".cursor" / "hooks.json").exists()
    assert person.install("cursor", "--yes", "--replace").exit_code == 0
    assert is_ours(person.json(".cursor/mcp.json")["mcpServers"]["memory"])
    assert person.install("cursor", "--yes", "--uninstall").exit_code == 0
    assert path.read_text("utf-8") == text


DAMAGED = '{\n  "mcpServers": {\n    "x": {}\n'


def test_a_damaged_file_is_refused_with_its_name_and_line_and_the_others_get_theirs(person):
    path = person.write(".cursor/mcp.json", DAMAGED)
    result = person.install("cursor", "copilot", "--yes")
    assert result.exit_code == 1
    assert f"{path}: line 4" in result.output
    assert "editor" in result.output
    assert path.read_text("utf-8") == DAMAGED
    assert sorted(one.name for one in path.parent.iterdir()) == ["mcp.json"]
    assert "memory" in person.json(".copilot/mcp-config.json")["mcpServers"]


def test_a_file_that_is_not_utf_8_is_refused_in_words(person):
    path = person.write(".cursor/mcp.json", "{}".encode("utf-16"))
    result = person.install("cursor", "--yes")
    assert result.exit_code == 1
    assert "UTF-8" in result.output
    assert path.read_bytes() == "{}".encode("utf-16")


def test_a_read_only_file_is_refused_in_words(person):
    path = person.write(".cursor/mcp.json", "{}")
    path.chmod(0o444)
    result = person.install("cursor", "--yes")
    assert result.exit_code == 1
    assert "read-only" in result.output
    assert path.read_text("utf-8") == "{}"


def test_an_unknown_client_is_told_what_there_is(person):
    result = person.install("emacs")
    assert result.exit_code == 2
    assert "--print" in result.output


def test_nobody_found_is_said(person):
    result = person.install("--yes")
    assert result.exit_code == 1
    assert "--print" in result.output
    assert person.tree() == {}


def test_nobody_there_to_answer_means_nothing_is_changed(person):
    person.write(".cursor/mcp.json", "{}")
    result = person.install()
    assert result.exit_code == 2
    assert "--yes" in result.output
    assert person.json(".cursor/mcp.json") == {}


def test_a_dry_run_shows_the_change_and_writes_nothing(person):
    person.write(".cursor/mcp.json", "{}")
    before = person.tree()
    result = person.install("cursor", "zed", "--dry-run", "--diff")
    assert result.exit_code == 0
    assert '"memory"' in result.output
    assert '"context_servers"' in result.output
    assert person.tree() == before


def test_a_dry_run_never_says_installed_to_a_script(person):
    (told,) = json.loads(person.install("zed", "--dry-run", "--json").stdout)
    assert told["state"] == "would be installed"
    assert "installed" not in person.install("zed", "--dry-run").stdout


def test_no_hooks_leaves_them_out_and_takes_out_those_that_were_there(person):
    person.install("cursor", "--yes")
    assert (person.home / ".cursor/hooks.json").exists()
    assert person.install("cursor", "--yes", "--no-hooks").exit_code == 0
    assert not (person.home / ".cursor/hooks.json").exists()
    assert "memory" in person.json(".cursor/mcp.json")["mcpServers"]


def test_a_chosen_store_is_handed_to_server_and_hooks(person, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_HOME", str(person.home / "my store"))
    person.install("claude-code", "--yes")
    store = str(person.home / "my store")
    assert person.json(".claude.json")["mcpServers"]["memory"]["env"] == {"HYBRID_MEMORY_HOME": store}
    (group,) = person.json(".claude/settings.json")["hooks"]["SessionStart"]
    assert group["hooks"][0]["args"][-2:] == ["--home", store]


@pytest.mark.parametrize(
    ("client", "name", "text"),
    [
        ("claude-code", ".claude/settings.json", '{"enabledPlugins": {"hybrid-memory@hybrid-memory-mcp": true}}'),
        ("codex", ".codex/config.toml", '[plugins."hybrid-memory@hybrid-memory-mcp"]\nenabled = true\n'),
    ],
)
def test_where_the_plugin_is_on_everything_is_left_to_it(person, client, name, text):
    person.write(name, text)
    before = person.tree()
    result = person.install(client, "--yes")
    assert result.exit_code == 0
    assert "plugin" in result.output
    assert "twice" not in result.output
    assert person.tree() == before


def test_where_the_plugin_came_after_an_installation_it_is_said_that_all_is_done_twice(person):
    person.install("claude-code", "--yes")
    on = {"enabledPlugins": {"hybrid-memory@hybrid-memory-mcp": True}}
    person.write(".claude/settings.json", json.dumps(person.json(".claude/settings.json") | on))
    assert "install --uninstall claude-code" in person.install("claude-code", "--yes").output
    assert person.install("claude-code", "--uninstall", "--yes").exit_code == 0
    assert "twice" not in person.install("claude-code", "--yes").output


def test_the_generic_entry_is_printed_and_nothing_written(person):
    result = person.install("--print")
    assert is_ours(json.loads(result.stdout)["mcpServers"]["memory"])
    assert person.tree() == {}


@pytest.mark.parametrize("client", CLIENTS, ids=NAMES)
def test_the_printed_entry_of_a_client_is_the_one_that_is_installed(person, client):
    printed = person.install("--print", client.name).stdout
    person.install(client.name, "--yes", "--no-hooks")
    text = person.machine().file(client.servers).read_text("utf-8")
    read = tomllib.loads if client.shape == "toml" else json.loads
    assert read(printed) == read(text)


def test_the_result_can_be_read_by_a_program(person):
    person.write(".cursor/mcp.json", DAMAGED)
    result = person.install("cursor", "zed", "--json")
    cursor, zed = json.loads(result.stdout)
    assert (cursor["state"], zed["state"]) == ("refused", "installed")
    assert "line 4" in cursor["problem"]
    assert zed["files"] == [str(person.home / ".config/zed/settings.json")]


def test_the_links_are_printed(person):
    result = person.install("--links")
    assert "https://cursor.com/en/install-mcp?" in result.output


def test_what_a_client_adds_in_between_stays_when_ours_is_taken_out(person):
    person.install("claude-code", "--yes")
    path = person.home / ".claude.json"
    value = person.json(".claude.json")
    value["numStartups"] = 1
    value["mcpServers"]["other"] = {"command": "x"}
    path.write_text(json.dumps(value), "utf-8")
    person.install("claude-code", "--yes", "--uninstall")
    assert person.json(".claude.json") == {"mcpServers": {"other": {"command": "x"}}, "numStartups": 1}


def test_taking_out_without_names_finds_every_client_that_has_it(person):
    person.install("zed", "codex", "gemini", "--yes")
    result = person.install("--uninstall", "--yes")
    assert result.exit_code == 0
    assert person.tree() == {}
    assert "no client" in person.install("--uninstall", "--yes").output


def test_an_older_command_is_brought_up_to_date_and_still_goes_back_to_the_byte(person):
    text = '{"mcpServers":{"x":{"command":"y"}}}'
    path = person.write(".cursor/mcp.json", text)
    person.install("cursor", "--yes")
    newer = path.read_text("utf-8")
    path.write_text(re.sub(r'"command":"/[^"]*"', '"command":"/old/hybrid-memory-mcp"', newer), "utf-8")
    assert "updated" in person.install("cursor", "--yes").output
    assert path.read_text("utf-8") == newer
    person.install("cursor", "--yes", "--uninstall")
    assert path.read_text("utf-8") == text


def test_an_entry_of_somebody_else_is_replaced_if_the_person_says_so(person):
    person.write(".cursor/mcp.json", '{"mcpServers": {"memory": {"command": "npx"}}}')
    assert person.install("--no-hooks", answers="y\n").exit_code == 0
    assert is_ours(person.json(".cursor/mcp.json")["mcpServers"]["memory"])


def test_before_an_entry_of_somebody_else_is_replaced_the_change_is_shown(person):
    entry = {"command": "npx", "env": {"K": "secret"}}
    person.write(".gemini/settings.json", json.dumps({"mcpServers": {"memory": entry}}, indent=2))
    shown = person.install(answers="n\n").output
    assert "-" in shown
    assert '"npx"' in shown
    assert "secret" not in shown
    assert "hook session-start" in shown.partition("Replace")[0]


@pytest.mark.parametrize(
    ("entry", "options"),
    [
        ({"args": ["--namespace", "work", "--home=/mine"]}, ["--home", "/mine", "--namespace", "work"]),
        (
            {"env": {"HYBRID_MEMORY_HOME": "/mine", "HYBRID_MEMORY_PROJECT": "off"}},
            ["--home", "/mine", "--project", "off"],
        ),
        ({"env": {"HYBRID_MEMORY_HOME": "${HOME}/mine"}}, ["--home", "HERE/mine"]),
    ],
)
def test_hooks_look_into_the_store_of_the_entry_that_is_there(person, entry, options):
    entry = {"command": "hybrid-memory-mcp"} | entry
    person.write(".claude.json", json.dumps({"mcpServers": {"memory": entry}}))
    assert person.install("claude-code", "--yes").exit_code == 0
    (group,) = person.json(".claude/settings.json")["hooks"]["SessionStart"]
    assert group["hooks"][0]["args"][4:] == [one.replace("HERE", str(person.home)) for one in options]
    assert person.json(".claude.json")["mcpServers"]["memory"].get("env") == entry.get("env")


def test_a_folder_that_only_the_client_can_fill_in_is_no_folder_for_hooks(person):
    entry = {"command": "hybrid-memory-mcp", "env": {"HYBRID_MEMORY_HOME": "${workspaceFolder}/m"}}
    person.write(".cursor/mcp.json", json.dumps({"mcpServers": {"memory": entry}}))
    result = person.install("cursor", "--yes")
    assert result.exit_code == 1
    assert "write it out" in result.output
    assert person.install("cursor", "--yes", "--no-hooks").exit_code == 0


def test_a_store_that_was_chosen_once_stays_for_server_and_hooks_alike(person, monkeypatch):
    monkeypatch.setenv("HYBRID_MEMORY_HOME", "/s")
    person.install("gemini", "codex", "--yes")
    monkeypatch.delenv("HYBRID_MEMORY_HOME")
    assert person.install("gemini", "codex", "--yes").output.count("already there") == 2
    assert "--home /s" in (person.home / ".codex/hooks.json").read_text("utf-8")
    monkeypatch.setenv("HYBRID_MEMORY_HOME", "/t")
    assert "before in /s" in person.install("gemini", "codex", "--yes").output
    assert "/s" not in (person.home / ".codex/hooks.json").read_text("utf-8").replace("/settings", "")


def test_where_the_hooks_cannot_be_written_nothing_is(person):
    person.write(".codex/config.toml", "a = 1\n")
    person.write(".codex/hooks.json", "{}").chmod(0o444)
    before = person.tree()
    result = person.install("codex", "--yes")
    assert result.exit_code == 1
    assert "hooks.json is read-only" in result.output
    assert person.tree() == before


@pytest.mark.slow
@pytest.mark.parametrize("order", [NAMES, NAMES[::-1]], ids=["first-in-first-out", "last-in-first-out"])
def test_folders_that_were_made_for_several_clients_go_with_the_last_one(person, order):
    for name in NAMES:
        person.install(name, "--yes")
    for name in order:
        person.install(name, "--yes", "--uninstall")
    assert person.tree() == {}


def test_no_note_is_left_beside_a_file_that_the_person_goes_on_with(person):
    person.install("claude-code", "--yes")
    person.write(".claude/settings.json", json.dumps(person.json(".claude/settings.json") | {"model": "opus"}))
    person.install("claude-code", "--yes", "--uninstall")
    assert sorted(person.tree()) == [".claude", ".claude/settings.json", ".claude/settings.json.hybrid-memory-backup"]
    assert person.json(".claude/settings.json") == {"model": "opus"}


@pytest.mark.parametrize(
    ("given", "meant"),
    [
        ("claude", "claude-desktop claude-code?"),
        ("gemini-cli", "gemini?"),
        ("vs-code", "vscode?"),
        ("devin", "windsurf?"),
        ("cursor,vscode", "cursor vscode?"),
        ("windsrf", "windsurf?"),
    ],
)
def test_a_name_that_is_nearly_one_is_asked_back(person, given, meant):
    assert f"Did you mean: {meant}" in re.sub(r"[\s│]+", " ", person.install(given).output)


@pytest.mark.parametrize(
    "options", ["--uninstall --print", "--uninstall --links", "--uninstall --replace", "--print --links"]
)
def test_options_that_contradict_each_other_are_refused(person, options):
    assert person.install("cursor", *options.split()).exit_code == 2


def test_an_entry_of_toml_is_printed_as_json_for_a_program(person):
    assert "memory" in json.loads(person.install("--print", "--json", "codex").stdout)["mcp_servers"]


@pytest.mark.slow
def test_what_the_outputs_encoding_lacks_is_written_out(person):
    person.write(".cursor/mcp.json", '{"mcpServers": {"ü東": {"command": "x"}}}')
    done = subprocess.run(
        [sys.executable, "-m", "hybrid_memory_mcp", "install", "--yes", "--diff", "cursor"],
        env={"HOME": str(person.home), "PYTHONIOENCODING": "ascii", "COLUMNS": "250"},
        capture_output=True,
        check=False,
    )
    assert (done.returncode, done.stderr) == (0, b"")
    assert rb'"\u00fc\u6771": {"command": "..."}' in done.stdout


def test_two_installations_at_once_give_one_entry(person):
    path = person.write(".cursor/mcp.json", '{\n  "mcpServers": {}\n}\n')
    client, machine = BY_NAME["cursor"], person.machine()
    plans = [plan_install(client, machine, ["/opt/hybrid-memory-mcp"]) for _ in range(4)]
    threads = [threading.Thread(target=carry_out, args=(plan,)) for plan in plans]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert list(person.json(".cursor/mcp.json")["mcpServers"]) == ["memory"]
    person.install("cursor", "--yes", "--uninstall")
    assert path.read_text("utf-8") == '{\n  "mcpServers": {}\n}\n'


def test_a_damaged_file_without_our_name_in_it_is_no_matter_when_all_is_taken_out(person):
    person.install("zed", "--yes")
    person.write(".cursor/mcp.json", DAMAGED)
    assert person.install("--uninstall", "--yes").exit_code == 0
    person.write(".cursor/mcp.json", DAMAGED + '"memory": "hybrid-memory-mcp"')
    assert person.install("--uninstall", "--yes").exit_code == 1


def test_hooks_that_cannot_be_put_in_can_be_left_out(person):
    person.write(".claude/settings.json", '{"hooks": []}')
    result = person.install("claude-code", "--yes")
    assert result.exit_code == 1
    assert "--no-hooks" in result.output
    assert not (person.home / ".claude.json").exists()
    assert person.install("claude-code", "--yes", "--no-hooks").exit_code == 0


def test_what_codex_notes_about_trust_in_our_hooks_goes_with_them(person):
    text = '[hooks.state."/other/hooks.json:stop:0:0"]\ntrusted_hash = "sha256:1"\n'
    path = person.write(".codex/config.toml", text)
    person.install("codex", "--yes")
    hooks = person.home / ".codex" / "hooks.json"
    trusted = f'\n[hooks.state."{hooks}:session_start:0:0"]\ntrusted_hash = "sha256:2"\n'
    path.write_text(path.read_text("utf-8") + trusted, "utf-8")
    person.install("codex", "--yes", "--uninstall")
    assert path.read_text("utf-8") == text


def test_an_entry_that_a_client_wrote_anew_without_empty_lists_is_already_there(person):
    person.install("codex", "--yes")
    path = person.home / ".codex" / "config.toml"
    path.write_text(path.read_text("utf-8").replace("args = []\n", ""), "utf-8")
    assert "already there" in person.install("codex", "--yes").output


def test_a_program_that_cannot_be_asked_has_to_say_yes(person):
    person.write(".cursor/mcp.json", "{}")
    assert person.install("--json").exit_code == 2
    assert person.json(".cursor/mcp.json") == {}
    assert json.loads(person.install("--json", "--yes").stdout)[0]["state"] == "installed"


def test_a_file_for_hooks_without_its_version_gets_one(person):
    path = person.write(".cursor/hooks.json", "{}")
    person.install("cursor", "--yes")
    assert person.json(".cursor/hooks.json")["version"] == 1
    person.install("cursor", "--yes", "--uninstall")
    assert path.read_text("utf-8") == "{}"


FAKE_UV = """#!/bin/sh
echo "$*" >> {log}
case "$2" in
dir) echo {folder} ;;
install)
    echo "Resolved 69 packages" >&2
    echo "warning: it is not on your PATH" >&2
    mkdir -p {folder}/hybrid-memory-mcp/bin && {make} ;;
esac
"""


@pytest.fixture
def by_uvx(person, tmp_path, monkeypatch):
    """Lets `install` run out of uv's cache, with a uv that notes what it is asked, and installs or fails."""
    log, folder = tmp_path / "log", tmp_path / "tools"
    program = folder / "hybrid-memory-mcp" / "bin" / "hybrid-memory-mcp"

    def prepare(make=f"touch {program}"):
        uv = tmp_path / "uv"
        uv.write_text(FAKE_UV.format(log=log, folder=folder, make=make))
        uv.chmod(0o755)
        monkeypatch.setenv("UV", str(uv))
        start = Start(("/bin/uvx", "hybrid-memory-mcp==7"), keep="hybrid-memory-mcp>=7")
        monkeypatch.setattr("hybrid_memory_mcp.cli.install.start_of_this_installation", lambda _: start)
        return program, lambda: log.read_text().splitlines() if log.exists() else []

    person.write(".claude/settings.json", "{}")
    monkeypatch.setenv("PATH", "/usr/bin:/bin")
    return prepare


posix = pytest.mark.skipif(sys.platform == "win32", reason="a uv of the test's is a script of the shell")


@posix
def test_what_uvx_runs_is_installed_first_and_entry_and_hooks_start_what_was_installed(person, by_uvx):
    program, asked = by_uvx()
    result = person.install("claude-code", "--yes")
    assert result.exit_code == 0, result.output
    assert asked() == ["tool dir", "tool install hybrid-memory-mcp>=7"]
    assert person.json(".claude.json")["mcpServers"]["memory"]["command"] == str(program)
    text = (person.home / ".claude" / "settings.json").read_text()
    assert set(re.findall(r'"command": "(/[^"]*)"', text)) == {str(program)}


@posix
def test_of_what_uv_says_a_person_sees_the_warnings(person, by_uvx):
    by_uvx()
    output = person.install("claude-code", "--yes").output
    assert "not on your PATH" in output
    assert "Resolved" not in output


@posix
def test_a_person_who_does_not_want_it_installed_keeps_all_as_it_was(person, by_uvx):
    _, asked = by_uvx()
    before = person.tree()
    assert person.install(answers="n\n").exit_code == 0
    assert (person.tree(), asked()) == (before, ["tool dir"])


@posix
@pytest.mark.parametrize("make", ["exit 2", "true"])
def test_where_uv_cannot_install_it_nothing_is_written_and_the_person_reads_why(person, by_uvx, make):
    by_uvx(make)
    before = person.tree()
    result = person.install("claude-code", "--yes")
    assert result.exit_code == 1
    assert "Resolved 69 packages" in result.output
    assert "uv tool install hybrid-memory-mcp" in result.output
    assert person.tree() == before


@posix
def test_a_dry_run_says_what_would_be_installed_and_installs_nothing(person, by_uvx):
    program, asked = by_uvx()
    output = person.install("claude-code", "--dry-run", "--diff").output
    assert "tool install 'hybrid-memory-mcp>=7'" in output
    assert str(program) in output
    assert asked() == ["tool dir"]


@posix
@pytest.mark.parametrize("arguments", [["--print"], ["--print", "cursor"]])
def test_the_printed_entry_of_what_uvx_runs_starts_uvx_and_installs_nothing(person, by_uvx, arguments):
    _, asked = by_uvx()
    output = person.install(*arguments).stdout
    entry = json.loads(output)["mcpServers"]["memory"]
    assert (entry["command"], entry["args"]) == ("/bin/uvx", ["hybrid-memory-mcp==7"])
    assert asked() == []


@posix
def test_taking_it_out_installs_nothing(person, by_uvx):
    _, asked = by_uvx()
    assert person.install("--uninstall", "--yes").exit_code == 0
    assert asked() == []
