"""The names in memories: people, places, projects, files; how often each, and when. Pure.

What a single text leaves open, all of them decide: a word that opens its sentence is a name if it is written as one elsewhere, or
if it is uncommon and never written small. An acronym that always follows an article or a number, or says more of a word behind it
("a PR", "40 GB", "our PCI audit"), is a common noun; so is a German noun that mostly follows an article ("die Prüfung"). Languages,
peoples and days of the week have capitals too, and are not listed.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from numpy.typing import NDArray

from hybrid_memory.embedding.vocabulary import english_rank
from hybrid_memory.language import lexicon
from hybrid_memory.language.languages import all_function_words
from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.language.names import written_names
from hybrid_memory.retrieval.arrays import GrowableArray

Shares = Callable[[Sequence[str]], Sequence[float | None]]
"""Returns for some words in how many of the memories that hold them, and tell, they are names; None where none tells."""

BUCKETS = 24
"""The time from the first memory to the last is counted in so many equal parts."""
_MOST_NAMES_READ = 200  # of one memory; a pasted table has thousands
_LONGEST = 60  # characters
_USUALLY = 0.5
_COMMON = 9_000  # words of this rank and below are as good as never names where only their place gives them a capital
_SWALLOWED = 0.8  # a word that is so often within one longer name is no name of its own
_ENDINGS = ("s", "es", "ed", "d", "ing", "ly")
_NEAR = 40  # characters in which the words before and behind a name are looked for
_AROUND = LazyPattern(r"^[^\w]+|[^\w]+$")
_NO_NAME = LazyPattern(r"[A-Z]{2,}s|[^\W\d_]\d|\d+h\d*|(?=.*\d)(?=.*[a-f])[\da-f]{6}")  # "PRs", "A4", "18h30", a colour
_CONTRACTED = LazyPattern(r"['’](?:re|m|ll|ve|d|t|s)$", re.IGNORECASE)
_BRACKETS = LazyPattern(r"[【】「」『』《》〈〉（）()\[\]{}]")
# Chinese, Japanese, Korean, Arabic, Hebrew and Hindi have no capitals, so `hybrid_memory.language.names` finds none of their names.
# What has 先生, さん, 씨, السيد or "my sister" next to it is one.
_SURNAMES = (
    "王李张張刘劉陈陳杨楊黄黃赵趙吴吳周徐孙孫马馬朱胡郭何高林罗羅郑鄭梁谢謝宋唐许許韩韓冯馮邓鄧曹彭曾肖田董袁潘于蒋蔣蔡余杜叶葉程苏蘇魏吕呂丁任沈姚卢盧姜"
    "崔钟鍾谭譚陆陸汪范金石廖贾賈夏韦韋方白邹鄒孟熊秦邱江尹薛闫段雷侯龙龍史陶黎贺賀顾顧毛郝龚龔邵万萬钱錢严嚴戴"
)
_KOREAN_SURNAMES = (
    "김이박최정강조윤장임한오서신권황안송류전홍고문양손배백허유남심노하곽성차주우구민나진지엄채원천방공현"
    "함변염여추도소석선설마길연위표명기반왕금옥육인맹제모"
)
_TITLED = tuple(
    LazyPattern(pattern)
    for pattern in (
        rf"([{_SURNAMES}][\u4e00-\u9fff]{{0,2}}?)(?:先生|女士|小姐|老师|老師|医生|醫生|教授|经理|經理|同学|同學|阿姨|叔叔|师傅|師傅|律师|律師)",
        rf"(?:我叫|名叫|叫做|名字是|同事|朋友|妻子|丈夫|老婆|老公|儿子|兒子|女儿|女兒|姐姐|妹妹|哥哥|弟弟)([{_SURNAMES}][\u4e00-\u9fff]{{1,2}}?)(?![\u4e00-\u9fff])",
        rf"(?:我叫|名叫|名字是)([{_SURNAMES}][\u4e00-\u9fff]{{1,2}})",
        r"(?<![\u4e00-\u9fff々お])(?!皆|奥|客|神|王|父|母|兄|姉|嫁|医者|店員|娘|息子)((?:(?![我你他她的们們是])[\u4e00-\u9fff々]){1,4}|[\u30a1-\u30fc]{2,10})(?:さん|さま|様|くん|君|ちゃん|先生|氏)",
        rf"(?<![가-힣])([{_KOREAN_SURNAMES}][가-힣]{{1,2}})\s?(?:씨|님|선생님|교수님|과장님|부장님|대리님)",
        r"(?<!\w)(?:اسمي|صديقي|صديقتي|أختي|أخي|ابني|ابنتي|زوجتي|زوجي|السيد|السيدة|الدكتور|الدكتورة|الأستاذ|الأستاذة|د\.)\s+([\u0621-\u064a]{2,12})",
        r"(?<!\w)(?:שמי|קוראים לי|חברי|חברתי|אחותי|אחי|בני|בתי|אשתי|בעלי|מר|גברת|גב'|ד\"ר|דוקטור)\s+([\u05d0-\u05ea]{2,12})",
        r"(?<!\w)([\u0900-\u0963\u0970-\u097f]{2,12})\s+जी(?!\w)",
        r"मेरा नाम\s+([\u0900-\u0963\u0970-\u097f]{2,12})",
    )
)


class NameKind(StrEnum):
    """What a name is, as far as its writing tells: who speaks in memories; a word or words; a code, a file, a ticket."""

    SPEAKER = "speaker"
    NAME = "name"
    CODE = "code"


@dataclass(frozen=True, slots=True)
class Name:
    """A name: in how many memories it stands, when the first and the last of them came (in microseconds), and how many in each bucket."""

    name: str
    kind: NameKind
    count: int
    first: int
    last: int
    over_time: tuple[int, ...]


class NameTable:
    """Collects names text by text; not safe in several threads. A place is the number of a text, in the order of reading."""

    def __init__(self) -> None:
        self._code_of: dict[str, int] = {}
        self._spellings: list[Counter[str]] = []
        self._sure: list[int] = []
        self._as_nouns: list[int] = []
        self._speakers: set[int] = set()
        self._codes = GrowableArray(np.int32)
        self._places = GrowableArray(np.int32)
        self.texts = 0

    def read(self, content: str, speaker: str | None) -> None:
        """Add the names of the next text."""
        names = written_names(content, speaker)
        names |= dict.fromkeys(titled_names(content), True)
        for name, sure in list(names.items())[-_MOST_NAMES_READ:]:
            plain = _AROUND.sub("", name)
            if not _may_be_name(plain):
                continue
            code = self._code(plain)
            self._spellings[code][plain] += 1
            self._sure[code] += sure
            self._as_nouns[code] += (not sure or _is_acronym(plain)) and _only_as_noun(content, plain)
            if speaker and name == " ".join(speaker.split()):
                self._speakers.add(code)
            self._codes.append(code)
            self._places.append(self.texts)
        self.texts += 1

    def listed(self, counts: NDArray[np.bool_], at: NDArray[np.int64], shares: Shares) -> list[Name]:
        """Return the names in the texts that count, the most frequent first, then the latest.

        ``counts`` and ``at`` (microseconds) have an element for each text.
        """
        codes, places = self._codes.values, self._places.values
        kept = counts[places]
        codes, moments = codes[kept], at[places[kept]]
        if not len(codes):
            return []
        size = len(self._spellings)
        number = np.bincount(codes, minlength=size)
        first, last = np.full(size, np.iinfo(np.int64).max), np.full(size, np.iinfo(np.int64).min)
        np.minimum.at(first, codes, moments)
        np.maximum.at(last, codes, moments)
        begin, end = int(at[counts].min()), int(at[counts].max())
        bucket = ((moments - begin) * (BUCKETS / max(end - begin, 1))).astype(np.int64).clip(0, BUCKETS - 1)
        is_name = self._are_names(number, shares)
        found = np.flatnonzero(is_name)
        row_of = np.full(size, -1)
        row_of[found] = np.arange(len(found))
        listed = row_of[codes] >= 0
        spread = np.bincount(row_of[codes[listed]] * BUCKETS + bucket[listed], minlength=len(found) * BUCKETS)
        order = np.lexsort((-last[found], -number[found]))
        return [
            Name(
                self._written(int(found[row])),
                self._kind(int(found[row])),
                int(number[found[row]]),
                int(first[found[row]]),
                int(last[found[row]]),
                tuple(spread[row * BUCKETS : (row + 1) * BUCKETS].tolist()),
            )
            for row in order.tolist()
        ]

    def _code(self, name: str) -> int:
        folded = name.casefold()
        code = self._code_of.get(folded)
        if code is None:
            code = self._code_of[folded] = len(self._spellings)
            self._spellings.append(Counter())
            self._sure.append(0)
            self._as_nouns.append(0)
        return code

    def _written(self, code: int) -> str:
        spellings = self._spellings[code]
        return min(spellings, key=lambda one: (-spellings[one], one))

    def _kind(self, code: int) -> NameKind:
        if code in self._speakers:
            return NameKind.SPEAKER
        return NameKind.CODE if _is_code(self._written(code)) else NameKind.NAME

    def _are_names(self, number: NDArray[np.int64], shares: Shares) -> NDArray[np.bool_]:
        is_name = np.zeros(len(number), np.bool_)
        singles = [code for code in np.flatnonzero(number).tolist() if " " not in self._written(code)]
        words = [self._written(code) for code in singles]
        for code, word, share in zip(singles, words, shares(words), strict=True):
            is_name[code] = code in self._speakers or self._is_name(code, word, int(number[code]), share)
        within: dict[int, list[int]] = {}  # how often a word is a part of which longer names
        for folded, code in self._code_of.items():
            if number[code] and " " in folded:
                words = folded.split()
                parts = [self._code_of.get(part, -1) for part in words]
                named = [part >= 0 and bool(is_name[part]) for part in parts]
                # "British Museum" is a name, though "British" is none.
                whole = named[-1] and all(
                    one or word in lexicon.words("names.peoples") for one, word in zip(named, words, strict=True)
                )
                is_name[code] = code in self._speakers or whole
                for part in parts if whole else ():
                    within.setdefault(part, []).append(int(number[code]))
        for code, counts in within.items():
            # Of "Gloucester Road" and "Colston Road" no road is left; Ada Nowak and Ada Silva are two.
            in_longer = sum(counts) if _is_common(self._written(code)) else max(counts)
            if code >= 0 and code not in self._speakers and in_longer >= _SWALLOWED * number[code]:
                is_name[code] = False
        return is_name

    def _is_name(self, code: int, word: str, number: int, share: float | None) -> bool:
        sure = self._sure[code]
        if _is_code(word) or (not word.isascii() and not (word[0].isupper() or word[0].islower())):
            return sure > 0
        # An acronym is a name where it is used as one at all ("NATS is live", "the NATS cluster").
        nouns, read = self._as_nouns[code], self._spellings[code].total()
        if word.casefold() in lexicon.words("names.peoples") or (
            nouns == read if _is_acronym(word) else nouns > _USUALLY * read
        ):
            return False
        if sure:
            return share is None or share > _USUALLY
        return (share is None or share > _USUALLY) and number > 1 and not _is_common(word)


def _may_be_name(name: str) -> bool:
    """Return False for what is none however it is written: too long or short, a number, a common word, "you're", brackets inside."""
    if not 1 < len(name) <= _LONGEST or name.isdigit() or _is_never_a_name(name.casefold()):
        return False
    return not (_NO_NAME.fullmatch(name) or _CONTRACTED.search(name) or _BRACKETS.search(name))


def _is_never_a_name(folded: str) -> bool:
    return folded in all_function_words() or folded in lexicon.words("names.never_alone")


def _is_code(word: str) -> bool:
    return any(map(str.isdigit, word)) or any(mark in word for mark in "_/.:@")


def _is_acronym(word: str) -> bool:
    return word.isupper() and word.isalpha()


def _only_as_noun(text: str, word: str) -> bool:
    """Return whether a word follows an article or a number wherever it stands; an acronym also if it says more of the next word."""
    at, found = text.find(word), False
    while at >= 0:
        end = at + len(word)
        if not (text[at - 1 : at].isalnum() or text[end : end + 1].isalnum()):
            found = True
            if not _follows_article(text[max(at - _NEAR, 0) : at]) and not (
                _is_acronym(word) and _precedes_noun(text[end : end + _NEAR])
            ):
                return False
        at = text.find(word, end)
    return found


def _follows_article(before: str) -> bool:
    last = before.split()[-1:] if before[-1:].isspace() else []
    return bool(last) and (last[0].casefold() in lexicon.words("names.before_nouns") or last[0][-1].isdigit())


def _precedes_noun(behind: str) -> bool:
    following = behind[1:].split()[:1] if behind[:1] in (" ", "-") else []
    return bool(following) and following[0][0].islower() and not _is_never_a_name(_AROUND.sub("", following[0]))


def _is_common(word: str) -> bool:
    low = word.casefold()
    forms = [low, *(low.removesuffix(ending) for ending in _ENDINGS if low.endswith(ending))]
    return any(english_rank(form) <= _COMMON for form in forms)


def others_named(
    texts: Iterable[tuple[str, str | None]], name: str, known: Callable[[str], bool]
) -> list[tuple[str, int]]:
    """Return the names that some texts hold alongside ``name``, and in how many, the most frequent first.

    ``known`` says whether a word of which a text leaves it open is a name.
    """
    asked = set(name.casefold().split())
    counts: Counter[str] = Counter()
    spelled: dict[str, str] = {}
    for content, speaker in texts:
        found = written_names(content, speaker) | dict.fromkeys(titled_names(content), True)
        together = {part for one in found if " " in one for part in one.split()}
        for one, sure in found.items():
            folded = one.casefold()
            if (
                asked & set(folded.split())
                or one in together
                or folded in lexicon.words("names.peoples")
                or not _may_be_name(one)
            ):
                continue
            if known(one) or (sure and not _is_acronym(one)):
                counts[folded] += 1
                spelled.setdefault(folded, one)
    return [(spelled[one], count) for one, count in sorted(counts.items(), key=lambda item: (-item[1], item[0]))]


def titled_names(text: str) -> Iterator[str]:
    """Yield the names in a text that have a title next to them, in scripts without capitals; one may come twice."""
    if text.isascii():
        return
    for pattern in _TITLED:
        for found in pattern.finditer(text):
            yield found[1]
