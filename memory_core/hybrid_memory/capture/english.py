"""What is kept of English sentences: preferences, decisions, plans, corrections, facts, and what is to be remembered.

Every expression is matched at the beginning of a clause, in small letters, and looks at a bounded number of characters. An apostrophe
may be missing. What a sentence must not say is in ``refusals.py``.
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
    # Nothing that has a meaning only alongside what was said before.
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
    "OWNED": r"(?:boss|manager|landlord|doctor|dentist|car|bike|house|flat|dog|cat|company|team|laptop|server)",
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
    "NOTNOW": r"(?![^\n]{0,160}\b(?:minutes?|mins?|hours?|right now|at the moment|for now|for a (?:sec"
    r"|second|moment|while)|this time|just this|later|soon"
    r"|brb|tonight|today|this (?:morning|afternoon|evening)|a sec|again|still|atm|rn|this task"
    r"|this one|this file|this function|line \d+)\b)",
    "LANGUAGE": r"(?:english|german|french|spanish|portuguese|italian|dutch|polish|russian|ukrainian|chinese"
    r"|mandarin|japanese|korean|hindi|arabic"
    r"|turkish|swedish|danish|norwegian|finnish|czech|greek|hebrew|catalan|romanian|hungarian"
    r"|vietnamese|thai|indonesian)",
    "LASTING_START": r"(?:from (?:now|here|today|this point) on(?:wards?)?|going forward|moving forward"
    r"|in (?:the )?future|henceforth|as a rule"
    r"|in general|permanently|by default|at all times)",
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

# In a store without the default embedder these alone say what is kept unasked, so they are few and plain. Where a fitted model
# judges they only say of which kind a statement is: with five hundred lines of rules it kept the same (`docs/decisions/0123`).
_NO_TASK = (
    r"(?!.*\b(?:in (?:this|that|the) (?:function|file|test|line|example)|for now|for this|this time|at the moment)\b)"
)
_PREFERENCES = (
    (
        r"(?:i|we) <ADV>(?:prefer|favou?r|like|love|enjoy|hate|dislike|avoid|don't like|do not like|can't stand) "
        r"(?:to |using )?<THING>(?!the\b|your\b|to (?:see|know|get|have)\b).{2,}"
    ),
    r"(?:i|we) (?:always|never|only|usually|don't) (?:use|eat|drink|write|buy|work|cook|take|commit|read|want) <THING>(?!the\b).{2,}",
    r"(?:my|our) (?:favou?rite|preferred|default) [\w' -]{2,40}? (?:is|are) <THING>.{2,}",
    r"(?:(?:please|pls),? )?(?:always|never)(?! mind| again| \w+s\b| \w+ed\b| the\b) [a-z]{2,} <THING>.{2,}",
    r"<LASTING_START>,? (?:please )?(?!it\b|this\b|that\b|there\b)[a-z]{2,} .{3,}",
)
_DECISIONS = (
    (
        r"(?:we|i)(?:'ve| have)? <ADV>(?:decided|agreed|settled|switched|moved|migrated) (?:to|on|that|for|from|against) <THING>"
        rf"{_NO_TASK}.{{2,}}"
    ),
    rf"(?:we|i) (?:now |all |no longer )?use <THING>{_NO_TASK}<NOTNOW>.{{2,}}",
    (
        r"(?:let's|we'll|we will|we are going to|we're going to) (?:use|go with|stick with|switch to) <THING>"
        rf"(?!the\b|a\b|an\b){_NO_TASK}<NOTNOW>.{{2,}}"
    ),
)
_FACTS = (
    r"i(?:'m| am) (?:severely )?allergic to <THING>.{2,}",
    r"(?:i|we) (?:now )?(?:live|work) (?:in|at|for|near) <THING>(?!the\b).{2,}",
    r"(?:my|our) (?:[\w-]+ )?(?:<FAMILY>|<OWNED>)(?:'s \w+)? (?:\w+ )?(?:is|are|has|lives|works|likes|loves) <THING>(?!not\b|the\b).{2,}",
    r"(?:my|our) [\w' -]{2,30}? (?:is|are) (?:called|named) .{2,}",
    r"(?:the|my|our) (?!<CODE>)[\w' -]{2,40}? (?:is|are) (?:on|at) (?=[^\n]{0,60}(?:<DAY>|\d|\.\w)).{3,}",
    r"(?:my name is|call me) (?P<name>[a-z][\w'-]+).*",
)

_PLAN = r"(?:i|we)(?:'m| am|'re| are) (?:flying|travell?ing|moving|going|meeting|getting|visiting) (?=[^\n]{0,80}?<TIME>)<NOTNOW>.{4,}"

RULES: tuple[Rule, ...] = (
    _rule(Kind.PLAN, 0.65, _PLAN),
    *(_rule(Kind.PREFERENCE, 0.8, one) for one in _PREFERENCES),
    *(_rule(Kind.DECISION, 0.75, one) for one in _DECISIONS),
    *(_rule(Kind.FACT, 0.7, one) for one in _FACTS),
)

LED_IN = _p(
    r"(?:in|for|at|on|with|during|outside|as|after|when (?:writing|coding|doing|using|working (?:on|with"
    r"|in)|testing|naming)) (?!(?:this|that|it|the|case|order|general"
    r"|addition|fact|short)\b)(?:[\w.+#/-]+ ){0,3}[\w.+#/-]+,? (?=(?:i|we|i'm|we're) )"
)
"""What may stand before "I prefer ...": "In Python", "For work projects", "At home"."""

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
