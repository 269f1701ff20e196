"""The English words of time, as tables."""

from __future__ import annotations


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


_MONTH_NAMES = (
    "january february march april may june july august september october november december",
    "jan feb mar apr - jun jul aug sep oct nov dec",
    "- - - - - - - - sept - - -",
)
MONTHS = {name: number for names in _MONTH_NAMES for number, name in enumerate(names.split(), start=1) if name != "-"}
CLEAR_MONTHS = word_set("january february july september october november december")
"""The months that are neither another word nor a person's name."""

_WEEKDAY_NAMES = (
    "monday tuesday wednesday thursday friday saturday sunday",
    "mon tue wed thu fri sat sun",
    "- tues weds thur - - -",
    "- - - thurs - - -",
)
WEEKDAYS = {name: number for names in _WEEKDAY_NAMES for number, name in enumerate(names.split()) if name != "-"}
DOUBTFUL_DAYS = frozenset({"mon", "wed", "sat", "sun", "fri"})

SEASONS = {"spring": "spring", "summer": "summer", "autumn": "autumn", "fall": "autumn", "winter": "winter"}

UNITS = {
    name + ending: name
    for name in word_set("second minute hour day night week weekend fortnight month quarter year decade")
    for ending in ("", "s")
}
CALENDAR_UNITS = word_set("week weekend month quarter year decade")

_COUNTS = (
    "one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen sixteen seventeen eighteen "
    "nineteen twenty"
)
_TENS = "thirty forty fifty sixty seventy eighty ninety"
NUMBERS = {word: number for number, word in enumerate(_COUNTS.split(), start=1)} | {
    word: number * 10 for number, word in enumerate(_TENS.split(), start=3)
}
_RANKS = (
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth thirteenth fourteenth fifteenth "
    "sixteenth seventeenth eighteenth nineteenth twentieth"
)
ORDINALS = {word: number for number, word in enumerate(_RANKS.split(), start=1)} | {"last": -1, "final": -1}
VAGUE_COUNTS = {"few": (2, 5), "several": (3, 8), "couple": (2, 3), "some": (2, 8), "many": (4, 30), "dozen": (12, 12)}

EDGES = {"beginning": "beginning", "start": "beginning", "middle": "mid", "end": "end", "close": "end"}
THIRDS = {"early": "early", "mid": "mid", "late": "late"}
DAY_PARTS = {
    "morning": "morning",
    "noon": "noon",
    "midday": "noon",
    "lunchtime": "noon",
    "afternoon": "afternoon",
    "evening": "evening",
    "night": "night",
}
DAY_WORDS = {"yesterday": -1, "today": 0, "tonight": 0, "tomorrow": 1}
RELATIVES = {
    "last": "last",
    "past": "last",
    "previous": "last",
    "this": "this",
    "next": "next",
    "coming": "coming",
    "upcoming": "coming",
}
TELLING = RELATIVES.keys() | THIRDS.keys()
"""Before a name of a time they say that it is one, and which."""

DECADES = {"twenties": 20, "thirties": 30, "forties": 40, "fifties": 50, "sixties": 60, "seventies": 70}
DECADES |= {"eighties": 80, "nineties": 90}

HOLIDAY_PHRASES: dict[tuple[str, ...], str] = {
    tuple(phrase.split()): name
    for name, phrases in {
        "christmas": ("christmas", "xmas", "christmastime"),
        "christmas eve": ("christmas eve", "xmas eve"),
        "christmas day": ("christmas day", "xmas day"),
        "boxing day": ("boxing day",),
        "new year": ("new year", "new years"),
        "new year eve": ("new year eve", "new years eve"),
        "new year day": ("new year day", "new years day"),
        "valentine": ("valentine", "valentine day", "valentines", "valentines day"),
        "halloween": ("halloween",),
        "bonfire night": ("bonfire night", "guy fawkes night", "guy fawkes"),
        "thanksgiving": ("thanksgiving", "thanksgiving day"),
        "black friday": ("black friday",),
        "good friday": ("good friday",),
        "easter": ("easter", "easter weekend"),
        "easter sunday": ("easter sunday", "easter day"),
        "easter monday": ("easter monday",),
        "independence day": ("independence day",),
        "st patrick day": ("st patrick day", "saint patrick day"),
    }.items()
    for phrase in phrases
}
HOLIDAY_HEADS = frozenset(phrase[0] for phrase in HOLIDAY_PHRASES)

REPEATING = word_set("every each any per most all both many always usually")
"""Before a name of a time they say that no single one is meant."""

NOT_NOUNS = word_set(
    "i you he she it we they me him her us them my your his our their its who what which where when why how whose whom did "
    "do does was were is are am be been had has have will would could should can may might must shall the a an this that "
    "these those and or but nor so because if than as at in on by for from to of with about into onto over under after "
    "before during until till since between around near not no only also too even just then there here again already yet "
    "still ever never always usually together alone instead please and's both either neither all any each every some "
    "through throughout while again early late morning afternoon evening night noon going not don't didn't exactly compared "
    "versus vs rather i'm i'd i've we'd we've onwards onward ago today now"
)
"""Words that do not make the word before them part of a longer name, as "boot" does in "spring boot"."""

COUNTED = word_set(
    "euros euro dollars dollar pounds pound usd eur gbp bucks yen km kilometres kilometers miles metres meters m kg grams g ml "
    "litres liters steps people persons rows lines pages words tokens items files users calories kcal points times percent "
    "bytes kb mb gb px pixels units copies records watts volts rpm"
)
"""After a number they say that it counts something and is no year."""

NUMBERED = word_set(
    "room port version v ver release id no number nr pin code page part model flat apartment suite gate flight bus train line "
    "error ticket issue invoice order route highway building python postgres postgresql ubuntu windows office node java extension "
    "django rails kernel duckdb http status channel chapter section build # $ € £ ¥"
)
"""Before a number they say that it is a name or an amount and no date."""

PAPERS = word_set("invoice order ticket flight train bus issue page")
"""Those of them before which a whole date is one nevertheless."""

STREETS = word_set("street road avenue lane square drive way place court gardens st rd ave")
"""After a month they say that it is an address."""

TRIGGERS = (
    frozenset(MONTHS)
    | WEEKDAYS.keys()
    | SEASONS.keys()
    | UNITS.keys()
    | EDGES.keys()
    | THIRDS.keys()
    | DAY_PARTS.keys()
    | DAY_WORDS.keys()
    | RELATIVES.keys()
    | DECADES.keys()
    | HOLIDAY_HEADS
    | word_set(
        "before after since until till when whenever while during ago recently lately earlier later prior following around "
        "between now currently latest newest current still nowadays presently moment recent first originally initially original "
        "used use present far begin more formerly previously former old then back once time times longer anymore ex earliest past other day"
    )
)
"""A question without any of these words and without a digit holds nothing that `phrases` and `anchors` understand."""
