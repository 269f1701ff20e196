"""Draws files as people write them: JSON with comments in any layout, and TOML."""

from __future__ import annotations

import json

from hypothesis import strategies as st

NAMES = st.sampled_from(["a", "b.c", "ключ", 'say "hi"', "theme", "x y", "", "hookz"])
SCALARS = st.sampled_from(["1", "-2.5e3", "true", "null", '"MARK"', '"{[,]}"', '"// no comment"', '"\\"\\\\"', '"ü"'])
OURS = '{"type": "command", "command": "/x/hybrid-memory-mcp hook stop --client claude-code"}'
HOOK_ITEMS = st.sampled_from(
    [
        '{"hooks": [{"type": "command", "command": "lint.sh"}]}',
        '{"matcher": "Bash", "hooks": [{"type": "command", "command": "echo"}, ' + OURS + "]}",
        '{"command": "./audit.sh"}',
    ]
)
COMMENTS = ["// x, } ]", "/* a */", '/* "q": { */', "/**/"]


@st.composite
def spaces(draw, newline):
    """Space and comments between two pieces."""
    pieces = draw(st.lists(st.sampled_from(["", " ", newline, newline + "  ", "\t", *COMMENTS]), max_size=3))
    return "".join(piece + (newline if piece.startswith("//") else "") for piece in pieces)


@st.composite
def containers(draw, newline, depth, *, brackets, items):
    """A list or an object of the items given as text, with any layout and perhaps a comma too many."""
    gap = spaces(newline)
    written = "".join(draw(gap) + item + draw(gap) + "," for item in items)
    if items and not draw(st.booleans()):
        written = written[:-1]
    return brackets[0] + written + draw(gap) + brackets[1]


@st.composite
def values(draw, newline, depth):
    if not depth or draw(st.integers(0, 2)) == 0:
        return draw(SCALARS)
    count = draw(st.integers(0, 3))
    if draw(st.booleans()):
        items = [draw(values(newline, depth - 1)) for _ in range(count)]
        return draw(containers(newline, depth, brackets="[]", items=items))
    items = [draw(members(newline, depth, draw(NAMES))) for _ in range(count)]
    return draw(containers(newline, depth, brackets="{}", items=items))


@st.composite
def members(draw, newline, depth, name, value=None):
    gap = spaces(newline)
    written = draw(values(newline, depth - 1)) if value is None else value
    return json.dumps(name, ensure_ascii=draw(st.booleans())) + draw(gap) + ":" + draw(gap) + written


@st.composite
def json_documents(draw):
    """A whole file: other members, perhaps servers and hooks of others, a byte order mark, a last line end or none."""
    newline = draw(st.sampled_from(["\n", "\r\n"]))
    if draw(st.integers(0, 9)) == 0:
        return draw(st.sampled_from(["", "\n", " ", "\ufeff", "// nothing yet\n", "{}", "{ }\n", "{" + newline + "}"]))
    items = [draw(members(newline, 2, draw(NAMES))) for _ in range(draw(st.integers(0, 3)))]
    servers = [draw(members(newline, 1, name)) for name in draw(st.lists(st.sampled_from("xyz"), max_size=2))]
    held = draw(st.sampled_from([None, "null", "{}", "{ }", "servers"]))
    if held:
        value = draw(containers(newline, 1, brackets="{}", items=servers)) if held == "servers" else held
        items.append(draw(members(newline, 1, "mcpServers", value)))
    if draw(st.booleans()):
        lists = [
            draw(
                members(
                    newline,
                    1,
                    event,
                    draw(containers(newline, 1, brackets="[]", items=draw(st.lists(HOOK_ITEMS, max_size=2)))),
                )
            )
            for event in draw(st.lists(st.sampled_from(["Stop", "PostToolUse"]), max_size=2, unique=True))
        ]
        items.append(draw(members(newline, 1, "hooks", draw(containers(newline, 1, brackets="{}", items=lists)))))
    body = draw(containers(newline, 2, brackets="{}", items=draw(st.permutations(items))))
    mark = draw(st.sampled_from(["", "", "\ufeff"]))
    return mark + draw(spaces(newline)) + body + draw(spaces(newline))


TOML_VALUES = st.sampled_from(
    [
        *(
            "1",
            "true",
            '"MARK"',
            "'lit # eral'",
            '"a # b"',
            "[1, 2]",
            '["x", # why\n  "y",\n]',
            '{ a = 1, "b c" = [2] }',
        ),
        *('"""\n[mcp_servers.memory]\n"""', "'''\nq = 1\n'''", "2026-11-22T10:00:00Z", '"\\"]"'),
    ]
)


@st.composite
def toml_documents(draw):
    """A configuration as Codex has it: keys, tables, servers of others; any line end, comments, perhaps none at the end."""
    lines = []
    for number in range(draw(st.integers(0, 3))):
        lines.append(
            f"{draw(st.sampled_from(['', '  ']))}key{number} = {draw(TOML_VALUES)}{draw(st.sampled_from(['', ' # c']))}"
        )
        lines += draw(st.lists(st.sampled_from(["", "# comment [x]"]), max_size=2))
    headers = [
        "[mcp_servers.x]",
        '[mcp_servers."y.z"] # own',
        "[ profiles . p ]",
        "[[many]]",
        "[[many]]",
        "[mcp_servers.x.env]",
    ]
    for header in draw(
        st.lists(st.sampled_from(headers), max_size=4, unique_by=lambda one: one if one != "[[many]]" else object())
    ):
        lines.append(header)
        lines += [f"k{number} = {draw(TOML_VALUES)}" for number in range(draw(st.integers(0, 2)))]
        lines += draw(st.lists(st.sampled_from(["", "# end"]), max_size=2))
    text = "\n".join(lines) + draw(st.sampled_from(["", "\n", "\n\n"]))
    return draw(st.sampled_from(["", "\ufeff"])) + (text.replace("\n", "\r\n") if draw(st.booleans()) else text)
