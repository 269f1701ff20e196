"""What is kept of English sentences: preferences, decisions, plans, corrections, facts, and what is to be remembered.

Every expression is matched at the beginning of a clause, in small letters, and looks at a bounded number of characters. An apostrophe
may be missing. What a sentence must not say stands in ``refusals.py``.
"""

from __future__ import annotations

from hybrid_memory.capture.model import StatementKind as Kind
from hybrid_memory.capture.rules import Rule, expanded
from hybrid_memory.language.lazy_pattern import LazyPattern

MACROS = {
    "ADV": r"(?:(?:really|strongly|generally|usually|always|much|still|definitely|personally|also|just"
    r"|mostly|normally|now|actually"
    r"|absolutely|totally|truly|typically|both|all|rather|very much|kinda|sort of|kind of|so|only"
    r"|finally|already|recently|currently"
    r"|officially|unanimously|jointly|together|mainly|deeply|greatly|particularly|especially"
    r"|slightly|highly|tend to)\s+){0,3}",
    # Nothing that has a meaning only beside what was said before.
    "THING": r"(?!(?:it|its|that|this|them|those|these|him|her|his|their|one|ones|both|either|neither|yours?|here|there"
    r"|so|how|what|where|which|who"
    r"|when the|when this|when that|option|plan [a-e]\b|version \w\b|number|the (?:first|second"
    r"|third|fourth|last|latter|former|other|new"
    r"|old|current|previous|next|one|two|same|top|bottom|left|right|longer|shorter|simpler|cheaper"
    r"|whole|idea|result|output|answer"
    r"|suggestion|design|way|look|sound|approach|version|option|tone|style|title|draft|colou?r"
    r"|layout)|another|some of|any of|all of|"
    r"none|each|a (?:different|new|better|similar|simple|simpler|quick|shorter|longer|bit|few|lot"
    r"|second|couple)|line|step|case|point"
    r"|the (?:\w+ ){0,2}(?:one|ones|option|version|approach|idea))\b)(?=\w)",
    "DAY": r"(?:(?:mon|tues|wednes|thurs|fri|satur|sun)days?|(?:mon|tues?|wed|thurs?|fri|sat|sun)\b)",
    "MONTH": r"(?:january|february|march|april|june|july|august|september|october|november|december"
    r"|(?:jan|feb|mar|apr|jun|jul|aug|sept?|oct|nov|dec)\b|may(?= \d)|(?<=\d )may|(?<=(?:st|nd|rd"
    r"|th) )may|(?<=of )may|(?<=in )may|(?<=by )may)",
    "TIME": r"(?:\b<DAY>|\b(?:\d{1,2}\.? (?:of )?)?<MONTH>|\b(?:tomorrow|next (?:week|month|year|spring"
    r"|summer|autumn|fall|winter"
    r"|semester|quarter|time)"
    r"|this (?:weekend|week|month|year|spring|summer|autumn|fall|winter|december)"
    r"|over (?:christmas|easter|new year)|for (?:christmas|easter)"
    r"|in (?:a|an|one|two|three|four|five|six|\d+) (?:days?|weeks?|months?|years?)|(?:the )?\d{1,2}(?:st|nd|rd|th)"
    r"|\d{4}-\d\d-\d\d|\d{1,2}/\d{1,2}(?:/\d{2,4})?|(?<![.\d])\d{1,2}\.\d{1,2}\.(?:20\d\d)?(?!\d)|(?:end|start|middle"
    r"|beginning) of (?:the )?(?:week|month|year|quarter|<MONTH>)"
    r"|q[1-4]|20[2-9]\d|christmas|easter|new year'?s?)\b)",
    "HASTIME": r"(?=[^\n]{0,200}?<TIME>)",
    "CODE": r"(?:functions?|variables?|class(?:es)?|methods?|files?|columns?|fields?|tests?|branch(?:es)?"
    r"|scripts?|components?|parameters?"
    r"|args?|arguments?|buttons?|loops?|lines?|errors?|output|code|tables?|rows?|queries|query"
    r"|types?|interface|struct|enum|props?|array"
    r"|list|string|value|key|object|index|page|header|footer|css|html|div|endpoint|handler|hook"
    r"|migration|commit|diff|logs?|paragraph"
    r"|sentence|essay|text|word|title|story|poem|character|image|picture|answer|response|prompt"
    r"|question|example|section|chapter|formula"
    r"|cell|sheet|regex|input|result|results|model|build|compiler|parser|exception|message|menu"
    r"|dropdown|modal|icon|font|constructor)",
    "FAMILY": r"(?:wife|husband|spouse|partner|girlfriend|boyfriend|fiancee?|daughters?|sons?|child(?:ren)?"
    r"|kids?|baby|toddler|mother|father|mum|mom"
    r"|mama|papa|dad|parents|brothers?|sisters?|siblings?|twins?|grand(?:mother|father|ma|pa"
    r"|parents|daughter|son)|gran|nan|aunt|uncle"
    r"|cousin|niece|nephew|in-laws|mother-in-law|father-in-law|brother-in-law|sister-in-law"
    r"|step(?:mom|mum|dad|son|daughter|mother|father)"
    r"|ex(?:-wife|-husband)?|dog|cat|puppy|kitten|horse|rabbit|parrot|hamster|bf|gf|hubby|bro|sis)",
    "ROLE": r"(?:boss|manager|colleagues?|coworkers?|co-workers?|team ?mates?|team|cto|ceo|cfo|coo|pm|po"
    r"|product owner|product manager"
    r"|project manager|scrum master|team lead|tech lead|lead|designer|accountant|landlord|landlady"
    r"|doctor|gp|dentist|vet|lawyer|therapist"
    r"|teacher|professor|supervisor|advisor|adviser|tutor|coach|trainer|room ?mate|flat ?mate"
    r"|house ?mate|neighbou?rs?|(?:best )?friends?"
    r"|clients?|customers?|assistant|intern|founder|co-?founder|business partner|contact"
    r"|contact person|agent|publisher|editor|mentor"
    r"|mentee|students?|employer|company|startup|nanny|babysitter|cleaner|electrician|plumber"
    r"|mechanic|broker|head of \w+|director"
    r"|hr (?:lead|manager|contact|person)|sysadmin|admin)",
    "PERSON": r"(?:(?:best|old|older|oldest|elder|eldest|younger|youngest|little|big|twin|late|new|ex|former"
    r"|only|line|direct|own|other|middle"
    r"|two|three|four|german|french|spanish)[ -]){0,2}(?:<FAMILY>|<ROLE>)",
    # A thing that has a name or an address of its own.
    "PLACE": r"(?:servers?|hosts?|db|database|cluster|bucket|repo|repository|project|app|application"
    r"|product|company|firm|startup|team|group|band"
    r"|boat|car|house|cabin|dog|cat|school|kindergarten|street|village|town|bot|domain|environment"
    r"|env|staging|production|prod|gateway|proxy"
    r"|registry|instance|vm|machine|laptop|nas|router|wifi|network|printer|channel|account|service"
    r"|site|website|blog|newsletter|podcast"
    r"|shop|store|cafe|restaurant|course|club|gym|office|room|building|release|sprint|workspace"
    r"|organi[sz]ation|org|tenant|namespace)",
    "EVENT": r"(?:meetings?|appointments?|exams?|interviews?|deadlines?|flights?|trains?|surgery|operation"
    r"|wedding|birthday|party|anniversary|viva"
    r"|defen[cs]e|presentation|talk|demo|launch|release|review|call|check-?up|visit|trip|holiday"
    r"|vacation|conference|workshop|concert|race"
    r"|marathon|hearing|funeral|graduation|move|moving date|lease|contract|passport|visa"
    r"|licen[cs]e|subscription|insurance|class|lesson|test"
    r"|delivery|due date|parental leave|maternity leave|stand-?up|retro(?:spective)?"
    r"|sprint planning|planning|sync|1:1|offsite|onsite|kick-?off"
    r"|rehearsal|mot|dentist|doctor's appointment|due|shift|start date|first day|last day|date)",
    "NOTNOW": r"(?![^\n]{0,160}\b(?:minutes?|mins?|hours?|right now|at the moment|for now|for a (?:sec"
    r"|second|moment|while)|this time|just this|later|soon"
    r"|brb|tonight|today|this (?:morning|afternoon|evening)|a sec|again|still|atm|rn|this task"
    r"|this one|this file|this function|line \d+)\b)",
    "ANSWERS": r"(?:(?:all |your |the |any |my )?(?:answers?|repl(?:y|ies)|responses?|explanations?"
    r"|summar(?:y|ies)|messages|comments|commits?"
    r"|commit messages|suggestions|emails|texts|outputs|code samples|code examples|code blocks))",
    "LANGUAGE": r"(?:english|german|french|spanish|portuguese|italian|dutch|polish|russian|ukrainian|chinese"
    r"|mandarin|japanese|korean|hindi|arabic"
    r"|turkish|swedish|danish|norwegian|finnish|czech|greek|hebrew|catalan|romanian|hungarian"
    r"|vietnamese|thai|indonesian)",
    "LASTING_START": r"(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|moving forward"
    r"|in (?:the )?future|henceforth|as a rule"
    r"|in general|permanently|by default|at all times)",
    "LASTING": r"(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|moving forward"
    r"|in (?:the )?future|from here on out|henceforth"
    r"|as a rule|in general|every time|each time|at all times|whenever|every single time"
    r"|all the time|for all (?:future|my|our)|permanently"
    r"|for good|by default)",
    "ORDER": r"(?:please|pls|plz|kindly|do|you (?:should|must|can|need to|have to)|i(?:'d| would)? (?:want"
    r"|need|like) you to|i expect you to"
    r"|make sure (?:that )?(?:to |you )?|be sure to|try to)",
    "NAMED": r"(?:is|are|was|'s)? ?(?:called|named|name's|name is|nicknamed|known as)",
}


def _p(source: str) -> LazyPattern:
    return LazyPattern(expanded(source, MACROS))


def _rule(kind: Kind, importance: float, source: str, *, asked: bool = False) -> Rule:
    return Rule(kind, _p(source), importance, asked)


REMEMBERED: tuple[Rule, ...] = (
    _rule(
        Kind.FACT,
        0.85,
        r"(?!(?:save|store|add|put) that\b)(?:(?:please|pls|plz|can you|could you|can u|also|so"
        r"|and)\s+){0,2}(?:remember"
        r"|keep in mind|bear in mind|memori[sz]e|make a (?:mental )?note"
        r"|take note|don't forget|do not forget|never forget|always remember|store|save|note down"
        r"|write down|note to self|remember for (?:later|next"
        r" time|the future)|for (?:future|your|later|my) (?:reference|information|notes)|(?:add"
        r"|save|put|store) (?:this |that )?(?:to|in|into)"
        r" (?:your |the )?memory)"
        r"(?:\s*(?:,|:|-|–|—)\s*(?:that )?|\s+(?:this|the following)(?: for (?:later|next time"
        r"|the future|me))?\s*[:,-]\s*|\s+that\s+"
        r"|\s+(?=(?:my|our|i|i'm|we|we're)\b)"
        r"|\s+(?=the (?!(?:[\w'-]+ ){0,2}<CODE>\b)[\w' -]{2,40}? (?:is|are|only|works?|has|have|needs?"
        r"|runs?|lives?|expires?|closes?|opens?)\b))"
        r"(?P<text>(?!(?:when|how|what|if|where|why|to|the time)\b).{8,})",
        asked=True,
    ),
    _rule(Kind.FACT, 0.8, r"for later\s*[:–—]\s*(?P<text>.{8,})", asked=True),
    _rule(Kind.FACT, 0.8, r"note(?:\s+for (?:later|the future|next time))?\s*[:–—]\s*(?P<text>.{8,})", asked=True),
)
"""Said outright. What is to be remembered need not look like anything else, but has to stand alone."""

REMEMBER_BEFORE = _p(
    r"(?:(?:please|pls|plz|can you|could you|and|so|just)\s+){0,2}(?:(?:remember|memori[sz]e|save"
    r"|store|note|don't forget|write down|keep)"
    r" (?:this|that|it)(?: down| in mind| in (?:your |the )?memory| to (?:your |the )?memory)?"
    r"|keep (?:this|that|it) in mind|make a note of (?:this|that|it))"
    r"(?: please| pls| for (?:later|next time|the future|future reference|me|all \w+))*\s*[.!]*$"
)
"""The sentence before is to be remembered."""

WEAK_NOTE = _p(
    r"(?:actually|as i said|like i said|as mentioned|i (?:already )?(?:told you|said|mentioned)"
    r"|fyi|for the record|heads up|just so (?:you|u) know|just to let you know|so you know"
    r"|good to know|important|note that|note|please note(?: that)?"
    r"|reminder|for (?:your )?info|to be clear|info|context|background|about me"
    r"|one thing to know)\b\s*[,:–—-]*\s*(?:that )?"
)
"""What follows may be worth keeping, if it says something of its own."""

_PREFERENCES = (
    (
        r"(?:i|we) <ADV>(?:prefer|favou?r) (?:to |that |when |if |having |being "
        r"|using )?<THING>(?!not to (?:say|answer|talk)|you to (?:fix|do|make|show|try|start))"
    ),
    (
        r"(?:i|we) <ADV>(?:dislike|hate|love|like|enjoy|adore|can't stand|cannot stand|can not stand"
        r"|don't like|do not like|don't enjoy|am not a fan of"
        r"|'m not a fan of|don't want(?! to)|do not want(?! to)|never want|always want|am a (?:big "
        r"|huge )?fan of|'m a (?:big |huge )?fan of)"
        r" <THING>(?!the\b|your\b|you\b|my (?:code|job)\b|where|to (?:see|know|get|have|make|add"
        r"|change|do|use it|ask|think|start|try|create|build)\b"
        r"|(?:any|an?) (?:answer|error)|(?:when|if) (?:it|the|this|that)\b)(?:.{2,})"
    ),
    (
        r"(?:i|we) (?:(?:really|generally|personally|always|try to|prefer to|\w+ly) ){0,2}(?:avoid"
        r"|refuse to|never (?:use|eat|drink"
        r"|write|buy|work|fly|cook|wear|take|commit|put|touch|want|say|add"
        r"|read|watch|drive)|always (?:use|write|want|eat|drink|order|buy|pay|book|fly|take|work"
        r"|format|name|put|indent|commit|squash|rebase|wear|read|cook|start"
        r" my)|only (?:use|eat|drink|buy|write|work|read|wear|cook|fly|accept|listen to|follow|watch|stay in)"
        r"|usually (?:use|write|work|eat|drink|cook|take|prefer|order|buy|start|read)"
        r"|mostly (?:use|write|work|eat|drink|read)|normally (?:use|write|work|eat|drink)|don't (?:eat"
        r"|drink|use|wear|smoke|do mornings)|do not (?:eat|drink|use))"
        r" <THING>(?!the (?:wrong|same)|my\b|an? )"
    ),
    (
        r"i(?:'ve| have)? (?:always )?(?:have|had|got) (?:an? |no )(?:(?:\w+ly )?(?:strong|severe"
        r"|strict|deep|clear|slight|mild|particular|real"
        r"|huge|acute|big|personal|general) )?(?:aversion|dislike|preference|distaste|fear|phobia"
        r"|weakness|soft spot|interest|passion) (?:to|for|of|in|towards?)"
        r" <THING>(?!the (?:error|bug|code)).{2,}"
    ),
    (
        r"i(?:'m| am) (?:not |really not |really |very |\w+ly ){0,2}(?:into|interested in|keen on"
        r"|fond of|uncomfortable with|comfortable with|passionate about"
        r"|sensitive to) <THING>(?!(?:the|using|adding|seeing|knowing|learning (?:more|how)|making"
        r"|getting|trying|building|hearing|understanding|buying"
        r"|finding|creating|exploring|doing)\b).{3,}"
    ),
    (
        r"i (?:find|prioriti[sz]e|value) (?!the\b|out\b|my\b)<THING>(?=.*\b(?:over|hard to"
        r"|difficult|annoying|boring|ineffective|off-putting|distracting"
        r"|stressful|overwhelming|in general|always)\b).{4,}"
    ),
    (
        r"(?:i|we)(?: follow| keep| eat| am on|'m on| adhere to) (?:an? |the )?(?:strict |mostly "
        r"|very )?(?:[\w-]+(?:,| and)? ){0,4}?diet\b.*"
    ),
    r"going (?:vegetarian|vegan|pescatarian|gluten[- ]free|sober|dairy[- ]free)\b(?! for (?:a|one|two|\d+) (?:day|week)).*",
    r"(?:i|we)(?:'d| would) rather have <THING>(?!the\b)(?=.*\b(?:everywhere|always|by default|in (?:our|all|my))\b).{3,}",
    r"favou?rite [\w' -]{2,30} of all time is <THING>.{2,}",
    r"(?:i|we) only ever (?:use|eat|drink|buy|write|read|wear|cook|fly|listen to|watch) <THING>.{2,}",
    (
        r"i'm (?:a |an )?(?:strict |mostly |lifelong )?(?:vegetarian|vegan|pescatarian|pescetarian"
        r"|teetotal(?:ler)?|flexitarian|night owl|early bird|morning person)\b"
    ),
    (
        r"i am (?:a |an )?(?:strict |mostly |lifelong )?(?:vegetarian|vegan|pescatarian"
        r"|teetotal(?:ler)?|flexitarian|night owl|early bird|morning person)\b"
    ),
    (
        r"(?:my|our) (?:all[- ]time |absolute |personal |team's )?(?:favou?rite|preferred|go-to"
        r"|default) (?!part|bit|thing|line|moment|so far|one\b|option|version|of\b)"
        r"[\w' -]{2,40}? (?:is|are|'s|has always been) <THING>(?!in the|your)"
    ),
    (
        r"(?:i|we)(?:'d| would) (?:much |really )?rather (?:have )?(?:you (?:\w+ )?(?:ask|use|not"
        r"|check|explain|give|keep|write|didn't|don't|always|never)\b"
        r"(?=.*\b(?:before|when|whenever|anything|always|never|every|than|everything)\b)"
        r"|(?:not )?(?:use|eat|take|pay|work|have|write|read|travel|live|go)"
        r" <THING>.{1,60}? than )"
    ),
    # standing orders
    (
        r"(?:(?:please|pls|plz|you should|you must)[, ]+)?(?:always|never(?! mind)|don't ever"
        r"|do not ever|at no point) (?!again\b|mind\b|forget\b|gonna\b|works?\b|fails?\b|been\b"
        r"|returns?\b|had\b|heard\b|seen\b|get\b|got\b|is\b|are\b"
        r"|(?:in|on|at|with|from|of|for|to|an?|the|so|very|such|as|like|too|more|less|good|nice"
        r"|happy|great|\w+ing|\w+ed|\w+[b-rt-z]s)\b)<THING>[a-z]{2,} .{2,}"
    ),
    (
        r"(?:<ORDER>[, ]+)?(?:<LASTING_START>|for (?:all|every|any) (?:\w+ ){0,3}(?:i (?:ask|write|send)"
        r"|you write|in this (?:repo|project|codebase)))"
        r"[, ]+(?:(?:please|pls|always|only|just|you|we|i|let's|can you|could you|i want you to"
        r"|i'd like you to|should|to)[, ]+){0,3}"
        r"(?!have\b|be (?:a|the)|what|how|it\b|this\b|that\b|plan|i'm\b|there\b|is\b|was\b|will\b"
        r"|we'll see)[a-z]{2,} .{3,}"
    ),
    (
        r"(?:please |pls |plz |can you |could you |always |you can |i want you to |i'd like you to "
        r"|try to |just |only ){0,2}(?:answer|reply|respond|speak|talk|write|explain|use|call|keep"
        r"|give|format|put"
        r"|do not|don't|stop|avoid|no|ask|show|name|make|be|add|run|commit|skip|leave|address|refer"
        r"|treat|indent|document|start|end|include|check|prefer|stick)"
        r" (?!it (?!short|brief|simple)|this\b|that\b)(?=.{2,160}\b(?:from (?:now|here|today) on"
        r"|going forward|in (?:the )?future|every time|each time|from here on(?: out)?|at all times"
        r"|unless i (?:ask|say|tell)|in all (?:your |my |our )|whenever (?:i|you|we)|for all my)\b"
        r"|.{2,120}\balways$).{6,}"
    ),
    (
        r"(?:please |pls |plz |always |i want you to |i'd like you to |try to |just ){0,2}(?:keep|make"
        r"|write|give me|format) <ANSWERS> (?:as |very |really |more |in |under |below |to |at )*"
        r"(?:short|brief|concise|simple|terse|<LANGUAGE>|plain|under|below|\d+|one|two|three|four|five"
        r"|compact|to the point|lower ?case|formal|informal|bullet)"
    ),
    (
        r"(?:please |pls |plz |always |just )*(?:be (?:more )?(?:brief|concise|terse|direct) (?:with"
        r"|in) (?:your |the )?(?:answers|replies|responses|explanations))"
    ),
    (
        r"(?:please |pls )?(?:use|write in|stick to|answer in) (?:simple|plain|british|american|metric"
        r"|formal|informal|easy) (?:english|spelling|units|language|german)\b"
    ),
    (
        r"(?:please |pls |plz )?(?:stop|quit|avoid) (?:using|adding|writing|putting|apologi[sz]ing"
        r"|saying|calling|including|sprinkling) .{0,30}\b(?:emojis?|exclamation marks"
        r"|to everything|everywhere|all the time|every time|em[- ]dashes|comments to every"
        r"|disclaimers|apologies|filler)"
    ),
    (
        r"(?:please |pls |plz )?(?:no|don't use(?: any)?|never use) (?:emojis?|exclamation marks"
        r"|em[- ]dashes|disclaimers|buzzwords|bullet points|small talk|flattery)\b"
    ),
    (
        r"(?:(?:please|pls|you can|you may|everyone|everybody|people|friends"
        r"|just)\s+){0,2}calls? me (?!crazy|when|if|back|later|at|a\b|an\b|old|stupid|lazy|paranoid"
        r"|dumb|maybe|tomorrow|on\b|in\b|now"
        r"|asap|up\b|out\b|whatever|anything|names|the\b)[a-z][\w.'-]*(?: [a-z][\w.'-]*)?(?: please| pls|, .{1,60})?$"
    ),
    (
        r"(?:when|whenever|every time|each time|any time|anytime) (?:you|i ask(?: you)?(?: for"
        r"| to)?|i say|i write|i give you) .{3,80}?\b(?:please|pls|use|always|never|don't|do not|keep"
        r"|i want"
        r"|i prefer|i mean|add|put|write|make|give|show|avoid|include|start|end|stick|ask|only|skip|just)\b .{3,}"
    ),
    (
        r"(?:in|for|across|inside) (?:this|the|our|my) (?:repo|repository|project|codebase|code base"
        r"|team|company|monorepo|workspace)(?: here)?,? (?:we|i|you|always|never|please|only|all|every"
        r"|everything|use|no)\b(?! (?:have|need|want|are|should i|can)\b).{6,}"
    ),
    (
        r"(?!not\b)[\w.+#-]+(?: [\w.+#-]+)?,? (?:not|instead of"
        r"|over) [\w.+#-]+(?: [\w.+#-]+)?,?(?: please| pls)?,? always$"
    ),
    r"(?:always|only) [\w.+#-]+(?: [\w.+#-]+)?,? (?:not|never|instead of) [\w.+#-]+(?: [\w.+#-]+)?$",
    (
        r"(?:the|this|our) (?:repo|project|codebase|code base|team|company|monorepo)(?: only| always"
        r"| now)? (?:uses|prefers|sticks to|follows|requires|runs on) <THING>"
    ),
    (
        r"(?:we|i) (?:write|name|format|indent|document|put|keep|sort|prefix|tag|squash"
        r"|rebase) (?:all |every |our |my |the )?(?:commit messages|commits|tests|code|comments|docs"
        r"|branches|"
        r"imports|variables|files|migrations|dates|times|prs|pull requests|releases|names) (?:in|with"
        r"|as|by|under|next to|like|on|at|after|into|before)\b.{2,}"
    ),
)

_NO_TASK = (
    r"(?!.*\b(?:in (?:this|that|the) (?:function|file|test|case|method|class|loop|step|line|component"
    r"|example|paragraph|query)|for now|for a (?:moment|sec|second|bit)|for this|first$|line \d"
    r"|at the moment|this time|instead of (?:that|this|it)$)\b)"
)
_WHO = (
    r"(?:we|i|the (?:team|board|family|group|committee|client|council|whole team)|my (?:wife|husband"
    r"|partner|team|boss|family|parents|girlfriend|boyfriend) and i|our (?:team|company|client|board)"
    r"|[a-z]+ and (?:i|me))"
)
_DECISIONS = (
    (
        rf"{_WHO}(?:'ve| have| has|'re| are)? <ADV>(?:decided(?! (?:yet|whether|if|how|what|which|when"
        r"|where)\b)|agreed(?! with (?:you|that|this)\b| on (?:it|that|this)$)|settled on|chose|chosen"
        r"|picked|opted for|opted"
        r"|voted (?:for|to)|committed to|made up (?:my|our) mind)(?: to| on| that| for| against| with"
        rf"| not| in favou?r of|,)* <THING>(?!together\b|nothing\b){_NO_TASK}.{{2,}}"
    ),
    (
        r"(?:let's|let us|we should just|we should|we'll|we will|i'll|i will|i'm gonna|we're gonna|i'm"
        r"|we're|i am|we are)(?: just| all| now| then| definitely| both| all)? (?:go(?:ing)? with"
        r"|stick(?:ing)? with|stick(?:ing)? to"
        r"|stay(?:ing)? with|settle on|switch(?:ing)? (?:back )?to|mov(?:e|ing) (?:back )?to"
        r"|migrat(?:e|ing) to|standardi[sz](?:e|ing) on|adopt(?:ing)?) (?!the\b|a\b|an\b|your\b|my\b"
        rf"|our\b|line\b|next|some)<THING>{_NO_TASK}.{{2,}}"
    ),
    r"(?:let's|let us) (?:go|stick|stay) with the [\w-]+ (?:for|on|as) .{3,}",
    (
        r"let's (?:use|drop|ditch|scrap|ban) (?!a\b|an\b|the\b|this\b|some\b|more\b|less\b|fewer\b"
        rf"|your\b)<THING>{_NO_TASK}(?=.*\b(?:for|instead|everywhere|from|as|on|support|because|only"
        rf"|in (?:all|every|production|prod|the (?:backend|frontend|app|project)))\b).{{3,}}"
    ),
    (
        r"(?!i(?:'m| am|'ll| will) (?:also )?us)(?:we|i)(?:'ll| will|'re going to|'re gonna"
        r"| are going to|'re| are|'m| am) (?:not "
        rf"|no longer |never |now |only |always |also ){{0,2}}(?:going to |gonna )?(?:us(?:e|ing)"
        r"|support(?:ing)?|drop(?:ping)?|ship(?:ping)?|launch(?:ing)?|releas(?:e|ing)|host(?:ing)?"
        r"|keep(?:ing)?"
        r"|replac(?:e|ing)|deprecat(?:e|ing)|retir(?:e|ing)|sunset(?:ting)?|skip(?:ping)?|renam(?:e"
        r"|ing) (?:the )?(?:product|company|project|app)) (?!a\b|an\b|the\b|your\b|my\b|some\b|going\b"
        rf"|trying\b){_NO_TASK}<THING><NOTNOW>(?=.*\b(?:for|instead|from|on|as|to|until|only|everywhere"
        r"|anymore|any more|not|because|support)\b|.*\bin (?:the|our|all|every) [\w -]{0,30}(?:repos?|projects?|apps?|backend"
        rf"|frontend|services?)\b|.*<TIME>|.*\b(?:decision|decided)\b"
        rf"|[\w .-]{{2,30}}$).{{3,}}"
    ),
    rf"we (?:don't|do not|no longer) (?:support|ship|use|allow|accept|maintain) <THING>{_NO_TASK}<NOTNOW>.{{2,}}",
    (
        r"(?:we|i)(?:'ve| have)? (?:just |now |finally |already |recently )?(?:dropped|ditched"
        r"|switched(?: back)? (?:to|from)|migrated (?:to|from)|replaced|abandoned|adopted"
        r"|moved (?:away )?from|went with|gone with|standardi[sz]ed on|signed (?:with"
        rf"|up with)) (?!the (?:first|second|last)\b|it\b|that\b|this\b|a\b|your\b){_NO_TASK}.{{3,}}"
    ),
    (
        r"(?:we|i) no longer (?!(?:get|see|have (?:the|this|that)|need (?:it|this|that)|see|know"
        r"|receive|understand|care)\b)[a-z]{2,} <THING>.{2,}"
    ),
    r"(?:we|i) (?:use|go with|take) [^,]{2,60}, decided$",
    r"not (?P<name>[\w.+#-]+)(?: [\w.+#-]+)? any ?more[,;] (?:we|i) .{4,}",
    r"(?:final decision|decision|decided|agreed|settled|resolved|verdict)\s*[:–—-]+\s*(?!we\b).{4,}",
    r"(?:it's|it is|it was|it has been) (?:been )?(?:decided|agreed|settled)(?: that|:|,) .{6,}",
    (
        r"(?:we|i) (?:are|'re|am|'m) not (?:going to|gonna) (?:support|use|ship|allow|accept|take|buy"
        r"|offer|pay|renew|sell) (?!it\b|that\b|this\b).{3,}"
    ),
    (
        r"(?:actually,? |ok,? )?(?:scrap|forget|drop|ditch) [\w.+-]+(?: [\w.+-]+)?, (?=(?:we'll"
        r"|we will|we're|let's (?:use|go|take|stick|switch|stay|fly|meet|do)|i'll) )(?P<text>.{8,})"
    ),
)

_PLANS = (
    (
        r"(?:planning|going|gonna|hoping) (?:to )?(?:run|move|fly|travel|visit|get married|quit|launch|retire)\b"
        r"(?! (?:the|this|these|that|it|my) (?!<EVENT>|\w+ marathon|job))<HASTIME><NOTNOW>.{4,}"
    ),
    (
        r"(?:(?:please|pls|can you|could you|and)\s+){0,2}(?:remind (?:me|us) (?:to (?!the\b)|that "
        r"|about (?:the|my|our) |of (?:the|my|our) |(?:on|in|at|next|tomorrow|by|before)\b.{2,40} to )"
        r"|don't let me forget (?:to |that |about )"
        r"|(?:i|we) (?:must not|mustn't|can't|shouldn't|should not) forget (?:to |that "
        r"|about ))(?!it\b|this\b|that\b|do (?:this|that|it)\b).{4,}"
    ),
    (
        r"(?:i|we)(?:'m| am|'re| are) <ADV>(?:flying|travell?ing|going|moving|driving|heading|leaving"
        r"|getting|visiting|meeting|starting|launching|shipping|releasing|presenting|taking|hosting"
        r"|having|running|migrating|upgrading|hiring|rolling out|off|on (?:vacation|holiday|leave|parental leave|call)"
        r"|out of office|out of the office|away|training|seeing|attending|giving|doing|expecting"
        r"|buying|selling|closing|opening|back|due|booked|scheduled|planning|speaking|publishing"
        r"|switching jobs|changing jobs|retiring|returning|throwing|celebrating|picking up|joining"
        r"|quitting)\b"
        r"(?! (?:through|over|into) (?:the|this|my|your)| an error| (?:error|crazy|nuts"
        r"|redirected)| (?:\w+ )?(?:trouble|issues?|problems?|difficult\w+)|"
        r" a hard time)<HASTIME><NOTNOW>.{4,}"
    ),
    (
        r"(?:i|we)(?:'ll| will)(?: be)? (?!(?:try|check|look|see|let you|do (?:it|that|this)"
        r"|get back)\b)<HASTIME><NOTNOW>.{6,}"
    ),
    (
        r"(?:i|we) (?:really |still |also )?(?:have|need|must|have got|'ve got|has|got|gotta|want|plan"
        r"|intend|hope|aim) (?:to )?(?!(?:this|it|that|these|them|you)\b)(?:[a-z]{2,}) .{0,120}?\b(?:by"
        r"|until|before|on|due|no later than|till|in)\b (?:the )?(?:end of )?<TIME><NOTNOW>.{0,100}"
    ),
    (
        r"(?:i|we)(?:(?:'ve| have) (?:also |still |just )?(?:got )?| (?:also |still "
        r"|just )?got )(?:an?|my|our|another|two"
        r"|the)? ?(?:[\w'-]+ ){0,4}?<EVENT>\b(?<=\w)<HASTIME><NOTNOW>.{4,}"
    ),
    (
        r"(?:i|we)(?: plan| intend| am planning| are planning|'m planning|'re planning)(?=[^\n]{0,160}?<TIME>) (?:to"
        r"|on) (?!(?:use|add|do|make|write|fix|refactor|create|change|test|implement|have|be|call"
        r"|put)\b|it\b|that\b|this\b).{4,}"
    ),
    (
        r"(?:(?:on|in|by|at|from|since|starting"
        r"|until) )?(?:the )?(?:end of )?<TIME>(?:,? [\w:]+){0,3}?,? (?:i|we|my [\w-]+ and i)(?:'m"
        r"| am|'re| are|'ll| will|'ve got| have| start| fly| leave| move"
        r"| begin| travel| go| present| launch| release| ship| meet| return| retire| get married"
        r"| turn \d+| switch| host| visit| close| open)\b(?! (?:an? )?(?:error|trying|using"
        r"|getting an|having"
        r"|working on (?:this|the|a)))<NOTNOW>.{3,}"
    ),
    (
        r"(?:i|we) (?:start|fly|leave|move|begin|travel|present|launch|release|ship|return|retire"
        r"|get married|turn \d+|go on (?:holiday|vacation|leave)|fly out|fly home|graduate"
        r"|defend)\b"
        r"(?! (?:to get|getting|seeing))<HASTIME><NOTNOW>.{4,}"
    ),
    r"(?:i|we)(?:'ve| have)? promised (?!you\b|it\b|that\b|this\b).{6,}",
    r"(?:i|we) (?:owe) (?!you\b).{4,}",
    (
        r"i'm (?:training|saving|studying|preparing|practi[cs]ing|learning) (?:for|up for"
        r"|towards) (?!this\b|that\b|it\b).{4,}"
    ),
    r"i am (?:training|saving|studying|preparing|practi[cs]ing) (?:for|up for|towards) (?!this\b|that\b|it\b).{4,}",
    (
        r"(?:my|our|the) (?!(?:birthday|anniversary|function|code|script|test"
        r"|error)\b)(?:[\w'-]+ ){0,4}?<EVENT>(?: [\w'-]+){0,4}? (?:is|are|'s|expires?|starts?|ends?"
        r"|leaves?|begins?|departs?|arrives?|runs out|takes place|falls on|lands on|will be"
        r"|was (?:moved|pushed|rescheduled|postponed|changed)"
        r"|got (?:moved|pushed|rescheduled|postponed|changed|cancelled|canceled)|(?:has"
        r"|have) been (?:moved|pushed|rescheduled|postponed)|is (?:now )?(?:moved|pushed|planned"
        r"|scheduled|booked|set|due))\b<HASTIME>.{3,}"
    ),
    (
        r"(?:i|we)(?:'ve| have)? (?:booked|scheduled|reserved|signed up for|registered for|rescheduled"
        r"|postponed|moved|arranged) (?!it\b|that\b|this\b|them\b)<HASTIME>.{6,}"
    ),
    (
        r"(?:the |our )?(?:[\w'-]+ ){0,2}(?:launch|release|beta|go-live|code freeze|freeze|deadline"
        r"|demo|deploy|deployment)(?: date)?(?: (?:for|of) (?:the |our |my )?[\w'-]+(?: [\w'-]+)?)? (?:is|has been|was|got|will be|moves"
        r"|moved)\b<HASTIME>.{3,}"
    ),
)

_MED = (
    r"(?:metformin|insulin|ibuprofen|antidepressants?|medication|meds|pills?|vitamin \w+|iron|lithium"
    r"|ritalin|[a-z]{4,}(?:in|ol|ide|ine|pril|statin|zole|cillin|one|am|an))"
)
_HEALTH = (
    r"(?:allerg\w+|intoleran\w+|diabet\w+|asthma\w*|epilep\w+|c(?:o)?eliac|pregnant|deaf|blind"
    r"|colou?r[- ]?blind|dyslexic|autistic|adhd|left[- ]handed|right[- ]handed|lactose|gluten"
    r"|migraines?|arthritis|dyscalculia|anemi[ca]|hypertens\w+|wheelchair)"
)
_PROFESSION = (
    r"(?:nurse|teacher|engineer|developer|dev|programmer|designer|doctor|physician|lawyer"
    r"|architect|accountant|carpenter|electrician|plumber|musician|photographer|journalist|student"
    r"|professor|scientist"
    r"|researcher|analyst|consultant|manager|director|librarian|pharmacist|translator|dentist"
    r"|therapist|psychologist|biologist|chemist|physicist|baker|farmer|chef|cook|pilot|vet|writer"
    r"|author|artist|ceo|cto|founder"
    r"|freelancer|surgeon|midwife|judge|barista|driver|mechanic|gardener|singer|actor|dancer"
    r"|tailor|paramedic|firefighter|policeman|police officer|soldier|sales(?:man|woman|person"
    r"| rep)|recruiter|marketer|producer|editor"
    r"|phd|postdoc|grad|undergrad|intern|apprentice|retiree|pensioner|sysadmin|admin|tester|qa"
    r"|lead|landlord|bookkeeper|paralegal|secretary|assistant|technician|operator|veterinarian"
    r"|optician|trainer|coach|tutor|dad|mom|mum|mother|father"
    r"|parent|grandmother|grandfather|widow|widower|immigrant|refugee|veteran|citizen|beekeeper"
    r"|potter|blacksmith|welder|waiter|waitress|hairdresser|nanny|au pair|priest|pastor|economist"
    r"|statistician|geologist|historian|linguist|speaker)s?"
)
_REL_PREDICATE = (
    r"(?:(?:is|are|'s|was|were) (?:(?:severely|highly|also|a bit|lactose|mildly|very|now|both"
    r"|strictly) )*(?:<HEALTH>|called|named|vegetarian|vegan|born|from|based in|married|divorced"
    r"|retired|an? (?:\w+ ){0,2}<PROFESSION>|\d{1,3}\b|turning \d|due in|kosher|halal|muslim"
    r"|jewish|hindu|catholic|starting|moving|getting married|afraid of|scared of"
    r"|in (?:\w+ )?(?:grade|year|school|kindergarten|college|university)|studying)"
    r"|'s name is|'s names are|name is|names are|(?:has|have|'s got|got) (?:an? |the |two |three "
    r"|four |a severe |severe |bad )*(?:<HEALTH>|\w+ allergy|\w+ disease|dementia|cancer|dogs?"
    r"|cats?|kids?|children|sons?|daughters?|birthday|degree|peanut|nut|name day)\b|(?:has"
    r"|have) (?:an? )?(?:\w+ ){0,2}(?:allergy|intolerance)"
    r"|lives?|works?(?= (?:at|for|as|in|with)\b)|studies|teaches|speaks?|plays|collects"
    r"|can't (?:eat|have|stand|drive|swim)|cannot (?:eat|have|stand)|doesn't (?:eat|like|drink"
    r"|drive|want)|don't (?:eat|like|drink)|does not (?:eat|like|drink)"
    r"|(?:really |always |absolutely |only |never )?(?:prefers?|loves|likes|hates|dislikes|eats"
    r"|drinks|enjoys|wants (?=.{0,40}\b(?:always|only|every)\b)|approves|handles|signs off|owns"
    r"|runs)|starts(?= (?:school|kindergarten|university|college|work|at|her|his|a new job))"
    r"|turns \d|turned \d|(?:passed away|died) (?:in|on|last)|moved to|was born|turned \d{1,3}|turns \d{1,3}|graduat\w+|retired"
    r"|got (?:married|divorced|promoted)|goes to|uses|takes)\b"
)


def _fill(source: str) -> str:
    return source.replace("<HEALTH>", _HEALTH).replace("<PROFESSION>", _PROFESSION)


_TRANSIENT = (
    r"(?!.*\b(?:right now|at the moment|today|tonight|this morning|yesterday|just now|here right"
    r"|at the door|on the phone|waiting for me|mad at|angry|upset|sick)\b)"
)
_FACTS = tuple(
    map(
        _fill,
        (
            (
                r"(?:my|our)(?: own)?(?: [\w'-]+){0,2}? <PERSON>(?:,? (?!is\b|are\b|was\b|has\b|'s\b"
                r"|said|says|told|and i\b|who\b|that\b|asked|asks|wants|thinks"
                r"|sent)[a-z][\w'-]*(?: (?!(?:at|from|of|in)\b)[a-z][\w'-]*)?(?: (?:at|from|of|in) [\w-]+)?,?)?"
                r"(?:'s (?:birthday|name|number|email|phone(?: number)?|address|wedding|anniversary"
                r"|due date|allergy|husband|wife|partner|dog|cat"
                rf"|new address))? ?{_TRANSIENT}{_REL_PREDICATE}.{{2,}}"
            ),
            (
                r"(?:my|our) (?:[\w'-]+ ){0,2}?<PERSON>'s (?:birthday|name|number|email"
                r"|phone(?: number)?|address|wedding|anniversary|due date|husband|wife|partner|dog"
                r"|cat) (?:is|are|'s) .{2,}"
            ),
            (
                r"(?:my|our) <PERSON>s? (?:are|is|'s) (?:called "
                r"|named )?(?P<name>[a-z][\w'-]+)(?: (?P<name2>[a-z][\w'-]+))?(?:$|,| and )"
            ),
            (
                r"(?P<name>[a-z][\w'-]+)(?: (?P<name2>[a-z][\w'-]+))? (?:is|'s) (?:my|our) (?:new "
                r"|old |older |younger |best |little |big )?(?:<PERSON>)\b.{0,120}"
            ),
            (
                r"(?:my|our|the) (?!(?:[\w'-]+ ){0,3}<CODE> )(?:[\w'/-]+ ){0,4}?(?:<PLACE>"
                r"|<PERSON>)(?: [\w'-]+){0,2}? (?:is|are|'s) (?:now |still )?(?:called|named) (?!on\b"
                r"|by\b|from\b|with\b|in\b|when\b|it\b|twice|again)\S.*"
            ),
            (
                r"(?:(?:my|our|the) (?:[\w'/-]+ ){0,2}?)?(?:staging|production|prod|dev|qa|live|demo|backup"
                r"|main|jump|build|test)(?: [\w-]+){0,2} (?:is|runs|lives|listens|sits)(?: hosted"
                r"| running| deployed| located)? (?:at|on|in|under|behind) (?=\S*[\w]*[\d.:/-])\S+.*"
            ),
            (
                r"(?:my|our) (?:[\w'-]+ ){0,3}?(?:is|are|runs|lives|happens|takes place)(?: always"
                r"| hosted| due| located| based| held)? (?:at|on|in|every)\b(?= .{0,40}(?:<TIME>|\d"
                r"|every)).{3,}"
            ),
            # people by name
            (
                r"(?P<name>[a-z][\w'-]*?)(?: (?P<name2>[a-z][\w-]+))?'s (?:birthday|phone(?: number)?"
                r"|number|email(?: address)?|address|wedding|anniversary|due date|last name|surname"
                r"|name day|pronouns"
                r"|husband|wife|partner|boss|desk|extension|office|time ?zone|dog|cat|kids?|children"
                r"|allergy) (?:is|are|'s) (?!(?:not|wrong|broken|missing|invalid|empty|null|ok|good"
                r"|bad|in the|here)\b)\S.*"
            ),
            (
                r"(?P<name>[a-z][\w'-]+)(?: (?P<name2>[a-z][\w'-]+))? (?:is|'s|will be"
                r"|becomes) (?:now )?(?:my|our) (?:[\w-]+ ){0,3}?(?:<PERSON>)\b.{0,120}"
            ),
            (
                r"(?:i|we) use (?:an? |the )(?:[\w-]+ ){1,3}?(?:keyboard(?: layout)?|layout|mac"
                r"|macbook|laptop|pc|thinkpad|editor|ide|shell|terminal|monitor|screen reader"
                r"|trackball|mouse|phone|e-?reader|bank|calendar|password manager|package manager"
                r"|linter|formatter|build system|theme|distro|browser)\b(?! (?:to (?:fix|do|open)"
                r"|for this|right now)).*"
            ),
            # who the user is
            (
                r"my (?:(?:first|last|full|real|middle|sur|nick|pen|legal|user|given"
                r"|family)[ -]?)?(?:name|surname|nickname|username|handle|login)(?: (?:on|for|at"
                r"|in) (?:the |my )?[\w-]+)?(?:'s| is) (?!(?:not"
                r"|in|on|being|missing|wrong|spelled|misspelled|also|the|a|set|used|taken"
                r"|shown)\b)\S.{0,80}"
            ),
            (
                r"my (?:[\w-]+ ){0,2}?(?:birthday|birth date|date of birth|anniversary|phone number"
                r"|phone|mobile|email(?: address)?|address|zip code|postcode|time ?zone|nationality"
                r"|native language|mother tongue|first language|job|job title|profession|occupation"
                r"|pronouns|github|gitlab|twitter|linkedin"
                r"|blood type|blood group|shoe size|dress size|height|weight|budget|hometown|home town"
                r"|employer|company|degree|major|major's|star sign|net salary|salary|visa"
                r"|passport number|member number|customer number|licen[cs]e plate|number plate|car"
                r"|bike|phone|os|editor|shell|setup|wedding day|name day|blood pressure|target weight"
                r"|goal|dream|religion|diet|due date|landlord|street"
                r"|home address|work address|school|university|department|office|desk|time zone"
                r"|keyboard layout|laptop|computer|machine|locale|home airport|airport|bank) (?:is|are"
                r"|'s) (?!(?:not|slow|broken|a mess|wrong|bad|too|so|down|full|stuck|missing|also"
                r"|in the|on the|being|ready|done|boring|to|that|very|really|getting|acting|hot|dead"
                rf"|loud|ok|fine|great|good|that)\b){_TRANSIENT}\S.*"
            ),
            (
                r"our (?:wedding )?(?:anniversary|wedding|budget|address|company|fiscal year"
                r"|vat number|tax id|time ?zone|stack|tech stack|office|hq|headquarters|domain"
                r"|brand colou?r|main colou?r|logo|slogan|motto|sla|main client|biggest client|mascot"
                r"|team name|company name|ci|default branch|main branch|code style|style guide"
                r"|target audience|working language|linter|formatter|package manager|test runner"
                r"|backend|frontend) (?:is|are|'s) (?!(?:not|slow|broken|a mess|wrong|too|so|down|red"
                r"|green|failing|full|stuck|missing)\b)\S.*"
            ),
            (
                r"(?:i'm|i am) (?:(?:now|also|actually|originally|just|still|only|already|severely"
                r"|highly|mildly|deathly|slightly|a bit|very|lactose|currently"
                rf"|both) ){{0,2}}(?:<HEALTH>|\d{{1,3}}(?: years old| yrs old| y/o|$|,| and\b)"
                r"|from (?!the (?:outside|start|top))|based in|located in|married|divorced|engaged"
                r"|widowed|retired|self[- ]employed|unemployed|bilingual|muslim|jewish|hindu|buddhist"
                r"|catholic|christian|an only child|afraid of (?:flying|heights|dogs|spiders)"
                r"|scared of|working as|working for|living in|studying \w+ (?:at"
                rf"|in)){_TRANSIENT}(?:.*)"
            ),
            (
                r"(?:i'm|i am) (?:(?:now|also|actually|originally|just|still|only|already"
                rf"|currently) )?(?:(?:an? |the )(?:[\w-]+ ){{0,3}}?|(?:head|lead|senior|junior"
                r"|staff|freelance) )<PROFESSION>\b(?! of (?:this|that)"
                rf"| error)(?!.{{0,20}}\b(?:confused|mode)\b){_TRANSIENT}.*"
            ),
            (
                r"(?:i'm|i am) (?P<name>[a-z][\w'-]+)(?: (?P<name2>[a-z][\w'-]+))?(?:$|,? (?:and "
                r"|from |the |a |an |i |by the way|btw|freelance |your new )).*"
            ),
            (
                r"(?:i|we) (?:now |currently |still |also |actually |both |all |just |recently "
                r"|only )?(?:live|reside|lived|grew up|was born|were born|come|came)(?: now)? (?:in"
                r"|near|at|on|with|by|from|outside|close to|alone) (?!(?:this|that|fear|the (?:same"
                rf"|hope|moment))\b){_TRANSIENT}\S.*"
            ),
            (
                r"(?:i|we)(?:'ve| have)? (?:just |recently |actually |now |finally )?(?:moved"
                r"|relocated) (?:from [\w' -]{2,40} )?(?:back )?to (?!(?:the|a|another|use|using|it"
                r"|this|that|next|production|prod|line|page|step|phase|version|chapter|level)\b)\S.*"
            ),
            (
                r"i (?:now |currently |still |also |actually |mainly |only )?(?:work|teach|volunteer"
                r"|intern|freelance)(?: [\w-]+){0,2} (?:as|at|for|in|with|from|night|part[- ]time"
                r"|remotely|on (?:mondays|weekends|nights))\b(?! (?:it|this|that|the (?:moment|code"
                r"|same|following|function|first)|progress|line)\b).*"
            ),
            (
                r"i (?:now |currently |also |actually )?(?:study|studied|major in|majored in|graduated"
                r"|teach|speak|coach) (?!(?:this|that|it|the (?:code|docs|file))\b)\S.*"
            ),
            (
                r"(?:i|we) (?:now |currently |also |actually )?(?:have|own|'ve got|have got|got"
                r"|adopted) (?:an? |one |two |three |four |five |\d+ |no |twin "
                r"|my own )(?:[\w-]+ ){0,2}?(?:kids?|children|sons?|daughters?|boys?|girls?|brothers?"
                r"|sisters?|siblings?|dogs?|cats?|puppy|kitten|horses?|chickens|hens|wife|husband"
                r"|twins|grandchildren|grandkids|rabbits?|parrots?|"
                r"(?:\w+ )?allerg(?:y|ies)|intolerance|asthma|diabetes|adhd|condition|pacemaker"
                r"|disability|phobia|bakery|farm|shop|restaurant|company|startup|studio|practice"
                r"|garden|allotment|tesla|motorbike|campervan|driving licen[cs]e)\b.*"
            ),
            (
                r"i(?:'ve| have)? (?:have|suffer from|was diagnosed with|been diagnosed with"
                rf"|got) (?!a (?:bug|problem|question))(?:[\w-]+ ){{0,2}}?{_HEALTH}\b.*"
            ),
            (
                rf"i (?:take|am on|'m on) (?:[\w-]+ ){{0,3}}?{_MED}\b.{{0,30}}?(?:\b(?:daily|twice|once"
                r"|every|each|a day|per day|mg|for my|in the morning|at night)\b).*"
            ),
            (
                r"i (?:can't|cannot|can not|don't|do not|never) (?:eat|drink|drive|swim|fly|cook"
                r"|have (?:dairy|gluten|nuts|alcohol|caffeine)|smoke|take (?:aspirin|penicillin"
                r"|ibuprofen)|work (?:on )?(?:mondays|tuesdays|wednesdays|thursdays|fridays|weekends"
                r"|sundays|saturdays))\b(?! (?:it|this|that)\b).*"
            ),
            r"i'm learning (?!(?:how|to|about|that|this|a lot|more|it)\b)(?P<name>[a-z]\w+)\b(?! (?:to (?:fix|do|build)|for this)).*",
            (
                r"(?:i|we) (?:run|swim|cycle|bike|climb|hike|jog|row|train|practi[cs]e|volunteer|sing|play)"
                r"(?! (?:the|this|that|it|my|our|these|all)\b)(?: [\w-]+){0,3} (?:every|each|on) "
                r"(?:other )?(?:<DAY>|week|morning|weekday|weekend|day)\b.*"
            ),
            r"(?:i've|i have) been (?:a )?(?:vegetarian|vegan|pescatarian|sober|married|divorced|retired|diabetic) (?:for|since)\b.*",
            (
                r"(?P<name>[a-z]\w+)(?: left(?: the (?:company|team))?, (?P<name2>[a-z]\w+))? (?:owns|maintains|leads) "
                r"the (?:[\w-]+ ){1,3}(?:service|team|project|repo|app|api|module|department|channel|pipeline|database)\b.*"
            ),
            (
                r"(?:the|our) (?!(?:[\w'-]+ ){0,3}<CODE>\b)(?:[\w-]+ ){1,4}is (?:done|owned|maintained|led|managed) by (?P<name>[a-z]\w+)\b"
                r"(?! (?:function|class|method|thread|process|script))\S*.*"
            ),
            r"our (?:[\w-]+ )?(?:deploy|release|maintenance|change) window is (?=.{0,80}<TIME>).{4,}",
            r"i'm not (?:a native (?:\w+ )?speaker|allowed to (?:eat|drink|drive|lift|fly))\b.*",
            (
                r"(?:we|i) use (?!(?:a|an|the|this|that|these|it|my|your|our|two|one|some|to|here|as"
                r"|for|in|on|when|case)\b)[\w.+#-]+(?: [\w.+#-]+){0,2}?(?:,? not [\w.+#-]+"
                r"| instead of .+| for (?!(?:this|that|it|the loop)\b)(?:all |our |the |everything"
                r"|my )?.+| everywhere.*| here$| at work.*| as (?:our|my|the) .+"
                r"| in (?:prod|production|staging|ci|the (?:backend|frontend|app|monorepo))"
                r"| and [\w.+#-]+(?: for .+| at .+| everywhere)?)$"
            ),
            (
                r"(?:we|i) (?:meet|train|deploy|release|ship|play|rehearse|volunteer|run|go \w+"
                r"|have \w+(?: \w+)?|do \w+(?: \w+)?|hold \w+(?: \w+)?|get together|work from home"
                r"|am off|teach) (?:every|each|on|once a|twice a) (?:other |second |first "
                r"|last )?(?:<DAY>|week|month|morning|weekday|weekend)\b.*"
            ),
            (
                r"(?:i|we)(?:'m| am|'re| are) on (?:an? )?(?:\w+ )?(?:mac|macbook|windows|linux|ubuntu"
                r"|debian|fedora|arch|nixos)\b(?! at the moment).*"
            ),
            (
                r"i(?:'m| am) using (?:an? )?(?:\w+ )?(?:mac|macbook|windows \d+|linux|ubuntu|debian"
                r"|fedora|arch linux|nixos)\b.*"
            ),
            (
                r"i(?:'ve| have)? (?:got|been|was) (?:promoted|engaged|married|divorced|hired|laid off"
                r"|accepted (?:at|to|into)|diagnosed)\b.*"
            ),
            (
                r"(?:i|we) got (?:engaged|married|divorced|promoted|a (?:new )?(?:job|puppy|dog|cat"
                r"|kitten)|an offer from)\b.*"
            ),
            (
                r"(?:<FAMILY>)'s (?:birthday|phone(?: number)?|email|address|due date|anniversary) is "
                r"(?:on |in (?=<MONTH>))?(?!in\b|on\b|wrong|missing|not\b)"
                r"\S.*"
            ),
            (
                r"i (?:also |still )?play (?:the )?(?:\w+ )?(?:guitar|bass|piano|drums|violin|viola|cello|flute|sax(?:ophone)?|trumpet"
                r"|football|soccer|tennis|chess|basketball|volleyball|hockey|badminton|rugby|golf)\b(?! with (?:this|that)).*"
            ),
            (
                r"(?:(?:our |the )?(?:ci|ci/cd)|our (?:pipeline|backend|frontend|website|site|shop|blog|monitoring|backups?|data|api))"
                r" (?:runs?|lives?|(?:is|are) hosted) (?:on|in) (?!(?:my|the|a|an|every|each|port|this|\d+)\b)\S.*"
            ),
            r"the (?:company|team|project|school|firm|startup|hospital|university) (?:that )?(?:i|we) [\w ]{2,20} is (?:called|named) \S.*",
            (
                r"(?:the|our) (?:[\w-]+ ){0,2}(?:job|backups?|cron|sync|report|import|export) runs? "
                r"(?:(?:every|each) (?:other )?(?:night|day"
                r"|morning|evening|hour|week|month|weekday|\d+|<DAY>)|nightly|daily|hourly|weekly|at \d)\b.*"
            ),
            r"i(?:'ve| have)? been (?:\w+ing) (?:[\w+#.-]+ ){0,4}?(?:since|every|for (?:\w+ ){1,2}years)\b.*",
        ),
    )
)

LED_IN = _p(
    r"(?:in|for|at|on|with|during|outside|as|after|when (?:writing|coding|doing|using|working (?:on|with"
    r"|in)|testing|naming)) (?!(?:this|that|it|the|case|order|general"
    r"|addition|fact|short)\b)(?:[\w.+#/-]+ ){0,3}[\w.+#/-]+,? (?=(?:i|we|i'm|we're) )"
)
"""What may stand before "I prefer ...": "In Python", "For work projects", "At home"."""

RULES: tuple[Rule, ...] = (
    *(_rule(Kind.PLAN, 0.7, one) for one in _PLANS[:1]),
    *(_rule(Kind.PREFERENCE, 0.8, one) for one in _PREFERENCES),
    *(_rule(Kind.DECISION, 0.75, one) for one in _DECISIONS),
    *(_rule(Kind.PLAN, 0.65, one) for one in _PLANS[1:]),
    *(_rule(Kind.FACT, 0.7, one) for one in _FACTS),
)

_STOP = r"(?:\s*[,.!:;–—]+\s*|\s+-+\s+|$)"
CORRECTS = _p(
    r"(?:(?:wait|oh|sorry|hm+|uh|um|hey|ah|oops|nah|well|ok)[,.! ]+){0,2}"
    r"(?:(?:no|nope|nah|wrong|not quite|incorrect)(?:(?:[,.!: ]+(?:no|wait|sorry|actually"
    r"|that's (?:wrong|not right)|that is wrong|wrong)){1,3}(?:[,.!:; –—-]+|$)"
    rf"|{_STOP}|\s+(?=(?:the|my|our|i'm|we're|it's|its|his|her)\b))"
    r"|(?:that's|that is|this is|it's|you're|you are|i was|was)(?: actually| just)? (?:wrong"
    r"|not (?:right|correct|true)|incorrect|mistaken|false)"
    rf"(?:{_STOP}|\s+(?=(?:the|my|our|his|her|we|i)\b))"
    r"|i (?:got|had|said|wrote|told you|typed) (?:that|it|this|the wrong|wrong(?:ly)?)(?: \w+){0,3}? ?(?:wrong|incorrectly|before)?"
    rf"(?:{_STOP}|\s+(?=(?:the|my|our|his|her|we)\b))|(?:small |quick |one )?correction{_STOP}"
    rf"|i (?:misspoke|mistyped|meant to say){_STOP}"
    rf"|(?:i(?:'ve| have)? )?changed my mind{_STOP}|change of plans?{_STOP}|on second thoughts?{_STOP}"
    rf"|my (?:mistake|bad){_STOP}|(?:sorry|oops|wait)(?:{_STOP}|\s+)(?=.*\bnot\b)"
    r"|actually[, ]+(?=.*\b(?:not|no longer|moved|changed|instead)\b))"
)
"""How somebody begins who puts something right."""

CORRECTED = _p(
    r"(?!(?:it|that|this|these|those|there|they|he|she|you|i (?:said|meant|want|wanted|asked|need"
    r"|mean|told))\b)(?:(?:the|my|our|his|her"
    r"|their) (?!(?:[\w'-]+ ){0,2}<CODE>\b)(?:[\w'/-]+ ){0,5}?|(?:i|we) |(?:i'm|we're) "
    r"|(?P<name>[a-z][\w'-]+) )"
    r"(?:is|are|was|'s|live|lives|work|works|moved|leaves?|starts?|ends?|costs?|has|have|meet"
    r"|arrives?|comes?|runs?|begins?|flies|expires?|takes|called|named|turns|spelled|from|born"
    r"|going|flying|use|uses|prefers?|likes?|wants|ends)\b(?! (?:still|failing|broken|not working"
    r"|wrong|missing)\b).{2,}"
    r"|(?:the|my|our|his|her|their) (?!(?:[\w'-]+ ){0,2}<CODE>\b)(?![^\n]{0,80}\b(?:should|can't"
    r"|doesn't|does|did|isn't|still)\b)[^\n]{3,100}?, not \S.*"
)
"""What was put right, if it names what it is about."""
VALUE = _p(r"(?:\d|\bnot\b|<TIME>|\b(?:one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b)")
