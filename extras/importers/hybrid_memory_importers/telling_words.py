"""How sentences begin that tell something of the person, and those that only look so. Expressions over small letters, for `telling`."""

from __future__ import annotations

from hybrid_memory.language.lazy_pattern import LazyPattern


def _set(text: str) -> frozenset[str]:
    return frozenset(text.split())


def _any(words: str) -> str:
    """Return an expression for one of some words, which are parted by bars and lines."""
    return "(?:" + "|".join(one.strip() for line in words.split("\n") for one in line.split("|") if one.strip()) + ")"


_ADVERBS = (
    r"(?:just|also|really|actually|currently|now|always|usually|still|only|kinda|kind of|sort of|recently"
    r"|already|basically|honestly|simply|mostly|often|never|both|all|mainly|generally|sometimes|even|finally"
    r"|personally|probably|literally|so|very|pretty|a bit|a little|totally|quite) "
)
_TASK_THINGS = (
    r"(?:code|script|function|query|program|output|errors?|questions?|problem|issue|essay|draft|text"
    r"|sentence|prompt|message|point|idea|concern"
    r"|guess|assumption|understanding|input|request|bad|mistake|apologies|task|assignment|homework|result"
    r"|answer|first thought|thinking|thoughts?"
    r"|class|method|component|regex|loop|variable|table|column|dataframe|data|file|json|html|css|page|button"
    r"|test|tests|build|image|container|pipeline"
    r"|intro|introduction|conclusion|paragraph|bullet|prompt|version|formula|spreadsheet|sheet|endpoint"
    r"|request|response|config|setup)"
)

MINE_NOT = LazyPattern(
    rf"(?:my|our) (?:\w+ ){{0,2}}{_TASK_THINGS}\b(?: (?:is|was|are|were|has|have|doesn't|does|isn't|returns?"
    rf"|looks?|should|will|would|can|can't|gets?|keeps?|never|always|only|just)|:|'s)"
    r"|(?:my|our) (?:\w+ ){0,2}(?:would|could|should|might|may)\b"
)
_AT_IT = _any(
    r"""
    trying|looking|wondering|having
    getting (?:an? (?:\w+ )?(?:error|warning|message|blank|\d+)|the|this|these|it|nothing|weird|strange|only|null|undefined|back to)
    seeing|asking|talking|referring|thinking|hoping|facing|making|creating|implementing|adding
    doing|testing|running into|running a|following|calling|passing|debugging|starting to|finding|considering|kidding|joking|missing
    about to|supposed|unable|able|on it|heading out|off to|losing
    """
).removesuffix(")") + (
    r"|writing (?:(?:an? |this |some )?(?:\w+ )?(?:email|letter|essay|code|script|function|program|query"
    r"|tests?|paper|report|blog|article|post"
    r"|message|unit|sql|regex)|to|this)|going to (?:need|try|ask|test|check|use|run|go|grab)"
    r"|planning to (?:use|add|try)"
    r"|using (?:the|this|a|an|your)|building (?:a|an|this) (?:\w+ )?(?:function|script|component|query|class)"
    r"|working on (?:it|this|that))"
)
_IN_A_MOOD = _any(
    """
    curious|confused|stuck|struggling|sure|not sure|unsure|keen|relieved|unprepared|completely|overwhelmed|impressed|sorry|glad|happy to
    happy with|excited|worried|afraid that|back|ready|done|here|not|interested|torn|feeling|aware|open to|fine|good|ok|okay|well|great|tired
    bored|stressed|sad|lost|really|in a hurry|at a loss|in a meeting|on a call|at the airport|hungry
    """
)
_DONE = _any(
    """
    tried|looked|read|seen|checked|attached|set|written|made|run|created|implemented|done|completed|finished the|finished this|finished that
    reviewed|considered|included|followed|given|got this|got the|configured|added|updated|come across
    """
)
_DO = rf"(?:{_ADVERBS})*"
_ABOUT_THE_TASK = _any(
    r"""
    want (?!to (?:learn (?!how|about|more|what|it|this)|become|lose|get (?:fit|in shape|healthier)|retire|have kids|quit|run a))
    need|needed|talked|discussed|went over|went to book|remember|recall|require|wanted|wish|hope|try|tried|think|thought|guess|believe
    assume|suppose|mean|meant|understand|understood|agree|appreciate|wonder|wondered|notice|noticed|noted|found|figure|figured|heard|ran|re-?ran
    changed|add|added|remove|removed|update|updated|install|installed|copy|copied|paste|pasted|click|clicked|restart|restarted|reinstalled
    opened|checked|tested|deleted|renamed|fixed|pushed|merged|committed|deployed|typed|entered|said|told|asked|mentioned|explained|expect
    expected|kept|felt|forgot|missed|must|should|could|would|couldn't|wouldn't|shouldn't|may|might|won't|shall|did|didn't|come|came
    go ahead|go now|got it|got the|got this|doubt|realize|realized|look|looked|ask|gave you|give|sent you|send|uploaded
    attached|define|defined|hate to|made this|wrote this|lost track|saw|are given|am given
    """
)
"""What follows "I" where it is about what is being done, not about the person."""
_WITH_AN_OBJECT = _any(
    """
    read|run|keep|see|feel|find|set|put|hear|write|make|start|started|stop|stopped|finished|lost|bought|change|follow|followed|do|get|know
    love|like|sent|use|used|built|created|made|wrote|closed|moved
    """
)
"""Of these only with an object of the task: "I read it", not "I read mostly non-fiction"."""
_TASK_OBJECT = (
    r"(?:it|this|that|these|those|them|your|the (?!piano|guitar|drums|cello|violin|gym|keto|school|bus|train"
    r"|dog|kids|garden|house)\w+"
    r"|what|how|why|where|when|if|you|as|so|like (?:this|that|it|the)|like i|an? (?:errors?|bug|problem|blank"
    r"|warning|message|lists?|404|500"
    r"|white)|everything|nothing|\w{1,2} (?:to|in) \S+|getting|seeing|adding|trying|having|that's|\d+\b)"
)
_MADE_THING = (
    r"(?:questions?|problems?|issues?|errors?|bugs?|ideas?|doubts?|trouble|difficult(?:y|ies)|following"
    r"|tables?|lists?|dataframes?|files?"
    r"|functions?|scripts?|class|classes|strings?|arrays?|dicts?|dictionary|json|csv|components?|pages?|loops?"
    r"|variables?|columns?|rows?"
    r"|queries|query|code|text|paragraph|sentence|data|task|feeling|clue|image|picture|triangle|equation"
    r"|matrix|integers?|numbers? and|csv)"
)
I_NOT = LazyPattern(
    rf"(?:i|we|me) {_DO}{_ABOUT_THE_TASK}\b"
    rf"|(?:i|we|me) {_DO}{_WITH_AN_OBJECT}(?:$| {_TASK_OBJECT}(?!\w))"
    rf"|(?:i|we|me) {_DO}(?:can(?!'t|not)|(?:can't|cannot) (?!stand|eat|drink|drive|swim|have|tolerate|digest"
    rf"|walk|hear|bear|sleep|come)"
    r"|will (?!only|never|always|be)|do not (?!like|eat|drink|enjoy|own|speak|drive|smoke|wear|use|buy|trust)"
    r"|don't (?!like|eat|drink|own|speak|drive|enjoy|smoke|celebrate|live|have (?:any )?(?:kids|children|a car"
    r"|siblings|pets|allergies|time for)"
    r"|use|work|watch|trust|cook|do well|tolerate|wear|buy|support)"
    r"|get (?!(?:\w+ )?(?:anxious|nervous|motion sick|sick|migraines|headaches|up|home|my|our|about|paid|along)))"
    rf"|(?:i|we|me) {_DO}have to\b(?! (?:avoid|take|be careful|inject|wear))"
    rf"|(?:i|we|me) {_DO}(?:have|had|get|got) (?:an? |another |one |some |two |three |four |five |several "
    rf"|many |\d+ |no |the |this |these |following |more"
    rf" |few |quick |couple )*(?:\w+ )?{_MADE_THING}\b"
    r"|(?:i|we)\S* (?:\S+ ){0,2}(?:it|them)\b(?! (?:hard|difficult|easy|easier))"
    r"|(?:i|we) (?:have|had) (?:an? |some )?(?:headache|good news|bad news|meeting)\b"
    rf"|(?:i'm|im|i am|we're|we are|i was|we were) {_DO}(?:{_AT_IT}|{_IN_A_MOOD})\b"
    rf"|(?:i've|ive|we've|i have|we have) {_DO}(?:{_ABOUT_THE_TASK}|{_DONE})\b"
    rf"|(?:i've|ive|we've) {_DO}got (?:an? |some |the |another |two |three )?(?:\w+ )?{_MADE_THING}\b"
    r"|(?:i'd|we'd|i'll|we'll) (?!be (?:in|at|on (?!it)|away|turning|moving|\d)|turn|rather|prefer)"
)
PERSONAL_WORDS = _set(
    """
    i i'm im i've ive i'd id i'll my me mine we we're we've we'd we'll our ours us ich wir mein meine meinem meinen
    meiner meines mir mich uns unser unsere unserem unseren je j'ai j'habite j'aime j'adore j'utilise j'étudie mon ma
    mes moi nous notre nos on yo mi mis nuestro nuestra nuestros nuestras soy somos estoy estamos tengo tenemos vivo
    vivimos trabajo trabajamos nací estudio juego hablo uso usamos odio eu meu meus minha minhas sou estou tenho temos
    moro moramos trabalho nasci gosto adoro odeio falo a io mio mia miei mie sono abito lavoro ho abbiamo ik mijn wij
    ons favourite favorite allergic born based married vegetarian vegan diabetic celiac coeliac live living work
    working moved grew mother father mom mum dad grandma grandpa granny divorced retired raised new engaged studying
    turning diagnosed dog dogs cat cats puppy kid kids children baby twins house flat apartment car garden nursery
    daycare kindergarten landlord landlady wedding cabin wifi code garage key keys vet cleaner babysitter nanny
    neighbour neighbor alarm boat van bike
    """
)
"""A sentence of a language with spaces has one of these if it tells of the person."""
LABELLED = LazyPattern(
    r"(?:(?:full |first |last |preferred )?name|age|job|occupation|profession|role|location|city|country"
    r"|home ?town|allerg(?:y|ies)|height|weight|hobby|hobbies|diet|pronouns|birthday"
    r"|born|time ?zone|languages?|family|pets?|interests?|goals?|education|employer|company|experience|gender"
    r"|budget)\s*[:=]\s*\S"
)
SETS_A_SCENE = LazyPattern(
    r"\b(?:role-?play(?:ing)?|text[- ]adventure|dungeon master|game master|d&d|dnd|in[- ]character"
    r"|choose your own adventure"
    r"|interactive (?:story|fiction|adventure)|let'?s play a (?:game|role)|you(?:'ll| will)? (?:be|play"
    r"|are) (?:my |the |an? )[^.\n]{0,40}?"
    r"(?:boyfriend|girlfriend|wizard|king|queen|vampire|villain|tavern|narrator|storyteller))\b"
    r"|\b(?:correct|check|fix) (?:all )?(?:my|every|each|any) (?:\w+ )?(?:grammar|english|spanish|french"
    r"|german|sentences?|mistakes?|spelling)\b"
    r"|\bpracti[cs]e (?:my )?(?:english|spanish|french|german|italian|japanese|korean|portuguese|chinese"
    r"|speaking|conversation|an? interview|for an? interview)\b"
    r"|\btranslate (?:everything|all|whatever|each|every|what|any)\b[^.\n]{0,40}\b(?:i|that i|message|sentence)\b"
    r"|\b(?:mock interview|interview me|quiz me)\b"
)
"""From a message with one of these on, what is said is played, practised, or there to be corrected."""
INTRODUCES = LazyPattern(
    r"\b(?:about me|about myself|my (?:details|info\w*|profile|stats|background|situation|bio|data)|i am|i'm|im)\b"
)
