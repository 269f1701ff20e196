"""What is never kept, whatever else it looks like: questions, suppositions, irony, reports of others, tasks at hand. Pure.

`takes_message_out` looks at a whole message, `takes_rest_out` at what a line announces, the others at one sentence in small letters.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from hybrid_memory.capture.own_words import GAP
from hybrid_memory.capture.sentences import Sentence
from hybrid_memory.language.lazy_pattern import LazyPattern


@dataclass(frozen=True, slots=True)
class _Sign:
    """An expression, and sets of words of each of which a sentence has one if it may fit; without sets: for dense scripts."""

    pattern: LazyPattern
    words: tuple[frozenset[str], ...] = ()


def _sign(source: str, *words: str) -> _Sign:
    return _Sign(LazyPattern(source), tuple(frozenset(some.split()) for some in words))


def _any_within(signs: Sequence[_Sign], sentence: Sentence) -> bool:
    words = sentence.words
    for sign in signs:
        if not sign.words and not sentence.dense:
            continue
        for some in sign.words:
            if words.isdisjoint(some):
                break
        else:
            if sign.pattern.search(sentence.low) is not None:
                return True
    return False


def takes_message_out(sentence: Sentence) -> bool:
    """Return True if nothing of a message may be kept: it asks not to be remembered, plays a role, or tells a story."""
    return is_not_to_be_kept(sentence) or plays(sentence)


def is_not_to_be_kept(sentence: Sentence) -> bool:
    """Return True if a sentence asks that what its message says is not remembered: "off the record"."""
    return _any_within(_NOT_TO_KEEP, sentence)


def plays(sentence: Sentence) -> bool:
    """Return True if a sentence plays a role, or tells or orders a story."""
    return _any_within(_PLAY, sentence)


def begins_material(low: str) -> int | None:
    """Return the place in a line from which on material for a task stands ("translate: ..."), None where none begins."""
    if ":" not in low and "：" not in low:
        return None
    found = _MATERIAL.match(low)
    return None if found is None else found.start("at")


def is_about_material(low: str) -> bool:
    """Return True if a line asks for something to be done with the text that is around it."""
    return _ABOUT_MATERIAL.match(low) is not None


def takes_back(low: str) -> str | None:
    """Return what a sentence asks to forget: its topic, "" for what was said last; None where it asks for nothing of the sort."""
    found = _FORGET.match(low)
    return None if found is None else (found["topic"] or "").strip()


def said_instead(low: str) -> int | None:
    """Return where "forget that, I use spaces" goes on with what holds instead; None where nothing is said instead."""
    found = _FORGET.match(low)
    if found is None or found["topic"]:
        return None
    told = _INSTEAD.match(low, found.end() - 1)
    return None if told is None else told.end()


def is_question(low: str) -> bool:
    """Return True if a sentence asks by its first words, with or without a question mark."""
    return _ASKING.match(low) is not None


def is_refused(sentence: Sentence) -> bool:
    """Return True if a sentence is supposed, ironical, hedged, reported, or made of test words."""
    return is_supposed(sentence) or is_unsure(sentence)


def is_supposed(sentence: Sentence) -> bool:
    """Return True if a sentence is supposed, ironical, or lacks words: what comes behind that is so as well."""
    if GAP in sentence.low or any(mark in sentence.low for mark in _IRONY):
        return True
    return _any_within(_SUPPOSED, sentence)


def is_unsure(sentence: Sentence) -> bool:
    """Return True if a sentence is hedged, or made of test words."""
    return _any_within(_UNSURE, sentence)


def is_loose(low: str) -> bool:
    """Return True if a sentence means something only alongside what was said before: its subject is "it", its object "the second one"."""
    return _LOOSE_SUBJECT.match(low) is not None or _LOOSE_OBJECT.search(low) is not None


def request_behind(low: str, *, soft: bool) -> int | None:
    """Return where a request begins behind a statement ("..., so what can I cook?"); with ``soft`` one that says "use" as well."""
    forms = _REQUESTS_SOFT if soft else _REQUESTS
    found = [place.start() for form in forms if (place := form.search(low)) is not None]
    if "，" in low and (dense := _REQUEST_DENSE.search(low)) is not None:
        found.append(dense.start())
    return min(found, default=None)


_IRONY = ("🙄", "😒")
_NOT_TO_KEEP = (
    _sign(
        r"(?<!i )(?<!we )(?<!you )(?<!they )\b(?:don't|dont|do not|never|no need to|please not"
        r"|not to) (?:you )?(?:ever )?"
        r"(?:remember|save|store|keep|memori[sz]e|record|log|note|write down|retain)(?: down"
        r"| in mind)? (?:this|that|it|any of (?:this|that|it)|these"
        r"|the following|what i|anything i|anything from|anything about (?:this|me))\b"
        r"|\boff the record\b|\b(?:just )?between (?:us|you and me)\b|\b(?:don't|dont"
        r"|do not) tell (?:anyone|anybody)\b|\bnot for the record\b"
        r"|\bkeep (?:this|that|it) (?:secret|private|confidential|between us|to yourself)\b"
        r"|\bthis is (?:confidential|top secret)\b|\bin confidence\b",
        "remember save store keep memorize memorise record log note write retain tell between"
        " confidential secret confidence",
    ),
    _sign(
        r"\b(?:merk|merke) dir (?:(?:das|dies|es|den|die|folgendes) )?(?:bitte )?nicht\b"
        r"|\bnicht (?:merken|speichern|notieren)\b|\bunter uns\b|\bvertraulich\b"
        r"|\b(?:speicher|speichere|notier|notiere|behalt|behalte) (?:das|dies|es) (?:bitte )?nicht\b",
        "nicht unter vertraulich",
    ),
    _sign(
        r"\bne (?:retiens|retenez|mémorise|mémorisez|note|notez|garde|gardez|te souviens"
        r"|enregistre|enregistrez|sauvegarde) (?:pas|rien)\b"
        r"|\bne l[ae] (?:retiens|note|garde) pas\b|\bentre nous\b"
        r"|\bno (?:recuerdes|guardes|memorices|apuntes|anotes|registres) (?:esto|eso|nada|lo)\b"
        r"|\bno lo (?:recuerdes|guardes|memorices|apuntes)\b"
        r"|\bentre (?:nosotros|tú y yo)\b|\bextraoficialmente\b|\bentre nós\b"
        r"|\bnão (?:lembre|lembra|guarde|guarda|memorize|memoriza|anote|anota|registre|salve|salva"
        r"|grave) (?:isso|isto|disso|nada|o que)\b",
        "ne entre no não extraoficialmente",
    ),
    _sign(
        r"(?:别|不要|不用|不必|请勿|勿)(?:记住|记下|记录|记|保存|存|記住|記|儲存)(?:这|那|下|住|它|我|本|，|,|。|$)|保密|私下说|别告诉|不要告诉"
        r"|(?:覚え|記憶し|保存し|記録し|メモし)(?:ないで|なくて(?:も)?いい|ておかないで)|ここだけの話|オフレコ|内緒"
    ),
)
_PLAY = (
    _sign(
        r"\b(?:pretend|imagine|roleplay|role-play|role play)(?:ing)? (?:that |to be |you|i|we|as"
        r"|with|a\b|being)|\bplay the (?:role|part)\b|\bin character\b"
        r"|\bfrom the (?:perspective|point of view) of\b|\bin my (?:story|novel|book|game|script"
        r"|screenplay|dream|campaign|fanfic|comic|play|roleplay|fiction)\b"
        r"|\b(?:the|my) (?:main )?(?:character|protagonist|hero|heroine|narrator|villain)\b"
        r"|\bknock,? knock\b|\blet'?s play\s*[:,]|\blet'?s play (?:pretend|a role)"
        r"|\blorem ipsum\b|\btest test\b|\bthis is (?:just )?a test\b|\basdf|\btesting,? testing\b",
        "pretend pretending imagine roleplay role roleplaying part character perspective point"
        " story novel book game screenplay script dream campaign fanfic"
        " comic play fiction protagonist hero heroine narrator villain lorem test testing asdf asdfasdf knock play",
    ),
    _sign(
        r"\bwrite (?:me )?(?:an? )?(?:\w+ ){0,3}(?:story|poem|song|dialogue|monologue|scene|script"
        r"|haiku|fanfic|cover letter|letter|email|bio|essay|speech"
        r"|post|tweet|review)\b[^.\n]{0,80}(?:about|where|in which|who|from|saying|that says|:)",
        "write",
        "story poem song dialogue monologue scene script haiku fanfic letter email bio essay speech post tweet review",
    ),
    _sign(
        r"\b(?:act|behave|respond|answer|write|talk|speak) (?:as|like) (?:an? |if |my |the |though )\w",
        "as like",
        "act behave respond answer write talk speak",
    ),
    _sign(r"\byou are (?:now )?(?:an? |my |the )\w+", "you", "are"),
    _sign(
        r"\b(?:tu es|vous êtes) (?:maintenant )?(?:une?|mon|ma) \w+|\bfais comme si\b"
        r"|\bimagine (?:que|qu')|\bstell dir vor\b|\btu so als\b"
        r"|\bdu bist (?:jetzt )?(?:ein|eine|mein|meine) \w+|\bspiel(?:e)? die rolle\b"
        r"|\bin meinem (?:roman|buch|spiel)\b|\bin meiner geschichte\b"
        r"|\bhaz como si\b|\bimagina que\b|\bactúa como\b|\beres (?:ahora )?(?:un|una|mi) \w+"
        r"|\ben mi (?:novela|historia|libro|juego)\b"
        r"|\bfinja\b|\bfinge\b|\bimagine que\b|\baja como\b|\bvocê é (?:agora )?(?:um|uma|meu"
        r"|minha) \w+|\bno meu (?:livro|jogo|romance)\b|\bna minha história\b",
        "tu vous comme imagine stell so bist rolle roman buch spiel geschichte haz imagina actúa"
        " eres novela historia libro juego finja finge aja você"
        " livro jogo romance história",
    ),
    _sign(
        r"假设你|假装|扮演|你是一[个名位]|想象一下|我的小说|のふりを|になりきって|あなたは[^。\n]{1,20}(?:です|として)|と仮定|ロールプレイ|私の小説"
    ),
)
_MATERIAL = LazyPattern(
    r"(?:(?:can|could|would) you |please |pls |plz |now |ok |and |so |help me |just |kannst du "
    r"|könntest du |bitte |peux-tu |tu peux |puedes |por favor |você pode |pode |请|帮我|){0,3}"
    r"(?:(?![^\n:]{0,40}\bmemory\b)(?:translate|proof ?read|correct|fix|check|edit|rephrase|reword|rewrite|re-write"
    r"|paraphrase|summari[sz]e|improve|polish|shorten|review|analy[sz]e|reply to|respond to|answer|explain"
    r"|convert|format|parse|debug|classify|extract|tidy up|clean up|what does"
    r"|what do(?:es)? (?:you|he|she|they)"
    r"|spell ?check|grammar|make (?:this|it|that) (?:sound|more|shorter|better)|set|add|write"
    r"|print|type|send|commit|say|put|change|insert|replace|output|display|show|post|tweet|draft"
    r"|create|generate|email|text|tell (?:him|her|them)"
    r"|übersetze?|korrigiere?|fasse|verbessere?|formuliere?|schreibe?|prüfe?|traduis|traduisez"
    r"|corrige|résume|reformule|écris|traduce|traducir|corrige|resume|reescribe|escribe|traduza"
    r"|traduz|corrija|resuma|reescreva|escreva)\b|翻译|翻譯|总结|改写|润色|翻訳して|要約して|校正して|訳して)"
    r"[^\n:：]{0,100}(?P<at>[:：])"
)
_ABOUT_MATERIAL = LazyPattern(
    r"(?:(?:can|could|would) (?:you|u) |please |pls |plz |now |ok |and |so |help me |just |any "
    r"|quick |kannst du |könntest du |bitte |peux-tu |tu peux |puedes |por favor |você pode |pode "
    r"|请|帮我){0,4}"
    r"(?:(?:translate|proof ?read|correct|edit|rephrase|reword|rewrite|paraphrase|summari[sz]e"
    r"|polish|shorten|review|analy[sz]e|reply to|respond to|improve|explain|fix|check|parse|sort"
    r"|format|convert|comment on|give feedback on|critique|classify|extract)"
    r"(?: (?:this|that|it|these|the (?:text|following|above|below|email|mail|letter|message"
    r"|article|log|table|paragraph|essay|cv|resume|transcript|notes|thread|post)|my (?:email|mail"
    r"|letter|text|message|essay|cv|resume|draft|notes|bio|post))\b|\s*$)"
    r"|what (?:does|do|did|is|are|'s) (?:this|that|he|she|they|it|wrong|the (?:above|text|context"
    r"|author))\b|how (?:should|do) i (?:reply|respond|answer)|tl;?dr|thoughts\b"
    r"|what do you think (?:of|about) (?:this|that)"
    r"|(?:übersetze?|korrigiere?|fass|verbessere?|prüfe?) (?:das|dies|diese|den|die|mir)\b"
    r"|was (?:meint|bedeutet|heißt) (?:er|sie|das|dies)|(?:traduis|corrige|résume"
    r"|reformule)[ -](?:ce|cet|cette|ça|le|la|moi)\b|(?:traduce|corrige|resume|reescribe) (?:esto"
    r"|este|esta|el|la)\b"
    r"|(?:traduza|traduz|corrija|corrige|resuma|reescreva) (?:isso|isto|este|esta|esse|o|a)\b"
    r"|(?:翻译|翻譯|总结|改写|润色)(?:一下|这|以上|下面|$)|(?:これを|上の文|以下を)(?:翻訳|要約|校正|訳))"
)
_FORGET = LazyPattern(
    r"(?:(?:no|ok|okay|sorry|wait|actually|please|hm+|ah|oh|so|well)[, ]+){0,3}(?:forget|scratch"
    r"|strike|ignore|disregard|delete|erase|never mind|nevermind|vergiss|oublie|olvida|esquece|忘掉"
    r"|忘了)(?: about)?"
    r" ?(?:(?:that|this|it|what i (?:just )?(?:said|wrote|told you)|the last (?:one|part|bit|thing"
    r"|message)|everything(?: i said)?|my last message|das|es|ça|cela|eso|lo|isso|这个"
    r"|刚才)(?: (?:about|on|über|sur|sobre) (?P<topic>[^,.;]{2,60}))?)"
    r"(?:$|[ ,.;!-])"
)
_INSTEAD = LazyPattern(r"\s*[,.;!–—-]+\s*(?:so |and |but )?(?=(?:i|we|my|our|the|it's|i'm|we're)\b)")
_ASKING = LazyPattern(
    r"(?:(?:so|and|but|ok|then|or|now|please|also|hey|uh|um|well)[, ]+){0,2}(?:what|what's|whats"
    r"|how|how's|why|where|where's|who|who's|whose|which|can (?:you|u|i|we|it|this|that|the"
    r"|someone|anyone)|could (?:you|u|i|we|it|this|that)|would (?:you|it|that|this|i|we)"
    r"|will (?:you|it|this|that|i|we|the)|should (?:i|we|it|this|that|the|you)|shall|do (?:you|u|i"
    r"|we|they|these)|does|did|is (?:it|this|that|there|the|my|our|a|he|she|\w+ing)|are (?:you"
    r"|there|we|they|these|the|my|our)|am i|was|were|have (?:you|i|we|they)|has (?:it|the|he|she"
    r"|anyone)|had"
    r"|may i|isn't|aren't|don't you|doesn't|didn't|won't|wouldn't|couldn't|any (?:idea|chance|tips"
    r"|thoughts)|wdyt|when (?:is|are|do|does|did|will|was|can|should)|what about|how about"
    r"|remind me (?:what|how|why|who|where|when|which|again)"
    r"|was|wer|wie|wo|wann|warum|wieso|welche[rsn]?|kannst|könntest|können wir|sollen|soll ich"
    r"|hast|habt|haben (?:wir|sie)|bist|ist (?:es|das|der|die)|gibt es|was ist|weißt"
    r"|quoi|que (?:faire|penses)|qu'est|quel(?:le)?s?|comment|pourquoi|où|quand|qui|est-ce|peux-tu"
    r"|tu peux|pourrais|pouvez|as-tu|avons-nous|rappelle-moi (?:comment|pourquoi|ce|qui|où|quand"
    r"|quel)"
    r"|qué|cómo|por qué|dónde|cuándo|quién|cuál(?:es)?|cuánt[oa]s?|puedes|podrías|hay|recuérdame (?:cómo|qué|por)|¿"
    r"|o que|quê|como (?:faço|posso|é|se|eu)|por que|onde|quando|quem|qual|quais|quant[oa]s?"
    r"|você pode|pode|dá para|tem como)\b"
    r"|(?:什么|怎么|为什么|哪|谁|多少|能不能|可以.{0,10}吗|是不是|何|どう|なぜ|いつ|どこ|誰|どれ)|.{0,200}(?:吗|呢|么)$|.{0,200}(?:ですか|ますか|でしょうか|かな)$"
)
_SUPPOSED = (
    _sign(
        r"(?:^|[,;] ?|\b(?:and|but|so|that|because) )if (?!i ask\b|possible|that matters|need be"
        r"|any\b)(?:\w|')|\b(?:what if|as if|if i were)\b",
        "if",
    ),
    _sign(
        r"\b(?:suppose|supposing|assum(?:e|ing) (?:that|i|we|you|my)|let's (?:say|assume|imagine"
        r"|pretend)|lets say|say i|hypothetically|in theory"
        r"|imagine|pretend|wish (?:i|we|my)|unless (?:i|we) (?:were|decide)|were i to|had i)\b"
        r"|\byeah right\b|\bsarcasm\b|(?:^|\s)/s(?:$|\s)"
        r"|\b(?:great|lovely|fantastic|wonderful)\. ?(?:just )?(?:great|lovely)\b",
        "suppose supposing assume assuming let's lets say hypothetically theory imagine pretend"
        " wish unless were had yeah sarcasm s great lovely fantastic"
        " wonderful",
    ),
    _sign(r"\b(?:would've|(?:would|could|should|might) have)\b", "would would've could should might", "have would've"),
    _sign(r"\b(?:just|really|so) love (?:how|when|it when|that)\b", "love"),
    _sign(
        r"(?:^|, )(?:wenn|falls|angenommen|sofern)\b|\b(?:würde|hätte|wäre|könnte)\b|(?:^|, )si (?!,)"
        r"|\b(?:supposons|suponhamos|supongamos|se eu \w+(?:sse|esse))\b|^se |\b(?:viviera|tuviera"
        r"|fuera|pudiera|habitais|vivais)\b",
        "wenn falls angenommen sofern würde hätte wäre könnte si supposons suponhamos supongamos"
        " se viviera tuviera fuera pudiera habitais vivais",
    ),
    _sign(r"如果|假如|要是|假设|もし|たら、|ならば"),
)
_UNSURE = (
    _sign(
        r"\b(?:maybe|perhaps|probably|might|not sure|unsure|i guess|idk|dunno|i suppose"
        r"|thinking (?:of|about)|considering|wondering|leaning|undecided|possibly"
        r"|presumably|apparently|supposedly|allegedly|haven't decided|havent decided|not decided"
        r"|can't decide|should we|or should|or not$"
        r"|i think (?:i|we|it|that|this|the)\b|i thought|i assumed|used to think|kidding"
        r"|just joking|jk\b|foo\b|foobar|bar baz|john doe|jane doe|example\.com)",
        "maybe perhaps probably might sure unsure guess idk dunno suppose thinking considering"
        " wondering leaning undecided possibly presumably apparently"
        " supposedly allegedly decided decide should or think thought assumed kidding joking jk"
        " foo foobar bar doe example",
    ),
    _sign(
        r"\b(?:vielleicht|eventuell|wahrscheinlich|glaube ich|ich glaube|ich überlege"
        r"|bin (?:mir )?nicht sicher|keine ahnung|scherz|peut-être|je pense|je crois"
        r"|je ne sais pas|pas sûre?|probablement|quizás?|tal vez|a lo mejor|creo que"
        r"|no estoy segur[oa]|no sé|probablemente|talvez|acho que|não sei"
        r"|não tenho certeza|provavelmente)\b",
        "vielleicht eventuell wahrscheinlich glaube überlege sicher ahnung scherz peut pense"
        " crois sais sûr sûre probablement quizá quizás vez mejor creo seguro"
        " segura sé probablemente talvez acho sei certeza provavelmente",
    ),
    _sign(r"也许|可能|大概|好像|不确定|我觉得|说不定|かも|たぶん|多分|と思う|と思います|かしら|迷って"),
)
_LOOSE_SUBJECT = LazyPattern(
    r"(?:it|it's|its|that|that's|this|this is|they|they're|these|those|there|there's|he|she|he's"
    r"|she's|him|her|both|either|the (?:first|second|third|last|other|latter|former) (?:one|option"
    r"|version)?|one of|das|dies|es|er|sie|ça|c'est|ce|cela|eso|esto|ese|este|isso|isto|esse|ele"
    r"|ela|ello)\b(?! (?:repo|project|codebase|team|company|year|month|week|weekend))"
    r"|(?:这|那|它|他|她|これ(?!から)|それ(?!から)|あれ|彼)"
)
_LOOSE_OBJECT = LazyPattern(
    r"\b(?:option (?:\d|[a-e]|one|two|three)|version (?:one|two|three|\d\b(?!\.))|the (?:first"
    r"|second|third|latter|former|other|last|previous|next|above|following|same) (?:one|option"
    r"|version|approach|suggestion|solution|idea|variant|way|design|draft|thing)"
    r"|your (?:\w+ )?(?:suggestion|version|idea|code|answer|solution|approach|first|second|last"
    r"|proposal|example|explanation|response|draft)"
    r"|(?:this|that) one|(?:like|do|use|with|prefer|want|need|love|hate|keep|take|to|outside|inside|in|on|of|from|for"
    r"|about|without|under|around|into|by|at) (?:this|that"
    r"|it|them|these|those)$|as above|as below|see below|see above|the one you|you (?:just "
    r"|have )?(?:wrote|made|gave|suggested|said|proposed|forgot|missed|did|broke|changed|added"
    r"|removed)"
    r"|zweite|erste[ns]? (?:option|version|variante)|la (?:deuxième|première|seconde)"
    r"|la (?:segunda|primera|primeira)|o (?:segundo|primeiro)|el (?:segundo|primero))(?!\w)"
    r"|第[一二三]个|这个|那个|これ(?!から)|それ(?!から)|この(?!プロジェクト|リポジトリ)|その"
)
_ASKED_FOR = (
    r"(?:so |and )?(?:please |pls )?(?:stick to (?:that|it)|keep (?:that|it|this) (?:in mind"
    r"|that way)|remember (?:that|this|it)$|don't forget)\b"
    r"|(?:so |and |but |then |now |also |any )*(?:what|what's|how|which|where|who(?!'s|\s(?:is|was|has|lives?|works?)\b)|when should|why"
    r"|should i|should we|do you|does (?:that|this|it)|is (?:that|there|it)|are there"
    r"|any (?:ideas?|tips|suggestions|advice|recommendations)|can i|could i|can we|what about"
    r"|how about|right|ok|okay|got it|remember)\b.{0,400}$"
    r"|i(?:'m| am|'d| would)? (?:need (?:help|gift|some|an? |your|ideas)|want (?:to know|you to)"
    r"|looking for|like you to|like some|was wondering|wonder)\b"
    r"|(?:so |and |then |now |please |pls |just )*(?:help|give|show|tell|find|suggest|recommend"
    r"|update|change|fix|adapt|draft|create|generate|rewrite|summari[sz]e|adjust|translate"
    r"|make (?:me|a|the|sure it)|write me|refactor|plan (?:me|a))\b"
    r"|(?:so |and |now )*(?:quiz|teach|coach|remind|guide|walk) me\b|so please\b"
    r"|(?:bitte |und |also |jetzt )*(?:kannst|könntest|was|wie|welche[rsn]?|hilf|gib|zeig|mach|schreib)\b"
    r"|(?:sie|er|ich|wir) brauch(?:t|e|en) (?:hilfe|tipps|ideen)\b"
    r"|(?:et |alors |donc )*(?:peux-tu|tu peux|pourrais|que|quel(?:le)?s?|une idée|des idées|comment|aide|donne)\b"
    r"|(?:y |así que |entonces )*(?:puedes|podrías|qué|cuál|cómo|ayúdame|dame|crea|haz|escribe)\b"
    r"|(?:e |então )*(?:você pode|pode|o que|qual|quais|como|me ajud|ajuda|me dá|monta|faz|cria|escreve)\b"
)
"""How a request begins behind a comma."""
_ASKED_BARE = (
    r"(?:so |and |but |then |now |please |also )*(?:can|could|would|will) (?:you|u)\b"
    r"|(?:so|and|but) (?:what|how|which|where|why|should i|can i|is there|are there|do you)\b"
    r"|(?:and|but|so) i(?:'d like|'m| am)? (?:feeling|curious|wondering|trying|struggling"
    r"|having (?:trouble|issues|problems)|worried|thinking|not sure|kinda|a bit|still"
    r"|want(?:ed)? to|need to (?:know|understand|make sure)|feel like|would like|was hoping|hope"
    r"|don't know|can't seem|'d like|to)\b"
    r"|(?:and|but|so) (?:now )?(?:i|we)(?:'m|'re| am| are|m)? (?:need|want|looking for|after|searching for)"
    r" (?:some |a few |a good |an? )?(?:ideas?|tips|advice|suggestions?|inspiration|recommendations?|[\w ]{0,20}route|gift|name|setlist)\b"
    r"|(?:and|but|so) i'?m looking for\b"
    r"|is (?:that|it|this) (?:dangerous|ok|okay|bad|normal|safe|possible|allowed)\b"
    r"|(?:which|what) (?:[\w-]+ ){1,4}(?:would|should|could|fits?)\b"
    r"|(?:und|aber) (?:ich |wir )?(?:brauche|brauchen|suche|suchen) (?:ich |wir )?(?:hilfe|tipps|ideen|eine?n?)\b"
    r"|(?:et|mais) (?:j'ai besoin|je cherche|il me faut)\b|y (?:necesito|busco|quiero) (?:ideas|ayuda|consejos|una?)\b"
    r"|e (?:preciso de|procuro|quero) (?:ideias|ajuda|dicas|uma?)\b"
    r"|(?:and|but|so) i(?:'m| am| have|'ve)? (?:have )?(?:no idea|not sure|need (?:help|gift|some"
    r"|an? |your|to know)|want (?:to know|you to)|wonder|don't know|was wondering|am looking"
    r"|'m looking|looking|would like|'d like)\b"
)
"""How it begins behind a blank alone."""
_DOES = (
    r"(?:so |and |then |now )*(?:please |pls )?(?:use|add|put|write|make|run|keep that|keep (?:it"
    r"|this|that) in mind|set|check|do|go|let's|nothing|no|only)\b"
    r"|(?:if that matters|if (?:that|it) helps|btw|by the way|lol|haha|thanks|thx|please)\b"
)
"""A request that a preference could begin with as well: "use", "keep"."""
_DOES_BARE = r"(?:btw|by the way|lol|if that matters|if (?:that|it) helps)(?=$|[ ,.])"
_REQUESTS = (
    LazyPattern(rf"[,;–—-]\s*(?:{_ASKED_FOR})"),
    LazyPattern(rf"\s(?:{_ASKED_BARE})"),
)
_REQUESTS_SOFT = (
    LazyPattern(rf"[,;–—-]\s*(?:{_ASKED_FOR}|{_DOES})"),
    LazyPattern(rf"\s(?:{_ASKED_BARE}|{_DOES_BARE})"),
)
_REQUEST_DENSE = LazyPattern(r"[，,](?:帮我|想知道|想转|应该|有什么|推荐|请|你能|怎么|什么|能不能|可以)")
