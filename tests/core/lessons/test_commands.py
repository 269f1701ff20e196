"""A shell line as the commands in it, without what changes from call to call."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.lessons.commands import commands_in


def lines(text, folder=""):
    return [one.shape() for one in commands_in(text, folder)]


@each(
    "typed, read",
    [
        ("npm test", ["npm test"]),
        ("cd web && npm install lodash 2>&1 | tail -20", ["cd web && npm install lodash"]),
        (
            "DATABASE_URL=x ./manage.py migrate --settings=prod",
            ["DATABASE_URL=x && ./manage.py migrate --settings=prod"],
        ),
        ("source .venv/bin/activate && pytest", ["source <path> && pytest"]),
        ("bash -lc 'pytest -q'", ["pytest -q"]),
        ("/usr/local/bin/npm test", ["npm test"]),
        ('git commit -m "fix: a b"', ['git commit -m "..."']),
        ("curl -s http://localhost:8080/x | jq .", ["curl -s <url>"]),
        ("pytest tests/unit/test_a.py", ["pytest <path>"]),
        ("git checkout 3f2a9c1d", ["git checkout <hash>"]),
        ("npm i @types/node@18.2.1", ["npm i @types/node@<n>"]),
        ("npm test && npm run lint", ["npm test", "npm run lint"]),
        ("npm test || exit 1", ["npm test"]),
    ],
)
def test_a_line_is_read_as_its_commands(typed, read):
    assert lines(typed) == read


@each(
    "typed",
    [
        "for i in 1 2; do echo $i; done",
        "echo $(date)",
        "cat <<EOF\nfoo\nEOF",
        "npm test 'open",
        "ls -la",
        "cd web",
        "x" * 3000,
    ],
)
def test_a_script_and_a_look_around_have_no_commands(typed):
    assert lines(typed) == []


def test_where_a_command_runs_is_told_from_the_projects_folder():
    assert lines("npm test", "web") == ["cd web && npm test"]
    assert lines("cd .. && npm test", "web") == ["npm test"]
    assert lines("cd /elsewhere && npm test", "web") == ["npm test"]


@given(st.text(max_size=60), st.sampled_from(["", "web"]))
def test_any_line_is_read_or_passed_over_and_what_is_read_is_read_the_same_again(text, folder):
    for one in commands_in(text, folder):
        assert one.words
        assert one.words[0]


@given(st.lists(st.from_regex(r"[a-z]{2,8}", fullmatch=True), min_size=1, max_size=4), st.integers(0, 10**9))
def test_a_number_changes_nothing(words, number):
    line = "run" + " ".join(words)
    assert commands_in(f"{line} {number}") == commands_in(f"{line} {number + 1}")
