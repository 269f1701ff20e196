"""Languages of texts: which one a text is in, its function words, and the stems of its words. Pure; no model, no dictionary.

A language goes by its Snowball name (https://snowballstem.org). Function words and letters tell it; where they do not, a text
counts as English, which costs little: a memory has the English stems of its words in any case (`hybrid_memory.language.text.terms`).
"""

from __future__ import annotations

import functools
import re
from collections.abc import Callable, Mapping

from hybrid_memory.language.lazy_pattern import LazyPattern

ENGLISH = "english"


def word_set(words: str) -> frozenset[str]:
    """Return the words of a text."""
    return frozenset(words.split())


ENGLISH_STOP_WORDS = word_set(
    "a an the of to in on at for from by with as is are was were be been being am do does did doing have has had "
    "having and or but if then than so that this these those it its i you he she they we me him her them my your his "
    "their our us what when where who whom which why how will would can could should may might must shall not no yes "
    "there here about into over after before up down out off again just also very too s t d ll m re ve don"
)

FUNCTION_WORDS: Mapping[str, frozenset[str]] = {
    language: word_set(words)
    for language, words in {
        "german": "der die das des dem den ein eine einen einem einer eines und oder aber denn weil dass daß wenn ob als wie so ist "
        "sind war waren bin bist seid sei wird werden wurde wurden hat haben habe hatte hatten kann können konnte muss müssen "
        "soll sollen will wollen darf ich du er sie es wir ihr mich mir dich dir ihn ihm uns euch ihnen sich mein meine "
        "meinen meinem meiner dein deine sein seine seinen seinem seiner ihre ihren ihrem ihrer unser unsere unseren in im an "
        "am auf aus bei beim mit nach von vom vor zu zum zur über unter für durch um gegen ohne bis seit ab nicht kein keine "
        "keinen nur noch auch schon sehr mehr man da hier dort dann doch was wer wen wem wo wann warum welche welcher welches "
        "dieser diese dieses diesen jeder jede jedes alle etwas nichts immer heute",
        "french": "le la les l un une des du de d au aux et ou mais donc car si que qu qui quoi dont où quand comment pourquoi quel "
        "quelle quels quelles est sont était étaient suis es sommes êtes être été a ont avait ai as avons avez avoir fait je "
        "j tu il elle on nous vous ils elles me m te t se s lui leur leurs mon ma mes ton ta tes son sa ses notre nos votre "
        "vos ce c cet cette ces ça cela y en dans par pour sur sous avec sans chez vers entre depuis ne n pas plus non oui "
        "aussi très bien déjà encore tout tous toute toutes même comme",
        "spanish": "el la los las un una unos unas lo al del de y e o u pero si que qué quien quién cual cuál cuándo cuando dónde donde "
        "cómo como por para porque con sin sobre entre hasta desde hacia en a es son era eran fue fueron soy eres somos ser "
        "está están estaba estoy ha han he hay había tiene tienen yo tú él ella ellos ellas nosotros usted ustedes me te se "
        "le les nos mi mis tu tus su sus nuestro nuestra este esta esto estos estas ese esa eso no ni ya muy más menos "
        "también",
        "italian": "il lo la i gli le l un uno una di del dello della dei degli delle d a al allo alla ai agli alle da dal dalla dai in "
        "nel nella nei nelle su sul sulla con per tra fra e ed o ma se che chi cui cosa quando dove come perché quale quali "
        "è sono era erano sei siamo essere stato stata ha hanno ho hai abbiamo aveva io tu lui lei noi voi loro mi ti si ci "
        "vi ne mio mia miei tuo tua suo sua suoi nostro nostra questo questa questi queste quello quella non né più già "
        "anche molto",
        "portuguese": "o a os as um uma uns umas de do da dos das em no na nos nas num numa ao à aos às por pelo pela para com sem "
        "sobre entre até desde e ou mas se que quem qual quando onde como porque é são era eram foi foram ser está estão "
        "estava sou tem têm tinha há eu tu ele ela eles elas nós você vocês me te lhe meu minha meus minhas teu tua seu "
        "sua seus suas nosso nossa este esta isto esse essa isso aquele não já muito mais menos também",
        "dutch": "de het een en of maar want dat die dit deze als dan er is zijn was waren ben bent wordt worden werd heeft hebben heb "
        "had hadden kan kunnen moet moeten zal zullen wil ik jij je hij zij ze wij we jullie u mij me hem haar ons hen mijn "
        "jouw onze hun in op aan van voor met bij naar uit over onder door tegen zonder tot om te niet geen wel ook nog al zo "
        "heel meer wat wie waar wanneer waarom hoe welke hier daar",
        "swedish": "och att det den de en ett som är var varit vara har hade kan ska skall skulle jag du han hon vi ni mig dig sig "
        "honom henne oss er dem min mitt mina din ditt dina sin sitt sina vår vårt våra i på av för med till från om under "
        "över vid efter utan mot hos inte ingen inget men eller så när vad vem vilken vilket var varför hur också bara "
        "mycket mer här där detta denna",
        "danish": "og at det den de en et som er var været være har havde kan skal skulle vil jeg du han hun vi mig dig sig ham hende "
        "os jer dem min mit mine din dit dine sin sit sine vores i på af for med til fra om under over ved efter uden mod hos "
        "ikke ingen men eller så når hvad hvem hvor hvornår hvorfor hvordan hvilken også kun meget mere her der dette denne "
        "blev bliver",
        "norwegian": "og at det den de en et ei som er var vært være har hadde kan skal skulle vil jeg du han hun vi dere meg deg seg "
        "ham henne oss dem min mitt mine din ditt dine sin sitt sine vår vårt våre i på av for med til fra om under over "
        "ved etter uten mot hos ikke ingen men eller så når hva hvem hvor hvorfor hvordan hvilken også bare mye mer her "
        "der dette denne å ble blir",
        "finnish": "ja on ei se että oli olla ovat olen olet olemme hän minä sinä me te he minun sinun hänen meidän mutta tai vai kun "
        "kuin jos niin myös vain jo vielä nyt tämä nämä tuo ne joka jotka mikä mitä kuka missä milloin miksi miten en et "
        "emme kanssa ennen jälkeen",
        "romanian": "și si în la de pe cu din pentru este e sunt era au are am ai un o unei unui care ce cine când unde cum că nu da "
        "mai și-a se să sa lui ei eu tu el ea noi voi meu mea lor dar sau fără după până",
        "hungarian": "a az egy és is hogy nem van volt lesz vagy de ha mint mert csak már még meg ez azt ezt ki mi mit hol mikor miért "
        "hogyan én te ő mi ti ők nekem neki",
        "turkish": "ve bir bu şu o da de için ile ne mi mı mu mü ama veya çok daha var yok değil ben sen biz siz onlar benim senin onun "
        "kim nerede zaman nasıl gibi kadar sonra önce",
        "russian": "и в во не что он на я с со как а то все она так его но да ты к у же вы за бы по только ее мне было вот от меня еще "
        "нет о из ему когда где кто или мы их был была были быть есть это этот эта эти мой моя для до при чтобы если уже наш",
    }.items()
} | {ENGLISH: ENGLISH_STOP_WORDS}
"""The most frequent words of each language, in lower case: they tell it, and say nothing of what a text is about."""

LANGUAGES: tuple[str, ...] = (*sorted({*FUNCTION_WORDS, "arabic", "greek", "tamil"} - {ENGLISH}),)
"""The languages other than English that are told apart and have a stemmer."""

CHARACTER_LANGUAGES = ("chinese", "japanese", "korean")
"""The languages that are told by their characters and have no stemmer: to `language_of` they are English."""

_BY_SCRIPT = (
    ("russian", "\u0400", "\u04ff"),
    ("greek", "\u0370", "\u03ff"),
    ("arabic", "\u0600", "\u06ff"),
    ("tamil", "\u0b80", "\u0bff"),
)
_LETTERS = {
    "german": "ßäöü",
    "french": "çœèêàùîôëï",
    "spanish": "ñ¿¡íóúá",
    "italian": "òàìù",
    "portuguese": "ãõçêâáó",
    "swedish": "åäö",
    "danish": "øæå",
    "norwegian": "øåæ",
    "finnish": "äö",
    "romanian": "șțăâî",
    "hungarian": "őűáéóú",
    "turkish": "ğışİ",
}
# Words that are English ones as well, or stand in names and phrases ("El Paso", "de facto"): alone they tell nothing.
_DOUBTFUL = ENGLISH_STOP_WORDS | word_set(
    "sin sin comment plus non hay com dos dig volt mint most cum are kim hem tem para este entre sans mot som sob fue era lui mea ama "
    "sei die war hat man den des bin der van von la el le los las de du da di del al con son sur pour par est et on car or me ma un i e "
    "o u y a as es en no ni or si se so te ha he her han hun dem de men min din at et var over under for om op of al u we die met door "
    "had in is was till her ne he ja on en et te vai jo tai is van ki mi ti meg hol ez de ha o da ne var bu sen ben biz gibi do os um "
    "por per tu lo li un una il sole ai ci vi come dove us care ya im den mod hos mine sit fra mit am an ab um da dort alle will sie "
    "aus bei e un al das do"
)
_WORD = LazyPattern(r"(?<![\w./@])[^\W\d_]+(?!\w)")
_KANA = LazyPattern("[\u3041-\u30ff\uff66-\uff9f]")
_HANGUL = LazyPattern("[\u1100-\u11ff\uac00-\ud7a3]")
_CHARACTER = LazyPattern("[\u1100-\u11ff\u3041-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7a3\uff66-\uff9f]")
_LOOKED_AT = 1_000  # characters; more tell no more
_ENOUGH = 1.0  # a sure function word, or two doubtful ones
_CONSONANTS = frozenset("bcdfghjklmnpqrstvwxz")  # what is left of "l'eau", but also a unit or a list's mark
_DOUBTFUL_WEIGHT = 0.5
_LETTER_WEIGHT = 0.5  # of a letter that English has not


def _languages_of_words() -> dict[str, tuple[tuple[str, float], ...]]:
    found: dict[str, list[tuple[str, float]]] = {}
    for language, words in FUNCTION_WORDS.items():
        for word in words - _CONSONANTS:
            weight = _DOUBTFUL_WEIGHT if language != ENGLISH and word in _DOUBTFUL else 1.0
            found.setdefault(word, []).append((language, weight))
    return {word: tuple(languages) for word, languages in found.items()}


_LANGUAGES_OF = _languages_of_words()
_LANGUAGES_OF_LETTER = {
    letter: tuple(language for language, letters in _LETTERS.items() if letter in letters)
    for letter in set("".join(_LETTERS.values()))
}


def language_of(text: str) -> str:
    """Return the language of a text; ``english`` where nothing tells otherwise.

    Another one needs a function word that is no English word as well, or two, and more of them than of English ones; letters that
    English has not count half a word.
    """
    text = text[:_LOOKED_AT].lower()
    scores: dict[str, float] = {}
    # In their order, so that of two languages with as many words each process takes the same one.
    for word in dict.fromkeys(_WORD.findall(text)):
        for language, weight in _LANGUAGES_OF.get(word, ()):
            scores[language] = scores.get(language, 0.0) + weight
    if not text.isascii():
        letters = set(text)
        for language, first, last in _BY_SCRIPT:
            if sum(first <= letter <= last for letter in letters) * 2 > sum(map(str.isalpha, letters)):
                return language
        for letter in sorted(letters & _LANGUAGES_OF_LETTER.keys()):
            for language in _LANGUAGES_OF_LETTER[letter]:
                scores[language] = scores.get(language, 0.0) + _LETTER_WEIGHT
    best, english = (
        max(scores, key=lambda one: (scores[one], one == ENGLISH), default=ENGLISH),
        scores.get(ENGLISH, 0.0),
    )
    return best if scores.get(best, 0.0) >= _ENOUGH and scores[best] > english else ENGLISH


def character_language(text: str) -> str | None:
    """Return which of `CHARACTER_LANGUAGES` a text is in, None where it is in none.

    It is in one if it has more of their characters than words in other letters, an English function word counting three times:
    "我用 Postgres 和 Redis" is Chinese, "My name is 李小龙" English.
    """
    if text.isascii():
        return None
    text = text[:_LOOKED_AT].lower()
    characters = _CHARACTER.findall(text)
    if not characters:
        return None
    words = _WORD.findall(_CHARACTER.sub(" ", text))
    if len(characters) <= len(words) + 2 * sum(word in ENGLISH_STOP_WORDS for word in words):
        return None
    # Japanese has Chinese characters too, and some Korean has.
    if _KANA.search(text):
        return "japanese"
    return "korean" if _HANGUL.search(text) else "chinese"


@functools.cache
def stemmer(language: str) -> Callable[[str], str]:
    """Return the function that gives the stem of a word in lower case, with its accents where the language has them.

    In German "ae", "oe" and "ue" are the umlauts that they are often written for.
    """
    from py_rust_stemmers import SnowballStemmer  # type: ignore[import-untyped]  # it has no stubs

    stem: Callable[[str], str] = SnowballStemmer(language).stem_word
    if language == "german":
        return lambda word: stem(_UMLAUT.sub(_as_umlaut, word))
    return stem


_UMLAUT = LazyPattern("(?<![aeq])[aou]e")


def _as_umlaut(found: re.Match[str]) -> str:
    return {"a": "ä", "o": "ö", "u": "ü"}[found[0][0]]
