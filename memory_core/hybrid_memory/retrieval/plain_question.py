"""What a prompt plainly asks of its writer's own things, and which words of memories answer that though it names none of them. Pure.

"When can we deploy?" orders nothing, so "deploy" is its topic; "which package manager do we use?" is answered by "we use pnpm"; and who
asks for a snack wants to hear of the allergy. Kinds of things and their names are a table by hand: what people at work and at home have.
"""

from __future__ import annotations

import functools
import re
from dataclasses import dataclass

from hybrid_memory.language.languages import word_set
from hybrid_memory.language.lazy_pattern import LazyPattern

LONGEST = 160  # characters of a prompt that asks one thing

_OWN = r"(?:i|i'm|my|mine|we|we're|our|ours|us|me|ich|mein\w*|wir|unser\w*|uns|mir|je|j|mon|ma|mes|nous|notre|nos|mi|mis|nuestr[oa]s?)"
_ASKS_OF_OWN = LazyPattern(
    r"(?ix)^\W*(?:(?:and|so|ok|hey|hi|please|sag|say|tell\ me|remind\ me|do\ you\ (?:know|remember)|can\ you\ tell\ me)\W+){0,2}"
    r"(?:(?:who|whose|whom|when|where|which|what|what's|who's|where's|when's|how\ (?:many|much|old|long|often|far|big|tall)"
    r"|(?:on|at|in|by|from|to|for|until|since|with)\ (?:which|what|whom)"
    r"|wer|wen|wem|wann|wo|wohin|welche\w*|was|wie\ (?:viele?|alt|oft|lange|hei(?:ß|ss)\w*)|qui|quand|où|quel\w*|"
    r"combien|quién|cuándo|dónde|cuál\w*)\b"
    rf"[^?\n]*\b{_OWN}\b"
    rf"|(?:do|did|am|are|were|may|have|had|is|was)\ {_OWN}\b)"
)
_ASKS = LazyPattern(
    r"(?i)^\W*(?:who|when|where|what time|what day|which day|on which day|wann|wo|wer|quand|où|quién|cuándo|dónde)(?:'s)?\b[^\n]*$"
)
_ADVICE = LazyPattern(
    r"(?i)\b(?:(?:what|how|where|who|was|wie|wo) (?:can|could|kann|können|do) (?:i|we|ich|wir) (?:do|cook|eat|make|"
    r"fix|undo|get|buy|find|read|watch|write|see)"
    r"|should|would|could|best|better|difference|mean|means|happens?|wrong|error|exception|bug|sollte\w*|könnte\w*)\b"
)

_TELLS_OF_OWN = LazyPattern(
    rf"(?i)(?<![\w.\-/])(?:{_OWN}|(?:the |der |die )?user(?:'s)?|(?:i|we)'(?:ve|d|ll))(?![\w\-/])"
)
_SAYS_I = LazyPattern(r"(?i)(?<![\w.\-/])(?:i|i'm|i've|we|we're|the user|user:|ich|wir|je|j'ai|nous|yo)(?![\w\-/])")
_KINDS: tuple[tuple[str, str], ...] = (
    (r"package manager|paketmanager", "npm pnpm yarn bun pip uv poetry conda cargo maven gradle composer homebrew apt"),
    (
        r"test(?:ing)? (?:framework|runner|library|tool)",
        "pytest unittest jest vitest mocha junit rspec playwright cypress testng",
    ),
    (
        r"(?:programming )?languages?\b(?=.*\b(?:use|write|code|program|services?|backend|project)\b)|programming language",
        "Python Go Rust Java Kotlin TypeScript JavaScript Ruby Elixir Swift Scala PHP golang",
    ),
    (
        r"(?:chat|messaging|messenger) ?(?:tool|app|program)?",
        "Slack Zulip Teams Discord Mattermost Signal WhatsApp Telegram",
    ),
    (
        r"databases?|datenbank|\bdb\b",
        "Postgres PostgreSQL MySQL MariaDB SQLite MongoDB Redis DuckDB Oracle Cassandra DynamoDB",
    ),
    (r"editor|\bide\b", "vim neovim emacs VSCode Cursor Zed PyCharm IntelliJ nano Sublime"),
    (r"(?:front ?end|web|ui|css) ?framework", "React Vue Svelte Angular Solid Tailwind Bootstrap Next Nuxt Astro htmx"),
    (r"operating system|\bos\b|distro|linux", "Linux Ubuntu Debian Fedora Arch macOS Windows NixOS"),
    (r"cloud|hosting|host(?:ed)?\b", "AWS Azure GCP Hetzner Heroku Vercel Cloudflare DigitalOcean"),
    (r"\bci\b|build server", "Jenkins Buildkite CircleCI GitLab Travis TeamCity"),
    (
        r"\bcar\b|\bauto\b|voiture|coche",
        "drive Skoda Tesla Toyota Volvo Audi BMW Volkswagen VW Ford Honda Mazda Renault Peugeot Fiat Hyundai Kia Seat Mercedes",
    ),
    (r"phone|handy|smartphone", "iPhone Pixel Galaxy Samsung Fairphone Xiaomi OnePlus"),
    (r"laptop|computer", "ThinkPad MacBook Dell XPS Framework"),
    (
        r"\b(?:boss|(?<!package )manager|chef|chefin|supervisor|jefe|patron)\b",
        "boss manager Chef Chefin chief supervisor jefe patron",
    ),
    (
        r"birthday|gift|present\b|geburtstag|geschenk|cadeau|anniversaire|regalo|cumpleaños",
        "birthday Geburtstag anniversaire cumpleaños birthdays",
    ),
    (
        r"(?:which|what) languages?\b|sprache",
        "Japanese Spanish French German Italian Chinese Portuguese Russian Korean Arabic Dutch Polish",
    ),
    (r"instrument", "piano guitar cello violin flute drums saxophone trumpet clarinet bass organ ukulele"),
    (r"\bpets?\b|haustier", "dog cat hamster rabbit parrot horse Hund Katze"),
    (
        r"children|kids|kinder|enfants|hijos",
        "children kids son daughter sons daughters Kinder Sohn Tochter enfants hijos",
    ),
    (
        r"\bjob\b|for a living|profession|beruf|employer|company\b.*\bwork",
        "work works nurse teacher doctor engineer architect lawyer developer designer",
    ),
)
"""What is asked for, and names of such things: those with a capital are written so in a memory, others in any way."""

_FOOD = LazyPattern(
    r"(?i)\b(?:snacks?|recipes?|cook(?:ing)?|bake|baking|dinner|lunch|breakfast|brunch|desserts?|meals?|restaurants?|eat|dishes|cake|"
    r"rezepte?|kochen|backen|abendessen|mittagessen|frühstück|essen|nachtisch|recettes?|cuisiner|dîner|déjeuner|"
    r"recetas?|cocinar|cenar?|comer)\b"
)
_REMEDY = LazyPattern(
    r"(?i)\b(?:headache|painkillers?|medicine|medication|pills?|antibiotics?|fever|a cold|sore throat|migraine|flu|"
    r"kopfschmerz\w*|schmerzmittel|medikamente?|fieber|médicament\w*|dolor de)\b"
)
_CODE = LazyPattern(
    r"(?i)\b(?:class|function|component|api|database|table|schema|tests?|file|module|endpoint|code|script|app|website|page|button|css|html|"
    r"sql|json|field|enum|model|story|poem|translate|justfile|makefile|cookbook|ansible)\b"
)
_DIET = LazyPattern(
    r"(?i)\b(?:allerg\w*|vegan\w*|vegetari\w*|intoleran\w*|lactose|laktose\w*|gluten\w*|celiac|coeliac|zöliakie|"
    r"kosher|halal|diabet\w*|pregnan\w*|"
    r"schwanger|unverträglich\w*|enceinte|embarazada|(?:can(?:no|')t|can not|don't|doesn't|do not|does not|never|no longer) eats?|"
    r"no como|mange pas|esse kein\w*|isst kein\w*)\b"
)
_ILLS = LazyPattern(
    r"(?i)\b(?:allerg\w*|ibuprofen|aspirin|paracetamol|penicillin|antibiotic\w*|asthma|diabet\w*|pregnan\w*|"
    r"schwanger|blood pressure|blutdruck|"
    r"medication|takes? \w+ (?:badly|daily|every)|heart|stomach|migraine\w*)\b"
)
_DIET_WORDS = (
    "allergic allergy vegan vegetarian lactose intolerant intolerance gluten celiac kosher halal diabetic diabetes pregnant eat "
    "allergisch vegetarisch laktose allergique végétarien alérgico alérgica vegetariano"
)
_ILLS_WORDS = (
    "allergic allergy ibuprofen aspirin paracetamol penicillin antibiotics asthma diabetes diabetic pregnant medication heart stomach "
    "migraine blood allergisch"
)

NO_TOPIC = word_set(
    "use used uses using have has having get gets getting go goes going do does make makes take takes taken call called calls named like "
    "likes liked prefer want wants need needs keep keeps put choose chose chosen pick picked decide decided agree "
    "agreed say said tell told "
    "know remember again now currently usually already still ever heißt heiße heißen nennt nutzen benutzen "
    "verwenden haben again please what "
    "which kind sort much many old long often far time day days thing name's living"
)
"""What a question of one's own is not about, though it is no order there: verbs of having and naming."""


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
        for about, found, words in ((_FOOD, _DIET, _DIET_WORDS), (_REMEDY, _ILLS, _ILLS_WORDS)):
            if about.search(text):
                standing, standing_words = found, words
    own = _ASKS_OF_OWN.match(text) is not None and not _ADVICE.search(text)
    plain = not own and _ASKS.match(text) is not None and not _ADVICE.search(text)
    gift = re.search(r"(?i)\b(?:gifts?|presents?) (?:ideas? )?for\b|\bgeschenk\w*\b", text)
    names: list[str] = []
    if own or gift:
        for kind, known in _KINDS:
            if re.search(kind, text, re.IGNORECASE):
                names += known.split()
    return Asked(own, plain, tuple(dict.fromkeys(names)), standing, standing_words)
