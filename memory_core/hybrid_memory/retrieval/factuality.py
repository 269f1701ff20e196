"""Whether a sentence states what its words name: not where it denies it, supposes it, regrets it, or quotes somebody else.

"I don't have to renew it", "I should have called", "I must say" and "If I have to move" leave nothing to do; "My name is not Ida" and
`Bob said: "My name is Bob"` tell no name. Patterns in English, German, French and Spanish, for texts folded as by `aspects.fold`. Pure.
"""

from __future__ import annotations

import re

from hybrid_memory.language.lazy_pattern import LazyPattern


def denies_duty(folded: str) -> bool:
    """Return True if a sentence with the words of a duty leaves nothing to do: denied, regretted, supposed, an idiom, an opinion."""
    if _FORGETTING.search(folded):  # "must not forget" asks for the deed
        return False
    return _NO_DUTY.search(folded) is not None or is_supposed(folded) or is_opinion_of_other(folded)


def denies_identity(folded: str) -> bool:
    """Return True if a sentence with the words of an identity says what somebody is not, or supposes it.

    What ended ("no longer works at") is stated: it takes back what was said before.
    """
    if _ENDED.search(folded):
        return False
    return _NO_IDENTITY.search(folded) is not None or is_supposed(folded) or is_opinion_of_other(folded)


def denies_deed(folded: str) -> bool:
    """Return True if a sentence with the words of a deed says that it was not done."""
    return _NO_DEED.search(folded) is not None or is_supposed(folded)


def denies_decision(folded: str) -> bool:
    """Return True if a sentence with the words of a decision says that there was none."""
    return _NO_DECISION.search(folded) is not None


def is_supposed(folded: str) -> bool:
    """Return True if a sentence begins with a condition, or wishes that something were so."""
    return _SUPPOSED.search(folded) is not None


def is_opinion_of_other(folded: str) -> bool:
    """Return True if somebody else thinks so or asks whether it is so; what they say or tell may hold."""
    return _OPINION.search(folded) is not None


def without_quotes_of_others(text: str) -> str:
    """Return a text without what somebody other than the user says in direct speech: "I" is not the user there.

    Direct speech comes behind a word for speaking, in quotation marks, or behind its colon up to the end of the sentence. The text is as
    it was written.
    """
    if not any(mark in text for mark in _QUOTING):
        return text
    if _SAYING_WORDS.isdisjoint(_WORD.findall(text.casefold())):  # sooner known than that the pattern does not fit
        return text
    return _DIRECT_SPEECH.sub(_without_speech, _SPEECH_BEFORE.sub("", text))


def _without_speech(found: re.Match[str]) -> str:
    return found.group() if _OWN_SPEECH.search(found["who"]) else found["lead"]


def _set_of(words: str) -> frozenset[str]:
    return frozenset(words.split())


def _either_of(words: str) -> str:
    return f"(?:{'|'.join(words.split())})"


_SAYING_WORDS = _set_of("""
    said says say told tells asked asks wrote writes replied replies answered answers shouted shouts claims claimed explained
    sagte sagt meinte meint fragte fragt schrieb schreibt antwortete antwortet erzählte rief
    dit disait demande demanda écrit ecrit répond repond répondit déclare
    dijo dice decia decía pregunto preguntó pregunta escribio escribió escribe respondio respondió contesto contestó
""")
_SAYING = _either_of(" ".join(sorted(_SAYING_WORDS)))
_QUOTING = ':"“„«‘'
_WORD = LazyPattern(r"\w+")
# "I must go," said Tom
_SPEECH_BEFORE = LazyPattern(
    rf"[\"“„«][^\"”“»]*[\"”“»],?\s+(?=(?:[^\W\d_]+ )?{_SAYING}\b)"
    r"(?!(?:i|ich|je|yo|we|wir|user) )(?!\w+ (?:i|ich|je|yo|we|wir)\b)",
    re.IGNORECASE,
)
_DIRECT_SPEECH = LazyPattern(
    rf"(?P<lead>(?P<who>(?:^|(?<=[.!?\n;]))[^.!?\n;:\"“„«]{{0,80}}?)\b{_SAYING}\b[^.!?\n:\"“„«‘]{{0,40}}[:,]?\s*)"
    r"(?:[\"“„«‘'][^\"”“»]*[\"”“»’']?|(?<=:)\s?[^.!?\n;]*|(?<=: )[^.!?\n;]*)",
    re.IGNORECASE,
)
_OWN_SPEECH = LazyPattern(
    r"\b(?:i|ich|je|j'ai|yo|we|wir|nous|on|the user|user|the human|(?:der|die) nutzer(?:in)?|l['’]utilisat(?:eur|rice)|"
    r"(?:el|la) usuari[oa]|me|mich|moi|my)\s*(?:have |has |had |habe |hat |ai |a |always |just |once |only )*$",
    re.IGNORECASE,
)

_FORGETTING = LazyPattern(r"\b(?:forget|miss|vergessen|verpassen|oublier|rater|olvidar|olvidarme|perder)\b")
_CONFESSING = r"(?:say(?! (?:to|goodbye|hello|thanks?|sorry|yes|no)\b)|admit|confess|laugh|smile|wonder|(?:add|agree|stress|warn you) that)"
_ZUGEBEN = (
    r"(?:(?:ehrlich|schon|ja|auch|wirklich|allerdings|leider|gleich|hier) )*(?:sagen|zugeben|gestehen|einraumen|lachen)"
)
_AVOUER = r"(?:dire(?! (?:a|au|aux)\b)|avouer|admettre|reconnaitre)"
_DECIR = r"(?:decir(?! (?:a|al)\b)|admitir|confesar|reconocer|reir)"
_NO_DUTY = LazyPattern(
    # denied
    r"\b(?:don't|do not|doesn't|does not|didn't|did not|won't|will not|wouldn't|needn't|never|no longer|not"
    r"|nobody|no one|nothing"
    r"|nor|without having)(?: (?:really|actually|currently|even|always|still|will|would|ever|now|you|i|we))? "
    r"(?:(?:has|have|having|need|needs|needed|got|going|plan|plans|planning|intend|intends) to\b"
    r"|wants? to\b(?!.*\b(?:must|have to|need to)\b))"
    r"|\b(?:haven't|hasn't) got to\b|\bneedn't\b|\b(?:need|must|should|ought|will|shall|may)(?:n't| not)\b"
    r"|\bmust never\b|\bshouldn't\b|\bmustn't\b|\bwon't\b"
    r"|\bno (?:longer )?(?:need|reason|obligation|plans?|duty|intention)\b"
    r"|\b(?:not|nothing|no longer|never|no \w+)(?: (?:is|are|was|left|currently|still|yet|anything"
    r"|any))* (?:due|pending|outstanding|owed|open)\b"
    r"|\b(?:don't|do not|doesn't|does not|didn't|never|nothing|no one|nobody) (?:is |was )?(?:promised?|owes?)\b"
    r"|\b(?:no|without(?: an?)?|never had an) (?:more )?(?:appointments?|deadlines?)\b|\bno longer (?:have"
    r"|has) an? (?:appointment|deadline)\b"
    # regretted, or a guess about what was
    r"|\b(?:should|must|ought to|could|would|might)(?:n't| not)?(?: (?:really|probably|never|always))? have \w+"
    r"|\bwas (?:going|supposed) to\b|\bwere (?:going|supposed) to\b|\bused to (?:have|need) to\b"
    # less than a duty
    r"|\b(?:would|might|may|could|'d) (?:probably |then |also )?(?:have|need) to\b"
    # said of everybody, or advice
    r"|\b(?:everyone|everybody|anyone|people|you) (?:must|should|ought to|has to|have to)\b"
    r"|\bappointment[^,]* (?:was|went|had been) (?!moved|made|set|postponed|booked|scheduled|shifted|confirmed|changed)"
    # idioms
    r"|\bi must be \w+ing\b|\bhay que ver\b"
    rf"|\b(?:must|have to|has to|got to|need to|needs to|should|will|i'll) (?:really |also |just "
    rf"|only )?{_CONFESSING}\b"
    r"|\bi should (?:think|imagine|hope)\b|\b(?:i'll|i will|we'll|we will) (?:never|always|be (?:fine|ok|okay"
    r"|honest|frank)|see(?=\W*$| (?:how|if|what|whether)))\b"
    r"|\b(?!(?:left|still|things?|something|remains?|remaining|lot|much|more|list|is|are|have|has|needs?|got|work|stuff|items?"
    r"|tasks?|my|our|the|a|promised|forgot|want|wants|plan|plans|planning)\b)[\w']+ to do\b"
    r"|\b(?:has|have|had|having|is|nothing|something|little|much) to do with\b|\bneeds? to be said\b"
    r"|\bneedless\b|\bmust[- ](?:see|have|read)\b"
    r"|\b(?:must|should|ought to) be (?:so |very |quite |really |all )?(?:nice|great|fine|ok|okay|right|wrong"
    r"|good|hard|easy|true|lovely|tired"
    r"|proud|happy|sad|joking|kidding|fun|enough|possible|about|a|an|the|somewhere)\b"
    r"|\b(?:it|that|this|there|he|she|they) (?:must|should) (?:be|feel|look|taste|sound|seem)\b(?! \w+(?:ed"
    r"|id|nt|en|ne|ght|lt)\b)"
    r"|\b(?:you|they|these|those|which|always|it) reminds? me of\b|\bnothing (?:left )?to do\b"
    # German
    r"|\b(?:muss|mussen|musste|mussten|soll|sollen|sollte|will|wollen|mochte|habe vor|brauch\w*|darf"
    r"|durfen)\b[^,]*\b(?:(?<!noch )nicht(?! nur)|nie|niemals|kein\w*|nichts)\b"
    r"|\b(?:(?<!noch )nicht|kein\w*|nichts)\b[^,]*\b(?:brauch\w*|muss|mussen|offen|fallig|ausstehend)\b"
    r"|\b(?:ist|sind|steht|stehen) (?:noch )?nichts (?:mehr )?(?:offen|fallig|an|aus)\b"
    r"|\bhatten?\b[^,]*\b(?:sollen|mussen|konnen)\b|\b(?:musste|mussten)\b[^,]*\bwenn\b"
    rf"|\b(?:muss|mussen)(?: ich| man| wir)? {_ZUGEBEN}\b|\b(?:das|es|er|sie) (?:muss|mussen"
    rf"|musste)(?: \w+){{0,3}} (?:sein|gewesen)\b"
    r"|\bmuss(?: \w+){0,3} gewesen sein\b|\bkeinen? (?:termin|frist)\b|\b(?<!noch )nicht\b(?! nur)[^,]* \w+en\s*$"
    # French
    r"|\b(?:ne|n) (?:\w+ ){0,2}(?:(?:dois|doit|devons|devez|doivent|faut|reste|veut"
    r"|veux)\b(?: \w+){0,2}? (?:pas|plus|rien|jamais|aucun\w*)|(?:ai|a|as|avons|ont|suis|est) (?:pas|plus"
    r"|rien|jamais) (?:a|besoin|oblige\w*|du|promis|en attente))\b"
    r"|\b(?:pas|plus|aucun) (?:besoin|oblige\w*)\b|\b(?:rien|plus rien) (?:a faire|a payer|a rendre"
    r"|en attente)\b|\bpas de rendez[- ]vous\b|\bsans devoir\b"
    r"|\b(?:aurais|aurait|aurions|avais|avait) du\b|\b(?:aurait fallu)\b|\b(?:devrais|devrait|faudrait)\b[^,]*\bsi\b"
    rf"|\b(?:dois|doit|devons|faut) {_AVOUER}\b|\b(?:ca|cela|ce|il|elle) doit (?:bien )?etre (?!\w+ (?:avant"
    rf"|pour|vendredi|lundi|demain))"
    r"|\b(?:doit|dois) avoir (?:ete )?\w+[eisu]\b"
    # Spanish
    r"|\b(?:no|nunca|tampoco|nadie|ya no) (?:(?:me|se|le|nos) )?(?:(?:tengo|tiene|tenemos|hay) (?:que|nada"
    r"|ningun\w*|cita)|debo|debe|debemos|hace falta|faltan?|necesit\w+|quedan?|(?:voy|va|vamos) a)\b"
    r"|\bsin (?:tener|necesidad)\b|\b(?:nada|ninguna?) (?:pendiente|por hacer)\b|\bsin cita\b"
    r"|\b(?:deberia|debi|tendria que|tenia que|hubiera|habria)\b[^,]* (?:haber|debido|tenido)\b|\b(?:debi"
    r"|habria debido|tendria que haber) \w+"
    rf"|\b(?:debo|debe|tengo que|tiene que|hay que|tenemos que) {_DECIR}\b|\b(?:debe|deben"
    rf"|debio) (?:de )?(?:ser|estar|haber|tener)\b"
    r"|^\W*todo (?:lo|el|va|esta|es|fue|ha|bien|se|me|muy|salio|un|mi|en)\b|\b(?:gusta|sobre|casi|con|de|para"
    r"|es|esta|lo|en|ante|hace|come|por|no) todo\b"
)
_NO_IDENTITY = LazyPattern(
    r"\b(?:name|names|nickname|birthday|surname|job|profession|hometown) (?:is|was|are) (?:not|never)\b"
    r"|\b(?:isn't|wasn't|aren't)\b"
    r"|\b(?:am|is|are|i'm|was|he's|she's|we're) not\b|\bnot (?:my|called|named|from|born|married|divorced|an?"
    r"|the|based)\b"
    r"|\b(?:don't|do not|doesn't|does not|didn't|did not|never|won't|wouldn't)(?: \w+)? (?:live|lives|lived"
    r"|work|works|worked|come|comes|call|called|own|run|speak|study|move|moved|grow|have)\b"
    r"|\bnicht\b(?! nur)|\bkeine?[nrms]?\b|\b(?:ne|n) (?:\w+ ){1,3}(?:pas|jamais)\b|\bpas (?:ne|nee|mon|ma)\b"
    r"|\b(?:no|nunca) (?:me |se |nos )?(?:llam\w+|soy|es|eres|somos|viv\w+|trabaj\w+|naci\w*|habl\w+|vengo"
    r"|estoy|esta|tengo|tiene)\b"
)
_ENDED = LazyPattern(
    r"\b(?:no longer|any ?more|nicht mehr|keine?[nrms]? \w+ mehr|ya no|ne \w+ plus|n \w+ plus|plus (?:a|chez"
    r"|en|comme|dans))\b"
)
_NO_DEED = LazyPattern(
    r"\b(?:haven't|hasn't|hadn't|have not|has not|had not|didn't|did not|wasn't|weren't|was not|were not"
    r"|isn't|aren't|never|not|nobody|no one|none)(?: \w+){0,2} "
    r"(?:been |got |be )?\w+(?:ed|nt|ght|id|ng|ld)\b"
    r"|\b(?:should|could|would|must|might|ought to)(?:n't| not)?(?: \w+)? (?:have|be)\b|\bnicht\b"
    r"|\bkeine?[nrms]?\b|\bhatten?\b[^,]*\b(?:sollen|mussen|konnen)\b"
    r"|\b(?:ne|n) (?:\w+ ){1,3}(?:pas|jamais|rien)\b|\b(?:aurais|aurait|aurions) (?:du|pu)\b|\b(?:no|nunca"
    r"|nadie) (?:lo |la |le |se )?(?:he|ha|hemos|han|fue|esta|hay)\b"
    r"|\b(?:deberia|podria|tendria que|hubiera|habria)(?: de)? haber\b|\bdebi\b"
)
_NO_DECISION = LazyPattern(
    r"\b(?:didn't|did not|never|haven't|hasn't|have not|has not|don't|do not|doesn't|won't|cannot|can't"
    r"|couldn't|nothing|nobody)(?: \w+){0,2} "
    r"(?:decided?|agreed?|chosen?|choose|chose|settled?|opted?|picked?|adopt(?:ed)?|use|go with|going with"
    r"|revised|switched|vote[d]?)\b"
    r"|\bno (?:final )?(?:decision|choice)\b|\b(?:nicht|nichts|kein\w*|nie)\b[^,]*\b(?:beschlossen"
    r"|entschieden|festgelegt|vereinbart|geeinigt)\b|\bkeine entscheidung\b"
    r"|\b(?:n|ne) (?:\w+ ){1,2}(?:pas|rien|jamais) (?:\w+ )?(?:decide|choisi|convenu|opte)\b|\b(?:no|nunca"
    r"|nada)(?: \w+)? (?:decid\w+|acord\w+|eleg\w+)\b|\bno (?:hemos|he|ha|han|se)(?: \w+)? (?:decid\w+"
    r"|acord\w+|eleg\w+)\b"
)
_SUPPOSED = LazyPattern(
    r"^\W*(?:and |but |und |et |y |so |even |auch |meme |incluso )?(?:if|unless|suppose|supposing|imagine"
    r"|in case|falls|angenommen|sofern|si(?!,)|supposons|supongamos|imagina)\b"
    r"|^\W*wenn\b[^,]*\b(?:muss|mussen|hatte|ware|wurde|konnte|sollte)\b|\b(?:as if|if only|i wish|als ob"
    r"|als wenn|comme si|como si|ojala)\b|\bif (?:i|we|my|you) (?:ever |really )?(?:were|was|had|lived|worked|name)\b"
)
_THINKING = _either_of(
    "thinks thought believes believed guesses guessed feels wonders wondered suggests suggested supposes assumes assumed claims claimed"
    " doubts glaubt glaubte denkt dachte findet fand meint meinte vermutet behauptet pense pensait croit croyait trouve suppose"
    " pretend cree creia piensa pensaba opina supone afirma"
)
_OPINION = LazyPattern(
    rf"^\W*(?!(?:i|ich|je|yo|we|wir|nous|user|the user|der nutzer|die nutzerin) )(?:[\w'-]+ ){{1,3}}{_THINKING} "
    r"(?:that |dass |que |qu |, )?(?:i|i'm|my|me|we|our|ich|mein|meine|wir|je|j|mon|ma|nous|yo|mi|soy|me"
    r"|tengo|debo|deberia|vivo|the user|it|he|she|they|er|sie|es|il|elle|he's|she's|\w+)\b"
    r"|^\W*(?:[\w'-]+ ){1,3}(?:asked|asks|fragte|fragt|demande|demandait|pregunto|pregunta|wonders|wondered"
    r"|wanted to know|wants to know)(?: (?:me|us|mich|uns|him|her))? "
    r"(?:if|whether|when|why|how|what|where|ob|wann|wie|was|wo|warum|si|quand|comment|cuando|como|que)\b"
    r"|^\W*(?:[\w'-]+ ){1,3}(?:m|me|se|nous|nos|mich|uns) (?:demande|pregunta|pregunto|a demande"
    r"|preguntaba) (?:si|quand|comment|cuando|como|que)\b"
    r"|^\W*(?!(?:i|we|you|ich|wir|je|nous|yo|user) )(?:[\w'-]+ ){1,3}(?:said|says|told (?:me|us)|sagte|sagt"
    r"|dit|dijo|dice)(?: that| dass| que| qu)?,? "
    r"(?:(?:tiene|tienen|debe|deben|va|van|he|she|they|er|sie|il|elle|el|ella)(?: |'ll )|(?:i|we|ich|wir) (?:should|sollte|sollten)\b)"
)
