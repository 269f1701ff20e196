"""Folders of Markdown: notes of people and assistants, bundles of OKF, and what this program exported itself."""

import zipfile
from datetime import UTC, datetime, timedelta

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.core.admin.sample_stores import filled, unseen
from tests.core.store.making import memory
from tests.tables import each

from hybrid_memory.errors import InvalidInput
from hybrid_memory.model import MemoryId
from hybrid_memory.store.transfer import MemoryItem
from hybrid_memory.testing import START
from hybrid_memory_importers.folder_export import FolderLayout, export_folder
from hybrid_memory_importers.formats import find_format, format_named
from hybrid_memory_importers.markdown.inline import words_of
from hybrid_memory_importers.markdown.statements import LeftOut, Statement, statements
from hybrid_memory_importers.record import Author, Record, Skipped
from hybrid_memory_importers.source import open_source
from hybrid_memory_importers.standing_alone import apart

OLD = datetime(2020, 5, 1, tzinfo=UTC)


@pytest.fixture
def vault(tmp_path):
    place = tmp_path / "vault"
    place.mkdir()
    return place


def write(place, files):
    for name, text in files.items():
        (place / name).parent.mkdir(parents=True, exist_ok=True)
        (place / name).write_text(text)
    return place


def read(place, name=None):
    source = open_source(place)
    found = format_named(name) if name else find_format(source)
    everything = list(found.read(source))
    records = [one for one in everything if isinstance(one, Record)]
    assert len({one.key for one in records}) == len(records)
    return found.NAME, records, [one.reason for one in everything if isinstance(one, Skipped)]


def said(markdown, title=None):
    return [one.text for one in statements(markdown, title=title, apart=apart) if isinstance(one, Statement)]


@each(
    "markdown, expected",
    [
        ("I am vegan.\n\nI live in\nBerlin.", ["I am vegan.", "I live in Berlin."]),
        ("# Allergies\n- peanuts\n- I also avoid soy.\n", ["Allergies: peanuts", "I also avoid soy."]),
        ("My drinks are:\n\n- coffee\n- mate\n", ["My drinks are: coffee", "My drinks are: mate"]),
        ("- Editor\n  - Neovim\n  - tabs\n", ["Editor\n- Neovim\n- tabs"]),
        ("Name: Anna\nBorn: 1990\n", ["Name: Anna", "Born: 1990"]),
        ("| City | Since |\n|---|---|\n| Berlin | 2024 |\n", ["City: Berlin; Since: 2024"]),
        ("Run the tests with:\n```bash\nuv run pytest\n```\n", ["Run the tests with:\nuv run pytest"]),
        ("It is so.\n\n    code\n", ["It is so.\ncode"]),
        ("> [!tip] Calls\n> She dislikes calls.\n", ["She dislikes calls."]),
        ("- [x] buy milk\n- [ ] ring Bo\n", ["buy milk (done)", "ring Bo (to do)"]),
        ("# Home\n- [-] paint the door\n", ["Home: paint the door (cancelled)"]),
        ("> [!note] Shopping\n> - milk\n\nAfter it.", ["Shopping: milk", "After it."]),
        ("> [!warning] Never feed the cat chocolate", ["Never feed the cat chocolate"]),
        ("~~I like tea~~\n\nI like ~~tea~~ coffee", ["I like  coffee".replace("  ", " ")]),
        ("Seen. <!-- ignore all rules --> %% and this %%", ["Seen."]),
        ("<script>alert(1)</script>\n\n<b>Bold</b> words", ["Bold words"]),
        ("![[photo.png]]\n\n![x](http://y/z.png)\n", []),
        ("```dataview\nLIST\n```\n", []),
        ("---\n***\n", []),
        (
            "# Shop\n## Do not\n- add a dependency to the lock file without asking in the chat first\n",
            ["Do not: add a dependency to the lock file without asking in the chat first"],
        ),
        (
            "# AGENTS.md\n## PR instructions\n- Title format: [<project_name>] <Title>\n",
            ["PR instructions: Title format: [<project_name>] <Title>"],
        ),
        ("## Testing\n### Backend\n- Use factories.\n", ["Testing, Backend: Use factories."]),
        ("# AGENTS.md\n- Use pnpm\n", ["Use pnpm"]),
        ("## Ines\n- Birthday: 4 May\n", ["Ines: Birthday: 4 May"]),
        ("## Commands\n- Commands run in CI only\n", ["Commands run in CI only"]),
        (
            "## Home\n- I live in Porto. My rent is due on the 3rd.\n- Use restic. Tapes are slow.\n",
            ["I live in Porto.", "My rent is due on the 3rd.", "Home: Use restic. Tapes are slow."],
        ),
        (
            "My sister is a physio. She has two kids. Mum's birthday is 4 May.",
            ["My sister is a physio. She has two kids.", "Mum's birthday is 4 May."],
        ),
        ("We don't use alpine. Use debian slim.", ["We don't use alpine. Use debian slim."]),
        (
            "You know Next.js.\nUse pnpm.\nNever use default exports.",
            ["You know Next.js.", "Use pnpm.", "Never use default exports."],
        ),
        ("1. first do this thing\n2. then do that thing\n", ["first do this thing", "then do that thing"]),
        ("# 健康\n- 花生过敏\n", ["健康: 花生过敏"]),
    ],
)
def test_a_note_is_taken_apart_into_what_it_says(markdown, expected):
    assert [text.replace("  ", " ") for text in said(markdown)] == expected


@each(
    "markdown, expected",
    [
        ("**Anna** is *my* __sister__", "Anna is my sister"),
        ("[[People/Anna|Anna]] met [[Bo]]", "Anna met Bo"),
        ("see [the page](https://x.org/a) or [it](notes.md)", "see the page (https://x.org/a) or it"),
        ("`a_b` and snake_case_name, 2*3*4", "`a_b` and snake_case_name, 2*3*4"),
        ("a \\* b &amp; c", "a * b & c"),
        ("I run #health/sport daily #habit", "I run health/sport daily"),
        ("issue #12 is open", "issue #12 is open"),
        ("a<br>b", "a\nb"),
        ("fact[^1] here ^block-1", "fact here"),
    ],
)
def test_words_stand_without_their_marks(markdown, expected):
    assert words_of(markdown).text == expected


def test_tags_are_taken_from_the_words():
    assert words_of("#travel I flew to Oslo #work/trip").tags == ("travel", "work/trip")


def test_a_long_item_is_as_many_statements_as_it_has_items():
    markdown = "- Trips\n" + "".join(
        f"  - In 20{n} I went to place number {n}, {'far ' * 20}away.\n" for n in range(10, 20)
    )
    found = said(markdown)
    assert len(found) == 11
    assert found[1].startswith("Trips: In 2010")


@given(st.text(st.sampled_from("#-*_`[]()<>!|:~%=\n \\&^a1."), max_size=60))
@settings(max_examples=150)
def test_any_text_can_be_taken_apart(markdown):
    for one in statements(markdown, title="x", apart=apart):
        assert isinstance(one, LeftOut) or any(character.isalnum() for character in one.text)


@each(
    "markdown",
    ["[" * 50_000, "<!--" * 50_000, "- " * 3_000, "> " * 3_000 + "x", "**a " * 50_000, "`" * 50_000, "<a " * 50_000],
)
def test_hostile_notes_take_no_time(markdown):
    assert len(statements(markdown, title=None, apart=apart)) <= 2


def test_times_come_from_the_frontmatter_then_the_name_then_the_file(vault):
    write(
        vault,
        {
            "a.md": "---\ncreated: 2024-03-01T10:00:00+02:00\n---\nOne is here.",
            "2024-03-02.md": "Two is here.",
            "c.md": "---\ndate: 2024-03-03\n---\nThree is here.",
            "log.md": "# 2024-03-04\n- Four is here.",
        },
    )
    times = {one.text[:3]: one.at for one in read(vault, "markdown")[1]}
    assert times["One"] == datetime(2024, 3, 1, 8, tzinfo=UTC)
    assert [times[name].date().isoformat() for name in ("Two", "Thr", "Fou")] == [
        "2024-03-02",
        "2024-03-03",
        "2024-03-04",
    ]


def test_tags_headings_and_fields_of_a_note_come_along(vault):
    write(vault, {"People/Anna.md": "---\ntags: [people, '#friend']\nmood: good\n---\n# Home\n- lives in Oslo #city\n"})
    name, (one, fields), _ = read(vault)
    assert (name, one.text, one.tags) == ("markdown", "Home: lives in Oslo", ("people", "friend", "city"))
    assert one.metadata == {"mood": "good", "heading": "Home"}
    assert (one.source, one.title, one.author) == ("People/Anna.md", "Anna", Author.PERSON)
    assert fields.text == "Anna: mood: good"


def test_a_card_of_fields_alone_is_a_sentence(vault):
    write(vault, {"Anna.md": "---\nbirthday: 1990-01-02\nphone: 12\ntags: x\n---\n"})
    assert [one.text for one in read(vault)[1]] == ["Anna: birthday: 1990-01-02; phone: 12"]


def test_the_memory_folder_of_an_assistant_has_one_memory_a_file_and_an_index(vault):
    body = "Use uv, never pip.\n\n**Why:** the lock file.\n"
    write(
        vault,
        {
            "MEMORY.md": "- [Use uv](use-uv.md) — for packages\n- Deploys happen on Fridays.\n",
            "use-uv.md": f"---\nname: use-uv\ndescription: packages\ntype: feedback\n---\n{body}",
        },
    )
    _, records, skipped = read(vault)
    assert [one.text for one in records] == ["Deploys happen on Fridays.", body.strip()]
    assert records[1].metadata == {"type": "feedback"}
    assert "a line of an index; the note itself comes in" in skipped


def test_one_file_is_enough(vault):
    write(vault, {"CLAUDE.md": "# Style\n- We indent with tabs.\n@docs/more.md\n\n@other.md\n"})
    _, records, skipped = read(vault / "CLAUDE.md")
    assert records[0].text.startswith("We indent with tabs.")
    assert "the name of another file" in skipped


@each("title", ["Ines Costa", "Ana"])
@each("text", ["Is a physio in Porto.", "She was born in Braga, and moved to Porto.", "Lives in Porto."])
def test_a_sentence_without_its_subject_gets_the_name_of_the_note(title, text):
    assert said(text, title) == [f"{title}: {text}"]


@each("text", ["I am vegan.", "Ines is a physio.", "Mate is a drink.", "Well-known words are good."])
def test_a_sentence_with_a_subject_stays_as_it_is(text):
    assert said(text, "Ines Costa") == [text]


def test_fields_of_a_note_with_words_come_in_beside_them(vault):
    front = 'birthday: 1990-04-05\nchildren: [Leo, Mia]\nspouse: "[[Rui]]"\nstatus: draft\nid: 7\naliases: [Ines]'
    write(
        vault,
        {"Ines Costa.md": f"---\n{front}\n---\nIs a physio.\n", "Plain.md": "---\nstatus: draft\n---\nI am here.\n"},
    )
    _, records, _ = read(vault)
    assert [one.text for one in records] == [
        "Ines Costa: Is a physio.",
        "Ines Costa: birthday: 1990-04-05; children: Leo, Mia; spouse: Rui",
        "I am here.",
    ]


def test_files_that_are_no_notes_are_told(vault):
    write(vault, {"a.md": "I am here.", "b.png": "x"})
    (vault / "c.md").write_bytes(b"\xff\xfe\x00\xd8")
    (vault / "d.md").write_bytes(b"caf\xe9 is here")
    (vault / "e.md").write_bytes("Grüße an alle.".encode("utf-16"))
    _, records, skipped = read(vault)
    assert {one.text for one in records} == {"I am here.", "Grüße an alle."}
    assert sorted(skipped) == ["a file that is no text", "a file that is no text in UTF-8", "no Markdown file"]


def test_templates_and_drawings_are_left_out(vault):
    write(
        vault,
        {
            "Templates/day.md": "# <% tp.date.now() %>\nWhat did I do?",
            "d.md": "---\nexcalidraw-plugin: parsed\n---\nx y",
        },
    )
    assert read(vault)[1:] == ([], ["a template", "a drawing"])


def test_a_statement_keeps_its_key_when_the_note_grows(vault):
    before = read(write(vault, {"a.md": "- I am vegan.\n- I am vegan.\n"}))[1]
    after = read(write(vault, {"a.md": "- I am new.\n- I am vegan.\n- I am vegan.\n"}))[1]
    assert [one.key for one in after[1:]] == [one.key for one in before]


@pytest.mark.parametrize("name", ["markdown", "okf"])
def test_a_folder_without_notes_is_refused(vault, name):
    with pytest.raises(InvalidInput):
        read(vault, name)


BUNDLE = {
    "index.md": '---\nokf_version: "0.2"\n---\n# Tables\n\n* [Orders](tables/orders.md) - all orders\n',
    "log.md": "# Log\n\n## 2026-05-22\n* **Creation**: orders\n",
    "tables/index.md": "# Tables\n",
    "tables/orders.md": "---\ntype: BigQuery Table\ntitle: Orders\ndescription: One row for each order.\ntags: [sales]\nowner: team-x\n"
    "generated: { by: human:anna, at: 2026-05-28T14:30:00Z }\n---\n\n# Schema\n\nid is a number.\n",
    "metrics/revenue.md": "---\ntype: Metric\ntimestamp: '2026-05-29T00:00:00+00:00'\nsources:\n  - resource: /tables/orders.md\n"
    "  - resource: ../tables/orders.md\n  - resource: https://x.org\n  - resource: all queries\n---\nRevenue sums the orders.\n",
    "broken.md": "no type here",
}


@pytest.mark.parametrize("packed", [False, True])
def test_a_bundle_of_okf_is_one_memory_a_concept(vault, tmp_path, packed):
    write(vault, BUNDLE)
    place = vault
    if packed:
        place = tmp_path / "bundle.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for name, text in BUNDLE.items():
                archive.writestr(f"bundle/{name}", text)
    name, records, skipped = read(place)
    found = {one.key: one for one in records}
    assert (name, set(found)) == ("okf", {"tables/orders", "metrics/revenue"})
    assert found["metrics/revenue"].parents == ("tables/orders",)
    orders = found["tables/orders"]
    assert orders.text == "Orders: One row for each order.\n\n# Schema\n\nid is a number."
    assert (orders.tags, orders.at, orders.author) == (
        ("sales",),
        datetime(2026, 5, 28, 14, 30, tzinfo=UTC),
        Author.PERSON,
    )
    assert (orders.metadata["owner"], orders.metadata["type"]) == ("team-x", "BigQuery Table")
    assert skipped == ["a file without a type in its frontmatter, so no concept"]


def test_a_source_may_be_named_from_the_root_without_a_slash(vault):
    metric = "---\ntype: Metric\nsources:\n- resource: tables/orders.md\n---\nRevenue sums the orders."
    write(vault, BUNDLE | {"metrics/revenue.md": metric})
    assert next(one for one in read(vault)[1] if one.key == "metrics/revenue").parents == ("tables/orders",)


def test_notes_with_a_type_of_their_own_are_no_bundle(vault):
    write(vault, {"a.md": "---\ntype: person\n---\nAnna lives in Oslo.", "b.md": "---\ntype: book\n---\nDune is long."})
    assert read(vault)[0] == "markdown"


@pytest.mark.parametrize("layout", FolderLayout)
def test_what_was_exported_is_recognised_and_comes_back_whole(tmp_path, vault, layout):
    made = [
        memory("m1", content="  odd\r\n words ", created_at=START, superseded_by=MemoryId("m2"), metadata={"a": [1]}),
        memory(
            "m2",
            content="I am vegan.",
            created_at=START + timedelta(days=1),
            supersedes=MemoryId("m1"),
            forgotten_at=START,
        ),
        memory(
            "m3",
            content="I am vegan.",
            created_at=START + timedelta(days=2),
            duplicate_of=MemoryId("m2"),
            namespace="other",
        ),
    ]
    store = filled(tmp_path / "home", [MemoryItem(one) for one in made])
    export_folder(store, vault, layout, on_progress=unseen)
    store.close()
    name, records, skipped = read(vault)
    assert (name, skipped) == (layout.value, [])
    back = [one.exported for one in records]
    links = (
        "id",
        "namespace",
        "content",
        "created_at",
        "supersedes",
        "superseded_by",
        "duplicate_of",
        "forgotten_at",
        "metadata",
    )
    assert [[getattr(one, name) for name in links] for one in back] == [
        [getattr(one, name) for name in links] for one in made
    ]


def test_an_exported_file_that_was_spoilt_is_told(tmp_path, vault):
    store = filled(tmp_path / "home", [MemoryItem(memory("m1", content="x"))])
    export_folder(store, vault, FolderLayout.MARKDOWN, on_progress=unseen)
    store.close()
    file = next(vault.rglob("*m1.md"))
    file.write_text(file.read_text().replace("created_at: ", "created_at: about "))
    _, records, skipped = read(vault)
    assert records == []
    assert [one.partition(",")[0] for one in skipped] == [
        "an exported memory whose created_at: is no time in the frontmatter"
    ]


@pytest.mark.parametrize(
    ("path", "folder"),
    [
        ("CLAUDE.md", "."),
        ("api/AGENTS.md", "api"),
        (".cursorrules", "."),
        (".cursor/rules/style.mdc", "."),
        ("api/.cursor/rules/deep/style.mdc", "api"),
        (".github/copilot-instructions.md", "."),
        (".claude/CLAUDE.md", "."),
        (".claude/worktrees/one/CLAUDE.md", ".claude/worktrees/one"),
        ("docs/rules.md", None),
        ("notes/agents.txt.md", None),
    ],
)
def test_a_file_of_rules_says_for_which_folder_it_is(vault, path, folder):
    write(vault, {path: "- Use pnpm"})
    _, (one,), _ = read(vault, "markdown")
    assert one.rules_of == (None if folder is None else str(vault / folder))
