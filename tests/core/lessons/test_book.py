"""Lessons of failed commands, as a project's memory keeps them and tells them before the next command."""

import pytest

from hybrid_memory.lessons.book import LESSON, Failure, LessonBook
from hybrid_memory.lessons.commands import commands_in
from hybrid_memory.model import Kind, Origin, Scope
from hybrid_memory.requests import ListRequest, ReadRequest, WriteRequest

PROJECT = Scope(namespace="shop", personal="default", session="monday")


def command(line):
    (found,) = commands_in(line)
    return found


def failure(line, signature="command not found"):
    return Failure(command(line), signature)


@pytest.fixture
def book(service):
    return LessonBook(service, PROJECT, "hook of claude-code")


def told_before(book, line):
    found, rules = book.before(line, commands_in(line))
    return [] if found is None else [(hit.memory.content, hit.memory.id in rules) for hit in found.hits]


def later(service, session):
    return LessonBook(service, Scope(namespace="shop", personal="default", session=session), "hook of claude-code")


def test_before_a_command_that_failed_comes_what_worked_instead(book):
    book.note_fix(failure("npm test"), command("pnpm test"))
    assert told_before(book, "npm test") == [
        ("`npm test` failed: command not found. `pnpm test` worked instead.", False)
    ]


def test_what_another_program_put_right_is_told_whatever_the_arguments(book):
    book.note_fix(failure("npm install lodash", "this project uses pnpm"), command("pnpm install lodash"))
    assert len(told_before(book, "npm install express")) == 1
    assert told_before(book, "npm run build") == []
    assert told_before(book, "pnpm install express") == []


def test_an_error_about_an_argument_that_was_replaced_says_nothing_of_others(book):
    book.note_fix(failure("git push origin main", "error: main is protected"), command("git push origin topic"))
    assert told_before(book, "git push origin other") == []
    assert len(told_before(book, "git push origin main")) == 1


def test_a_program_that_is_not_there_is_told_of_at_each_of_its_subcommands(book):
    book.note_fix(failure("poetry install", "bash: poetry: command not found"), command("uv sync"))
    assert len(told_before(book, "poetry add httpx")) == 1


def test_other_words_are_told_for_the_subcommand_until_a_call_has_them(book):
    book.note_fix(failure("docker build .", "rate limit"), command("docker build . --pull=false"))
    assert len(told_before(book, "docker build web")) == 1
    assert told_before(book, "docker build web --pull=false") == []
    assert told_before(book, "docker run web") == []


def test_an_option_before_the_subcommand_is_told_for_others_until_they_work_without_it(book):
    book.note_fix(
        failure("git fetch origin", "SSL certificate problem"), command("git -c http.sslCAInfo=ca.crt fetch origin")
    )
    assert len(told_before(book, "git clone https://git.lan/sdk.git")) == 1
    book.forget(command("git log"))
    assert told_before(book, "git log --oneline") == []
    assert len(told_before(book, "git clone https://git.lan/sdk.git")) == 1
    assert len(told_before(book, "git fetch upstream")) == 1


def test_an_option_is_told_for_calls_with_the_options_of_the_one_that_failed(book):
    book.note_fix(failure("pnpm add -D eslint", "adding to the root"), command("pnpm add -D -w eslint"))
    assert len(told_before(book, "pnpm add -D prettier")) == 1
    assert told_before(book, "pnpm add clsx --filter web") == []


def test_a_variable_named_like_its_program_is_told_for_all_subcommands(book):
    book.note_fix(failure("docker info", "cannot connect"), command("DOCKER_HOST=unix:///run/colima.sock docker info"))
    book.note_fix(failure("npx jest", "unexpected token"), command("NODE_OPTIONS=--experimental-vm-modules npx jest"))
    assert len(told_before(book, "docker compose ps")) == 1
    assert told_before(book, "npx eslint src") == []


@pytest.mark.parametrize(
    ("failed", "worked", "of_tests", "told"),
    [
        ("cargo build", "cargo +nightly build", False, 1),
        ("make", "make CPPFLAGS=-I/opt/gps/include", False, 1),
        ("protoc a.proto", "protoc -I third_party a.proto", False, 1),
        ("eslint src", "eslint src --fix", False, 0),
        ("tsc", "tsc src", False, 0),
        ("pytest", "pytest -k other", True, 0),
    ],
)
def test_of_what_points_into_code_only_options_with_values_are_lessons(book, failed, worked, of_tests, told):
    book.note_fix(Failure(command(failed), "src/a.c:1: error", of_the_code=True, of_tests=of_tests), command(worked))
    assert len(told_before(book, failed)) == told


def test_a_command_that_works_again_is_no_lesson_any_more(book):
    book.note_fix(failure("npm install lodash"), command("pnpm install lodash"))
    book.forget(command("npm install express"))
    assert told_before(book, "npm install lodash") == []


def test_a_failure_without_a_remedy_is_told_once_it_came_back_in_another_conversation(service, book):
    book.note(failure("docker compose up", "cannot connect to the daemon"))
    book.note(failure("docker compose up", "cannot connect to the daemon"))
    assert told_before(book, "docker compose up") == []
    tuesday = later(service, "tuesday")
    tuesday.note(failure("docker compose up", "cannot connect to the daemon"))
    assert [text for text, _ in told_before(tuesday, "docker compose up")] == [
        "`docker compose up` failed: cannot connect to the daemon"
    ]


def test_a_remedy_takes_the_place_of_the_failure(service, book):
    book.note(failure("pytest"))
    book.note_fix(failure("pytest"), command("uv run pytest"))
    book.note(failure("pytest"))
    listed = service.list_memories(PROJECT, ListRequest(tags=(LESSON,), kind=Kind.EPISODE))
    assert [one.content for one in listed.memories] == [
        "`pytest` failed: command not found. `uv run pytest` worked instead."
    ]


def test_a_lesson_is_found_when_asked_for_and_in_no_brief(service, book):
    book.note_fix(failure("npm test"), command("pnpm test"))
    found = service.read(PROJECT, ReadRequest(query="npm test"))
    assert [hit.memory.tags[0] for hit in found.hits] == [LESSON]
    assert service.read(PROJECT, ReadRequest(limit=60, begins=True)).hits == ()


def test_a_lesson_of_one_project_is_told_in_no_other(service, book):
    book.note_fix(failure("npm test"), command("pnpm test"))
    elsewhere = LessonBook(service, Scope(namespace="blog", personal="default", session="monday"), "hook of codex")
    assert told_before(elsewhere, "npm test") == []


def test_a_key_in_a_command_is_not_stored(service, book):
    key = "ghp_" + "a1B2c3D4e5" * 4
    book.note_fix(failure(f"gh auth {key}"), command(f"gh auth --with-token {key}"))
    listed = service.list_memories(PROJECT, ListRequest(tags=(LESSON,), kind=Kind.EPISODE))
    assert all(key not in one.content + str(one.metadata) for one in listed.memories)
    assert listed.memories


def test_a_rule_of_the_person_is_told_before_the_command_that_breaks_it(service, book):
    service.write(PROJECT, WriteRequest(content="We use pnpm", origin=Origin.USER))
    service.write(PROJECT, WriteRequest(content="Never push to main", origin=Origin.USER))
    assert told_before(book, "npm install express") == [("We use pnpm", True)]
    assert told_before(book, "git push origin main") == [("Never push to main", True)]
    assert told_before(book, "git push origin feature") == []


def test_what_a_tool_says_is_no_rule(service, book):
    service.write(PROJECT, WriteRequest(content="Never use npm", origin=Origin.TOOL))
    assert told_before(book, "npm install express") == []
