"""``import`` of sources that are not quite as they should be: in other encodings, empty, or of messages without a conversation."""

import json
import zipfile

import pytest
from typer.testing import CliRunner

from hybrid_memory_mcp.cli.commands import app


def run(*arguments):
    return CliRunner(env={"COLUMNS": "200"}).invoke(app, [str(argument) for argument in arguments])


def asked(*arguments):
    done = run(*arguments, "--json")
    assert done.exit_code == 0, done.output
    return json.loads(done.stdout)


def test_letters_that_no_encoding_explains_are_counted_and_shown(tmp_path):
    told = [{"id": "a", "memory": "Mein Bäcker heißt Jürgen", "user_id": "u"}]
    (tmp_path / "m.json").write_bytes(json.dumps(told, ensure_ascii=False).encode("latin-1"))
    done = run("import", tmp_path / "m.json", "--home", tmp_path / "home", "--dry-run")
    assert "1  with letters that cannot be read" in done.output


@pytest.mark.parametrize("ending", ["json", "jsonl"])
def test_json_in_utf_16_is_recognised_and_read(tmp_path, ending):
    told = {"id": "a", "memory": "Mein Bäcker heißt Jürgen", "user_id": "u"}
    words = json.dumps([told] if ending == "json" else told, ensure_ascii=False)
    (tmp_path / f"m.{ending}").write_text(words + "\n", encoding="utf-16")
    done = asked("import", tmp_path / f"m.{ending}", "--home", tmp_path / "home", "--dry-run")
    assert [one["text"] for one in done["samples"]] == ["Mein Bäcker heißt Jürgen"]
    assert done["unreadable"] == 0


@pytest.mark.slow
def test_messages_of_no_conversation_are_not_said_to_be_in_one(tmp_path):
    told = [
        {"uuid": "m", "content": "My dentist is Dr. Bauer.", "role_type": "user", "created_at": "2025-01-01T00:00:00Z"}
    ]
    (tmp_path / "z.json").write_text(json.dumps(told))
    done = run("import", tmp_path / "z.json", "--home", tmp_path / "home", "--dry-run")
    assert ("1 message (1 yours)" in done.output, "conversation" in done.output) == (True, False)


@pytest.mark.parametrize(
    "files",
    [
        {"conversations.json": "[]", "chat.html": "<html></html>"},
        {"conversations.json": "[]", "users.json": '[{"uuid": "a"}]'},
        {"Takeout/My Activity/Gemini Apps/MyActivity.json": "[]"},
    ],
)
def test_an_empty_export_is_told_in_one_way(tmp_path, files):
    with zipfile.ZipFile(tmp_path / "x.zip", "w") as archive:
        for name, words in files.items():
            archive.writestr(name, words)
    done = run("import", tmp_path / "x.zip", "--home", tmp_path / "home", "--yes")
    assert (done.exit_code, "is empty" in done.stderr) == (1, True), done.output
