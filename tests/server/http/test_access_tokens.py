"""Tokens: what is kept of them, and who is let in."""

from __future__ import annotations

import json
import os
from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.tables import each
from typer.testing import CliRunner

from hybrid_memory.errors import InvalidInput
from hybrid_memory.testing import FakeClock, FakeRandomSource
from hybrid_memory_mcp.cli.commands import app
from hybrid_memory_mcp.cli.tokens import _lifetime
from hybrid_memory_mcp.http.access_tokens import TOKENS, Tokens, tokens_folder


@pytest.fixture
def clock():
    return FakeClock()


@pytest.fixture
def tokens(tmp_path, clock):
    return Tokens(tmp_path, clock, FakeRandomSource(1))


def make(tokens, name="laptop", **options):
    return tokens.create(name, **{"namespace": "work", "agent": "default"} | options)


def test_a_token_is_recognised_with_its_namespace(tokens):
    grant = tokens.grant_of(make(tokens))
    assert (grant.name, grant.namespace) == ("laptop", "work")


def test_a_token_has_a_prefix_for_scanners_and_256_random_bits(tokens):
    token = make(tokens)
    assert token.startswith("hmm_")
    assert len(token) == len("hmm_") + 43


def test_only_the_hash_is_kept(tokens, tmp_path):
    token = make(tokens)
    assert token not in (tmp_path / TOKENS).read_text()
    assert token.removeprefix("hmm_") not in (tmp_path / TOKENS).read_text()


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_the_files_are_for_their_owner_alone(tokens, tmp_path):
    make(tokens)
    assert {file.name: oct(file.stat().st_mode & 0o777) for file in tmp_path.iterdir()} == {
        TOKENS: "0o600",
        "tokens.lock": "0o600",
    }


@given(st.text(max_size=60))
def test_nothing_else_is_let_in(tmp_path_factory, text):
    tokens = Tokens(tmp_path_factory.getbasetemp() / "tokens", FakeClock(), FakeRandomSource(1))
    if not tokens.grants():
        make(tokens)
    assert tokens.grant_of(text) is None


def test_a_token_that_lost_a_character_is_not_let_in(tokens):
    token = make(tokens)
    assert tokens.grant_of(token[:-1]) is None
    assert tokens.grant_of(token + "A") is None


def test_a_hash_is_no_token(tokens, tmp_path):
    make(tokens)
    (entry,) = json.loads((tmp_path / TOKENS).read_text())["tokens"]
    assert tokens.grant_of(entry["sha256"]) is None


def test_an_expired_token_is_refused(tokens, clock):
    token = make(tokens, lifetime=timedelta(days=1))
    grant = tokens.grant_of(token)
    clock.advance(hours=23)
    assert tokens.still_good(grant)
    clock.advance(hours=1)
    assert tokens.grant_of(token) is None
    assert not tokens.still_good(grant)


def test_a_server_notices_what_another_process_changes(tokens, tmp_path, clock):
    server = Tokens(tmp_path, clock, FakeRandomSource(2))
    assert server.grant_of("hmm_nothing") is None
    token = make(tokens)
    grant = server.grant_of(token)
    assert grant is not None
    tokens.revoke("laptop")
    assert server.grant_of(token) is None
    assert not server.still_good(grant)


def test_a_new_token_of_the_same_name_is_another_token(tokens):
    first = tokens.grant_of(make(tokens))
    tokens.revoke("laptop")
    second = make(tokens)
    assert not tokens.still_good(first)
    assert tokens.grant_of(second) is not None


def test_a_name_is_given_once(tokens):
    make(tokens)
    with pytest.raises(InvalidInput, match="is taken"):
        make(tokens)


@pytest.mark.parametrize("name", ["", " ", "a b", "-x", "x" * 65, "a\n", "ä"])
def test_a_name_has_plain_characters(tokens, name):
    with pytest.raises(InvalidInput, match="name: has letters"):
        make(tokens, name)


def test_what_is_not_there_cannot_be_revoked(tokens):
    with pytest.raises(InvalidInput, match="not the name of a token"):
        tokens.revoke("nobody")


@pytest.mark.parametrize("content", ["", "{", "[]", '{"version": 2, "tokens": []}', '{"version": 1, "tokens": [{}]}'])
def test_a_damaged_file_lets_nobody_in_and_is_not_overwritten(tokens, tmp_path, content):
    token = make(tokens)
    (tmp_path / TOKENS).write_text(content)
    assert tokens.grant_of(token) is None
    with pytest.raises(InvalidInput, match="damaged"):
        make(tokens, "other")
    assert (tmp_path / TOKENS).read_text() == content


@pytest.mark.skipif(os.name != "posix", reason="rights of POSIX")
def test_a_file_that_others_may_change_lets_nobody_in(tokens, tmp_path):
    token = make(tokens)
    assert tokens.grant_of(token) is not None
    (tmp_path / TOKENS).chmod(0o666)
    assert tokens.grant_of(token) is None


def test_a_lifetime_is_a_number_and_a_unit():
    assert [_lifetime(text) for text in ("30m", "12h", "90d", "2w")] == [
        timedelta(minutes=30),
        timedelta(hours=12),
        timedelta(days=90),
        timedelta(weeks=2),
    ]


@each("text", ["", "90", "d", "-1d", "0d", "1.5d", "1y", "999999w"])
def test_anything_else_is_no_lifetime(text):
    with pytest.raises(InvalidInput, match="expires"):
        _lifetime(text)


def run(*arguments):
    return CliRunner().invoke(app, ["token", *map(str, arguments)])


def test_the_commands_make_list_and_revoke(tmp_path):
    made = run("create", "laptop", "--namespace", "work", "--expires", "90d", "--home", tmp_path)
    token = made.stdout.strip()
    assert Tokens(tmp_path, FakeClock(), FakeRandomSource()).grant_of(token).namespace == "work"
    (listed,) = json.loads(run("list", "--home", tmp_path, "--json").output)
    assert (listed["name"], listed["expired"]) == ("laptop", False)
    assert token not in run("list", "--home", tmp_path).output
    assert run("revoke", "laptop", "--home", tmp_path).exit_code == 0
    assert json.loads(run("list", "--home", tmp_path, "--json").output) == []


def test_a_mistake_is_told_in_one_line(tmp_path):
    done = run("revoke", "nobody", "--home", tmp_path)
    assert done.exit_code == 1
    assert done.output.count("\n") == 1


def test_two_servers_can_have_their_tokens_in_one_folder(tmp_path):
    shared, first, second = (tmp_path / name for name in ("shared", "first", "second"))
    for home in (first, second):
        home.mkdir()
        (home / "config.toml").write_text(f'tokens_folder = "{shared.as_posix()}"\n')
    token = make(Tokens(tokens_folder(first), FakeClock(), FakeRandomSource(4)))
    assert Tokens(tokens_folder(second), FakeClock(), FakeRandomSource(5)).grant_of(token).name == "laptop"


def test_without_that_setting_the_tokens_stand_in_the_store_s_folder(tmp_path):
    assert tokens_folder(tmp_path) == tmp_path
