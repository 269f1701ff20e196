"""The language files: what each has to have, that all of them are read alike, and that stored encodings follow their words."""

from __future__ import annotations

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from tests.tables import each

import hybrid_memory
from hybrid_memory.encoding.word_encoding import ENCODING
from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import CHARACTER_LANGUAGES

FOLDER = Path(lexicon.__file__).parent
SOURCES = [
    path.read_text(encoding="utf-8")
    for root in (Path(hybrid_memory.__file__).parent, Path(__file__).parents[2] / "extras")
    for path in sorted(root.rglob("*.py"))
]

ENCODED = (
    *("aspects", "calendar", "factuality", "language", "numbers", "tags", "tense", "time", "told"),
    *("names.abbreviations", "names.never", "names.not_acronyms", "people.kin", "people.titles"),
)
"""The tables and entries whose words decide what `encode_words` stores."""
DIGESTS = {13: "01247d9627fae199"}
"""Of those words, for each version of the encoding. Where words of them change, raise `ENCODING` and put its digest here."""

TEXTS = (
    "My name is Ada, I prefer tea since 3 May 2024, and I must not forget to call the dentist tomorrow",
    'Nora said: "I have two kids", but she no longer works at Siemens; we decided against Kafka last week',
    "Ich heiße Jörg, am Montag muss ich zum Zahnarzt, meine Tochter Lena ist allergisch",
    "Je m'appelle Zoé, j'habite à Lyon depuis le 3 mars, demain je dois appeler ma mère",
    "Me llamo Inés, ayer compré un coche, ya no vivo en Madrid, no tengo que pagar nada",
    "我叫李雷，昨天决定用 Postgres，不吃花生",
    "明日は歯医者です。私はコーヒーが好き",
)


def entries(code):
    """Yield the entries of a language, with the names of their tables."""

    def within(table, path):
        for name, value in table.items():
            if isinstance(value, dict):
                yield from within(value, f"{path}{name}.")
            else:
                yield f"{path}{name}", value

    yield from within(lexicon._file(code), "")


@each("code", lexicon.codes())
def test_each_language_tells_its_name_its_place_and_how_a_text_shows_it(code):
    told = dict(entries(code))
    assert re.fullmatch("[a-z]+", told["language.name"])
    assert isinstance(told["language.order"], int)
    assert told["language.name"] in CHARACTER_LANGUAGES or told.keys() & {"language.function_words", "language.script"}
    assert len(told.get("language.script", "ab")) == 2


def test_no_two_languages_have_the_same_name_or_place():
    assert len({lexicon._file(code)["language"]["name"] for code in lexicon.codes()}) == len(lexicon.codes())
    assert len({lexicon._file(code)["language"]["order"] for code in lexicon.codes()}) == len(lexicon.codes())


def test_months_and_days_of_the_week_are_twelve_and_seven():
    for code, months in lexicon.texts("calendar.months"):
        assert len(months.split()) == 12, code
    for code, days in lexicon.texts("calendar.weekdays"):
        assert len(days.split()) == 7, code


def test_each_entry_is_read_and_read_alike_for_all_languages():
    """An entry is named in the code, or in another entry, by its table and key: nothing is read for one language alone by other code."""
    texts = [*SOURCES, *(str(value) for code in lexicon.codes() for _, value in entries(code))]
    named = {key for text in texts for key in re.findall(r"""["'<]([a-z_]+(?:\.[a-z_]+)+)[*>"']""", text)}
    built = {key for text in texts for key in re.findall(r"""f["']([a-z_]+\.)\{""", text)}
    parts = {f"parts.{name.lower()}" for text in texts for name in re.findall(r"<([A-Z_]+)>", text)}
    unread = {
        key
        for code in lexicon.codes()
        for key, _ in entries(code)
        if not (key in named or key in parts or any(map(key.startswith, built)) or key.endswith("_words"))
    }
    assert unread == {"language.order"}


@each("code", lexicon.codes())
def test_each_expression_compiles_and_names_only_entries_that_are_there(code):
    for key, value in entries(code):
        if isinstance(value, str) and re.search(r"[\\<(\[]", value):
            for source in lexicon.patterns(key, code):
                re.compile(source)
                assert not re.search(r"<[A-Z_]+>|\(\?:\)", source), key


def test_a_phrase_has_one_meaning():
    for key in ("time.phrases", "commitments.deeds", "alternatives.exclusive", "calendar.holidays"):
        for code in lexicon.codes():
            said = [
                phrase
                for _, text in lexicon.texts(key, code)
                for line in text.split("\n")
                for phrase in line.partition(": ")[2].split(", ")
                if phrase
            ]
            assert len(said) == len(set(said)), (key, code)


def is_encoded(key):
    return key in ENCODED or key.split(".")[0] in ENCODED


def digest():
    """Return the hash of the words that encodings depend on."""
    held = [[code, *one] for code in lexicon.codes() for one in sorted(entries(code)) if is_encoded(one[0])]
    return hashlib.sha256(json.dumps(held, ensure_ascii=False).encode()).hexdigest()[:16]


def test_the_version_of_stored_encodings_is_that_of_their_words():
    assert digest() == DIGESTS[ENCODING]


_POLISH = """
[language]
name = 'polish'
order = 300
letters = 'ąćęłńóśźż'
function_words = 'i w na nie się że jest to z do jak o za po co ale czy dla od już przez kiedy będzie'

[calendar]
months = 'stycznia lutego marca kwietnia maja czerwca lipca sierpnia września października listopada grudnia'

[time]
phrases = 'tomorrow: jutro'

[told]
change = 'już nie|teraz'
"""
_USE = """
import sys
from datetime import UTC, datetime
from pathlib import Path
from hybrid_memory.language import lexicon
lexicon._FOLDER = Path(sys.argv[1])
from hybrid_memory.language.languages import language_of
from hybrid_memory.retrieval.time_expressions.stated_days import stated_days
from hybrid_memory.retrieval.told_words import tells_change
from hybrid_memory.language.text import words
now = datetime(2027, 5, 20, tzinfo=UTC)
print(language_of("To nie jest już dobry dzień"), words("kota na dachu", "polish"), tells_change("Mieszkam teraz w Gdyni"))
print(stated_days("Wizyta jutro", now), stated_days("Wizyta 3 czerwca", now))
"""


@pytest.mark.slow
def test_a_language_is_added_by_one_file(tmp_path):
    folder = shutil.copytree(FOLDER, tmp_path / "lexicon")
    (folder / "pl.toml").write_text(_POLISH, encoding="utf-8")
    told = subprocess.run(
        [sys.executable, "-c", _USE, str(folder)], capture_output=True, encoding="utf-8", check=True, timeout=60
    )
    assert told.stdout.splitlines() == ["polish ['kota', 'dachu'] True", "(20959,) (20972,)"]


_RECORD = """
import json, sys
from hybrid_memory.language import lexicon
read, original = set(), lexicon.texts
def texts(key, *some):
    read.add(key)
    return original(key, *some)
lexicon.texts = texts
from datetime import UTC, datetime
from hybrid_memory.encoding.word_encoding import encode_words
from hybrid_memory.testing import HASHER
for text in json.loads(sys.argv[1]):
    encode_words(text, None, datetime(2027, 5, 20, tzinfo=UTC), hasher=HASHER)
print(*sorted(read))
"""


@pytest.mark.slow
def test_only_words_of_those_tables_decide_what_is_stored():
    """In a process of its own, in which nothing has been read before."""
    told = subprocess.run(
        [sys.executable, "-c", _RECORD, json.dumps(TEXTS)], capture_output=True, text=True, check=True, timeout=60
    )
    # Their modules read more at import: what a question is about, which is not stored.
    read = {key for key in told.stdout.split() if key.split(".")[0] not in {"asking", "events"}}
    assert {key for key in read if not is_encoded(key)} == set()
