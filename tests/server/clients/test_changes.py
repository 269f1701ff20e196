"""Ours goes into a client's text and out again, and no other byte of it is touched."""

from __future__ import annotations

import json

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.server.clients.documents import json_documents, toml_documents
from tests.tables import each

from hybrid_memory_mcp.clients import changes, jsonc, toml_text
from hybrid_memory_mcp.clients.changes import ForeignEntry, Parts, install, uninstall
from hybrid_memory_mcp.clients.jsonc import DamagedText, UnexpectedShape
from hybrid_memory_mcp.hooks.definitions import hooks_for

COMMAND = ["/opt/my tools/hybrid-memory-mcp"]
ENTRY = {"command": COMMAND[0], "args": [], "env": {"HYBRID_MEMORY_HOME": "/data"}}
SERVERS = Parts(path=("mcpServers", "memory"), entry=ENTRY)
BOTH = Parts(path=("mcpServers", "memory"), entry=ENTRY, hooks=hooks_for("claude-code", COMMAND))
NEWER = Parts(path=("mcpServers", "memory"), entry=ENTRY | {"command": "/new/uvx", "args": ["hybrid-memory-mcp==9"]})
TOML = Parts("toml", ("mcp_servers", "memory"), ENTRY)


@pytest.mark.slow
@pytest.mark.parametrize("parts", [SERVERS, BOTH], ids=["servers", "with-hooks"])
@given(text=json_documents())
def test_json_install_twice_and_take_out_gives_the_same_text(parts, text):
    installed = install(text, parts)
    assert install(installed, parts) == installed
    assert uninstall(installed, parts, text) == text or "hybrid-memory-mcp hook" in text


@given(text=toml_documents())
def test_toml_install_twice_and_take_out_gives_the_same_text(text):
    installed = install(text, TOML)
    assert install(installed, TOML) == installed
    assert uninstall(installed, TOML, text) == text


@pytest.mark.slow
@given(text=json_documents())
def test_json_that_was_brought_up_to_date_is_taken_out_the_same(text):
    left = uninstall(install(install(text, SERVERS), NEWER, backup=text), SERVERS, text)
    # A backup that holds a hook of ours is no text from before us.
    assert left == text or "hybrid-memory-mcp hook" in text


def comments_of(text):
    return [text[start:end] for start, end, _ in jsonc.strings(text) if text[start] == "/"]


@pytest.mark.slow
@given(text=json_documents())
def test_without_a_backup_ours_is_cut_out_and_every_comment_and_value_of_others_stays(text):
    installed = install(text, BOTH)
    left = uninstall(installed, BOTH)
    assert comments_of(left) == comments_of(text) or "hybrid-memory-mcp hook" in text
    assert changes._others(jsonc.parse(left.removeprefix("\ufeff")), BOTH) == changes._others(
        jsonc.parse(text.removeprefix("\ufeff")), BOTH
    )


@pytest.mark.slow
@given(text=json_documents())
def test_a_value_that_a_person_edited_in_between_stays_edited(text):
    edited = install(text, SERVERS).replace("MARK", "edited")
    left = uninstall(edited, SERVERS, text)
    assert "MARK" not in left
    assert jsonc.parse(left.removeprefix("\ufeff")) == jsonc.parse(
        text.removeprefix("\ufeff").replace("MARK", "edited")
    )


@st.composite
def tidy_documents(draw):
    """As programs and editors write: one layout throughout, other servers there, comments on lines of their own or at their ends."""
    value = {"a": 1, "mcpServers": {"x": {"command": "y", "env": {"K": "MARK"}}}, "hooks": {"Stop": [{"command": "z"}]}}
    keys = draw(st.permutations(list(value)))
    indent = draw(st.sampled_from([2, 4, "\t", None]))
    text = json.dumps({key: value[key] for key in keys}, indent=indent)
    if indent is not None and draw(st.booleans()):
        text = text.replace('": {\n', '": { // its parts\n').replace('"MARK"', '"MARK" // why')
    if draw(st.booleans()):
        text = text.replace("\n", "\r\n")
    return text + draw(st.sampled_from(["", "\n"]))


@pytest.mark.slow
@given(text=tidy_documents())
def test_of_a_tidy_file_ours_is_cut_out_to_the_byte_without_any_backup(text):
    assert uninstall(install(text, BOTH), BOTH) == text


@pytest.mark.slow
@given(text=tidy_documents())
def test_of_a_tidy_file_that_was_edited_in_between_only_the_edit_is_left(text):
    edited = install(text, BOTH).replace("MARK", "edited")
    assert uninstall(edited, BOTH, text) == text.replace("MARK", "edited")


@given(text=toml_documents())
def test_toml_that_got_a_table_in_between_loses_ours_alone(text):
    newline = "\r\n" if "\r\n" in text else "\n"
    edited = install(text, TOML) + newline + f"[later]{newline}k = 'v'{newline}"
    left = uninstall(edited, TOML, text)
    was = toml_text.parse(text.removeprefix("\ufeff"))
    assert toml_text.parse(left.removeprefix("\ufeff")) == was | {"later": {"k": "v"}}
    assert left.startswith(text.rstrip("\r\n"))


@each(
    "text, line",
    [
        ('{\n  "a": 1\n  "b": 2\n}', 3),
        ('{\n  "a": {\n    "b": 1,\n', 4),
        ('{"a": tru}', 1),
        ('{\n\n"a": "open\n}', 3),
        ("{\n a: 1}", 2),
        ('{"a": 1}\n}', 2),
        ("{\n/* no end", 2),
        ("<<<<<<< mine\n{}", 1),
    ],
)
def test_a_damaged_text_is_refused_with_its_line(text, line):
    with pytest.raises(DamagedText) as refused:
        install(text, SERVERS)
    assert refused.value.line == line


@pytest.mark.parametrize(("text", "line"), [("a = 1\nb = \n", 2), ("[x\n", 1), ("a = 1\na = 2\n", 2)])
def test_a_damaged_toml_is_refused_with_its_line(text, line):
    with pytest.raises(DamagedText) as refused:
        install(text, TOML)
    assert refused.value.line == line


@each("text", ["[]", '"x"', '{"mcpServers": []}', '{"mcpServers": "off"}'])
def test_a_text_of_another_shape_is_refused(text):
    with pytest.raises(UnexpectedShape):
        install(text, SERVERS)


def test_of_two_equal_names_the_last_counts_as_for_the_client():
    text = '{"mcpServers": {"x": {}}, "mcpServers": {"y": {}}}'
    installed = install(text, SERVERS)
    assert list(json.loads(installed)["mcpServers"]) == ["y", "memory"]
    assert uninstall(installed, SERVERS, text) == text


def test_what_a_person_added_to_our_entry_stays_when_it_is_brought_up_to_date():
    text = '{"mcpServers": {"memory": {"command": "hybrid-memory-mcp", "disabled": true, "env": {"HYBRID_MEMORY_NAMESPACE": "w"}}}}'
    entry = json.loads(install(text, SERVERS))["mcpServers"]["memory"]
    assert entry["disabled"] is True
    assert entry["env"] == {"HYBRID_MEMORY_NAMESPACE": "w", "HYBRID_MEMORY_HOME": "/data"}
    assert entry["command"] == COMMAND[0]


@each(
    "entry",
    [
        {"command": "hybrid-memory-mcp"},
        {"command": "C:\\Users\\Ada\\hybrid-memory-mcp.exe", "args": []},
        {"command": "uv", "args": ["run", "--quiet", "--no-dev", "hybrid-memory-mcp"]},
        {"command": "uvx", "args": ["hybrid-memory-mcp==1.2.3"]},
        {"command": ["python3", "-m", "hybrid_memory_mcp"]},
        {
            "command": "uvx",
            "args": ["--python", "3.12", "--with=x", "hybrid-memory-mcp[minilm]>=0.1", "--namespace", "w"],
        },
        {"command": "uv", "args": ["tool", "run", "--from", "/dist/x.whl", "hybrid-memory-mcp"]},
        {"command": "uv", "args": ["--directory", "/src", "run", "python", "-m", "hybrid_memory_mcp"]},
        {"command": "uv", "args": ["run", "-m", "hybrid_memory_mcp"]},
        {"command": "pipx", "args": ["run", "--spec", "hybrid_memory_mcp[minilm]", "hybrid-memory-mcp"]},
        {"command": "py", "args": ["-3.12", "-X", "utf8", "-m", "hybrid_memory_mcp", "serve"]},
    ],
)
def test_every_way_to_start_this_memory_counts_as_ours(entry):
    assert changes.is_ours(entry)


@each(
    "entry",
    [
        {"command": "npx", "args": ["@modelcontextprotocol/server-memory"]},
        {"command": "node", "args": ["/src/hybrid-memory-mcp-fork/index.js"]},
        {"command": "docker", "args": ["run", "-i", "--rm", "-v", "hybrid-memory:/data", "hybrid-memory-mcp"]},
        {"command": "ssh", "args": ["box", "hybrid-memory-mcp"]},
        {"command": "wsl", "args": ["hybrid-memory-mcp"]},
        {"command": "sh", "args": ["-c", "hybrid-memory-mcp"]},
        {"command": "uvx", "args": ["--with", "hybrid-memory-mcp", "other"]},
        {"command": "uvx", "args": ["--from", "hybrid-memory-mcp-fork", "hybrid-memory-mcp"]},
        {"command": "uv", "args": ["run", "other.py", "hybrid-memory-mcp"]},
        {"command": "python", "args": ["-m", "other", "hybrid-memory-mcp"]},
        {"url": "http://127.0.0.1:8765/mcp"},
        None,
        "hybrid-memory-mcp",
    ],
)
def test_what_starts_something_else_is_not_ours(entry):
    assert not changes.is_ours(entry)


@pytest.mark.parametrize("parts", [SERVERS, TOML], ids=["json", "toml"])
def test_an_entry_of_somebody_else_is_not_replaced_unless_that_is_wished(parts):
    text = (
        '{"mcpServers": {"memory": {"command": "npx"}}}'
        if parts is SERVERS
        else '[mcp_servers.memory]\ncommand = "npx"\n'
    )
    with pytest.raises(ForeignEntry):
        install(text, parts)
    assert uninstall(text, parts) == text
    replaced = install(text, parts, replace=True)
    assert uninstall(replaced, parts, text) == text


def test_an_entry_that_was_replaced_comes_back_also_in_a_file_that_was_edited():
    text = '{"a": "MARK", "mcpServers": {"memory": {"command": "npx"}}}'
    edited = install(text, SERVERS, replace=True).replace("MARK", "edited")
    assert json.loads(uninstall(edited, SERVERS, text)) == json.loads(text.replace("MARK", "edited"))


def test_a_hook_of_ours_within_a_group_of_somebody_else_is_taken_out_of_it():
    group = {"matcher": "x", "hooks": [{"type": "command", "command": "mine.sh"}]}
    ours = {"type": "command", "command": "/old/hybrid-memory-mcp hook stop --client claude-code"}
    text = json.dumps({"hooks": {"Stop": [group | {"hooks": [*group["hooks"], ours]}]}}, indent=2)
    assert json.loads(uninstall(text, BOTH))["hooks"]["Stop"] == [group]
    assert json.loads(install(text, BOTH))["hooks"]["Stop"] == [
        group | {"hooks": [*group["hooks"], *BOTH.hooks["Stop"][0]["hooks"]]}
    ]


def test_hooks_of_an_older_version_are_replaced_where_they_stand():
    older = {
        "hooks": [
            {
                "type": "command",
                "command": "/old/hybrid-memory-mcp",
                "args": ["hook", "stop", "--client", "claude-code"],
            }
        ]
    }
    mine = {"hooks": [{"type": "command", "command": "mine.sh"}]}
    text = json.dumps({"hooks": {"Stop": [older, mine]}}, indent=2)
    assert json.loads(install(text, BOTH))["hooks"]["Stop"] == [*BOTH.hooks["Stop"], mine]


def test_a_note_that_a_person_wrote_beside_our_entry_stays_where_there_was_nothing_but_null():
    text = '{\n  "mcpServers": null,\n  "a": 1\n}\n'
    noted = install(text, SERVERS).replace('    "memory"', '    // my note\n    "memory"')
    assert "// my note" in uninstall(noted, SERVERS, text)


def test_what_a_person_changed_in_a_hook_of_ours_stays_and_only_what_it_runs_is_brought_up_to_date():
    older = install("{}", Parts(hooks=hooks_for("claude-code", ["/old/hybrid-memory-mcp"])))
    changed = older.replace('"timeout": 3', '"timeout": 7, // slow here').replace(
        "startup|resume|clear|compact", "startup"
    )
    assert install(changed, Parts(hooks=hooks_for("claude-code", ["/new/hybrid-memory-mcp"]))) == changed.replace(
        "/old/", "/new/"
    )


@each("around", ["{}", "A=1 B='x y' {}", "{} && notify-send done", "{} 2>/dev/null", "A=1 {} | tee log"])
def test_what_a_person_wrote_around_a_hook_of_ours_in_a_shells_line_stays(around):
    line = "/old/hybrid-memory-mcp hook stop --client gemini --home /old"
    text = json.dumps({"hooks": {"AfterAgent": [{"hooks": [{"type": "command", "command": around.format(line)}]}]}})
    newer = install(text, Parts(hooks=hooks_for("gemini", ["/a b/hybrid-memory-mcp"])))
    (group,) = json.loads(newer)["hooks"]["AfterAgent"]
    assert group["hooks"][0]["command"] == around.format("'/a b/hybrid-memory-mcp' hook stop --client gemini")


@pytest.mark.parametrize(
    "line",
    ["ssh box hybrid-memory-mcp hook stop", "docker run hybrid-memory-mcp hook stop", "x; hybrid-memory-mcp hook stop"],
)
def test_a_hook_that_runs_another_program_first_is_the_persons(line):
    text = json.dumps({"hooks": {"Stop": [{"hooks": [{"type": "command", "command": line}]}]}})
    assert uninstall(text, BOTH) == text


@pytest.mark.slow
def test_a_deep_text_is_no_trouble():
    deep = '{"deep": ' + "[" * 5_000 + "]" * 5_000 + ', "mcpServers": {}}'
    installed = install(deep, SERVERS)
    assert uninstall(installed, SERVERS, deep) == deep


@pytest.mark.daily
@pytest.mark.slow
def test_a_text_of_many_megabytes_is_changed_at_once():
    projects = {f"/home/ada/{number}": {"history": ["word " * 40] * 10} for number in range(3_000)}
    text = json.dumps({"projects": projects, "mcpServers": {"x": {}}}, indent=2)
    assert len(text) > 5_000_000
    installed = install(text, SERVERS)
    assert uninstall(installed, SERVERS) == text


@pytest.mark.parametrize(
    "text",
    [
        'mcp_servers = { x = { command = "y" } }\n',
        'mcp_servers.memory = { command = "hybrid-memory-mcp" }\n',
    ],
)
def test_toml_in_one_line_that_cannot_be_changed_safely_is_refused(text):
    with pytest.raises(UnexpectedShape):
        install(text, TOML)


def test_a_table_that_the_client_wrote_anew_is_brought_up_to_date_line_by_line():
    text = (
        '[mcp_servers.memory] # mine\ncommand = "hybrid-memory-mcp" # old\nargs = ["x"]\nenabled = false\n\n'
        '[mcp_servers.memory.env]\nOTHER = "1"\n\n[tui]\n'
    )
    assert install(text, TOML) == (
        '[mcp_servers.memory] # mine\ncommand = "/opt/my tools/hybrid-memory-mcp" # old\nargs = ["x"]\nenabled = false\n\n'
        '[mcp_servers.memory.env]\nOTHER = "1"\nHYBRID_MEMORY_HOME = "/data"\n\n[tui]\n'
    )
    assert uninstall(text, TOML) == "\n[tui]\n"


@pytest.mark.slow
@given(value=st.recursive(st.text() | st.booleans(), lambda inner: st.lists(inner) | st.dictionaries(st.text(), inner)))
def test_what_is_written_as_toml_is_read_the_same(value):
    assert toml_text.parse(f"a = {toml_text.value_text(value)}\n") == {"a": value}


def test_a_name_in_quotes_is_understood_with_the_escapes_of_toml():
    text = (
        '[mcp_servers."\\U0001F600 x"]\ncommand = "y"\n\n[mcp_servers."mem\\u006fry"]\ncommand = "hybrid-memory-mcp"\n'
    )
    assert uninstall(text, TOML) == '[mcp_servers."\\U0001F600 x"]\ncommand = "y"\n'
