"""What a prompt plainly asks of its writer's own things, and which words of memories answer that though it names none of them. Pure.

"When can we deploy?" orders nothing, so "deploy" is its topic; "which package manager do we use?" is answered by "we use pnpm"; and who
asks for a snack wants to hear of the allergy. Kinds of things and their names are a table by hand: what people at work and at home have.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

LONGEST = 160  # characters of a prompt that asks one thing


def _any(key: str) -> LazyPattern:
    return LazyPattern(lambda: rf"\b(?:{lexicon.pattern(key)})\b", re.IGNORECASE)


def _own() -> str:
    return f"(?:{lexicon.pattern('prompts.own')})"


_ASKS_OF_OWN = LazyPattern(
    lambda: (
        rf"^\W*(?:(?:{lexicon.pattern('prompts.leads')})\W+){{0,2}}"
        rf"(?:(?:{lexicon.pattern('prompts.asking')})\b[^?\n]*\b{_own()}\b"
        rf"|{lexicon.any_of(lexicon.words('prompts.auxiliaries'))} {_own()}\b)"
    ),
    re.IGNORECASE,
)
_ASKS = LazyPattern(lambda: rf"^\W*(?:{lexicon.pattern('prompts.plainly_asking')})(?:'s)?\b[^\n]*$", re.IGNORECASE)
_ADVICE = _any("prompts.advice")
_TELLS_OF_OWN = LazyPattern(
    lambda: rf"(?<![\w.\-/])(?:{_own()}|{lexicon.pattern('prompts.user')}|(?:i|we)'(?:ve|d|ll))(?![\w\-/])",
    re.IGNORECASE,
)
_SAYS_I = LazyPattern(lambda: rf"(?<![\w.\-/])(?:{lexicon.pattern('prompts.says_i')})(?![\w\-/])", re.IGNORECASE)
_FOOD = _any("standing.food")
_REMEDY = _any("standing.remedies")
_CODE = _any("standing.tasks")
_DIET = _any("standing.diet")
_ILLS = _any("standing.ills")
_GIFT = LazyPattern(lambda: lexicon.pattern("standing.gifts"), re.IGNORECASE)


@functools.cache
def _kinds() -> tuple[tuple[re.Pattern[str], tuple[str, ...]], ...]:
    """Return what is asked for, and names of such things.

    Those with a capital are written so in a memory, others in any way.
    """
    return tuple(
        (
            re.compile(lexicon.pattern(f"kinds.{kind}.asked"), re.IGNORECASE),
            tuple(name for _, text in lexicon.texts(f"kinds.{kind}.names") for name in text.split()),
        )
        for kind in lexicon.tables("kinds")
    )


@dataclass(frozen=True, slots=True)
class Asked:
    """What a prompt asks: of its writer's ``own`` things, or ``plain`` of somebody's or something's.

    ``names`` are those of the kinds of things asked for; ``standing`` finds what holds whenever the prompt's subject comes up, and
    ``standing_words`` are words of such memories.
    """

    own: bool = False
    plain: bool = False
    names: tuple[str, ...] = ()
    standing: re.Pattern[str] | LazyPattern | None = None
    standing_words: str = ""

    def names_in(self, content: str) -> bool:
        """Return True if a text holds a name of a kind that is asked for."""
        written = set(re.findall(r"\w+", content))
        folded = {word.casefold() for word in written}
        return any((name in written) if name[:1].isupper() else (name in folded) for name in self.names)


def tells_of_own(content: str) -> bool:
    """Return True if a memory speaks of its writer's own: "we use", "my dentist", or of the user."""
    return _TELLS_OF_OWN.search(content) is not None


def says_i(content: str) -> bool:
    """Return True if a memory speaks of its writer himself."""
    return _SAYS_I.search(content) is not None


NOTHING_ASKED = Asked()


@functools.lru_cache(maxsize=64)
def asked_by(gist: str) -> Asked:
    """Return what the gist of a prompt plainly asks; nothing for a long one, for advice ("should", "best") and for orders."""
    text = gist.strip().replace("’", "'")
    if not text or len(text) > LONGEST or "\n" in text:
        return NOTHING_ASKED
    standing, standing_words = None, ""
    if not _CODE.search(text):
        for about, found, words in ((_FOOD, _DIET, "diet_words"), (_REMEDY, _ILLS, "ills_words")):
            if about.search(text):
                standing, standing_words = found, " ".join(text for _, text in lexicon.texts(f"standing.{words}"))
    own = _ASKS_OF_OWN.match(text) is not None and not _ADVICE.search(text)
    plain = not own and _ASKS.match(text) is not None and not _ADVICE.search(text)
    names: list[str] = []
    if own or _GIFT.search(text):
        for kind, known in _kinds():
            if kind.search(text):
                names += known
    return Asked(own, plain, tuple(dict.fromkeys(names)), standing, standing_words)
