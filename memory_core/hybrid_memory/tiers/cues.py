"""English words and phrases that say how much a statement will matter later.

Data only: a cue missing here costs a little importance and never a memory. Signals that need no language (digits, dates,
names, addresses) are found in `hybrid_memory.tiers.importance`.
"""

from __future__ import annotations

# ruff: noqa: SIM905 - word lists read best as running text

DIRECTIVES: frozenset[str] = frozenset(
    """
    always never remember must forbid forbidden important critical essential mandatory require required requires
    ensure note reminder warning
    """.split()
)
DIRECTIVE_PHRASES: tuple[str, ...] = (
    "do not",
    "don't",
    "make sure",
    "keep in mind",
    "from now on",
    "no matter what",
    "under no circumstances",
    "at all times",
)

DECISIONS: frozenset[str] = frozenset(
    """
    decide decided decides decision agreed agree chose chosen choose settled approved rejected resolved conclude
    concluded plan planned plans deadline due goal promise promised commit committed scheduled appointment
    switched migrated cancelled canceled adopted
    """.split()
)
DECISION_PHRASES: tuple[str, ...] = ("we will", "i will", "going to", "let's use", "we use", "went with", "instead of")

PREFERENCES: frozenset[str] = frozenset(
    """
    prefer prefers preferred preference like likes love loves loved hate hates dislike dislikes enjoy enjoys
    favorite favourite favorites favourites allergic vegetarian vegan want wants wish wishes avoid avoids
    """.split()
)

PERSONAL_PHRASES: tuple[str, ...] = (
    "my name",
    "i am",
    "i'm",
    "i live",
    "i work",
    "i was born",
    "i moved",
    "i have",
    "i've",
    "my wife",
    "my husband",
    "my partner",
    "my son",
    "my daughter",
    "my mother",
    "my father",
    "my job",
    "my birthday",
    "my address",
    "call me",
)

EMOTIONS: frozenset[str] = frozenset(
    """
    happy glad proud excited delighted thrilled grateful relieved sad upset angry furious afraid scared worried
    anxious nervous lonely ashamed embarrassed jealous disappointed frustrated devastated heartbroken grief stressed
    exhausted hurt miss misses cried
    """.split()
)

CHIT_CHAT: frozenset[str] = frozenset(
    """
    hi hello hey bye goodbye ok okay k yes no yeah yep nope sure thanks thank you thx cheers please welcome lol haha hmm
    hm oh ah well right cool nice great fine good morning evening night afternoon there how are sounds got it np wow
    see later
    """.split()
)
