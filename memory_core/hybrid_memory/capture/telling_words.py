"""How sentences begin that tell something of the person, and those that only look so. Expressions over small letters, for `telling`."""

from __future__ import annotations

from hybrid_memory.lazy_pattern import LazyPattern


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

MINE = LazyPattern(
    r"(?:both |all |all of |one of |some of |most of )?(?:my|our) [\w'’ .&/+()-]{1,70}?(?:'s"
    r"|s)?(?:,[^,]{2,40},)?(?: |'s |'re )"
    r"(?:is|are|was|were|will|has|have|had|lives?|works?|likes?|loves?|hates?|prefers?|needs?|wants?|turns?"
    r"|turned|got|gets|started|starts|goes"
    r"|plays?|speaks?|died|passed|moved|runs?|uses?|can't|cannot|can|doesn't|does|did|didn't|don't|isn't"
    r"|aren't|wasn't|never|always|came|comes"
    r"|born|begins?|ends?|opens?|closes?|falls|costs?|weighs?|takes?|teaches|studies|expires?|meets?|went"
    r"|bought|broke|gave|made|drives?|eats?"
    r"|calls?|keeps?|owns?|named|called|only|just|recently|currently|usually|used|sleeps?|wears?|collects?"
    r"|arrives?|leaves?|graduated|married"
    r"|retired|grew|hurts?|consists?|told|tells|suggests?|suggested|recommends?|recommended|says?|said|thinks?"
    r"|asked|cooks?|sings?|loses|lost|knows?|makes?|refuses|and i)\b"
    r"|(?:my|our) [\w'’ .&-]{1,60}'s (?:\w|\d)|(?:my|our) [\w ]{2,30}: \S"
)
MINE_NOT = LazyPattern(
    rf"(?:my|our) (?:\w+ ){{0,2}}{_TASK_THINGS}\b(?: (?:is|was|are|were|has|have|doesn't|does|isn't|returns?"
    rf"|looks?|should|will|would|can|can't|gets?|keeps?|never|always|only|just)|:|'s)"
    r"|(?:my|our) (?:\w+ ){0,2}(?:would|could|should|might|may)\b"
)
I_OR_WE = LazyPattern(
    r"(?:i|i'm|im|i've|ive|i'd|i'll|we|we're|we've|we'll|me and my [\w ]+|my [\w ]{2,30} and i|(?:[a-z]+ ){1,2}and i)\s"
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
BROKEN = LazyPattern(
    r"\b(?:errors?|exception|traceback|not working|doesn't work|don't work|didn't work|won't work"
    r"|isn't working|stopped working|fails?|failing|failed to|crash\w*|undefined|null|throws?"
    r"|returns? (?:none|null|true|false|an?|the)|stack ?trace|segfault|compil\w+|syntax|line \d+|is broken|bug"
    r"|wrong (?:output|result|answer))\b"
)
BESIDE_THE_TALK = LazyPattern(
    r"\b(?:you|your|you're|you've|yours|u|ur|chatgpt|gpt|claude|gemini|this (?!year|month|week|weekend|summer"
    r"|winter|spring|autumn|fall|morning|afternoon|evening|friday|monday|tuesday"
    r"|wednesday|thursday|saturday|sunday|christmas|semester|term|project|repo)(?:\w+)|these|those|(?:the "
    r"|see |code |as )(?:above|below|following)|aforementioned|(?:same|previous|last|first|second|third|next"
    r"|other) (?:one|option|version|approach"
    r"|suggestion|idea|answer|response|draft|paragraph|step|example|question)|that (?:makes sense|works|helps"
    r"|helped|sounds|would|is|was|looks|one|approach|idea|way)|thanks|thank|thx|appreciated|let me know"
    r"|sounds good|makes sense|got it|no problem|for me please|step by step)\b"
)
DROPPED = LazyPattern(
    r"(?:(?:all[- ]time )?favou?rite [\w ]{2,40} (?:is|are|of)|allergic to|born (?:in|on|and raised)|based in"
    r"|married (?:to|with|since|for)|(?:a )?(?:vegetarian|vegan|diabetic|celiac|coeliac|lactose)"
    r"|live in|living in|work (?:as|at|for|in)|working (?:as|at)|moved to|grew up in|mother of|father of"
    r"|mom of|dad of|divorced|retired|raised in|new here, (?:i'm|im|i am)"
    r"|engaged to|studying \w+ (?:at|in)|turning \d|diagnosed with)\s"
)
NAMED = LazyPattern(
    r"(?!(?:the|this|that|it|there|here|if|when|what|how|why|which|who|each|every|all|some|any|most|many|one"
    r"|and|but|so|also|not|no|yes|please|write|give|make|create|use|in|on|at|for"
    r"|from|to|with|as|by|a|an|these|those|its|you|your|they|he|she|his|her|their|someone|everyone|nobody"
    r"|people|users?|python|java\w*|react|docker|linux|windows|google|excel|html|css"
    r"|error|note|example|step|input|output|python's|function|method|class|question|answer|title|name|age|task"
    r"|goal|context|role|subject|today|tomorrow|yesterday|nothing|everything|something"
    r"|let's|lets|anyone|anything|sounds|looks|seems|great|good|perfect|summer|winter|spring|autumn|fall"
    r"|christmas|easter|work|life|time|money|school|both|either|neither|other|another|maybe|once|while|after"
    r"|before)\b)"
    r"(?:(?P<name>(?:(?:dr|mr|mrs|ms|prof)\.? )?[a-zà-ÿ][\w’-]+(?: [a-zà-ÿ][\w’-]+)?(?: (?:and"
    r"|&) [a-zà-ÿ][\w’-]+)?)(?: (?:from|at|in) [\w ]{2,25})?"
    r"(?:,? (?:my|our) [\w ,'-]{2,40}?,?)? (?:is|are|has|have|lives?|works?|likes?|loves?|hates?|prefers?"
    r"|was born|turns|turned|moved|started|plays?|speaks?|studies|goes to|can't eat|doesn't eat|doesn't like"
    r"|owns?|got married|retired|died|joined|left|called|wants|needs|drives|handles|approves|manages|leads"
    r"|runs|teaches|comes|can't come|reports|had|sold|bought|got)"
    r"|(?:[a-zà-ÿ][\w’-]+)(?: [a-zà-ÿ][\w’-]+)?'s "
    r"(?:birthday|name|wife|husband|partner|son|daughter|kids?|dog|cat|phone|number|email|address|favou?rite"
    r"|job|wedding|graduation|party|surgery|flight|visa|house|school|team|boss|mother|father|mom|dad|brother"
    r"|sister)"
    r"[\w ]{0,30} (?:is|are|was)\b|(?:mom|mum|dad|grandma|grandpa|granny)(?:'s)? \w+)"
)
NAMED_NOT = LazyPattern(
    r"[\w’' -]{1,40} (?:is|are|has|have) (?:a |an |the |one of |considered |known |defined |used |called "
    r"|located |made |not |been |several |many |two |three |also )+(?:\w+ )?(?:used|known|defined|designed"
    r"|language|process|method|type|kind|form"
    r"|framework|library|concept|term|function|tool|country|city|capital|number|set|system|important|common"
    r"|popular|essential)\b"
    r"|[\w’' -]{1,40} (?:is|are) (?:noted|sorted|booked|done|obviously|completely|perfect|locked|ready|correct"
    r"|good|great|fine|super|too|just|used|known|defined|considered|important|important to|essential|common"
    r"|popular|required|located|necessary)\b"
)
PART = LazyPattern(
    r"(?:[,;:–—-]+\s+)(?:(?:and|but|so|because|since|though|although|while|plus|or|cause|cuz|und|aber|weil"
    r"|denn|et|mais|car|y|pero|porque|e|mas)\s+)?"
    r"(?!(?:my|our) [^,]{2,40},)(?=(?:i|i'm|i've|i'd|i'll|im|ive|id|we|we're|we'll|we've|my|our|ich|wir|meine?"
    r"|unsere?|je|j'\w+|nous|mon"
    r"|ma|notre|mi|mis|nuestr[oa]|eu|meu|minha|nosso|nossa"
    r"|what|how|which(?! (?:is|are|was|were|i|we|has|have|makes?|means?)\b)|where(?! (?:i|we|my|our|he|she"
    r"|they)\b)|who(?!'s| (?:is|are|was|has|lives?|works?|loves?)\b)|why|should|can|could|would|is there"
    r"|are there|do you|does|any|got any|got some"
    r"|please|help|give|make|write|tell|show)\b)"
    r"|,\s+(?:but|so)\s+(?!that\b)|\s(?:and|but|so|because|cause|cuz|und|aber|weil|et|mais|y|pero|porque|e"
    r"|mas)\s+(?=(?:i|i'm|i've|i'd|im|ive|we|we're|we've|my|our|the thing is|ich|wir|mein"
    r"|meine|je|nous|mon|ma|mi|eu|meu|minha)\b)|[，、]|,\s+(?=[^,]{0,30}\?)|\bthe thing is (?:that )?(?=my|our|i)"
)
"""Between the parts of a sentence, where a new subject, a request or a question begins."""
REPORTED = LazyPattern(
    r"\b(?<!i )(?<!we )(?:said|says|told (?!me\b)|wrote|writes|asked|asks|thinks|claims|claimed|mentioned"
    r"|replied|answered|states|sagte|sagt|meint|dit|dijo|dice|disse|diz) "
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
LED_IN = LazyPattern(
    r"(?:in|at|for|as|since|after|before|during|on|last|next|every|being|these days|growing up|back|once|twice"
    r"|ever since|most|until|over the)\b"
    r"(?: [\w'’-]+){1,6}?,? (?=(?:i|i'm|i've|we|we're|we've|my|our)\b)"
    r"|(?:fyi|nb|note|reminder|for later|heads[- ]up|background|info|update|to clarify)\s*[:,–-]?\s+"
)
"""What may stand in front of a statement: "for breakfast", "as a nurse", "last summer"."""
OURS = LazyPattern(
    r"(?:it's|it is|today is|tomorrow is|today's|tomorrow's) (?:my|our) \w+|there(?:'s| is| are| was"
    r"| were) .{0,40}\b(?:of us|(?:in|at|on|of) (?:my|our) \w+)"
    r"|(?:nobody|no one|everyone|everybody|none|half|most|some|each|all|both|one|two|three) (?:else )?(?:of|in"
    r"|on|at )?\s?(?:us|my|our|the team|the office|the family)\b .*\w"
)
"""What is said of several of one's own."""
AT_WORK = LazyPattern(
    r"(?:the |our |my )?(?:[\w-]+ )?(?:staging|prod|production|servers?|database|db|office|(?:team )?meeting"
    r"|stand-?up|retro|deadline|launch|release(?: train)?|client|customer|invoices?"
    r"|budget|appointment|flight|train|hotel|exam|interview|rent|lease|contract|port|repo|domain|deploy key"
    r"|backups?|cron job|boss|manager|product owner|team lead|concert|trip|lesson"
    r"|semester|code review|ci|service|daily|sprint|warehouse|shop|clinic|practice|ward|band|choir"
    r"|club)(?: (?:at|in|of|to|for|with) [\w' ’]{2,30}?)?"
    r"(?:'s| is| are| has| have| listens?| runs?| lives?| goes?| go| needs?| wants?| starts?| ends?| leaves?"
    r"| covers?| opens?| closes?| takes?| costs?| was| were| moved| happens) .*"
    r"(?:\d|(?:mon|tues|wednes|thurs|fri|satur|sun)day|@|\bevery\b|\b(?:january|february|march|april|june|july"
    r"|august|september|october|november|december)\b|\w/\w|\w\.\w|\btwo\b|\bthree\b)"
)
"""What a job has, with a value: a port, a day, a place."""
AT_WORK_NAMED = LazyPattern(
    r"the (?:product owner|team lead|boss|manager|client|customer|tech lead|landlord|cto|ceo|designer"
    r"|accountant|teacher|vet) is "
)
THEIRS = LazyPattern(
    r"the (?:\w+ )?(?:dogs?|cats?|puppy|kids?|children|baby|twins|house|flat|apartment|car|garden|nursery"
    r"|daycare|kindergarten|landlord|landlady|wedding|cabin|wifi|gate code"
    r"|door code|garage|spare key|keys?|vet|cleaner|babysitter|nanny|neighbou?rs?|alarm|boat|van"
    r"|bike)(?: (?:at|in|of|to|for) [\w' ’]{2,30}?)?(?:'s| is| are| has| have| closes?| opens?"
    r"| hates?| loves?| likes?| sleeps?| comes| lives?| goes| gets| needs| eats?| wants?| turns?| was| were) \S"
)
"""What somebody has at home, of which they speak without "my"."""
LABELLED = LazyPattern(
    r"(?:(?:full |first |last |preferred )?name|age|job|occupation|profession|role|location|city|country"
    r"|home ?town|allerg(?:y|ies)|height|weight|hobby|hobbies|diet|pronouns|birthday"
    r"|born|time ?zone|languages?|family|pets?|interests?|goals?|education|employer|company|experience|gender"
    r"|budget)\s*[:=]\s*\S"
)
STATED = LazyPattern(
    r"(?:i'm|im|i am) (?:single|married|divorced|widowed|vegan|vegetarian|pescatarian|pregnant|retired"
    r"|unemployed|gay|bi|trans|autistic|dyslexic"
    r"|diabetic|deaf|blind|colou?rblind|jewish|muslim|christian|hindu|buddhist|atheist|left-handed|\d{1,2})"
)
"""Statements of two words."""
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
SELF_AND_OTHERS = LazyPattern(r"(?:my|our|[\w-]+'s?) [\w' -]{2,30} and |[\w-]{2,20} and ")

FOREIGN = (
    LazyPattern(
        r"(?:ich|wir|mein\w{0,2}|unser\w{0,2}|meiner meinung)\s(?!(?:frage|problem|ziel|code|skript|text"
        r"|fehler|idee|aufgabe)\b)\S+\s\S+"
    ),
    LazyPattern(
        r"(?:je|j'\S+|nous|mon|ma|mes|notre|nos|on (?=(?:a|est|va|vit|part|habite|aime|mange|utilise|préfère"
        r"|travaille|déteste)\b)\S+)\s(?!(?:question|problème|code|script|but|texte|erreur)\b)?\S+"
    ),
    LazyPattern(
        r"(?:yo|mi|mis|nuestr[oa]s?|soy|somos|estoy|estamos|tengo|tenemos|vivo|vivimos|trabajo|trabajamos"
        r"|me (?:llamo|gustan?|encantan?|mudé|casé|operaron|duele)|nos (?:mudamos|casamos)|nací"
        r"|estudio|juego|hablo|uso|usamos|odio|a mi|a mí)\s(?!(?:pregunta|problema|código|objetivo|texto|error)\b)\S+"
    ),
    LazyPattern(
        r"(?:eu|meus?|minhas?|nossos?|nossas?|sou|somos|estou|tenho|temos|moro|moramos|vivo|trabalho"
        r"|trabalhamos|me chamo|chamo-me|nasci|gosto|adoro|odeio|estudo|falo|uso|usamos|a gente)\s"
        r"(?!(?:pergunta|problema|código|objetivo|texto|erro)\b)\S+"
    ),
    LazyPattern(
        r"(?:io|mio|mia|miei|mie|nostr[oaie]|sono|abito|lavoro|ho|abbiamo|mi chiamo|vivo|ik|mijn|wij|ons"
        r"|onze)\s\S+\s\S+"
    ),
)
FOREIGN_NOT = LazyPattern(
    r"\b(?:brauche|brauchen|möchte|möchten|will|wollen|würde|suche|suchen|frage mich|verstehe|versuche"
    r"|versuchen|glaube|denke|hoffe|weiß nicht|hab(?:e)? (?:ein )?(?:problem|frage|fehler)|bekomme|kriege|sehe"
    r"|kannst|könntest|du|dein\w*|dir|dich|hätte|ihr|danke"
    r"|besoin|voudrais|veux|voulais|cherche|cherchons|essaie|comprends|pense|crois|espère|aimerais|sais pas|tu"
    r"|te|ton|ta|tes|vous|votre|vos|merci|peux|dois|obtiens"
    r"|necesito|quiero|quisiera|quería|busco|intento|entiendo|creo|pienso|espero|gustaría|puedo|debo|tratando"
    r"|intentando|buscando|tú|tu|te|gracias|puedes|podrías"
    r"|preciso|quero|queria|procuro|tento|entendo|acho|penso|gostaria|posso|devo|tentando|procurando|você|teu"
    r"|tua|obrigad[oa]"
    r"|vorrei|voglio|cerco|provo|capisco|credo|spero|posso|grazie|wil|zoek|probeer|denk|hoop|kun|jij|je)\b"
)
TELLS_DENSE = LazyPattern(
    r"^(?:我|咱|本人|我们|我的|我家|我妈|我爸|我老婆|我老公|我女儿|我儿子)|^(?:私|僕|俺|うち|わたし|ぼく|妻|夫|息子|娘|母|父|家族|弊社|当社|我が家)|(?:に住んで|で働いて"
    r"|が好き|が嫌い|が苦手|アレルギー|飼って|と申します|といいます|歳です)"
    r"|(?:住在|过敏|不吃|喜欢|讨厌|出生|毕业|结婚)"
)
TELLS_DENSE_NOT = LazyPattern(
    r"想要?(?:知道|问|要|请|了解|写|做)|需要|觉得|不知道|不明白|帮我|帮忙|请问?|可以|能不能|怎么|什么|应该|遇到|报错|错误|正在(?:尝试|写)|你|您"
    r"|ください|下さい|教えて|たい(?:です|んです|と思)|ほしい|欲しい|お願い|でしょうか|ですか|ますか|エラー|わからない|分からない|困って|あなた|してくれ|作って|書いて"
)
