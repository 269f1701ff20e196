"""Whether a question asks for one thing as it is now, so that a later memory may stand in for an earlier one.

Not where it asks for an order, a count of times, a comparison, a history, a list or the past: there the earlier memory is part of
the answer. Plain words of English, German, French and Spanish; what is not understood counts as a question about now.
"""

from __future__ import annotations

import re
from datetime import datetime
from typing import TYPE_CHECKING

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.retrieval.ranking_signals import asks_about_now

if TYPE_CHECKING:
    from hybrid_memory.retrieval.question import Question

MAX_QUESTION_WORDS = 25
"""A longer text is a message or a task, of which no one thing is asked."""


def asks_for_current_state(question: Question, now: datetime) -> bool:
    """Return True if a question wants one thing as it is at ``now``: short, about the present, and nothing that needs both values."""
    text = question.text
    return (
        max(len(text.split()), len(question.words)) <= MAX_QUESTION_WORDS
        and asks_about_now(question.time, now)
        and _NEEDS_BOTH.search(text) is None
        and (_PAST.search(text) is None or _FINALLY.search(text) is not None)
    )


def asks_for_several(text: str) -> bool:
    """Return True if a question wants all of a kind: "Which of my friends play chess?", "list my allergies"."""
    return _SEVERAL.search(text) is not None


_SEVERAL = LazyPattern(
    r"\b(?:all (?:the|my|our|of|his|her|their)|every(?:one|body|thing)?|list(?: of)?|which of|who all|how many|what are"
    r"|(?:which|what) (?:\w+ ){0,2}\w+[^su\W]s (?:do|did|are|were|have|can)"
    r"|alle|welche[rsnm]? (?:von|der|meiner|unserer)|wer alles|was alles|tous|toutes|lesquel\w+|quels|quelles|todos|todas|cuáles)\b"
    r"|哪些|所有|都有",
    re.IGNORECASE,
)
_FINALLY = LazyPattern(
    r"\b(?:in the end|finally|eventually|by now|am ende|schließlich|letztlich|finalement|à la fin|al final|finalmente)\b",
    re.IGNORECASE,
)
_NEEDS_BOTH = LazyPattern(
    r"\b(?:"
    # an order, the past, a history
    r"first(?! (?:name|aid|class|floor))|last time|before|after|earlier|previous(?:ly)?|original(?:ly)?|initial(?:ly)?|used to|ago|since"
    r"|history|timeline|over the|over time|in (?:what|which) order|sequence|chronolog\w*|evol\w+|progress\w*|develop(?:ed|ment) of"
    r"|chang(?:e|es|ed|ing)|so far|no longer|any ?more"
    # a comparison, a count of times, more than one
    r"|(?:days?|weeks?|months?|years?|hours?|long|time|gap|passed|choose|choice)\b.{0,40}\bbetween"
    r"|compar\w+|differen\w+|versus|vs|than|both|each|every\w*|all|list(?:s|ed|ing)?|which of|one of|times|how often"
    r"|often|ever|never|always|sum up|summar\w+|overview|recap|across|altogether|options|examples|ideas"
    # German
    r"|zuerst|zuletzt|erste[rsn]?|vorher|zuvor|früher\w*|damals|bisher\w*|ursprünglich\w*|alle[srnm]?|liste\w*|jede[rsnm]?"
    r"|vergl\w+|unterschie\w+|zwischen|seit|wie oft|jemals|immer|geändert|verändert|änderung\w*|verlauf|reihenfolge|beide[rsn]?"
    r"|nachdem|bevor|vor (?:dem|der|den)|nach (?:dem|der|den)|welche von|zusammenfass\w*"
    # French
    r"|d['’]abord|avant|après|autrefois|auparavant|au début|tous|toutes|liste[rsz]?|chaque|entre|différen\w+|compar\w+|combien de fois"
    r"|chang[eé]\w*|depuis|dans quel ordre|premi(?:er|ère)s?|les deux|jamais|historique|ancien\w*|résum\w+|dernière fois"
    # Spanish
    r"|primer[oa]?s?|antes|después|todos|todas|lista\w*|cada|diferencia\w*|compara\w*|cuántas veces|cambi\w+|desde|en qué orden"
    r"|amb[oa]s|alguna vez|nunca|siempre|historial|anterior\w*|resum\w+|última vez"
    r")\b",
    re.IGNORECASE,
)
_PAST = LazyPattern(
    r"\b(?:did|didn['’]?t|was|were|wasn['’]?t|weren['’]?t|had|hadn['’]?t"
    r"|war|waren|warst|wurde[nt]?|hatte[nt]?|gab es|gewesen|ging(?:en)?|kam(?:en)?"
    r"|était|étaient|avait|avaient|fut|a été|ont été"
    r"|era|eran|fue|fueron|estaba|estaban|había|tenía|tenían|hubo)\b",
    re.IGNORECASE,
)
