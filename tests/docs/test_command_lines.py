"""Every command that a page names is there, with the options that stand behind it; nothing is run here."""

import re
import shlex

from tests.docs.page_blocks import PROJECT, SHELLS, blocks_of, command_lines
from tests.tables import each
from typer.main import get_command

from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.http.settings import make_http_parser
from hybrid_memory_mcp.runtime.client_options import make_parser

PAGES = [
    *sorted(PROJECT.glob("*.md")),
    *sorted((PROJECT / "docs").glob("*.md")),
    *sorted((PROJECT / "plugin").rglob("*.md")),
    *sorted((PROJECT / "examples").rglob("*.md")),
]
PAGES = [page for page in PAGES if page.name != "CHANGELOG.md"]  # it tells of commands as they were
ROOT = get_command(app)
_OURS = re.compile(r"(?<![\w./@-])hybrid-memory-mcp(?= +[a-z-])(?: +[^|;&)]*)?")
_SERVED = {
    option for parser in (make_parser(), make_http_parser()) for one in parser._actions for option in one.option_strings
}


def named_in(page):
    """Return the command lines of ours that a page shows as code: in a line, indented, or in a block."""
    text = page.read_text(encoding="utf-8")
    for block in blocks_of(page):
        text = text.replace(block.text, "")
        if block.language in SHELLS:
            yield from (found for line in command_lines(block) for found in _OURS.findall(line.split(" #")[0]))
    lines = text.splitlines()
    spans = re.findall(r"`([^`]+)`", " ".join(line for line in lines if not line.startswith("    ")))
    indented = [line.split(" #")[0] for line in lines if line.startswith("    ")]
    for code in [*spans, *indented]:
        yield from _OURS.findall(code)


def problem_of(line):
    """Return what of a command line is not there, None if all is."""
    words = shlex.split(re.sub(r"[\[\]'\"\\]|\.\.\.", " ", line))[1:]
    command, names = ROOT, []
    while words and hasattr(command, "commands") and not words[0].startswith("-"):
        names.append(words.pop(0))
        if names[-1] not in command.commands:
            return f"{' '.join(names)} is no command"
        command = command.commands[names[-1]]
    known = {option for one in command.params for option in (*one.opts, *one.secondary_opts)} | {"--help", "-h"}
    if names in (["serve"], [], ["hook"]):
        known |= _SERVED
    unknown = [word.split("=")[0] for word in words if word.startswith("-") and word.split("=")[0] not in known]
    return f"{' '.join(names)} has no {' '.join(unknown)}" if [one for one in unknown if len(one) > 1] else None


@each("page", PAGES)
def test_every_command_that_a_page_names_is_there(page):
    found = {line: problem_of(line) for line in named_in(page)}
    assert {line: problem for line, problem in found.items() if problem} == {}


def test_a_command_and_an_option_that_are_not_there_would_be_seen():
    assert problem_of("hybrid-memory-mcp remind me") == "remind is no command"
    assert problem_of("hybrid-memory-mcp recall --sorted") == "recall has no --sorted"
    assert problem_of("hybrid-memory-mcp token create laptop --namespace work") is None
