"""Passwords and keys that are known by the words before them: ``password: ...``, ``the password is ...``, in several languages.

A word for a password says little by itself ("the password is wrong"), so the value behind it has to look like one: letters with digits,
signs inside, digits alone. What is written in the manner of a program (``password=swordfish``) or in quotes may be a plain word. A
password that is a plain word in a plain sentence is therefore missed, on purpose.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.findings import SecretFound

PASSWORD = "password"  # noqa: S105 - the name of a kind
KEY = "key or token"
PIN = "PIN"
SEED_PHRASE = "seed phrase"

_I = re.IGNORECASE

# Words for a password. Those of other scripts and those that no other word begins with need no boundary, so that WLAN-Passwort,
# DB_PASSWORD and dbPassword count.
_PASSWORD_BEGINNINGS = (
    "passw", "passphrase", "passcode", "pass code", "pwd", "kennwort", "passord", "mot de passe", "contraseña", "contrasena",
    "contrasenya", "senha", "wachtwoord", "lösenord", "adgangskode", "kodeord", "salasana", "hasło", "heslo", "jelszó", "jelszo",
    "şifre", "sifre", "parola", "parolă", "parool", "slaptažod", "lozink", "zaporka", "пароль", "пароля", "паролем", "парола",
    "лозинк", "κωδικός", "mật khẩu", "kata sandi", "密码", "密碼", "口令", "パスワード", "暗証番号", "비밀번호", "암호", "كلمة المرور",
    "كلمة السر", "סיסמה", "סיסמא", "पासवर्ड", "รหัสผ่าน",
)  # fmt: skip
_PASSWORD_WORD = LazyPattern(
    r"passw(?:ord|ort|d|oord)s?|pass ?phrase|pass ?code|(?<![A-Za-z])pwd|kennwort|passord|mot de passe|contrase(?:ña|na|nya)"
    r"|(?<![a-z])senha|wachtwoord|lösenord(?:et)?|adgangskode|kodeord|salasana|hasło|heslo|jelsz[óo]|[şs]ifre(?:si|m)?|parol[aă]|parool"
    r"|slaptažodis|lozinka|zaporka|парол[ьяа]|паролем|лозинка|κωδικός|mật khẩu|kata sandi|密[码碼]|口令|パスワード|暗証番号|비밀번호|암호"
    r"|كلمة المرور|كلمة السر|סיסמ[הא]|पासवर्ड|รหัสผ่าน",
    _I,
)

# Between the word and the value: an optional "for the router" and a verb, or a sign.
_GAP = (
    r"(?:[ \t]{1,3}(?:for|of|to|on|at|in|from|für|fuer|des|der|vom|zum|zur|im|am|de|du|del|de la|do|da|para|pour|per|di|van|voor|til"
    r"|till|do|от|для|к|к)[ \t][^\n.!?;:=]{1,60}?)?"
)
_VERB = (
    r"(?:[ \t]{1,3}(?:is|was|are|will be|ist|lautet|war|heißt|est|es|era|é|è|jest|brzmi|to|är|er|on|je|este|là|adalah|είναι|это)"
    r"(?:[ \t]{1,2}(?:now|still|currently|set to|changed to|called|also|again|jetzt|noch|aktuell|maintenant|ahora|agora))?[ \t]{1,3})"
)
_SIGN = (
    r"(?:[ \t]{0,3}(?::=|=>|->|==|=|：|＝|:|—|–)(?:(?:\*\*|__|</b>|</strong>)(?=[ \t]))?[ \t]{0,3})"  # **Password:** x
)
_EASTERN_VERB = (
    r"(?:(?:ของ[\u0e00-\u0e7f]{1,20})?(?:[ \t]של[יך])?[ \t]{0,2}(?:是|为|為|は|が|는|은|هي|هو|คือ|เป็น|היא|הוא|हैं?)[ \t]?"
    r"|[ \t]{1,2}(?=[!-~]{4,64}[ \t]{1,2}है))"
)
_BEHIND_PASSWORD = LazyPattern(
    rf"(?:[A-Z_]{{0,12}}+[\"'`’\])}}*_]{{0,3}})(?:(?P<sign>{_SIGN})|{_GAP}(?:(?P<verb>{_VERB})|(?P<far>{_SIGN})|(?P<east>{_EASTERN_VERB})))"
    r"(?P<quote>[\"'`“„«‘*]{0,2})(?P<value>\S{1,256})",
    _I,
)
# "Password:" with its value alone on the next line.
_BELOW = LazyPattern(
    r"[\"'`*_]{0,3}[ \t]{0,3}[:：][*_]{0,2}[ \t]{0,3}\r?\n[ \t]{0,8}(?P<quote>`?)(?P<value>[^\W_]\S{3,64})(?=[ \t]{0,3}(?:\r?\n|\Z))"
)
_CHANGED_TO = LazyPattern(r"[ \t]{1,3}(?:to|auf|zu|в|à|a)[ \t]{1,3}(?P<quote>[\"'`“„«‘*]{0,2})(?P<value>\S{1,256})", _I)
_CHANGED = LazyPattern(
    r"(?:set|chang\w{1,3}|reset\w{0,4}|updat\w{1,3}|switch\w{0,3}|änder\w{1,3}|geändert|setz\w{1,3}|chang[ée]\w{0,3}|cambi\w{1,4})\b",
    _I,
)
_COMPOUND = LazyPattern(
    r"[\s_-]{0,2}(?:manager|polic|reset|hint|rule|length|strength|generat|field|prompt|protect|rotat|expir|hash|vault|store|requirement"
    r"|change|recovery|box|entropy|algorithm|safe|reuse|attempt|less|wallet|encrypt|cipher|file|list|spray|crack|guess|leak|audit|check"
    r"|valid|type|format|count|age\b|update|sharing|richtlinie|länge|generator|tresor|manager|feld|schutz|wechsel)",
    _I,
)
# Where the word means something else: the Italian for a word, a newspaper, the title of a work.
_OTHER_MEANINGS = LazyPattern(
    r"(?<![^\W\d_])(?:la|una|della|alla|nella|ogni|questa|quella|sola|prima|ultima|bella|mia|tua|sua)[ \t]parola$"
    r"|(?<![^\W\d_])het[ \t]parool$",
    _I,
)
_TITLE = LazyPattern(r"(?<![A-Za-z])(?:The|A)[ \t]Password$")
_STATES = frozenset(
    ("not", "no", "too", "never", "none", "wrong", "nicht", "kein", "zu", "pas", "trop", "no", "muy", "non", "troppo")
)
_ATTRIBUTE = LazyPattern(r"[a-z][a-z_]{1,40}(?:\.[a-z][a-z_]{1,40}){1,4}[0-9]{0,2}")
_PACKAGE = LazyPattern(r"(?:com|org|net|io|de|dev|app|edu|gov)(?:\.[a-z][a-z0-9_-]{1,40}){2,8}")
_NEAR = 24  # characters in front that say what is meant

# Lines of programs that hold a name and a password.
_LOGIN_LINES: tuple[tuple[str, LazyPattern], ...] = (
    (
        "curl",
        LazyPattern(
            r"\bcurl[ \t][^\n]{0,200}?(?<=[ \t])(?:-u|--user)[ =]?[\"']?[^\s:\"'/]{1,100}:(?P<value>[^\s\"':/@][^\s\"']{2,200})"
        ),
    ),
    (
        "wifi:",
        LazyPattern(
            r"(?<![A-Za-z])WIFI:(?:[A-Z]:(?:\\.|[^;\\\n]){0,64};){0,4}?P:\"?(?P<value>(?:\\.|[^;\\\n\"]){4,64})"
        ),
    ),
    (
        "login",
        LazyPattern(
            r"\bmachine[ \t]{1,8}(?:[^\s.]{1,100}\.\S{1,100}+|localhost)\s{1,8}login\s{1,8}\S{1,100}+\s{1,8}password\s{1,8}"
            r"(?P<value>\S{3,200})"
        ),
    ),
)
_ACCOUNT_WORDS = LazyPattern(
    r"\b(?:user(?:name)?|login|log in|wi-?fi|wlan|ssid|account|konto|e-?mail|benutzer\w{0,6}|utilisateur|usuario|host|server|ftp|ssh|vpn"
    r"|router|network|netzwerk)\b",
    _I,
)

# Names of keys and tokens, with a sign or a verb behind them.
_KEY_WORD = LazyPattern(
    r"(?:api|access|auth|secret|private|client|signing|encryption|bearer|licen[cs]e|app|account|master|session|refresh|deploy|webhook"
    r"|service|personal access|bot|admin|storage|consumer|oauth2?)[ _-]?(?:key|token|secret|schlüssel)s?|apikey|authkey"
    r"|(?<![A-Za-z])(?:(?:token|secret|bearer|basic|authorization)(?![A-Za-z]))",
    _I,
)
_KEY_BEGINNINGS = ("key", "token", "secret", "bearer", "authorization", "schlüssel", "basic")
_BEHIND_KEY = LazyPattern(
    rf"(?:_?(?:key|id)?_?[\"'`\])}}*]{{0,3}})(?:{_SIGN}|{_GAP}(?:{_VERB}|{_SIGN})|[ \t])"
    r"(?P<quote>[\"'`“„«‘*]{0,2})(?:(?:bearer|basic|token)[ \t]{1,3})?(?P<value>[A-Za-z0-9_\-./+=~%]{16,1024}+)",
    _I,
)
_OTHER_TOKENS = LazyPattern(r"(?:page|next|continuation|sync|eos|bos|pad|stop|start|end|mask|special|unk)[ _-]?$", _I)
_BARE_KEY_WORD = frozenset({"token", "secret", "basic"})

_PIN_WORD = LazyPattern(
    rf"(?<![A-Za-z])(?:PIN|(?i:pin (?:code|number|for|of)))(?i:{_GAP})"
    rf"(?:(?i:{_VERB})(?P<told>[0-9]{{4,6}})|{_SIGN}(?P<written>[0-9]{{4,5}}))(?![.,/-]?[0-9A-Za-z])"
)
_SEED_WORD = LazyPattern(
    r"(?:seed|recovery|mnemonic|backup|wiederherstellungs)[ -]?(?:phrase|words|wörter|seed)?(?:[^\n.!?;:=]{0,30}?)"
    r"(?::|=| is| are| ist| lautet)[ \t\n]{1,3}[\"'`“]?(?P<value>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![a-z])",
    _I,
)
_NO_SEED_WORDS = frozenset(
    (
        "the", "and", "was", "are", "for", "not", "but", "has", "had", "our", "its", "you", "from", "because",
        "which", "where", "when", "who", "were", "been", "his", "her",
    )
)  # fmt: skip

_TRAILING = ".,;:)]}>\"'`”“’»›*，。；、）」』"
_SIGNS = frozenset("@#$%^&*!+=~|?<>\\§€£")
_NO_VALUE_BEGINNINGS = (
    "<",
    "[",
    "{",
    "$",
    "%",
    "(",
    "http://",
    "https://",
    "www.",
    "/",
    "./",
    "~/",
    "../",
    "…",
    "...",
    "***",
    "•",
    "xxx",
    "XXX",
)
_PLACEHOLDERS = frozenset(
    (
        "password", "passwort", "passwd", "passphrase", "pass", "pwd", "secret", "geheim", "none", "null", "nil",
        "true", "false", "undefined", "required", "optional", "empty", "hidden", "redacted", "masked", "unknown",
        "string", "str", "text", "value", "values", "example", "beispiel", "changeme", "default", "admin", "root",
        "test", "testing", "user", "username", "foobar", "placeholder", "input", "your", "yours", "mine", "here",
        "there", "this", "that", "same", "unset", "missing", "invalid", "incorrect", "wrong", "right", "correct",
        "weak", "strong", "expired", "forgotten", "reset", "changed", "please", "forgot", "tbd", "todo", "varchar",
        "bytes", "char", "object", "number", "needed", "disabled", "enabled", "protected", "generated", "random",
        "encrypted", "hashed", "plaintext", "readonly", "abgelaufen", "falsch", "richtig", "vergessen", "unbekannt",
        "siehe", "incorrecte", "oublié",
    )
)  # fmt: skip
_NAMES_OF_VALUES = ("password", "passwort", "passwd", "_pass", "_pwd")  # my_password, of examples and of variables
_NO_PASSWORDS = LazyPattern(
    r"(?:sha-?[0-9]{1,3}|md5|argon2\w{0,2}|bcrypt\w{0,2}|pbkdf2\S{0,12}|base-?64|aes-?[0-9]{3}\S{0,12}|[12]password|oauth2?|[0-9]fa|utf-?8"
    r"|v?[0-9]{1,3}(?:\.[0-9]{1,4}){1,3}\S{0,6}|[0-9]{1,4}[./-][0-9]{1,2}[./-][0-9]{1,4}(?:T\S{0,20})?|[0-9]{1,2}[:.h][0-9]{2}(?:am|pm|h|uhr)?"
    r"|[0-9]{1,4}[-–]?(?:x|st|nd|rd|th|am|pm|h|min|bits?|bytes?|gb|mb|kb|chars?|characters?|digits?|letters?|words?|days?|weeks?|months?|years?"
    r"|times?|stellig\w{0,2}|zeichen|tagen?|wochen?|mal|%)(?:[-–]\w{0,12})?"
    r"|(?:min|max|len|length|least|minimum|maximum|mindestens)[-_:=]?[0-9]{1,3}|q[1-4]|[a-z]{1,12}'s|(?:process|os|config|env|self|this|settings|secrets|vars|var|data)\.\S{1,200}|[\w.+-]{1,64}@[\w-]{1,64}\.[a-z]{2,12})",
    _I,
)
_IDENTIFIER_PART = LazyPattern(r"(?:[a-z]{2,40}|[A-Z][a-z]{1,40}|[A-Z]{2,40}|v?[0-9]{1,4})?")
_SEPARATORS = LazyPattern(r"[-_./+=~%]")
_NEXT_WORD = LazyPattern(r"[ \t]{1,3}([^\W\d_]{2,40})")
_LINKING = frozenset(
    (
        "and", "und", "et", "y", "e", "i", "en", "och", "og", "ja", "a", "or", "but", "oder", "aber", "please",
        "bitte", "so", "for", "für", "with",
    )
)  # fmt: skip
_NAMED_VALUE = LazyPattern(
    r"(?:my|your|the|api|app|some|a)?[-_ ]?(?:api|app|access)?[-_ ]?(?:password|passwort|passwd|pass|pwd|token|key|secret)[0-9]{0,2}",
    _I,
)  # YOUR_TOKEN, in examples
_BEHIND_PIN = _LINKING | {
    "since",
    "now",
    "still",
    "again",
    "at",
    "on",
    "to",
    "because",
    "as",
    "if",
    "when",
    "thanks",
    "seit",
    "jetzt",
}
_LEAST_NAMED_PART = 8  # characters of a part of a key under its name
_CLOSING = {"“": "”", "„": "“", "«": "»", "‘": "’"}
_LEAST_PASSWORD = 4
_FIRST_EASTERN = "\u2e80"  # from here on scripts without spaces between words
_LEAST_PLAIN = 6  # letters of a plain word that is written in the manner of a program
_LEAST_DISTINCT_OF_KEY = 8
_WORDS_BEFORE = 80  # characters in front in which a name of an account may stand


def may_hold_passwords(lowered: str) -> bool:
    """Return True unless a text, in lower case, holds no word for a password: a cheap look before the expensive one."""
    return any(map(lowered.__contains__, _PASSWORD_BEGINNINGS))


def may_hold_keys(lowered: str) -> bool:
    """Return True unless a text, in lower case, holds no word for a key or token."""
    return any(map(lowered.__contains__, _KEY_BEGINNINGS))


def find_passwords(text: str) -> Iterator[SecretFound]:
    """Yield the values behind words for a password that look like one."""
    for word in _PASSWORD_WORD.finditer(text):
        if _COMPOUND.match(text, word.end()):
            continue
        before = text[max(word.start() - _NEAR, 0) : word.end()]
        if _OTHER_MEANINGS.search(before):
            continue
        found = _BELOW.match(text, word.end())
        if found is not None:
            if (span := _span_below(text, found)) is not None:
                yield SecretFound(*span, PASSWORD)
            continue
        found = _BEHIND_PASSWORD.match(text, word.end())
        if found is not None and _is_said_of_words(text, before, found, word[0]):
            continue
        if found is None:
            found = _CHANGED_TO.match(text, word.end())
            if found is None or _CHANGED.search(text[max(word.start() - 40, 0) : word.start()]) is None:
                continue
        span = _password_span(text, word.start(), found)
        if span is not None:
            yield SecretFound(*span, PASSWORD)


def find_login_lines(text: str, lowered: str) -> Iterator[SecretFound]:
    """Yield the passwords of ``curl -u name:password``, of codes that join a wireless network, and of netrc files."""
    for program, pattern in _LOGIN_LINES:
        if program not in lowered:
            continue
        for found in pattern.finditer(text):
            value = found["value"]
            if (
                value.lower() in _PLACEHOLDERS
                or value.startswith(_NO_VALUE_BEGINNINGS)
                or _NAMED_VALUE.fullmatch(value)
            ):
                continue
            yield SecretFound(*found.span("value"), PASSWORD)


def find_keys(text: str) -> Iterator[SecretFound]:
    """Yield the values behind names of keys and tokens that look like one."""
    at = 0
    while (word := _KEY_WORD.search(text, at)) is not None:
        found = _BEHIND_KEY.match(text, word.end())
        at = word.end() if found is None else found.end()
        if found is None:
            continue
        bare = word[0].lower() in _BARE_KEY_WORD
        if bare and _OTHER_TOKENS.search(text[max(word.start() - 14, 0) : word.start()]):
            continue
        value = found["value"].rstrip(_TRAILING)
        if _looks_like_key(value):
            yield SecretFound(found.start("value"), found.start("value") + len(value), KEY)


def find_pins(text: str) -> Iterator[SecretFound]:
    """Yield the digits behind "PIN is" and "PIN:"; behind the latter, six are a place in India."""
    for found in _PIN_WORD.finditer(text):
        start, end = found.span("told" if found["told"] else "written")
        following = _NEXT_WORD.match(text, end) if found["told"] else None
        if following is None or following[1].lower() in _BEHIND_PIN:
            yield SecretFound(start, end, PIN)


def find_seed_phrases(text: str) -> Iterator[SecretFound]:
    """Yield the twelve to twenty-four words behind "seed phrase:"."""
    for found in _SEED_WORD.finditer(text):
        words = re.split(r"[ ,]+", found["value"].lower())
        count = len(words) - len(words) % 3
        if not _NO_SEED_WORDS.isdisjoint(words[:count]):
            continue
        end = found.start("value")
        for word in words[:count]:
            end = text.lower().index(word, end) + len(word)
        yield SecretFound(found.start("value"), end, SEED_PHRASE)


def _password_span(text: str, word: int, found: re.Match[str]) -> tuple[int, int] | None:
    """Return where the value of a match stands, None where it does not look like a password."""
    start, quote = found.start("value"), found["quote"]
    if quote and quote[-1] != "*":
        return _quoted_span(text, start, quote[-1])
    value = found["value"].rstrip(_TRAILING)
    if "east" in found.groupdict() and not text[start : start + 1].isascii():
        return None
    value = _without_foreign_end(value)
    groups = found.groupdict()
    tight = (
        groups.get("sign") is not None
        and groups["sign"].strip() in {"=", ":="}
        and groups["sign"] == groups["sign"].strip()
    )
    told = groups.get("sign") is not None and _is_last(text, start + len(value)) and _names_account(text, word)
    return (
        (start, start + len(value))
        if _looks_like_password(value, text, start + len(value), plain=tight or told)
        else None
    )


def _span_below(text: str, found: re.Match[str]) -> tuple[int, int] | None:
    """Return where a value alone on its line stands; the name of the next field of a form, and a number, are none."""
    value = found["value"].rstrip("`")
    if value.endswith(":") or value.isdigit():
        return None
    end = found.start("value") + len(value)
    return (found.start("value"), end) if _looks_like_password(value, text, end, plain=False) else None


def _is_said_of_words(text: str, before: str, found: re.Match[str], word: str) -> bool:
    """Return True if a match is about the word or a name of a program, not about a password.

    Such are titles (``The Password is "Courage"``), states (``the password is "not set"``), quotes inside of a sentence, comparisons,
    attributes and variables (``password = user.password_hash2``, ``password=password1``).
    """
    quote, sign = found["quote"], (found["sign"] or found["far"] or "").strip()
    if quote and quote[-1] != "*":
        return _quotes_words(text, before, found)
    value = found["value"].rstrip(_TRAILING)
    if "=" not in sign:
        return False
    variable = value.lower().startswith(word.lower()) and value[len(word) :].isdigit() and len(value) <= len(word) + 2
    return variable or sign == "==" or _ATTRIBUTE.fullmatch(value) is not None


def _quotes_words(text: str, before: str, found: re.Match[str]) -> bool:
    """Return True if the quotes behind a word for a password hold a title, a state, or words in the middle of a sentence."""
    start = found.start("value")
    end = text.find(_CLOSING.get(found["quote"][-1], found["quote"][-1]), start, start + 128)
    words = text[start:end].split(" ") if end > 0 else []
    if not words or not all(one.isalpha() for one in words):
        return False
    if words[0].lower() in _STATES and len(words) <= 4:  # noqa: PLR2004 - "too short for this site"
        return True
    if words[0][0].isupper() and _TITLE.search(before):
        return True
    following = _NEXT_WORD.match(text, end + 1)
    return len(words) > 1 and following is not None and following[1].lower() not in _LINKING


def _quoted_span(text: str, start: int, quote: str) -> tuple[int, int] | None:
    """Return where a value in quotes stands: it may be plain words."""
    closing = _CLOSING.get(quote, quote)
    end = text.find(closing, start, start + 128)
    value = text[start:end]
    if (
        end < 0
        or "\n" in value
        or len(value) < _LEAST_PASSWORD
        or value.lower() in _PLACEHOLDERS
        or value.endswith(("?", "…"))
    ):
        return None
    if value.lower().endswith(_NAMES_OF_VALUES):
        return None
    if value.startswith(_NO_VALUE_BEGINNINGS) or _NO_PASSWORDS.fullmatch(value) or value.count(" ") > 8:  # noqa: PLR2004 - a sentence
        return None
    return start, end


def _looks_like_password(value: str, text: str, end: int, *, plain: bool) -> bool:
    if len(value) < _LEAST_PASSWORD or value.lower() in _PLACEHOLDERS or value.startswith(_NO_VALUE_BEGINNINGS):
        return False
    if _NO_PASSWORDS.fullmatch(value) or "(" in value or "://" in value or value.lower().endswith(_NAMES_OF_VALUES):
        return False
    digits = sum(one.isdigit() for one in value)
    if digits == len(value):
        following = _NEXT_WORD.match(text, end)
        return following is None or following[1].lower() in _LINKING
    if digits and any(one.isalpha() for one in value):
        return True
    if len(value) >= _LEAST_PLAIN and any(one in _SIGNS for one in value[1:-1]):
        return True
    return plain and value.isalpha() and len(value) >= _LEAST_PLAIN


def _looks_like_key(value: str) -> bool:
    """Return True for a value with digits and letters that is no path, name or version put together of words."""
    if (
        len(set(value)) < _LEAST_DISTINCT_OF_KEY
        or not any(one.isdigit() for one in value)
        or not any(one.isalpha() for one in value)
    ):
        return False
    if value.lower().startswith(("your", "process.", "os.", "http", "xxx", "./", "/", "~/", "example")):
        return False
    if _PACKAGE.fullmatch(value):
        return False
    return not all(_IDENTIFIER_PART.fullmatch(part) for part in _SEPARATORS.split(value))


def is_password_value(value: str) -> bool:
    """Return True if what is alone in a field looks like a password: in one row, with digits or signs, no placeholder."""
    return not any(map(str.isspace, value)) and _looks_like_password(value, value, len(value), plain=False)


def is_plain_identifier(value: str) -> bool:
    """Return True for words, versions and short parts with signs between them: ``gpt-4o-2024``, ``vault/prod-v2``."""
    parts = _SEPARATORS.split(value)
    return all(_IDENTIFIER_PART.fullmatch(part) or len(part) < _LEAST_NAMED_PART for part in parts)


def _is_last(text: str, end: int) -> bool:
    rest = text[end : end + 3].strip(" \t")
    return not rest or rest[0] in "\n\r,;.)"


def _names_account(text: str, word: int) -> bool:
    return _ACCOUNT_WORDS.search(text[max(word - _WORDS_BEFORE, 0) : word]) is not None


def _without_foreign_end(value: str) -> str:
    """Return a value of ASCII without what another script has written on behind it, which knows no spaces."""
    if value.isascii() or not value[0].isascii():
        return value
    at = next((place for place, one in enumerate(value) if one >= _FIRST_EASTERN), len(value))
    return value[:at].rstrip(_TRAILING)
