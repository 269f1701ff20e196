"""What a person told in a message that lies in the past: more than `statements` keeps while they type. Pure.

While somebody types, only what is surely worth keeping is kept, for the assistant may ask again. A history is read once, and what is not
taken is gone: so each sentence comes in that is not plainly something else (`not_statements`), whole and in the person's words. One that
means something only behind another one ("He joined in 2021") comes in together with it. What `statements` finds keeps its sort; the rest
are facts of less importance.

Where there is a gate, it judges each sentence as it does in conversation (`chances`): what would not even be kept as said in passing stays
out, and what is likely worth keeping comes in, although it looks like something else.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime

from hybrid_memory.capture import refusals
from hybrid_memory.capture.gate import Gate, Judged
from hybrid_memory.capture.model import Statement, StatementKind, Turn
from hybrid_memory.capture.own_words import GAP, is_pasted, own_lines
from hybrid_memory.capture.rules import corrects, only_corrects
from hybrid_memory.capture.sentences import Sentence, leans, lowered, sentences, without_fillers
from hybrid_memory.capture.statements import LEAST_EPISODE, LEAST_OF_RULES, MOST_JUDGED, statements_of
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.detection import find_secrets
from hybrid_memory_importers import not_statements
from hybrid_memory_importers.not_statements_words import LIGHT, MATERIAL, OF_ONESELF, PEOPLE, TRAILING, TRAILING_ORDER
from hybrid_memory_importers.told_statements_words import INTRODUCES, LABELLED, SETS_A_SCENE, personal_words

# Set by hand.
_LONGEST = 1_000  # characters of a statement
_LONGEST_JOINED = 400  # characters of sentences that stand together
_LONGEST_BEFORE = 160  # characters of a sentence that is no statement, and is taken along
_READ = 20_000  # characters of a message; beyond them nobody typed
_SCENE = 2_000  # characters of a message in which it would be said what is played
_SHORT_TALK = 40  # characters
_MOST = 40  # of one message
_TOLD = 0.5  # importance of what no rule of capture knows, and is of the person
_DULL = 0.35  # of what is of something else
_FEW_SENTENCES = 2  # of a message that is nobody's text, though it does not say "I"
_PASTED_SENTENCES = 12  # of a message, from which on sentences about others are somebody's text


@dataclass(frozen=True, slots=True)
class Chances:
    """What a gate makes of a message: of its sentences by their words, and the ``threshold`` from which on one comes in for that alone."""

    of: Mapping[str, Judged]
    threshold: float

    def at_least(self, sentence: Sentence, least: float) -> bool:
        """Return True if a sentence is as likely worth keeping; one that was not judged is."""
        judged = self.of.get(sentence.raw)
        return judged is None or judged.chance >= least

    def lets_through(self, sentence: Sentence) -> bool:
        """Return True for a sentence that comes in whatever it looks like."""
        return sentence.raw in self.of and self.at_least(sentence, self.threshold)


def chances(messages: Sequence[str], gate: Gate) -> list[Chances | None]:
    """Return what a gate makes of some messages; None for one that it does not judge: a long text, or nothing but questions."""
    found: list[Chances | None] = [None] * len(messages)
    judged: dict[int, list[Sentence]] = {}
    for at, text in enumerate(messages):
        own = [] if is_pasted(text[:_READ]) else list(_written(text[:_READ]))
        if len(own) <= MOST_JUDGED and not all(not_statements.asks(one) for one in own):
            judged[at] = own
    made = gate.judged_messages([(own, messages[at]) for at, own in judged.items()])
    for (at, own), one in zip(judged.items(), made, strict=True):
        # In a person's own words less than in conversation, where they may say it again: of such sentences two of five are worth it.
        threshold = LEAST_OF_RULES if one.threshold <= gate.threshold else one.threshold
        found[at] = Chances(dict(zip((each.raw for each in own), one.sentences, strict=True)), threshold)
    return found


@dataclass(frozen=True, slots=True)
class ToldOne:
    """One thing that was told: the ``statement``, and its ``core``, which gives one thing a value.

    ``leans`` says that its first sentence means something only behind what was said before, ``corrects`` that it puts something right.
    """

    statement: Statement
    core: str
    leans: bool = False
    corrects: bool = False


@dataclass(frozen=True, slots=True)
class Told:
    """What a message tells.

    ``all`` are in its order; ``reason`` says why there are none, for people, "" where there are some. ``taken_back`` are topics of
    which what was said before is to be forgotten, "" for what was said last. ``fiction`` says that it is about people who do not exist.
    """

    all: tuple[ToldOne, ...]
    reason: str = ""
    taken_back: tuple[str, ...] = ()
    fiction: bool = False

    @property
    def statements(self) -> tuple[Statement, ...]:
        """The statements alone."""
        return tuple(one.statement for one in self.all)


@dataclass(slots=True)
class _Item:
    """A statement of a sentence, or of sentences that stand together; ``last`` is the place of the last of them."""

    one: ToldOne
    last: int


def told(text: str, said_at: datetime, *, fiction: bool = False, let: Chances | None = None) -> Told:
    """Return what a person told in a message; calling it again gives the same.

    ``fiction``: what was said before is about a story. ``let`` is what a gate makes of the message (`chances`).
    """
    own = text[:_READ]
    if not own.strip():
        return Told((), "empty")
    if is_pasted(own):
        return Told((), "pasted: a letter or mail")
    whole = list(_written(own))
    if any(
        refusals.is_not_to_be_kept(one) or not_statements.is_game(one) or not_statements.plays_in_fiction(one.low)
        for one in whole
    ):
        return Told(
            (),
            "a story, a role, or not to be remembered",
            fiction=any(not_statements.is_fiction(one.low) for one in whole),
        )
    reading = _Reading(whole, Turn(own, said_at), let, fiction=fiction)
    reading.read()
    kept = reading.kept()
    reason = "" if kept else _reason(whole, own)
    return Told(kept, reason, tuple(reading.taken_back), reading.fiction)


def sets_a_scene(text: str) -> bool:
    """Return True for a message after which a conversation is a game, an exercise, or material: "let's role-play", "correct my English"."""
    return SETS_A_SCENE.search(lowered(text[:_SCENE])) is not None


def joined(before: str, behind: str) -> str:
    """Return two statements as they would stand behind one another."""
    end = before.rstrip()
    dense = lowered(behind[:1]) > "\u2e80"
    return f"{end}{'' if end.endswith(('?', '!', '.', '。', '？')) else '。' if dense else '.'}{'' if dense else ' '}{behind}"


def _written(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a person's own words as they were written, without what is material for a task."""
    lines = [(line, lowered(line)) for line in own_lines(text, titles=True) if line]
    if len(lines) > 1 and any(refusals.is_about_material(low) for _, low in lines):
        return
    for line, low in lines:
        at = _material(low)
        for sentence in sentences(line if at is None else line[:at]):
            found = LIGHT.match(sentence.low)
            stripped = sentence.behind(found.end()) if found is not None and found.end() else sentence
            if stripped.raw:
                yield stripped
        if at is not None:
            return


def _material(low: str) -> int | None:
    found = MATERIAL.match(low)
    if found is not None:
        return found.end() - 1
    at = refusals.begins_material(low)
    return None if at is None or corrects(low) else at


class _Reading:
    """The sentences of one message, read one by one."""

    def __init__(self, whole: Sequence[Sentence], turn: Turn, let: Chances | None, *, fiction: bool) -> None:
        self.taken_back: list[str] = []
        self.fiction = fiction
        self._whole = whole
        self._turn = turn
        self._let = let
        self._items: list[_Item] = []
        self._made_up = False
        stripped = [without_fillers(one) for one in whole]
        self._known = list(statements_of([one for one in stripped if one.raw], turn))
        self._introduces = any(INTRODUCES.search(one.low) is not None for one in whole)
        self._alone = len(whole) <= _FEW_SENTENCES or (
            len(whole) < _PASTED_SENTENCES and any(not personal_words().isdisjoint(one.words) for one in whole)
        )

    def read(self) -> None:
        """Look at each sentence."""
        for at, sentence in enumerate(self._whole):
            topic = refusals.takes_back(sentence.low)
            if topic is not None and refusals.said_instead(sentence.low) is None:
                self.taken_back += [topic] if topic or not self._items else []
                self._items = self._items if topic else self._items[:-1]
                continue
            if not_statements.is_fiction(sentence.low) and not not_statements.carries(sentence):
                self.fiction = True
                self._made_up = self._made_up or not_statements.orders_fiction(sentence.low)
                continue
            one = None if self._made_up else self._one(sentence)
            if one is not None:
                self._add(one, sentence, at)

    def kept(self) -> tuple[ToldOne, ...]:
        """Return what was found, each once."""
        found = [one.one for one in self._items]
        found += [
            ToldOne(one, one.text, corrects=one.kind is StatementKind.CORRECTION) for one in self._known
        ]  # of two sentences
        seen: set[str] = set()
        once = [one for one in found if one.statement.text not in seen and not seen.add(one.statement.text)]  # type: ignore[func-returns-value] # adds
        return tuple(once[:_MOST])

    def _one(self, sentence: Sentence) -> ToldOne | None:
        """Return what a sentence tells."""
        corrects = not_statements.corrects(sentence)
        hardly = self._let is not None and not corrects and not self._let.at_least(sentence, LEAST_EPISODE)
        of_rules = [one for one in self._known if one.text in sentence.raw]
        if of_rules:
            self._known = [one for one in self._known if one not in of_rules]
            if hardly:
                return None
            first = of_rules[0]
            text = _whole_text(first, sentence)
            return ToldOne(
                first if text == first.text or not _is_fit(text) else replace(first, text=text),
                first.text,
                corrects=corrects or first.kind is StatementKind.CORRECTION,
            )
        labelled = self._introduces and LABELLED.match(sentence.low) is not None
        tells = labelled or corrects or not_statements.tells(sentence, alone=self._alone, fiction=self.fiction)
        let = self._let is not None and not not_statements.asks(sentence) and self._let.lets_through(sentence)
        if hardly or not (tells or let):
            return None
        text = _clean(_shown(sentence).raw)
        if not _is_fit(text):
            return None
        of_person = (
            let or labelled or OF_ONESELF.match(sentence.low) is not None or PEOPLE.search(sentence.low) is not None
        )
        kind = StatementKind.CORRECTION if corrects else StatementKind.FACT
        made = Statement(text, kind, _TOLD if of_person or corrects else _DULL, self._turn.said_at)
        return ToldOne(made, text, not_statements.leans_on_somebody(sentence.low), corrects)

    def _add(self, one: ToldOne, sentence: Sentence, at: int) -> None:
        """Add what a sentence tells, together with the one before if it needs that."""
        last = self._items[-1] if self._items else None
        instead = at > 0 and not_statements.is_instead(sentence.low, self._whole[at - 1].low)
        if not at or not (leans(sentence.low) or instead):
            self._items.append(_Item(one, at))
            return
        if last is not None and last.last == at - 1:
            text = joined(last.one.statement.text, one.statement.text)
            if len(text) <= _LONGEST_JOINED:
                self._items[-1] = _Item(_both(last.one, one, text), at)
                return
        before = self._whole[at - 1]
        if (
            not instead
            and (last is None or last.last < at - 1)
            and len(before.raw) <= _LONGEST_BEFORE
            and GAP not in before.raw
        ):
            text = joined(before.raw + ("?" if before.asks else ""), one.statement.text)
            if _is_fit(text):
                one = replace(
                    one,
                    statement=replace(one.statement, text=text),
                    core=text,
                    leans=not_statements.leans_on_somebody(before.low),
                )
        self._items.append(_Item(one, at))


def _both(first: ToldOne, second: ToldOne, text: str) -> ToldOne:
    more = max((first.statement, second.statement), key=lambda one: one.importance)
    tags = tuple(dict.fromkeys((*first.statement.tags, *second.statement.tags)))
    statement = replace(
        first.statement, text=text, kind=more.kind, importance=more.importance, tags=tags, fragment=False
    )
    return ToldOne(statement, text, first.leans, first.corrects or second.corrects)


def _whole_text(statement: Statement, sentence: Sentence) -> str:
    """Return all of a sentence of which a rule knows a part, without what leads to it or asks behind it."""
    shown = _shown(sentence)
    at = sentence.raw.find(statement.text)
    end = max(len(shown.raw), at + len(statement.text))
    before = sentence.low[:at]
    is_lead = not before.strip() or only_corrects(before) or _LEADS.fullmatch(before) is not None
    return _clean(sentence.raw[at if is_lead else 0 : end])


def _shown(sentence: Sentence) -> Sentence:
    """Return a sentence without the question or the request behind what it tells."""
    if sentence.dense:
        end = not_statements.dense_end(sentence)
        return sentence.before(end) if end else sentence
    for form in (TRAILING, TRAILING_ORDER):
        found = form.search(sentence.low)
        if found is None or not found.start():
            continue
        if form is TRAILING and not sentence.asks and _ASKS_YOU.search(found[0]) is None:
            continue
        rest = sentence.behind(found.end())
        if len(sentence.low[: found.start()].split()) > 1 and not not_statements.carries(rest):
            return sentence.before(found.start())
    head = not_statements.before_question(sentence)
    return sentence if head is None else head


def _clean(raw: str) -> str:
    text = raw.strip().strip(" ,;:-–—*_").strip()
    return text.removesuffix("(").rstrip()


def _is_fit(text: str) -> bool:
    return bool(text) and len(text) <= _LONGEST and GAP not in text and not find_secrets(text)


_ASKS_YOU = LazyPattern(
    r"\b(?:(?:what|how|which|where) (?:do|can|should|could|would) (?:i|we)|should i|can i|(?:what|how|which|where) [\w ]{0,20}$"
    r"|you|u|du|tu|puedes|podrías|você|pode|vous)\b"
)
_LEADS = LazyPattern(
    r"(?:[^,;:]{0,40}\b(?:remember|note|mind|forget|remind|memori[sz]e|record|merk\w*|notier\w*|denk|vergiss|retiens|note[zr]?"
    r"|souviens|rappelle|recuerda|recuerde|anota|apunta"
    r"|lembr\w*|guard\w*|fyi|reminder|heads[- ]up|background|info|update|context|decided"
    r"|decision)\b[^,;:]{0,40}[,:–-]?\s*(?:that |dass |que )?)"
)


def _reason(whole: Sequence[Sentence], text: str) -> str:
    if not whole and len(text) > _SHORT_TALK:
        return "pasted, quoted or code"
    if whole and all(not_statements.asks(one) for one in whole):
        return "only asks"
    return "orders, small talk, or about the answers"
