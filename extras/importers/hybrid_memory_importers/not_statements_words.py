"""How sentences begin that are plainly no telling. Expressions over small letters, for `not_statements`."""

from __future__ import annotations

from hybrid_memory.language import lexicon
from hybrid_memory.language.lazy_pattern import LazyPattern

_MONTH = lexicon.any_of(lexicon.places("calendar.months", "en").keys() - {"may"})  # which is a verb too
_DAY = lexicon.any_of(lexicon.places("calendar.weekdays", "en"))
_PEOPLE = f"(?:{lexicon.pattern('people.others')})"
_PEOPLE_FOREIGN = lexicon.pattern("people.own")
PEOPLE = LazyPattern(rf"\b(?:(?:my|our|of my|of our) (?:[\w-]+ ){{0,2}}?{_PEOPLE}\b|{_PEOPLE_FOREIGN}\b)")
"""A person, or an animal, of one's own."""
CARRIES = LazyPattern(
    rf"\b(?:my|our) (?:[\w-]+ ){{0,3}}?{_PEOPLE}(?:'s)?,? (?:[\w-]+ ){{0,2}}?(?:who(?:'s| is| has| had| was| turns?| turned"
    rf"| loves?| hates?"
    r"| likes?| lives?| works?| plays| can't| doesn't| just| recently| got)|named|called|aged|turning|turns|is|are|has|have"
    r"|loves|hates|lives"
    r"|works|\(?\d+)"
    rf"|\b(?:my|our) [\w' -]{{2,40}} (?:on|in|until|by|at) (?:the )?(?:\d+(?:st|nd|rd|th)|{_DAY}|{_MONTH}|\d{{1,2}}(?::\d\d)? ?[ap]m)\b"
    rf"|(?:{_PEOPLE_FOREIGN}),? (?:\w+ )?(?:die|der|das|qui|que|quien|che|\d+)\b"
)
"""What says of somebody who they are, or of something of one's own when it is, within an order."""
CARRIES_NAMED = LazyPattern(
    rf"(?i:\b(?:my|our) (?:[\w-]+ ){{0,3}}?{_PEOPLE}|{_PEOPLE_FOREIGN}),? (?:Dr\.? |Mrs?\.? )?[A-ZÀ-ÖØ-Þ][\w'-]+"
)
OF_ONESELF = LazyPattern(
    r"(?:(?:and|but|so|because|since|though|although|while|as|where|when|in|at|on|for|now|last|next|every|after|before|both|all"
    r"|one|none|most|half|some|two|each|even)\b(?: of)?"
    r"(?: (?!my\b|our\b|i\b|we\b|i'm\b|us\b)[\w'-]+){0,4},? )?"
    r"(?:i|i'm|im|i've|ive|i'd|i'll|we|we're|we've|we'd|we'll|my|mine|our|ours|us|me"
    r"|ich|wir|mein\w{0,2}|unser\w{0,2}|mir|mich|je|j'\S+|nous|mon|ma|mes|notre|nos|moi|yo|mi|mis|nuestr[oa]s?|soy|somos|estoy"
    r"|estamos|tengo"
    r"|tenemos|vivo|vivimos|trabajo|me|nos|eu|meus?|minhas?|noss[oa]s?|sou|estou|tenho|temos|moro|trabalho|io|mi[oa]|miei|mie|sono|abito"
    r"|lavoro|ho|abbiamo|ik|mijn|wij|ons|onze)(?=[ '’,.:]|$)"
)
"""The person themselves, or what is theirs, at the beginning of a clause, or behind "last summer"."""
DATED = LazyPattern(
    rf"\b(?:{_MONTH} \d|\d{{1,2}}(?:st|nd|rd|th)?(?: of)? {_MONTH}|(?:on|next|this|every) {_DAY}|(?:in|since|until|by|last"
    rf"|next) (?:{_MONTH}|20\d\d))\b|[$€£]\d|\d ?(?:euros?|dollars"
    rf"|km|kg|kilos|pounds|miles)\b"
)
"""What gives a task of one's own a day, a price, a measure."""
PLANS = LazyPattern(
    r"(?:i|we)(?:'ll| will) (?:also |probably |just )?(?!(?:try|check|look|see|let|get back|be back|send|give|need|do|use|take"
    r"|have to|go with|proceed|think|keep|make sure|test|ask|add|update|share)\b)"
    r"\w+ (?:(?!\b(?:you|your|it|that|this|these|those|them)\b)[^,]){12,}"
    r"|(?:i'm|im|i am|we're|we are) (?:\w+ )?(?:trying|looking|hoping|planning|aiming|working) (?:hard )?(?:to"
    r"|on) (?:learn(?:ing)? (?!how|about|more|what|it|this)|lose|quit|save|become|eat|run (?:a|my)|train"
    r"|move to|buy|sell|adopt|conceive|retire|get (?:fit|in shape|pregnant|healthier|into)|improve my (?:\w+ )?(?:fitness"
    r"|health|sleep|english|diet|posture|spanish|german|french))\b"
    r"|(?:i'm|im|i am|we're|we are) having (?:an? (?:baby|surgery|operation|party)|my|our|surgery|twins|guests)\b"
    r"|(?:i'm|im|i am|we're) (?:looking after|losing my|running (?:a|my|the) (?:\w+ )?(?:marathon|business|company|shop|team|race))\b"
)
"""Plans and goals, which only look like the task at hand."""
DECIDES = LazyPattern(
    r"(?:i|we)(?:'ll| will|'re going to|'m going to| are going to| am going to|'ve decided to|'re| have decided to| decided to"
    r"| chose to| opted to)? (?:stick|stay|sticking|staying|go|going|went|gone) (?:with|without|for)\b(?! (?:it|that|this"
    r"|the (?:first|second|third|last))\b)"
)
CLAUSE = LazyPattern(
    r"(?:[,;:–—-]+\s+(?:(?:and|but|so|because|since|though|although|while|plus|or|where|which means|cause|cuz|und|aber|weil"
    r"|denn|da|et|mais|car"
    r"|y|pero|porque|e|mas|want|maar)\s+)?|\s(?:and|but|so|because|since|cause|cuz|und|aber|weil|et|mais|y|pero|porque|e|mas|as)\s+)"
    r"(?=(?:i|i'm|i've|i'd|i'll|im|ive|id|we|we're|we'll|we've|my|our|he|she|he's|she's|they|they're|his|her|their|ich|wir"
    r"|meine?|unsere?|er|sie"
    r"|ihre?|je|j'\w+|nous|il|elle|on|mon|ma|notre|mis?|nuestr[oa]|ella|él|estoy|tengo|tenemos|soy|vivo|eu|meu|minha|nosso|nossa|ele|ela"
    r"|tenho|sou|ik|mijn|hij|zij|ho|sono|mio|mia"
    r"|what|what's|how|why|should|can|could|would|is there|are there|do you|does|any|please|kannst|was|wie|peux-tu|puedes|qué)\b)"
)
"""Where in a sentence another subject, or a question, begins."""
TRAILING = LazyPattern(
    r"(?:\s*[,;:–—-]+\s+|\s+)(?:(?:so|and|but|then|now|also|und|aber|also|et|donc|y|así que|e|então)\s+)*"
    r"(?:(?:can|could|would|will) (?:you|u)\b|(?<=[,;:–—-] )(?:what|what's|how|which|where|who|when|why|should|do you|does"
    r"|is (?:it|that|there|this)"
    r"|are there|any|got any|can i|can we|could i|may i|thoughts|ideas|tips)\b|(?:and|so|but) (?:what|how|which|where|why"
    r"|should|can|could|do) \w"
    r"|(?:kannst|könntest) du\b|(?:peux-tu|tu peux|pouvez-vous|pourrais-tu)\b|(?:me )?(?:puedes|podrías)\b|(?:você pode|pode me)\b"
    r"|(?<=[,;:–—-] )(?:was|wie|welche[rs]?|wo|wann|soll|hast du|qu'est-ce|que|quel(?:le)?s?|comment|où|qué|cuál(?:es)?|cómo"
    r"|dónde|qual|quais|como|onde)\b)"
)
"""Where a question begins behind what was told."""
TRAILING_ORDER = LazyPattern(
    r"[,;–—-]+\s+(?:(?:so|and|then|now)\s+)*(?:please |pls )?(?:help me|give me|make me|write me|tell me|show me|suggest"
    r"|recommend|draft|can you|let me know"
    r"|any (?:ideas|tips|advice|suggestions)|gib mir|hilf mir|mach mir|schreib mir|aide-moi|donne-moi|fais-moi|ayúdame|dame"
    r"|hazme|me ajud[ae])\b[^,;]*$"
)
_ORDERS = (
    "write|rewrite|re-write|make|give|show|explain|describe|translate|summari[sz]e|paraphrase|rephrase|reword|list|create|generate|fix|debug|solve"
    "|convert|calculate|compute|compare|contrast|find|search|suggest|recommend|tell|help|draft|edit|proofread"
    "|correct|check|review|analy[sz]e"
    "|improve|refactor|optimi[sz]e|implement|add|remove|delete|change|replace|update|set|put|use|try|run"
    "|build|design|develop|plan|outline"
    "|continue|go on|go ahead|keep|stop|start|begin|turn|format|sort|filter|group|shorten|expand|extend"
    "|elaborate|simplify|include|exclude|consider"
    "|assume|suppose|imagine|pretend|act|behave|play|answer|respond|reply|ask|provide|define|discuss|evaluate"
    "|assess|identify|name|choose|pick"
    "|select|extract|parse|classify|categori[sz]e|label|rank|rate|score|test|verify|validate|confirm|look|see"
    "|read|open|close|print|output|return"
    "|display|draw|plot|sketch|prepare|organi[sz]e|arrange|schedule|book|order|send|post|email|call|remind"
    "|let|don't|dont|do|do not|never|always"
    "|please|pls|plz|avoid|ignore|skip|forget|leave|move|copy|paste|insert|append|rename|merge|split|combine"
    "|join|cut|trim|clean|proceed|repeat"
    "|redo|undo|retry|regenerate|restart|install|deploy|configure|enable|disable|connect|import|export|download|upload|save|load|recreate"
    "|brainstorm|wait|hold on|come up|think|guess|teach|train|quiz|walk|guide|coach|advise|focus|emphasi[sz]e|highlight"
    "|mention|note|say|speak|talk|prove|derive"
    "|simulate|estimate|measure|map|match|fill|complete|finish|research|investigate|explore|determine|figure"
    "|get|bring|take|feel free|be|have a"
    "|clarify|justify|illustrate|demonstrate|reformat|restructure|adapt|adjust|tweak|modify|customi[sz]e"
    "|tailor|incorporate|integrate|apply|wrap"
)
ORDER = LazyPattern(
    rf"(?:(?:now|then|and|ok|also|so|next|first|instead|again|just|maybe|lets|let's|hmm|kindly|no|good|yes|or"
    rf"|but)[, ]+){{0,3}}(?:{_ORDERS})\b"
    r"|(?:let's|lets) (?!(?:go|stick|stay|do it|settle) (?:with|without|for|on)\b)"
    r"|(?:can|could|would|will|kannst|könntest|peux-tu|tu peux|pouvez|pourrais|puedes|podrías|pode|você pode|puoi|kun je|kunt u)\b"
    r"|(?:jetzt |und |dann |nun |ok |also )*bitte\b|(?:lance|relance|exécute|ejecuta|corre|rode|roda|execute|führ|starte)\b"
    r"|(?:jetzt |und |dann |nun |ok )*(?:schreib|schreibe|mach|mache|gib|zeig|zeige|erklär|erkläre|erstell|erstelle|hilf"
    r"|übersetz|übersetze|fass"
    r"|nenn|nenne|formulier|formuliere|korrigier|korrigiere|kürz|kürze|änder|ändere|verbesser|verbessere|prüf|prüfe|such"
    r"|suche mir|finde|füg|füge|nimm|lass"
    r"|sag|sage|erzähl|erzähle|plan|plane|stell|stelle|liste|berechne|vergleich|vergleiche|antworte|bau|baue|entwirf|ergänze"
    r"|lösch|lösche|ersetz|ersetze)\b"
    r"|(?:s'il te plaît |stp |maintenant |et |alors |ok )*(?:écris|écrivez|fais|faites|donne|donnez|montre|explique|expliquez"
    r"|crée|créez|aide|traduis|traduisez"
    r"|résume|corrige|améliore|propose|cherche|trouve|liste|compare|calcule|ajoute|enlève|change|raconte|dis|continue|reformule"
    r"|prépare|rédige|génère|mets"
    r"|évite|utilise|réponds|garde|oublie|imagine)(?:-\w+)?\b"
    r"|(?:por favor |ahora |y |pues |ok )*(?:escribe|escríbeme|haz(?:lo|me|la)?|dame|dime|muestra|muéstrame|explica|explícame"
    r"|crea|créame|ayúdame|ayuda|traduce"
    r"|tradúceme|resume|corrige|mejora|sugiere|busca|encuentra|lista|compara|calcula|añade|quita|cambia|pon|ponme|cuéntame"
    r"|continúa|sigue|reformula|prepara"
    r"|redacta|genera|evita|usa|responde|imagina|olvida|no (?:pongas|uses|escribas|hagas))\b"
    r"|(?:agora |e |então |ok )*(?:escreva|escreve|faça|faz|dê|me (?:dê|dá|mostre|explique|ajude|ajuda|diga|fale|conte)|mostre"
    r"|explique|crie|ajude|traduza|traduz"
    r"|resuma|corrija|melhore|sugira|procure|encontre|liste|compare|calcule|adicione|tire|mude|conte|continue|reformule|prepare"
    r"|gere|evite|imagine|coloque)\b"
    r"|(?:per favore |ora )*(?:scrivi|fai|dammi|mostrami|spiega|spiegami|crea|aiutami|traduci|riassumi|correggi|migliora"
    r"|suggerisci|trova|elenca|confronta"
    r"|calcola|aggiungi|togli|cambia|raccontami|dimmi|continua|riscrivi|prepara|genera)\b"
    r"|(?:schrijf|maak|geef|toon|leg|help|vertaal|vat|corrigeer|verbeter|zoek|noem|vergelijk|bereken|voeg|verander|vertel|zeg"
    r"|herschrijf|bedenk)\b"
    r"|(?:napisz|zrób|podaj|pokaż|wyjaśnij|stwórz|pomóż|przetłumacz|streść|popraw|znajdź|wymień|porównaj|oblicz|dodaj|usuń"
    r"|zmień|opowiedz|powiedz)\b"
    r"|(?:напиши|сделай|дай|покажи|объясни|создай|помоги|переведи|исправь|найди|перечисли|сравни|посчитай|добавь|убери|расскажи"
    r"|скажи|составь|предложи)(?:те)?\b"
    r"|(?:skriv|gör|ge|visa|förklara|skapa|hjälp|översätt|lav|vis|forklar|lag)\b"
)
"""How an order begins, in the languages in which people write most to assistants."""
ORDER_NOT = LazyPattern(
    r"(?:(?:call|book|plan|order|work|play|name|test|train|set|post|start|run|show|report|map|email|list|change|move|review"
    r"|research|design|coach|guide"
    r"|match|check|note|turn|take)s? (?:is|are|was|were|of|has|starts|for (?:my|our|the)|on (?:mon|tues|wednes|thurs|fri|satur"
    r"|sun)|club|group|starts|'s)\b"
    r"|never (?:had|been|was|tried|liked|ate|owned|learned|got|went)\b|always (?:been|had|wanted|was|loved|hated|liked)\b"
    r"|changes? of plans?\b|let's (?:go|stick|stay) (?:with|without)\b|let's do without\b)"
)
NO_QUESTION = LazyPattern(
    r"(?:had|has|was|were|did|does|didn't|doesn't|won't|wouldn't|couldn't|wasn't|haven't|isn't)\s+(?!(?:i|we|you|he|she|it|they"
    r"|this|that|these|those|the|my|our"
    r"|your|his|her|their|there|anyone|someone|any)\b)"
    r"|was (?:ich|wir) \w|(?:quand|quando|cuando|wo|wie|como|wenn|als|hay|onde|où|when|where|qui|who|which)\b[^?]*,|(?:hay|como"
    r"|wie)\s(?!.*\?)"
)
"""What begins as a question does, and tells: "had two kids since then", "quand j'étais petit, ..."."""
SUPPOSED = LazyPattern(
    r"^(?:(?:and|but|so|or|ok|hmm|well|say)[, ]+)*(?:if|suppose|supposing|assum(?:e|ing)|let's (?:say|assume|imagine|pretend)"
    r"|imagine|hypothetically|what if|pretend"
    r"|wish|i wish|maybe|perhaps|in theory|unless|falls|angenommen|stell dir|vielleicht|sollte ich|si (?!,)|et si|supposons"
    r"|peut-être|supongamos|ojalá|tal vez|quizás?"
    r"|a lo mejor|se (?:eu|io)|suponhamos|talvez|forse|stel dat|als ik (?:rijk|kon|zou)|misschien)\b"
    r"|^(?:i|we)(?:'d| would) (?!(?:rather|prefer|turn)\b)"
    r"|^(?:i|we) wish\b|\byeah right\b|(?:^|\s)/s(?:$|\s)"
    r"|\b(?:würde|hätte|wäre|könnte)\b.*\b(?:wenn|falls)\b|\b(?:wenn|falls)\b.*\b(?:würde|hätte|wäre|könnte)\w*\b"
    r"|^(?:如果|假如|要是|假设|也许|可能|もし)|たら、|ならば|^(?:если|jeśli|gdyby|eğer|maybe)\b"
)
STATED = LazyPattern(
    r"(?:i'm|im|i am|we're|ich bin|je suis|soy|sou|sono|ik ben) (?:single|married|divorced|widowed|vegan\w*|vegetarian\w*"
    r"|végétarien\w*|végan\w*|vegetarian[oa]"
    r"|vegan[oa]|pescatarian|pregnant|schwanger|retired|unemployed|gay|bi|trans|autistic|dyslexic|diabetic|deaf|blind"
    r"|colou?rblind|jewish|muslim|christian"
    r"|hindu|buddhist|atheist|left-handed|\d{1,2})"
)
TALK = LazyPattern(
    r"\b(?:you|your|you're|you've|you'll|yours|yourself|u|ur|chatgpt|gpt|claude|gemini|(?:the |see |code |as )(?:above|below"
    r"|following)|aforementioned"
    r"|(?:same|previous|last|first|second|third|next|other) (?:one|option|version|approach|suggestion|idea|answer|response"
    r"|draft|paragraph|step|example"
    r"|question|bullet|line|sentence|message)|let me know|sounds good|makes sense|no problem|what i (?:meant|asked|wanted|said"
    r"|need)|for me please|step by step|du"
    r"|dein\w*|dir|dich|tu|te|ton|tes"
    r"|vous|votre|vos|tú|usted|você|contigo|merci|danke|gracias|obrigad[oa]|grazie|thank|thanks|thx|dank je)\b"
)
"""Who speaks so speaks to the assistant."""
BROKEN = LazyPattern(
    r"\b(?:errors?|exception|\w+(?:error|exception)|traceback|not working|doesn't work|don't work|didn't work|won't work"
    r"|isn't working|stopped working"
    r"|failing|failed to"
    r"|undefined|null|throws?|returns? (?:none|null|true|false|an?|the)|stack ?trace|segfault|compil\w+|syntax|line \d+|bug"
    r"|wrong (?:output|result|answer)|funktioniert nicht|ne marche pas|ne fonctionne pas|no funciona|não funciona|non funziona"
    r"|fehlermeldung)\b"
)
SMALL_TALK = LazyPattern(
    r"(?:(?:ok|oh|wow|great|perfect|cool|ha|yes|yeah|no)[,.! ]+)*(?:(?:many |huge |big )?thanks|thank you|thx|cheers"
    r"|looking forward to|good (?:luck|work|job|morning|night)"
    r"|nice (?:work|one|job)|well done|have a (?:good|great|nice)|see you|talk (?:soon|later)|danke|vielen dank|merci|gracias"
    r"|muchas gracias|obrigad[oa]|grazie"
    r"|dank je)\b(?!,? (?:i|we|my|our|ich|wir|je|mi)\b)"
)
OF_NOW = LazyPattern(
    r"\b(?:right now|rn|at the moment|brb|be right back|grad|gerade eben|gleich|en ce moment|ahora mismo|agora mesmo)\b(?!.*\d)"
    r"|^(?:i'm|im|i am|i feel|i've|we're) (?:\w+ ){1,4}(?:today|tonight)$|^(?:今|有点|ちょっと)|有点(?:累|饿|困)"
)
"""What holds for an hour."""
FEELS = LazyPattern(
    r"(?:i'm|im|i am|we're) (?:just |so |really |very |a bit |not |still |also )*(?:curious|confused|stuck|sure|keen|sorry|glad"
    r"|happy to|excited|done|here|back|good"
    r"|fine|ok|okay|impressed|lost|tired|bored|asking|wondering|hoping|afraid|worried)\b(?!.*\d)"
    r"|i (?:really |just |also |still |do )*(?:think|hope|guess|mean|see|understand|know|agree|love it|like it|like that"
    r"|love that|appreciate|wonder|need|want|don't (?:know|understand"
    r"|get|see|think|want|like (?:it|this|that|the))|can't (?:see|find|figure|get|seem)|would like|'d like)\b(?! (?:to learn"
    r"|to become|to move|to lose)\b)"
)
FOREIGN_TASK = LazyPattern(
    r"\b(?:ich (?:brauche|möchte|will|würde|suche|verstehe|frage|glaube|denke|hoffe|weiß nicht|bekomme)"
    r"|brauche (?:ich )?(?:eine?n? )?(?:hilfe|tipps|ideen|liste)"
    r"|wir (?:brauchen|möchten|suchen)|hätte gern\w*|j'ai besoin|je (?:voudrais|veux|cherche|ne comprends|comprends|pense|crois"
    r"|espère|ne sais|dois|peux)|j'aimerais|il me faut"
    r"|necesito|quiero|quisiera|busco|intento|no entiendo|entiendo|creo|pienso|espero|me gustaría|no sé|preciso|quero|queria"
    r"|procuro|não entendi|entendi|acho|penso"
    r"|gostaria|não sei|vorrei|voglio|cerco|non capisco|credo|spero|ho bisogno|ik wil|ik zoek|ik begrijp|ik denk|ik hoop)\b"
)
ABOUT_IT = LazyPattern(
    r"(?:it|it's|its|that|that's|this|this is|these|those|there|there's|they|they're|das|dies|diese[rs]?|es|ça|c'est|ce|cela"
    r"|eso|esto|ese|este|es que|isso|isto|esse|ello"
    r"|questo|quello|dat|dit|het)\b(?! (?:year|month|week|weekend|summer|winter|spring|autumn|fall|morning|semester|christmas"
    r"|año|mes|verano|semana|été|mois|année|jahr"
    r"|sommer|winter|monat|woche|ano|verão|inverno|verano|invierno|estate|jaar)\b)(?!'s (?:my|our)\b|(?:'s| is| was| are) (?:my"
    r"|our|\d+ of us)\b)"
)
OURS = LazyPattern(r"\b(?:my|our|us)\b")
VALUE = LazyPattern(
    rf"\d|\b(?:called|named|heißt|s'appelle|se llama|se chama|si chiama)\b|(?i:\b(?:{_DAY}|{_MONTH})\b)|(?<=[a-zà-ÿ,] )[A-ZÀ-ÖØ-Þ][\w'-]+"
)
ANSWERED = LazyPattern(
    r"(?:that|this|it|here(?:'s| is| are)|looks?|sounds?|seems|works?|worked|great|good|nice|perfect|cool|awesome|amazing|wow"
    r"|thanks?|thx|ty|love (?:it|that|this)|yes|yeah|yep|no(?! (?:[\w-]+ ){1,2}(?:for me|since|in my))|nope|nah|sure|fine|ok"
    r"|okay|exactly|right|correct|got it|haha|lol|hmm|hello|hi|hey|good (?:morning|night|evening|afternoon|one|job|idea|point"
    r"|to know)|well done|wonderful|excellent|interesting|brilliant"
    r"|fantastic|lovely|sorry|super|danke|toll|gut|prima|perfekt|genial|gracias|vale|perfecto|qué|merci|parfait|génial|super"
    r"|bien|bravo|obrigad[oa]|ótimo|legal|perfeito|grazie|perfetto"
    r"|bedankt|dank|dzięki|спасибо|отлично|хорошо|teşekkür\w*|much (?:better|appreciated)|not (?:bad|what|really|quite|that|the"
    r"|sure|yet))\b"
)
FRAGMENT_OF_TASK = LazyPattern(
    r"(?:now (?:the|in|for|with|to)|otra vez|de novo|encore|nochmal|more|less|fewer|shorter|longer|simpler|too|a bit|a little"
    r"|much|better|only|just|same|another|again|next|max|min"
    r"|at (?:least|most)|without|to|how|what|like"
    r"|instead|rather|including|using|based on|the following|following|below|above|here|here's|here is|here are|hier|voici|aquí"
    r"|aqui|given|note that|e\.g|ex|step|part|section|chapter"
    r"|example|input|output|question|answer|hint|todo|title|topic|context|option|version|exercise|problem|task|kürzer|länger"
    r"|mehr|weniger|ohne|nur|noch|plus|moins|sans|más|menos|sin|mais|menos|sem|più|meno"
    r"|every (?:\w+ )?(?:word|line|sentence|paragraph|chapter)|each)\b(?!.{0,60}\b(?:i|we|my|our|me|us|i'm|ich|wir|je|nous|mi)\b)"
)
TASK_SUBJECT = LazyPattern(
    r"(?:the|this|that|these|those|each|every|your|a|an|das|die|der|le|la|les|el|los|o|a|il)? ?(?:[\w-]+ing )?(?:code|script"
    r"|function|query|program|output|input|errors?|questions?|problem|issue|essay|draft|text"
    r"|sentences?|prompt|message|point|idea|task|assignment|result|results|answer|class|method|component|regex|loop|variable"
    r"|table|column|dataframe|data|file|json|html|css|page|button|tests?|build"
    r"|intro|introduction|conclusion|paragraph|bullets?|version|formula|response|request|story|scene|character|reader|article"
    r"|author|passage|poem|tone|wording|title|summary|list|email|letter|first|second"
    r"|third|last|user|users|api|app|site|website|program|image|picture|texto|código|texte|liste|tabelle|brief|antwort"
    r"|respuesta|réponse|resposta)(?:s|'s)? "
    r"(?:is|are|was|were|has|have|had|should|must|needs?|will|would|can|can't|cannot|doesn't|does|don't|isn't|looks?|sounds?"
    r"|seems?|gets?|keeps?|shows?|returns?|works?|contains?|uses?|takes?|could|says?|reads?"
    r"|ist|sind|soll|est|sont|doit|es|son|debe|é|são|deve)\b"
)
DEFINES = LazyPattern(
    r"[\w’' -]{1,40} (?:is|are) (?:(?:a|an|the|one of|considered|known|defined|used|called|made|several|many|also|not|often"
    r"|usually) )+(?:\w+ )?(?:used|known|defined|designed|language|process|method|type"
    r"|kind|form|framework|library|concept|term|function|tool|country|city|capital|number|set|system|important|common|popular"
    r"|essential|theory|branch|study|element|compound|species|novel by|book by|river"
    r"|state|planet|disease|condition)\b"
    r"|[\w’' -]{1,40} (?:is|are) (?:noted|obviously|perfect|correct|good|great|fine|super|too|used|known|defined|considered"
    r"|important|essential|common|popular|required|located|necessary)\b"
)
LEANS_ON_SOMEBODY = LazyPattern(
    r"(?:(?:and|but|so|also|plus|then|und|aber|et|mais|y|pero|e|mas)[, ]+)?(?:he|she|he's|she's|they|they're|his|her|their|il"
    r"|elle|ils|elles|él|ella|ellos|ellas|ele|ela|eles|elas|lui|lei|loro|hij|zij"
    r"|er|(?:sie|ze) (?!sind|können|haben|zijn))\b|(?:他|她|他们|她们|彼|彼女)"
    r"|(?:runs?|lives?|works?|lies|costs?|turns?|called|named)\b"
)
"""A subject that was named in another message: "it" and "that" are what the assistant said."""
DENIES = LazyPattern(r"\b(?:not|never|no|nicht|nie|keine?[nr]?|pas|jamais|não|nunca|non|niet|geen)\b|n't\b")
CORRECTS = LazyPattern(
    r"(?P<lead>^(?:(?:oh|ah|oops|uy|ups|opa|ops|ay|ach|äh|hm+|uh|um|ok|wait|sorry|perdón|pardon|desculpa|scusa|moment|hey|well"
    r"|hups|oeps)[,.! ]+)*"
    r"(?:(?:actually|wait|sorry|no+|nope|nah|correction|oops|my (?:mistake|bad)|update|scratch that|changes? of plans?"
    r"|on second thoughts?|i misspoke|i mixed|i (?:was|am) wrong|"
    r"(?:actually )?i (?:got|had|said|told you|wrote) (?:that|it|this|the \w+|you)? ?(?:\w+ )?wrong|that(?:'s| is"
    r"| was) (?:wrong|not (?:right|correct|true))|i (?:meant|mean|meant to say)|make (?:it|that) "
    r"|turns out|as it turns out|plans? (?:have )?changed|i've changed my mind|changed my mind|i changed my mind|never ?mind"
    r"|small correction|to correct"
    r"|nein|nee|nö|doch|falsch|quatsch|korrektur|stimmt nicht|das (?:stimmt nicht|ist falsch|war falsch)|planänderung"
    r"|(?:ich )?hab(?:e)? mich (?:vertan|geirrt|verschrieben)|genauer gesagt|besser gesagt|eigentlich"
    r"|non|faux|c'est faux|en fait|finalement|je me suis tromp\w+|changement de (?:plan|programme)|erreur de ma part|plutôt"
    r"|me equivoqu\w+|me he equivocado|corrijo|corrección|en realidad|al final|mejor dicho|cambio de planes|incorrecto|rectifico"
    r"|não|errado|me enganei|enganei-me|errei|correção|na verdade|mudança de planos|aliás|melhor dizendo"
    r"|mi sono sbagliat[oa]|anzi|in realtà|cambio di programma|correzione|toch|eigenlijk|ik vergiste me|nie|właściwie"
    r"|pomyliłe?a?m się|нет|вернее|точнее|я ошиб\w+|на самом деле)"
    r"(?=[ ,.:;!–—-]|$))(?=.*(?:\d|\bnot\b|\bnow\b|\bno longer\b|n't\b|\binstead\b|\bnicht\b|\bdoch\b|\berst\b|\bpas\b|\bplus\b"
    r"|\bno\b|\bya\b|\bnão\b|\bnon\b|\bniet\b|\bnie\b|\bне\b|: \S|, \S))"
    r"|(?:changes? of plans?|planänderung|changement de (?:plan|programme)|cambio de planes|mudança de planos|correction|update"
    r"|korrektur|correction|corrección|correção)\b\s*[:,–-])"
    r"|^(?:不对|不是|错了|说错了|更正|纠正|改了|不，|いいえ|違う|違います|訂正|間違え)|(?:说错了|记错了|搞错了|弄错了|改到|改成|改为|而不是|ではなく|じゃなくて|に変わ|に変更)"
    r"|,? (?:not|nicht|pas|no|não|non|niet) (?:on |in |at |the |am |um |le |el |la |o |de |der |il )*(?:\d+|mon|tues|wednes"
    r"|thurs|fri|satur|sun)\S*[.!]?$"
    r"|\b(?:nicht .{2,40} sondern|not .{2,40} but|no .{2,40} sino|pas .{2,40} mais) "
)
"""How people put right what they said: in so many words, or "..., not the 14th" at the end."""
SPEECH = LazyPattern(
    r"[,!?'’\"”»] (?:said|says|asked|whispered|replied|cried|shouted|muttered|sagte|flüsterte|rief|dit|répondit|dijo|susurró"
    r"|respondió|disse) (?:the |a |an )?[\w'-]+(?: [\w'-]+){0,3}$"
)
IN_FICTION = LazyPattern(
    r"\bin my (?:story|novel|book|screenplay|script|dream|campaign|fanfic|comic|fiction)\b|\b(?:in meinem (?:roman|buch)"
    r"|in meiner geschichte|en mi (?:novela|historia)"
    r"|dans mon (?:roman|histoire)|no meu (?:livro|romance))\b|我的小说|私の小説"
)
FICTION = LazyPattern(
    r"\b(?:the|my|our) (?:main |two main |side )?(?:characters?|protagonists?|hero|heroine|antagonist|narrator|villain|love interest)\b"
    r"|\b(?:hauptfigur|protagonist\w*|personaje principal|personnage principal|protagonista)\b|主人公|主角"
)
WRITES = LazyPattern(r"\bwrite (?!as\b|like\b)")
WRITES_FICTION = LazyPattern(
    r"\b(?:write|continue|tell|create|generate|make up|draft|invent)\b[^.\n]{0,40}\b(?:story|stories|poem|song|lyrics|dialogue"
    r"|monologue|scene|script|screenplay|haiku|fanfic\w*|tale|fable|chapter|limerick|joke|ballad|novel)\b"
    r"[^.\n]{0,80}\b(?:about|where|in which|who|from|saying|that|with|of|:)"
    r"|\b(?:schreib\w*|erzähl\w*|écris|raconte|escribe|cuéntame|escreva|conte)\b[^.\n]{0,40}\b(?:geschichte|gedicht|lied|szene"
    r"|dialog|histoire|poème|chanson|scène|historia|cuento|poema|canción|escena|história|conto|cena)\b"
)
GAME = LazyPattern(
    r"\b(?:pretend|imagine|role-?play|role play)(?:ing)? (?:that |to be |you|i|we|as|with|a\b|being)|\bplay the (?:role|part)\b"
    r"|\bknock,? knock\b|\blet'?s play\b"
    r"|\blorem ipsum\b|\btest test\b|\bthis is (?:just )?a test\b|\basdf|\byou are (?:now )?(?:an? |my "
    r"|the )[^.]{2,60} and i(?: am|'m) |\bi(?:'ll| will) be (?:the|a|an) \w+,? (?:and )?you"
    r"|假装|扮演|のふりを|になりきって|ロールプレイ"
)
HELPER = LazyPattern(
    r"\b(?:expert|experienced|professional|senior|certified|helpful|coach|teacher|tutor|assistant|consultant|advis[eo]r"
    r"|nutritionist|dietitian|trainer|doctor|therapist|lawyer|editor|developer|engineer"
    r"|programmer|planner|agent|recruiter|analyst|writer|translator|accountant|guide|specialist|mentor|designer|marketer"
    r"|scientist|researcher|professor|proofreader|strategist|best|genius|lifesaver|star|right|great|amazing)\b"
)
DENSE_ORDER = LazyPattern(
    r"^(?:请|帮|麻烦|给我|把|将|用|写|翻译|总结|改|再|继续|列出|推荐|告诉|解释|介绍|生成|设计|做一|画|换|もう少し|もっと|もう一度|让它|不要用|别用|能|可以|怎么|如何|什么|为什么)|(?:ください|下さい|教えて"
    r"|してくれ|作って|書いて"
    r"|お願い|ほしい|欲しい|頼む)"
    r"|帮我|帮忙|请问|能不能|怎么|什么(?!都)|报错|我想(?:知道|问|要你|请)|想(?:知道|请教)|需要你|我需要(?:一|你)|(?:て|で)(?:ね|よ|くれ)?$|でしょうか|ですか|ますか|エラー|わからない|分からない"
    r"|あなた|你(?!好)|您"
)
DENSE_PERSON = LazyPattern(r"^(?:我|咱|本人|私|僕|俺|うち|わたし|ぼく|妻|夫|息子|娘|母|父|家族|弊社|当社|我が家)")
DENSE_SMALL = LazyPattern(
    r"^(?:太好了|好的|谢谢|多谢|明白|收到|不错|很好|哈哈|嗯|对|是的|没问题|你好|大家好|ありがとう|なるほど|了解|わかりました|はい|こんにちは|すごい|いいね)|(?:谢谢|ありがとうございます)"
)
DENSE_SUBJECT = LazyPattern(
    r"^(?:我|咱|本人|私|僕|俺|うち|わたし|ぼく|妻|夫|息子|娘|母|父|家族|弊社|当社|我が家|他|她|彼)|\d|(?:は|が)|(?:住|叫|过敏|岁|生日|喜欢|讨厌|不吃|不喝|只喝|只吃)"
)
LIGHT = LazyPattern(
    r"(?:(?:ok(?:ay)?|k|well|uh+m*|um+|ah+|oh+|hm+|yeah|yep|yes|hey|hi|hello|btw|by the way|alright|right|anyways?|lol"
    r"|(?:ha){2,}|thanks|thank you|thx|great|cool|perfect|nice|sure|fine"
    r"|good|got it|one more thing|quick (?:note|thing)|for context|ps|hallo|ach|übrigens|super|danke|hola|gracias|vale|bonjour"
    r"|merci|salut|olá|oi|sí|ja|oui|sim|also|so|and|but|plus)"
    r"(?: there| everyone| so much| all| again| claude| chatgpt)?\s*[,.!:…–—]+\s*|(?:btw|by the way|ok|okay|hey|hi|oh|yeah|lol"
    r"|haha|anyway|hmm+|nah|ah|ach|übrigens|also|so|and|but|plus|well) +"
    r"|(?:对了|那个|嗯+|哦|好的|另外|还有|顺便说一下|谢谢|そういえば|えっと|あの|ちなみに|はい|それと)[，,、。:：\s]+|[,:–—\s.…-]+)+"
)
"""What a sentence may begin with that says nothing, and is cut off."""
MATERIAL = LazyPattern(
    r"(?:请|帮我|麻烦)?(?:把|将)?[^:：]{0,12}(?:翻译|译成|翻成|改写|润色|总结|纠正|修改|校对|訳|要約|校正)[^:：]{0,12}[:：]"
    r"|(?:(?:how (?:do|would|can) (?:you|i|we) |can you )?(?:say|write|translate|spell)\b[^:]{0,40}\b(?:in|into|to) \w+"
    r"|what does [^:]{0,40}mean|wie sagt man[^:]{0,30}|comment dit-on[^:]{0,30}|cómo se dice[^:]{0,30}"
    r"|(?:übersetz|traduis|traduce|traduz|traduci)\w*\b[^:]{0,60}|here(?:'s| is| are) [^:]{0,60}|(?:das|folgendes"
    r"|hier)[^:]{0,30}(?:text|mail|entwurf)|voici [^:]{0,40}|aquí (?:está|va|tienes) [^:]{0,40}) ?[:：]"
)
"""What comes behind this is material."""
