"""Which commands a person's statement rules out."""

from tests.tables import each

from hybrid_memory.lessons.commands import commands_in
from hybrid_memory.lessons.ruled_out import rules_out


def breaks(statement, line):
    return any(rules_out(statement, line, one.words) for one in commands_in(line))


@each(
    "statement, line",
    [
        ("We use pnpm", "npm install lodash"),
        ("We use pnpm, not npm", "npm ci"),
        ("stop using npm, use pnpm", "npm ci"),
        ("npm is banned here", "npm i"),
        ("tailwind is banned here", "npm i tailwindcss"),
        ("never push to main", "git push origin main"),
        ("don't force push", "git push --force"),
        ("Never run migrations against prod", "ENV=prod ./manage.py migrate"),
        ("Bitte kein npm, nur pnpm", "npm i"),
        ("we use uv", "pip install x"),
    ],
)
def test_a_command_that_does_all_of_what_is_ruled_out_breaks_the_rule(statement, line):
    assert breaks(statement, line)


@each(
    "statement, line",
    [
        ("stop using npm, use pnpm", "pnpm install"),
        ("we use uv", "uv pip install x"),
        ("never push to main", "git push origin feature"),
        ("We deploy on Tuesdays, never on Fridays", "git push"),
        ("We don't use docker for local dev", "docker compose up"),
        ("Don't commit to the repo without running the tests", "git commit -m x"),
        ("No tests for the prototype", "pytest"),
        ("I prefer tabs over spaces", "npm i"),
        ("Do we use pnpm?", "npm i"),
    ],
)
def test_a_command_that_may_be_something_else_breaks_none(statement, line):
    assert not breaks(statement, line)
