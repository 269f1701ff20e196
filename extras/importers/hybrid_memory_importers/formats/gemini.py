"""Gemini's history out of Google Takeout: "My Activity" as JSON or HTML, and the files of "Conversation History".

"My Activity" is a list of what somebody did, the newest first: ``title`` is a verb of the account's language and the prompt ("Prompted
..."), ``safeHtmlItem`` the answer. It names no conversation, so that a day is one; where a link to the chat is there, that is. The pages in
HTML have the same in cells, with a day in the account's language (`takeout_page.py`). "Conversation History" has a file for each
conversation with ``conversation_turns``.

Google documents none of it. It is what several independent programs read, among them jetpack3331/ai-chat-history-manager,
AlexArchitect-Dev/gemini-takeout-refinery and stefanoviel/search-history-analysis.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any

from hybrid_memory.errors import InvalidInput
from hybrid_memory_importers.formats.reading import (
    HEAD,
    NO_WORDS,
    NOT_READABLE,
    Keys,
    Read,
    begins_as,
    digest,
    documents,
    items,
    mapping,
    moment,
    name_of,
    text_of,
)
from hybrid_memory_importers.formats.takeout_page import Activity, activities, plain_text
from hybrid_memory_importers.record import Author, Record, RecordKind, Skipped

if TYPE_CHECKING:
    from hybrid_memory_importers.source import Source, SourceFile

NAME = "gemini"
TITLE = "Gemini history (Google Takeout)"

_OTHER_PRODUCT = "an activity of another Google product"
_NO_PROMPT = "an activity that is no prompt"
_DELETED = "a message that was deleted"


def recognises(source: Source) -> bool:
    """Return True if a file has activities or conversations of Gemini."""
    return any(_sort_of(file) for file in source.files())


def read(source: Source) -> Iterator[Read]:
    """Yield prompts and answers, file after file."""
    files = [(file, sort) for file in source.files() if (sort := _sort_of(file) or _by_name(file))]
    if not files:
        raise InvalidInput("file", "is no Gemini history: it has no MyActivity.json or MyActivity.html of Gemini Apps")
    keys = Keys()
    for file in (file for file, sort in files if sort == "page"):
        with file.open() as stream:
            for found in activities(stream):
                yield from _of_activity(found, keys)
    for file, place, told in documents([file for file, sort in files if sort != "page"]):
        if isinstance(told, Skipped):
            yield told
        elif not isinstance(told, Mapping):
            yield Skipped(NOT_READABLE, f"{file.path}, {place + 1}")
        elif "conversation_turns" in told:
            yield from _conversation(told, file, keys)
        elif "title" in told:
            yield from _of_activity(_activity(told), keys)
        else:
            yield Skipped(_NO_PROMPT, f"{file.path}, {place + 1}")


def _sort_of(file: SourceFile) -> str:
    """Return "page", "activities" or "conversation"; nothing for a file of something else."""
    name = name_of(file.path)
    if not name.endswith((".json", ".html", ".txt")):
        return ""
    head = file.head(HEAD)
    if name.endswith(".html"):
        return "page" if b"outer-cell" in head and (b"Gemini" in head or b"Bard" in head) else ""
    if b'"conversation_turns"' in head and begins_as(head, b"[{"):
        return "conversation"
    if name.endswith(".txt") or not begins_as(head, b"["):
        return ""
    return "activities" if b'"header"' in head and b'"title"' in head and (b"Gemini" in head or b"Bard" in head) else ""


def _by_name(file: SourceFile) -> str:
    """Return the sort that a file has by its name alone: an empty one, or one that begins with other products."""
    return {"myactivity.json": "activities", "myactivity.html": "page"}.get(name_of(file.path), "")


def _activity(told: Mapping[str, Any]) -> Activity:
    answer = "\n".join(
        one
        for one in (plain_text(text_of(mapping(part).get("html"))) for part in _list_of(told.get("safeHtmlItem")))
        if one
    )
    products = " ".join(text_of(one) for one in items(told.get("products")))
    return Activity(
        product=f"{text_of(told.get('header'))} {products}",
        title=text_of(told.get("title")),
        at=moment(told.get("time")),
        answer=answer,
        link=text_of(told.get("titleUrl")),
    )


def _list_of(value: object) -> list[Any]:
    return list(items(value)) or ([value] if isinstance(value, Mapping) else [])


def _of_activity(found: Activity, keys: Keys) -> Iterator[Read]:
    where = "" if found.at is None else found.at.isoformat()
    if found.product.strip() and not any(name in found.product.lower() for name in ("gemini", "bard")):
        yield Skipped(_OTHER_PRODUCT, where)
        return
    prompt = _prompt(found)
    if prompt is None:
        yield Skipped(_NO_PROMPT, where)
        return
    linked = _CHAT.search(found.link)
    conversation = linked[1] if linked is not None else _day(found.at)
    key = keys.unique(f"{where}/{digest(prompt)}")
    if prompt:
        yield _record(key, prompt, Author.PERSON, found.at, conversation)
    else:
        yield Skipped(NO_WORDS, key)
    if found.answer:
        yield _record(f"{key}/answer", found.answer, Author.ASSISTANT, found.at, conversation)


def _record(
    key: str, text: str, author: Author, at: datetime | None, conversation: str | None, title: str | None = None
) -> Record:
    return Record(
        key=key,
        text=text,
        kind=RecordKind.MESSAGE,
        author=author,
        at=at,
        conversation=conversation,
        title=title,
        speaker="Gemini" if author is Author.ASSISTANT else None,
    )


def _prompt(found: Activity) -> str | None:
    """Return what the person typed, without the verb and the note of attached files; None for what is no prompt.

    A title that begins with no known verb is taken whole where there is an answer: it is of a language that is not known here.
    """
    title = found.title.replace("\xa0", " ").strip()
    if _OTHER_VERB.match(title):
        return None
    verb = _VERB.match(title)
    if verb is None and not found.answer:
        return None
    return _ATTACHED.sub("", title[verb.end() :] if verb is not None else title).strip()


def _day(at: datetime | None) -> str | None:
    return None if at is None else f"gemini {at.date().isoformat()}"


def _conversation(told: Mapping[str, Any], file: SourceFile, keys: Keys) -> Iterator[Read]:
    began = text_of(told.get("creation_time"))
    name = f"{name_of(file.path).rsplit('.', 1)[0]} {began}".strip()
    title = text_of(told.get("title")) or None
    at = moment(began)
    for place, turn in enumerate(map(mapping, items(told.get("conversation_turns")))):
        asked, answered = mapping(turn.get("user_turn")), mapping(turn.get("system_turn"))
        for author, said in ((Author.PERSON, asked), (Author.ASSISTANT, answered)):
            if not said:
                continue
            at = moment(said.get("turn_last_modified")) or at
            key = keys.unique(f"{name}/{said.get('turn_index', place)}/{author}")
            text = text_of(said.get("prompt")) if author is Author.PERSON else _answer(said)
            if said.get("turn_deleted_time"):
                yield Skipped(_DELETED, key)
            elif not text:
                yield Skipped(NO_WORDS, key)
            else:
                yield _record(key, text, author, at, name, title)


def _answer(said: Mapping[str, Any]) -> str:
    return "\n".join(one for part in items(said.get("text")) if (one := text_of(mapping(part).get("data"))))


_CHAT = re.compile(r"gemini\.google\.com/(?:u/\d+/)?(?:app|gem/[\w-]+)/([\w-]{6,64})")
_VERB = re.compile(
    r"(?:prompted(?: with:)?|asked(?: gemini:| bard:)?|said|branched|answered|eingegebener prompt:|prompt saisi\s?:|prompt:|"
    r"requête saisie\s?:|has preguntado:?|preguntaste:?|fez uma pergunta:?|perguntou:?|prompt inserito:|"
    r"hai chiesto:?)\s+",
    re.IGNORECASE,
)
_OTHER_VERB = re.compile(
    r"(?:created|used|added|gave|selected|shared|deleted|viewed|visited|searched|edited|pinned|renamed|exported|updated|opened|liked|rated"
    r"|verwendet|erstellt|geteilt|feedback)\b",
    re.IGNORECASE,
)
_ATTACHED = re.compile(
    r"\s{0,20}(?:attached \d+ files?\.?|\d+ dateie?n? angehängt\.?|\d+ generated images?\.?|\d+ datei(?:en)? angehängt\.?)(?:\n.*)?\Z",
    re.IGNORECASE | re.DOTALL,
)
