"""From turns to statements: what of a person's own words is worth keeping, and which later one replaces an earlier one. Pure."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace

from hybrid_memory.capture import refusals, rules
from hybrid_memory.capture.frames import frame_of
from hybrid_memory.capture.gate import Gate, Judged
from hybrid_memory.capture.model import Statement, StatementKind, Turn
from hybrid_memory.capture.others_words import announces_others_words, holds_others_words, reports
from hybrid_memory.capture.own_words import GAP, is_pasted, own_lines
from hybrid_memory.capture.replacing import (
    corrected,
    is_fragment,
    is_turned_round,
    names_what_is_over,
    tells_of_change,
    words_of,
)
from hybrid_memory.capture.replies import question_of
from hybrid_memory.capture.rules import Rule, corrected_dense
from hybrid_memory.capture.sentences import Sentence, leans, lowered, sentence_of, sentences, without_fillers
from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.detection import find_secrets

# Set by hand.
LIMIT = 20
"""Statements of a session, when nothing else is said."""
MOST_JUDGED = 30
"""Sentences of a message that a gate judges; nobody types more."""
LEAST_EPISODE = 0.05
"""Chance from which a sentence is an episode: 529 of 541 messages to check that are worth keeping have such a sentence."""
LEAST_OF_RULES = 0.3
"""Chance from which what a rule knows is kept: people say the same words in passing."""
_LONGEST = 300  # characters of a statement; a longer sentence is a paragraph without dots
_SHORTEST_WORDS = 2
_LONGEST_ANTECEDENT = 120  # characters of a sentence that one with "it" is joined with
_READ_TURN = 100_000  # characters of a turn; beyond them nobody typed
_ALIKE = 0.8  # of the words of two statements, from which the later says the same
_LOOKED_BACK = 60  # statements among which a new one looks for its like
_MOST_CLAUSES = 6  # of a sentence
_ASKED = 0.85  # importance of what is to be remembered
_CORRECTION = 0.75
_UNJUDGED_EPISODE = 0.2  # importance of an episode where there is no gate
_LEAST_LET = 0.5  # importance of what the gate lets through with little chance


def statements(
    turns: Sequence[Turn],
    *,
    limit: int = LIMIT,
    fragments: bool = False,
    announced: bool = False,
    gate: Gate | None = None,
    episodes: bool = False,
) -> tuple[Statement, ...]:
    """Return what a person said in some turns that they would want kept, in the order in which they said it; at most ``limit``.

    With ``episodes`` what they said besides follows (`Statement.episode`): of their own words alone, no questions.

    Turns of another role than "user" are passed over. Where more than ``limit`` are found, the most important stay. Of statements that say
    the same the first stays; one that corrects an earlier one of the same turns is in its place. With ``fragments`` corrections come
    too that mean something only with a statement of earlier turns (`Statement.fragment`). Calling it with the same turns gives the same
    statements.

    What a turn says that also holds somebody else's words (`Statement.beside_others`) changes no other statement. ``announced`` says that
    the first turn does, because the one before it announced them.
    """
    kept: list[Statement] = []
    passing: list[Statement] = []
    for turn in turns:
        if turn.role != "user" or not turn.text.strip():
            continue
        _read(turn, kept, passing, gate, announced=announced)
        announced = announces_others_words(turn.text)
    if not fragments:
        kept = [one for one in kept if not one.fragment]
    if len(kept) > limit:
        chosen = sorted(range(len(kept)), key=lambda at: (kept[at].beside_others, -kept[at].importance, -at))[
            : max(limit, 0)
        ]
        kept = [kept[at] for at in sorted(chosen)]
    return (*kept, *passing) if episodes else tuple(kept)


def statements_of(own: Sequence[Sentence], turn: Turn) -> tuple[Statement, ...]:
    """Return what some sentences of a turn say that is worth keeping, with fragments; they are those of `own_sentences`."""
    kept: list[Statement] = []
    _read_sentences(own, turn, kept, [])
    return tuple(kept)


def _read(turn: Turn, kept: list[Statement], passing: list[Statement], gate: Gate | None, *, announced: bool) -> None:
    """Add what a turn says to what is kept, or was said in passing, and take out what it takes back."""
    text = turn.text[:_READ_TURN]
    if is_pasted(text):
        return
    own = list(own_sentences(text))
    let = None
    if gate is not None and own and len(own) <= MOST_JUDGED:
        judged = gate.judged(own, text, "" if announced else question_of(turn.answers))
        beside_others = announced or judged.threshold > gate.threshold
        threshold = max(judged.threshold, gate.strict if announced else 0)
        let = _LetThrough(own, judged.sentences, threshold, beside_others=beside_others)
    else:
        beside_others = announced or holds_others_words(text)
    if not any(refusals.takes_message_out(sentence) for sentence in own):
        _read_sentences(own, turn, kept, passing, let, beside_others=beside_others)


class _LetThrough:
    """What a gate makes of the sentences of one message."""

    def __init__(
        self, own: Sequence[Sentence], judged: Sequence[Judged], threshold: float, *, beside_others: bool
    ) -> None:
        self._judged = dict(zip((one.raw for one in own), judged, strict=True))
        self._threshold = threshold
        self._least = threshold if beside_others else LEAST_OF_RULES

    def made(self, sentence: Sentence, before: Sentence | None, turn: Turn) -> Statement | None:
        """Return a sentence as it was said, if the gate lets it through, behind the one before if it leans on that."""
        judged = self._judged.get(sentence.raw)
        if judged is None or judged.chance < self._threshold:
            return None
        importance = _LEAST_LET + (1 - _LEAST_LET) * judged.chance**2
        joined = None
        if before is not None and leans(sentence.low) and len(before.raw) <= _LONGEST_ANTECEDENT:
            end = "?" if before.asks else "。" if sentence.dense else "."
            whole = sentence_of(f"{before.raw}{end}{'' if sentence.dense else ' '}{sentence.raw}")
            joined = _made(whole, judged.kind, importance, turn)
        return joined or _made(sentence, judged.kind, importance, turn)

    def chance(self, sentence: Sentence) -> float:
        """Return the chance that a sentence is worth keeping."""
        judged = self._judged.get(sentence.raw)
        return 0.0 if judged is None else judged.chance

    def refuses(self, sentence: Sentence) -> bool:
        """Return True for what a rule knows, if it is hardly worth keeping: in a message of others' words it has to be very likely."""
        return self.chance(sentence) < self._least


def _read_sentences(
    own: Sequence[Sentence],
    turn: Turn,
    kept: list[Statement],
    passing: list[Statement],
    let: _LetThrough | None = None,
    *,
    beside_others: bool = False,
) -> None:
    earlier: list[Statement] = [] if beside_others else kept  # what a sentence may change
    before: Sentence | None = None
    corrects = False
    besides: list[list[Sentence]] = [[]]  # what was not kept, in runs
    for sentence in own:
        topic = refusals.takes_back(sentence.low)
        instead = refusals.said_instead(sentence.low)
        if instead is not None:
            # What it takes the place of is known by its words, not by its place.
            sentence, corrects = without_fillers(sentence.behind(instead)), True  # noqa: PLW2901 - the rest of it
        elif topic is not None:
            _take_back(earlier, topic)
            del passing[:]
            besides, before = [[]], None
            continue
        if _only_corrects(sentence.low):
            corrects = True
            continue
        if rules.REMEMBER_BEFORE.match(sentence.low):
            found = _asked_for(before, turn)
        else:
            found = _found_in(sentence, before, turn, earlier, let, corrects=corrects)
        if found is not None and not (beside_others and found.fragment):
            _keep(replace(found, beside_others=beside_others), kept)
            besides.append([])
        elif not sentence.asks:
            besides[-1].append(sentence)
        before, corrects = sentence, False
    if not beside_others and (let is not None or len(own) <= MOST_JUDGED):
        passing += _episodes(besides, turn, let)


def _episodes(runs: Iterable[Sequence[Sentence]], turn: Turn, let: _LetThrough | None) -> Iterator[Statement]:
    """Yield what was said in passing: sentences behind each other, as many as fit, of which one at least may be worth keeping."""
    for run in runs:
        texts: list[tuple[str, float]] = []
        for one in run:
            chance = _UNJUDGED_EPISODE if let is None else let.chance(one)
            end = "。" if one.dense else ". "
            if texts and len(texts[-1][0]) + len(end) + len(one.raw) <= _LONGEST:
                text, best = texts.pop()
                texts.append((f"{text}{end}{one.raw}", max(best, chance)))
            else:
                texts.append((one.raw, chance))
        for text, chance in texts:
            made = _made(sentence_of(text), StatementKind.FACT, chance, turn) if chance >= LEAST_EPISODE else None
            if made is not None:
                yield replace(made, episode=True)


def own_sentences(text: str) -> Iterator[Sentence]:
    """Yield the sentences of a person's own words, without what is material for a task."""
    lines = [(line, lowered(line)) for line in own_lines(text) if line]
    if len(lines) > 1 and any(refusals.is_about_material(low) for _, low in lines):
        return
    for line, low in lines:
        at = refusals.begins_material(low)
        for sentence in sentences(line if at is None else line[:at]):
            stripped = without_fillers(sentence)
            if stripped.raw:
                yield stripped
        if at is not None:
            return


def _found_in(
    sentence: Sentence,
    before: Sentence | None,
    turn: Turn,
    kept: list[Statement],
    let: _LetThrough | None,
    *,
    corrects: bool,
) -> Statement | None:
    """Return what is to be kept of a sentence; ``corrects`` says that the one before was "that's wrong"."""
    if refusals.is_refused(sentence):
        # No rule keeps it. What is supposed or hedged the model knows better than words do.
        return None if let is None or GAP in sentence.low else let.made(sentence, before, turn)
    if let is not None and let.refuses(sentence):
        asked = (_asked_in(clause, before, turn) for clause in _clauses(sentence))
        return next((one for one in asked if one is not None), None)
    correction = _correction(sentence, turn, kept, corrects=corrects)
    if correction is not None:
        return correction
    if names_what_is_over(sentence.low) and (changed := _changed(sentence, turn)) is not None:
        return changed
    known = _of_clauses(sentence, before, turn)
    whole = None if let is None else let.made(sentence, before, turn)
    if known is not None and whole is not None and known.text in whole.text:
        # The rule sorts it; what the person said stays whole, as does "Tomasz left" before "my manager is Ines now".
        return replace(known, text=whole.text)
    return known or whole or _changed(sentence, turn)


def _changed(sentence: Sentence, turn: Turn) -> Statement | None:
    """Return a sentence that gives something another value: "I eat meat again now"; of somebody else it is a fragment."""
    shown = None if sentence.dense else declared(sentence, loose=True)
    if shown is None:
        return None
    if is_fragment(shown.low):
        return _as_fragment(shown, turn)
    if refusals.is_loose(shown.low) or not tells_of_change(shown.raw):
        return None
    made = _made(_shortened(shown), StatementKind.CORRECTION, _CORRECTION, turn)
    return made if made is None or _OWN_CHANGE.match(shown.low) else replace(made, fragment=True)


def _as_fragment(shown: Sentence, turn: Turn) -> Statement | None:
    made = _made(shown, StatementKind.CORRECTION, _CORRECTION, turn)
    return None if made is None else replace(made, fragment=True)


def _of_clauses(sentence: Sentence, before: Sentence | None, turn: Turn) -> Statement | None:
    for clause in _clauses(sentence):
        asked = _asked_in(clause, before, turn)
        if asked is not None:
            return asked
        noted = rules.WEAK_NOTE.match(clause.low)
        shown = declared(clause if noted is None else without_fillers(clause.behind(noted.end())))
        found = None if shown is None else _told(shown, turn)
        if found is not None:
            return found
    return None


def _asked_in(clause: Sentence, before: Sentence | None, turn: Turn) -> Statement | None:
    """Return what a clause asks to be remembered."""
    return _of_rules(clause, _asking_rules(clause), turn, before)


def _correction(sentence: Sentence, turn: Turn, kept: list[Statement], *, corrects: bool) -> Statement | None:
    """Return what puts something right: "no, the meeting is on Thursday"."""
    dense = corrected_dense(sentence.low) if sentence.dense and not sentence.asks else None
    if dense is not None:
        return _put_right(sentence.behind(dense), turn, None)
    lead = rules.corrects(sentence.low)
    if not lead and not corrects:
        return None
    rest = declared(without_fillers(sentence.behind(lead)), loose=True)
    if rest is not None and (named := _IT_IS_NAMED.match(rest.low)) and rest.raw[named.start("name")].isupper():
        return _put_right(rest, turn, None)
    if rest is not None and (is_fragment(rest.low) or _IT_IS.match(rest.low)):
        return _put_right_by_fragment(sentence, rest, turn, kept)
    if rest is None or refusals.is_loose(rest.low):
        return None
    rest = _shortened(rest)
    told = _of_rules(rest, _rules_for(rest), turn, None)
    known = told is not None or _names_a_value(rest) or (_OWN.match(rest.low) and frame_of(rest.raw) is not None)
    return _put_right(rest, turn, told) if known else None


def _put_right_by_fragment(sentence: Sentence, rest: Sentence, turn: Turn, kept: list[Statement]) -> Statement | None:
    """Return "no, it's the 19th" with what it corrects, or as a fragment whose other half may have been said before."""
    fragment = _as_fragment(rest, turn) if is_fragment(rest.low) else None
    if fragment is not None and corrected(rest.raw, [one.text for one in kept]) is not None:
        return fragment
    return _joined_with_last(sentence, rest, turn, kept) or fragment


def _names_a_value(rest: Sentence) -> bool:
    """Return True for "the port is 5433" and "the meeting is on Thursday, not Tuesday": what it is about, and what holds."""
    named = _has_name(rest.raw)
    return any(
        form.match(rest.low) is not None and (named or value.search(rest.low) is not None)
        for form, value in rules.CORRECTED
    )


def _put_right(rest: Sentence, turn: Turn, told: Statement | None) -> Statement | None:
    """Return a correction, which tells the brief what it ``told`` without "no" before it."""
    made = _made(rest, StatementKind.CORRECTION, _CORRECTION, turn)
    return made if made is None or told is None else replace(made, tags=told.tags)


def _joined_with_last(sentence: Sentence, rest: Sentence, turn: Turn, kept: list[Statement]) -> Statement | None:
    """Return "I am getting married on the 12th. no, it's the 19th" for "no, it's the 19th": it is alone with what it corrects only."""
    if not kept or len(kept[-1].text) > _LONGEST_ANTECEDENT or not _same_sort(kept[-1].text, rest.low):
        return None
    last = kept[-1]
    made = replace(
        last, text=f"{last.text.rstrip('.!')}. {sentence.raw}", kind=StatementKind.CORRECTION, occurred_at=turn.said_at
    )
    kept.pop()
    return made


def _same_sort(earlier: str, later: str) -> bool:
    """Return True if two texts both name a day, or both name a number, or the later says "not" of a word of the earlier."""
    before = lowered(earlier)
    denied = _NOT_THIS.search(later)
    if denied is not None and denied[1] in before:
        return True
    return any(one.search(before) and one.search(later) for one in (_DAY, _NUMBER))


def _asked_for(before: Sentence | None, turn: Turn) -> Statement | None:
    """Return the sentence before "remember that", if it is alone."""
    if before is None or refusals.is_refused(before):
        return None
    shown = declared(before)
    return None if shown is None else _made(shown, StatementKind.FACT, _ASKED, turn)


def _clauses(sentence: Sentence) -> Iterator[Sentence]:
    """Yield a sentence, and its rest from each place on at which a new subject begins."""
    yield sentence
    for count, found in enumerate(_BOUNDARY.finditer(sentence.low)):
        if count == _MOST_CLAUSES or reports(sentence.low, found.start()):
            return
        clause = without_fillers(sentence.behind(found.end()))
        if clause.raw and not sentence.low[: found.start()].endswith(lexicon.phrases("capture.denials")):
            yield clause


def declared(clause: Sentence, *, loose: bool = False) -> Sentence | None:
    """Return a clause without the request behind it; None if it asks or, unless ``loose``, means something only alongside others."""
    if not clause.raw or refusals.is_question(clause.low):
        return None
    at = refusals.request_behind(clause.low, soft=False)
    if at:
        clause = clause.before(at)
    if clause.asks or not clause.raw:
        return None
    return clause if loose or not refusals.is_loose(clause.low) else None


def _told(clause: Sentence, turn: Turn) -> Statement | None:
    """Return what the rules make of a clause, or of it without "In Python, ..." in front, which is kept all the same."""
    known = _rules_for(clause)
    found = _of_rules(clause, known, turn, None)
    if found is not None or clause.dense:
        return found
    led = rules.LED_IN.match(clause.low)
    told = None if led is None else _of_rules(clause.behind(led.end()), known, turn, None)
    if led is None or told is None or not clause.raw[led.end() :].startswith(told.text):
        return None
    return replace(told, text=clause.raw[: led.end()] + told.text)


def _of_rules(clause: Sentence, known: Sequence[Rule], turn: Turn, before: Sentence | None) -> Statement | None:
    """Return the statement that the first fitting rule makes of a clause."""
    for rule in known:
        found = rule.pattern.match(clause.low)
        if found is None or not _names_are_names(clause, found):
            continue
        told = (
            clause.behind(found.start("text"))
            if "text" in found.re.groupindex and found["text"] is not None
            else clause
        )
        if rule.asked:
            return _made_as_asked(told, rule, turn, before)
        if rule.kind is not StatementKind.PREFERENCE:
            shorter = _shortened(told)
            told = shorter if shorter is told or rule.pattern.match(shorter.low) or told is not clause else told
        return _made(told, rule.kind, rule.importance, turn)
    return None


def _made_as_asked(told: Sentence, rule: Rule, turn: Turn, before: Sentence | None) -> Statement | None:
    if told.asks or refusals.is_question(told.low):
        return None
    if not refusals.is_loose(told.low):
        return _made(_shortened(told), rule.kind, rule.importance, turn)
    if before is None or before.asks or len(before.raw) > _LONGEST_ANTECEDENT or refusals.is_loose(before.low):
        return None
    return _made(sentence_of(f"{before.raw}. {told.raw}"), rule.kind, rule.importance, turn)


def _shortened(clause: Sentence) -> Sentence:
    at = refusals.request_behind(clause.low, soft=True)
    return clause.before(at) if at else clause


def _made(told: Sentence, kind: StatementKind, importance: float, turn: Turn) -> Statement | None:
    """Return a statement; None for one that is too short or too long, that has a gap, or that holds a secret."""
    text = told.raw.strip(" ,;:-–—*_").rstrip("([ ")
    if len(text) > _LONGEST or GAP in text or find_secrets(text):
        return None
    if not told.dense and len(text.split()) < _SHORTEST_WORDS:
        return None
    return Statement(text, kind, importance, turn.said_at, TAGS_OF_KIND.get(kind, ()), answers=turn.answers)


def _comes_with(last: Statement, new: Statement) -> bool:
    """Return True if a sentence that leans on the one before was joined with it, so that it needs no place of its own."""
    behind = (f"{last.text}. ", f"{last.text}? ", f"{last.text}。")
    return last.occurred_at == new.occurred_at and new.text.startswith(behind)


def _keep(new: Statement, kept: list[Statement]) -> None:
    """Add a statement, unless it says again what is there; one that corrects takes the place of what it corrects."""
    said, figures = words_of(new.text), _figures(new.text)
    first = max(len(kept) - _LOOKED_BACK, 0)
    for old in kept[first:]:
        earlier = words_of(old.text)
        is_alike = len(said & earlier) >= _ALIKE * len(said | earlier) and figures == _figures(old.text)
        if is_alike and not is_turned_round(new.text, old.text):
            return
    if kept and _comes_with(kept[-1], new):
        kept[-1] = replace(new, tags=new.tags or kept[-1].tags, importance=max(new.importance, kept[-1].importance))
        return
    change = None
    if not new.beside_others:
        change = corrected(new.text, [one.text for one in kept[first:]], corrects=new.kind is StatementKind.CORRECTION)
    if change is not None:
        old = kept.pop(first + change.place)
        if change.text != new.text:
            new = in_place_of(new, change.text, old.tags, old.importance)
    kept.append(new)


def in_place_of(new: Statement, text: str, tags: tuple[str, ...], importance: float) -> Statement:
    """Return a correction with the whole statement that holds after it, which is sorted as the earlier one was."""
    return replace(new, text=text, tags=tags, importance=max(new.importance, importance), fragment=False)


def _take_back(kept: list[Statement], topic: str) -> None:
    """Take out what was said on a topic, or what was said last."""
    if not topic:
        del kept[-1:]
        return
    meant = words_of(topic)
    kept[:] = [one for one in kept if meant.isdisjoint(words_of(one.text))]


def _only_corrects(low: str) -> bool:
    said = low + ","
    return rules.corrects(said) == len(said)


def _rules_for(clause: Sentence) -> Sequence[Rule]:
    return () if clause.dense or lexicon.words("capture.rule_words").isdisjoint(clause.words) else rules.telling_rules()


def _asking_rules(clause: Sentence) -> Sequence[Rule]:
    if clause.dense:
        return rules.asking_rules(dense=True)
    return () if lexicon.words("capture.asking_words").isdisjoint(clause.words) else rules.asking_rules(dense=False)


def _names_are_names(clause: Sentence, found: re.Match[str]) -> bool:
    """Return True unless a rule wants a name where none was written: "my boss is Karin", not "my boss is late"."""
    return "name" not in found.re.groupindex or found["name"] is None or clause.raw[found.start("name")].isupper()


def _has_name(raw: str) -> bool:
    return _NAME.search(raw) is not None


def _figures(text: str) -> frozenset[str]:
    return frozenset(_FIGURE.findall(text))


TAGS_OF_KIND = {
    StatementKind.PREFERENCE: ("preference",),
    StatementKind.DECISION: ("decision",),
    StatementKind.PLAN: ("commitment",),
}
"""Words by which the brief knows what a statement is (`retrieval.aspects`); of facts and corrections their own words tell."""

_NAME = LazyPattern(r"(?<=[^.!?] )[A-ZÀ-ÖØ-Þ][\w-]+")
_FIGURE = LazyPattern(r"\d+")
_NUMBER = LazyPattern(r"\d")
_DAY = LazyPattern(
    lambda: rf"\b{lexicon.any_of(lexicon.places('calendar.weekdays', 'en'))}\b|\b\d{{1,2}}(?:st|nd|rd|th)\b"
)
_NOT_THIS = LazyPattern(r"\bnot (?:in |on |at |the )?([\w-]{3,})")
_IT_IS_NAMED = LazyPattern(r"(?:it'?s|it is) (?P<name>[a-z][\w.+#-]*)[^,]{0,40}, not \w")
_IT_IS = LazyPattern(
    r"i meant [^,]{2,40}, not \w|(?:it's|it is|its|it starts|it ends|they're|they are|that's|on"
    r"|at) (?=.{0,40}(?:\d|day\b))"
)
_OWN_CHANGE = LazyPattern(r"(?:i|we|i'\w+|we'\w+|let's|scratch|drop|ditch|scrap|forget|dump)\b")
_OWN = LazyPattern(r"(?:i|we|my|our|i'\w+|we'\w+)\b")
_BOUNDARY = LazyPattern(
    lambda: (
        rf"(?:[,;:–—-]\s+|\s{lexicon.any_of(lexicon.words('capture.joining'))}\s+)"
        rf"(?:{lexicon.any_of(lexicon.words('capture.joining'))}\s+)?(?=(?:{lexicon.pattern('capture.new_subjects')})\b)|[，、]"
    )
)
