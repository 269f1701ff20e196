"""The texts that the multilingual table is fitted on, by language, from folders of projects that allow it (README.md)."""

from __future__ import annotations

import csv
import gettext
import io
import json
import random
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

LANGUAGES = ("zh", "ja", "ko", "de", "fr", "es", "it", "pt", "nl", "ru", "en")
TATOEBA = {
    "cmn": "zh", "jpn": "ja", "kor": "ko", "deu": "de", "fra": "fr", "spa": "es", "ita": "it", "por": "pt", "nld": "nl", "rus": "ru",
}  # fmt: skip
CHATTERBOT = {
    "chinese": "zh", "traditionalchinese": "zh", "german": "de", "french": "fr", "spanish": "es", "italian": "it",
    "portuguese": "pt", "russian": "ru", "japanese": "ja", "korean": "ko", "dutch": "nl",
}  # fmt: skip
MOST_OF_A_SOURCE = 45_000  # texts of a language
MOST = {"en": 80_000, "de": 35_000, "fr": 35_000, "es": 35_000, "ja": 45_000, "zh": 90_000}  # of the others 25,000
LONGEST = 200  # characters
Found = Iterator[tuple[str, str]]
"""Language and text."""


def language_of(tag: str) -> str | None:
    """Return one of `LANGUAGES` for a tag like ``zh-Hant`` or ``pt_BR``."""
    short = re.split("[-_]", tag.lower())[0]
    return short if short in LANGUAGES else None


def tatoeba(folder: Path) -> Found:
    """Pairs of sentences as manythings.org/anki hands them out: cmn.txt, deu.txt and so on."""
    for name, language in TATOEBA.items():
        file = folder / f"{name}.txt"
        for line in file.read_text(encoding="utf-8").splitlines() if file.exists() else ():
            english, other, *_ = [*line.split("\t"), "", ""]
            yield "en", english
            yield language, other


def laser(folder: Path) -> Found:
    """The Tatoeba sentences in facebookresearch/LASER."""
    for name, language in TATOEBA.items():
        for side, to in ((name, language), ("eng", "en")):
            file = folder / "data" / "tatoeba" / "v1" / f"tatoeba.{name}-eng.{side}"
            yield from ((to, line) for line in file.read_text(encoding="utf-8").splitlines())


def crosswoz(folder: Path) -> Found:
    """Chinese dialogues of thu-coai/CrossWOZ."""
    for part in ("val", "test"):
        with zipfile.ZipFile(folder / "data" / "crosswoz" / f"{part}.json.zip") as archive:
            for dialogue in json.loads(archive.read(f"{part}.json")).values():
                yield from (("zh", message["content"]) for message in dialogue["messages"])


def kdconv(folder: Path) -> Found:
    """Chinese dialogues of thu-coai/KdConv."""
    for file in sorted((folder / "data").glob("*/*.json")):
        if file.stem in ("dev", "test"):
            for dialogue in json.loads(file.read_text(encoding="utf-8")):
                yield from (("zh", message["message"]) for message in dialogue["messages"])


def intents(folder: Path) -> Found:
    """What people say to home-assistant/intents."""
    for file in sorted((folder / "tests").glob("*/*.yaml")):
        language = language_of(file.parent.name)
        for line in file.read_text(encoding="utf-8").splitlines() if language else ():
            said = re.fullmatch(r'\s+- "?([^:"{}]{6,})"?', line)
            if said and language:
                yield language, said[1]


def fastapi(folder: Path) -> Found:
    """Prose of the translated documentation of fastapi/fastapi."""
    for file in sorted((folder / "docs").glob("*/docs/**/*.md")):
        language = language_of(file.relative_to(folder / "docs").parts[0])
        if language in (None, "en"):
            continue
        for line in _prose(file.read_text(encoding="utf-8")):
            yield from ((language or "", part) for part in _sentences(line))


def _prose(text: str) -> Iterator[str]:
    inside = False
    for line in text.splitlines():
        inside ^= line.startswith("```")
        if not inside and not line.startswith(("#", "!", "{", "<", "/", "|", ":", "`")):
            bare = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", line)
            yield re.sub(r"\{[^}]*\}|<[^>]*>|[*_`]", "", bare).strip(" -")


def _sentences(text: str) -> list[str]:
    return re.split(r"(?<=[。！？])|(?<=[.!?])\s", text)


def chatterbot(folder: Path) -> Found:
    """Small talk of gunthercox/chatterbot-corpus."""
    for name, language in CHATTERBOT.items():
        for file in sorted((folder / "chatterbot_corpus" / "data" / name).glob("*.yml")):
            for line in file.read_text(encoding="utf-8", errors="replace").splitlines():
                said = re.match(r"\s*-\s+(?:-\s+)?(.{3,})", line)
                if said:
                    yield language, said[1].strip("\"'")


def grade_school_math(folder: Path) -> Found:
    """English stories of openai/grade-school-math."""
    for file in ("train", "test"):
        for line in (folder / "grade_school_math" / "data" / f"{file}.jsonl").read_text(encoding="utf-8").splitlines():
            task = json.loads(line)
            yield "en", task["question"]
            yield "en", re.sub(r"<<[^>]*>>", "", task["answer"].split("\n")[0])


def taskmaster(folder: Path) -> Found:
    """Turns of google-research-datasets/Taskmaster, each alone and with the two that follow it."""
    for file in sorted(folder.rglob("*.json")):
        found = json.loads(file.read_text(encoding="utf-8"))
        for dialogue in found if isinstance(found, list) else ():
            turns = [turn.get("text", "") for turn in dialogue.get("utterances", ())]
            for at in range(0, len(turns), 9):
                yield from (("en", turns[at]), ("en", " ".join(turns[at : at + 3])))


def oos_eval(folder: Path) -> Found:
    """Requests of clinc/oos-eval, without those that were taken from Wikipedia's readers."""
    for part, rows in json.loads((folder / "data" / "data_full.json").read_text(encoding="utf-8")).items():
        if not part.startswith("oos"):
            yield from (("en", text) for text, _ in rows)


def banking(folder: Path) -> Found:
    """Requests of PolyAI-LDN/task-specific-datasets."""
    rows = csv.reader(io.StringIO((folder / "banking_data" / "train.csv").read_text(encoding="utf-8")))
    yield from (("en", row[0]) for row in list(rows)[1:])


PROJECTS: dict[str, Callable[[Path], Found]] = {
    "tatoeba": tatoeba,
    "LASER": laser,
    "CrossWOZ": crosswoz,
    "KdConv": kdconv,
    "intents": intents,
    "fastapi": fastapi,
    "chatterbot-corpus": chatterbot,
    "grade-school-math": grade_school_math,
    "Taskmaster": taskmaster,
    "oos-eval": oos_eval,
    "task-specific-datasets": banking,
}
"""By the name of a project's folder."""


def home_assistant(wheel: Path) -> Found:
    """Translated strings of the package homeassistant."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            found = re.search(r"translations/(?:\w+\.)?([\w-]+)\.json$", name)
            language = language_of(found[1]) if found else None
            if language in (None, "en"):
                continue
            for text in _strings(json.loads(archive.read(name))):
                if "{" not in text and "[%" not in text:
                    yield from ((language or "", part) for part in _sentences(text))


def _strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from _strings(inner)


def django(wheel: Path) -> Found:
    """Translated messages of the package django."""
    with zipfile.ZipFile(wheel) as archive:
        for name in archive.namelist():
            found = re.search(r"locale/(\w+)/LC_MESSAGES/django(?:js)?\.mo$", name)
            language = language_of(found[1]) if found else None
            if language:
                catalogue = gettext.GNUTranslations(io.BytesIO(archive.read(name)))._catalog  # noqa: SLF001 - no public way
                yield from ((language, text) for key, text in catalogue.items() if key and not re.search("[%{]", text))


def collect(folders: list[Path], wheels: dict[str, Path]) -> dict[str, list[str]]:
    """Return the texts of each language, none twice, in an order drawn by a fixed seed, at most `MOST` of them."""
    rng = random.Random(7)
    found: dict[str, dict[str, None]] = {language: {} for language in LANGUAGES}
    sources = [PROJECTS[folder.name](folder) for folder in folders]
    sources += [home_assistant(wheels["homeassistant"]), django(wheels["django"])]
    for source in sources:
        of_source: dict[str, dict[str, None]] = {language: {} for language in LANGUAGES}
        for language, text in source:
            plain = re.sub(r"\s+", " ", text).strip()
            if 2 <= len(plain) <= (2 * LONGEST if language == "en" else LONGEST):
                of_source[language][plain] = None
        for language, texts in of_source.items():
            found[language] |= dict.fromkeys(_drawn(list(texts), MOST_OF_A_SOURCE, rng))
    return {language: _drawn(list(texts), MOST.get(language, 25_000), rng) for language, texts in found.items()}


def _drawn(texts: list[str], most: int, rng: random.Random) -> list[str]:
    rng.shuffle(texts)
    return texts[:most]
