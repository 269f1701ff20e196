"""How sentences begin that tell something of the person, and those that only look so. Expressions over small letters, for `telling`."""

from __future__ import annotations

from hybrid_memory.lazy_pattern import LazyPattern

_ADVERBS = (
    r"(?:just|also|really|actually|currently|now|always|usually|still|only|kinda|kind of|sort of|recently"
    r"|already|basically|honestly|simply|mostly|often|never|both|all|mainly|generally|sometimes|even|finally"
    r"|personally|probably|literally|so|very|pretty|a bit|a little|totally|quite) "
)
_TASK_THINGS = (
    r"(?:code|script|function|query|program|output|errors?|questions?|goal|problem|issue|essay|draft|text"
    r"|sentence|prompt|message|point|idea|concern"
    r"|guess|assumption|understanding|input|request|bad|mistake|apologies|task|assignment|homework|result"
    r"|answer|first thought|thinking|thoughts?"
    r"|class|method|component|regex|loop|variable|table|column|dataframe|data|file|json|html|css|page|button"
    r"|test|tests|build|image|container|pipeline"
    r"|intro|introduction|conclusion|thesis|paragraph|bullet|prompt|version|formula|spreadsheet|sheet|endpoint"
    r"|request|response|config|setup)"
)

MINE = LazyPattern(
    r"(?:my|our) [\w'’ .&/+-]{1,70}?(?:'s|s)?(?: |'s |'re )"
    r"(?:is|are|was|were|will|has|have|had|lives?|works?|likes?|loves?|hates?|prefers?|needs?|wants?|turns?"
    r"|turned|got|gets|started|starts|goes"
    r"|plays?|speaks?|died|passed|moved|runs?|uses?|can't|cannot|can|doesn't|does|did|didn't|don't|isn't"
    r"|aren't|wasn't|never|always|came|comes"
    r"|born|begins?|ends?|opens?|closes?|falls|costs?|weighs?|takes?|teaches|studies|expires?|meets?|went"
    r"|bought|broke|gave|made|drives?|eats?"
    r"|calls?|keeps?|owns?|named|called|only|just|recently|currently|usually|used|sleeps?|wears?|collects?"
    r"|arrives?|leaves?|graduated|married"
    r"|retired|grew|hurts?|and i)\b"
    r"|(?:my|our) [\w'’ .&-]{1,60}'s (?:\w|\d)|(?:my|our) [\w ]{2,30}: \S"
)
MINE_NOT = LazyPattern(
    rf"(?:my|our) (?:\w+ ){{0,2}}{_TASK_THINGS}\b(?: (?:is|was|are|were|has|have|doesn't|does|isn't|returns?"
    rf"|looks?|should|will|would|can|can't|gets?|keeps?)|:|'s)"
    r"|(?:my|our) (?:\w+ ){0,2}(?:would|could|should|might|may)\b"
)
I_OR_WE = LazyPattern(
    r"(?:i|i'm|im|i've|ive|i'd|i'll|we|we're|we've|we'll|me and my [\w ]+|my [\w ]{2,30} and i|(?:[a-z]+ ){1,2}and i)\s"
)
_DO = rf"(?:{_ADVERBS})*"
I_NOT = LazyPattern(
    rf"(?:i|we|me) {_DO}(?:need|needed|want|wanted|wish|hope|try|tried|think|thought|guess|believe|assume"
    rf"|suppose|mean|meant|understand|understood"
    r"|agree|appreciate|wonder|wondered|see|saw|notice|noticed|noted|found|find (?!it (?:hard|difficult|easier"
    r"|easy))|figure|figured|hear|heard|read|ran|run|re-?ran|change|changed|add|added|remove"
    r"|removed|update|updated|install|installed|copy|copied|paste|pasted|click|clicked|follow|followed|restart"
    r"|restarted|reinstalled|opened|checked"
    r"|tested|deleted|renamed|fixed|set|put|typed|entered|said|told|asked|mentioned|explained|expect|expected"
    r"|keep|kept|feel|felt|forgot|missed"
    r"|must|should|could|would|can(?!'t|not)|(?:can't|cannot) (?!stand|eat|drink|drive|swim|have|tolerate"
    r"|digest|walk|hear|bear|sleep)|couldn't|wouldn't|shouldn't|may|might|won't|will (?!only|never|always|be)"
    r"|shall|do (?!not (?:like|eat|drink|enjoy|own|speak|drive|smoke|wear|use|buy|trust))|did|didn't|come|came"
    r"|go ahead|get (?!(?:\w+ )?(?:anxious|nervous|motion sick|sick|migraines|headaches|up|home))|got it"
    r"|got the|got this"
    r"|don't (?!like|eat|drink|own|speak|drive|enjoy|smoke|celebrate|live|have (?:any )?(?:kids|children|a car"
    r"|siblings|pets|allergies)|use|work|watch|trust|cook|do well|tolerate|wear|buy|support)"
    r"|doubt|realize|realized|look|looked|ask|get the|get an?|give|gave you|sent you|send|uploaded|attached"
    r"|pasted|wrote this|write|made this"
    r"|know (?:how|what|that|it|this|why|when|where|you|the|i|there)|hate to|love (?:to|it|how|that|this|your)"
    r"|like (?:it|that|this|your|how|the (?:idea|way|sound|first|second|last|breakdown|structure|plan|approach"
    r"|name|direction|tone|style))"
    r"|have (?:a |an |another |one |some |two |no |the |this |these |following |more |few |quick "
    r"|couple )*(?:questions?|problems?|issues?|errors?|bugs?|ideas?|doubts?|trouble"
    r"|difficulty|difficulties|to|following|tables?|lists?|dataframes?|files?|functions?|scripts?|class"
    r"|classes|strings?|arrays?|dicts?|dictionary|json|csv|components?|pages?|loops?"
    r"|variables?|columns?|queries|query|code|text|paragraph|sentence|data|task|feeling|clue|image|picture)\b"
    r"|had (?:a |an |some |the )*(?:questions?|problems?|issues?|errors?|ideas?|trouble))\b"
    rf"|(?:i|we)\S* (?:\S+ ){{0,2}}(?:it|them)\b|(?:i|we) (?:have|had) (?:a |an |some )?(?:headache|good news"
    rf"|bad news|meeting)\b"
    rf"|(?:i'm|im|i am|we're|we are|i was|we were) {_DO}(?:trying|looking|wondering|curious|confused|stuck"
    rf"|struggling|having|getting|seeing|sure|not sure|unsure|sorry|glad|happy to|happy with|excited|worried"
    r"|afraid|back|ready|done|here|asking|talking|referring|thinking|hoping|not|interested|torn|feeling|aware"
    r"|facing|writing (?:a|an|this|to)|making|creating|implementing"
    r"|adding|doing|testing|running into|running a|following|calling|passing|debugging|facing|unable|able"
    r"|supposed|about to|going to (?:need|try|ask|test|check|use|run|go)|open to|fine|good|ok|okay|well|great"
    r"|tired|bored|getting|stressed"
    r"|planning to (?:use|add|try)|using (?:the|this|a|an|your)|starting to|finding|considering|kidding|joking"
    r"|building (?:a|an|this) (?:\w+ )?(?:function|script|component|query|class)|missing|sad|lost|really"
    r"|in a hurry|at a loss|in a meeting|on a call|hungry|on it|working on (?:it|this|that)|heading out"
    r"|off to)\b"
    rf"|(?:i've|ive|we've|i have|we have) {_DO}(?:tried|looked|read|seen|noticed|heard|checked|found|added"
    rf"|updated|changed|copied|attached|pasted|uploaded|set|defined|written|made|run|got (?:a|an|the|this|these"
    rf"|some) (?:error|question|problem|issue|idea|following|code|function|table|list|file|dataframe)"
    r"|got (?:this|the)|created|implemented|done|completed|finished (?:the|this|that|those|all)|reviewed"
    r"|considered|thought|wondered|fixed|included|tested|followed|given|asked|told|said|mentioned)\b"
    r"|(?:i'd|we'd|i'll|we'll) (?!be (?:in|at|on (?!it)|away|turning|moving|\d)|turn|rather|prefer)"
    r"|(?:i|we) (?:be|am|are|was|were) (?:trying|looking)\b"
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
    r"(?:(?:[a-zà-ÿ][\w’-]+)(?: [a-zà-ÿ][\w’-]+)?(?: (?:and|&) [a-zà-ÿ][\w’-]+)?(?: (?:from|at|in) [\w ]{2,25})?"
    r"(?:,? (?:my|our) [\w ,'-]{2,40}?,?)? (?:is|are|has|have|lives?|works?|likes?|loves?|hates?|prefers?"
    r"|was born|turns|turned|moved|started|plays?|speaks?|studies|goes to|can't eat|doesn't eat|doesn't like"
    r"|owns?|got married|retired|died|joined|left|called|wants|needs|drives)"
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
    r"|[\w’' -]{1,40} (?:is|are) (?:used|known|defined|considered|important|important to|essential|common"
    r"|popular|required|located|necessary)\b"
)
PART = LazyPattern(
    r"(?:[,;:–—-]+\s+)(?:(?:and|but|so|because|since|though|although|while|plus|or|cause|cuz|und|aber|weil"
    r"|denn|et|mais|car|y|pero|porque|e|mas)\s+)?"
    r"(?=(?:i|i'm|i've|i'd|i'll|im|ive|id|we|we're|we'll|we've|my|our|ich|wir|meine?|unsere?|je|j'\w+|nous|mon"
    r"|ma|notre|mi|mis|nuestr[oa]|eu|meu|minha|nosso|nossa"
    r"|what|how|which|where|who|why|should|can|could|would|is there|are there|do you|does|any|got any|got some"
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
PERSONAL = LazyPattern(r"\b(?:i|i'm|im|i've|my|me|we|our|us|ich|mein\w*|wir|je|j'\w+|mon|ma|yo|mi|eu|meu|minha)\b")
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
    r"|が好き|が嫌い|が苦手|アレルギー|と申します|といいます|歳です)"
    r"|(?:住在|过敏|不吃|喜欢|讨厌|出生|毕业|结婚)"
)
TELLS_DENSE_NOT = LazyPattern(
    r"想要?(?:知道|问|要|请|了解|写|做)|需要|觉得|不知道|不明白|帮我|帮忙|请问?|可以|能不能|怎么|什么|应该|遇到|报错|错误|正在(?:尝试|写)|你|您"
    r"|ください|下さい|教えて|たい(?:です|んです|と思)|ほしい|欲しい|お願い|でしょうか|ですか|ますか|エラー|わからない|分からない|困って|あなた|してくれ|作って|書いて"
)
