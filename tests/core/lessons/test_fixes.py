"""Which command that worked puts one that failed right."""

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.lessons.commands import Command, commands_in
from hybrid_memory.lessons.fixes import Fix, fix_by


def fix(failed, worked):
    return fix_by(commands_in(failed)[-1], commands_in(worked)[-1])


@each(
    "failed, worked, kind",
    [
        ("npm test", "pnpm test", Fix.PROGRAM),
        ("pytest", "uv run pytest", Fix.PROGRAM),
        ("python x.py", "python3 x.py", Fix.PROGRAM),
        ("docker-compose up -d", "docker compose up -d", Fix.PROGRAM),
        ("alembic upgrade head", "docker compose exec api alembic upgrade head", Fix.PROGRAM),
        ("git push", "git push -u origin main", Fix.WORDS),
        ("npm install", "npm install --legacy-peer-deps", Fix.WORDS),
        ("npm test", "cd web && npm test", Fix.FOLDER),
        ("pytest", "DJANGO_SETTINGS_MODULE=shop.ci pytest", Fix.GIVEN),
        ("pytest", ". .venv/bin/activate && pytest", Fix.GIVEN),
        ("poetry install", "poetry env use 3.11 && poetry install", Fix.GIVEN),
        ("npm install lodash", "pnpm add lodash --filter web", Fix.PROGRAM),
        ("git push -u origin topic", "git push -u lena topic", Fix.WORDS),
    ],
)
def test_another_program_other_options_or_another_folder_put_a_command_right(failed, worked, kind):
    assert fix(failed, worked) is kind


@each(
    "failed, worked",
    [
        ("npm test", "npm install"),
        ("npm test", "npm test"),
        ("pytest test_a.py", "pytest test_b.py"),
        ("git comit -m x", "git commit -m x"),
        ("make test", "make check"),
        ("npm test", "git status"),
    ],
)
def test_another_command_puts_nothing_right(failed, worked):
    assert fix(failed, worked) is None


_COMMANDS = st.builds(
    Command,
    st.lists(st.sampled_from(["npm", "test", "-q", "run", "pnpm", "--all"]), min_size=1, max_size=4).map(tuple),
    st.sampled_from(["", "web"]),
)


@given(_COMMANDS)
def test_a_command_never_puts_itself_right(command):
    assert fix_by(command, command) is None


@given(_COMMANDS, _COMMANDS)
def test_in_another_folder_only_the_same_words_do(failed, worked):
    if failed.folder != worked.folder and failed.words != worked.words:
        assert fix_by(failed, worked) is None
