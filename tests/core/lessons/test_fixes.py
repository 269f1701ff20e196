"""Which command that worked puts one that failed right."""

from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each

from hybrid_memory.lessons.commands import Command, commands_in
from hybrid_memory.lessons.fixes import Fix, first_added_by, fix_by, is_within


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
        ("docker push old/mail:dev", "docker push new/mail:dev", Fix.WORDS),
        ("git fetch origin", "git -c http.sslCAInfo=ca.crt fetch origin", Fix.WORDS),
        ("yarn add zod", "yarn workspace api add zod", Fix.WORDS),
        ("docker compose up -d", "docker compose -f dev.yml up -d", Fix.WORDS),
        ("cargo build", "cargo +nightly build", Fix.WORDS),
        ("cd api && docker build .", "docker build -f api/Dockerfile .", Fix.WORDS),
        ("git status", "sudo -u builder git -C /mnt/shop status", Fix.PROGRAM),
        ("docker build -t shop .", "~/bin/buildx build --load -t shop .", Fix.PROGRAM),
        ("go build ./...", "/usr/local/go1.22.3/bin/go build ./...", Fix.PROGRAM),
        ("./build.sh", "bash build.sh", Fix.PROGRAM),
        ("make", "gmake", Fix.PROGRAM),
        ("git push", 'PATH="$HOME/node/bin:$PATH" git push', Fix.GIVEN),
        ("docker compose up -d", "make up", Fix.ANOTHER),
        ("prisma migrate dev", "npm run db:migrate", Fix.ANOTHER),
    ],
)
def test_another_program_other_options_or_another_folder_put_a_command_right(failed, worked, kind):
    assert fix(failed, worked) is kind


@each(
    "failed, worked",
    [
        ("npm test", "npm install"),
        ("npm test", "npm test"),
        ("git comit -m x", "git commit -m x"),
        ("make test", "make check"),
        ("npm test", "git status"),
        ("make", "make --version"),
        ("git push", "git stash push"),
        ("go build ./...", "gofmt -l ."),
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
def test_in_another_folder_only_all_the_same_words_do(failed, worked):
    if failed.folder != worked.folder and not is_within(failed.words, worked.words) and failed.words != worked.words:
        assert fix_by(failed, worked) is None


@given(_COMMANDS, st.lists(st.sampled_from(["-c", "--all", "+nightly"]), min_size=1, max_size=3), st.integers(0, 4))
def test_options_anywhere_put_a_command_right(failed, options, place):
    words = (*failed.words[:place], *options, *failed.words[place:])
    assert fix_by(failed, replace(failed, words=words)) in {Fix.WORDS, Fix.PROGRAM}


@each(
    "failed, worked, words",
    [
        ("docker compose exec db psql", "docker compose exec -T db psql -c 'select 1'", ("-T",)),
        ("git push", "git push -u origin main", ("-u", "origin", "main")),
        ("npm install lodash", "pnpm add lodash", ("pnpm", "add")),
        ("npm test", "CI=1 npm test", ("CI=<n>",)),
    ],
)
def test_words_that_come_together_first_show_that_a_command_is_put_right(failed, worked, words):
    assert first_added_by(commands_in(failed)[-1], commands_in(worked)[-1]) == words
