"""What is kept of sentences in German, French, Spanish, Portuguese, Chinese and Japanese: what is said outright, and the commonest forms.

Matched like ``english.py``. Fewer forms, the same care: a form that also says something else is left out.
"""

from __future__ import annotations

from hybrid_memory.capture.model import StatementKind as Kind
from hybrid_memory.capture.rules import Rule, expanded
from hybrid_memory.lazy_pattern import LazyPattern

_GERMAN_TIME = (
    r"(?:\b(?:montag|dienstag|mittwoch|donnerstag|freitag|samstag|sonntag|januar|februar|märz"
    r"|april|juni|juli|august|september|oktober|november|dezember)s?\b|(?<=\. )mai\b|\b(?:im|ende"
    r"|anfang|bis) mai\b"
    r"|\b(?:nächste[nrs]?|kommende[nrs]?) (?:woche|monat|jahr|mal)\b|\bübermorgen\b"
    r"|\d{1,2}\.(?: ?\d{1,2}\.)?|\bweihnachten\b|\bostern\b|\bin (?:zwei|drei|vier|\d+) (?:tagen"
    r"|wochen|monaten)\b)"
)
_FRENCH_TIME = (
    r"(?:\b(?:lundi|mardi|mercredi|jeudi|vendredi|samedi|dimanche|janvier|février|mars|avril|mai"
    r"|juin|juillet|août|septembre|octobre|novembre|décembre)s?\b"
    r"|\b(?:la semaine|le mois|l'année) prochaine?\b|\bdemain\b|\bnoël\b|\bpâques\b|\b\d{1,2}/\d{1,2}\b|\ble \d{1,2}\b)"
)
_SPANISH_TIME = (
    r"(?:\b(?:lunes|martes|miércoles|miercoles|jueves|viernes|sábado|domingo|enero|febrero|marzo"
    r"|abril|mayo|junio|julio|agosto|septiembre|octubre|noviembre|diciembre)\b"
    r"|\b(?:la|el) (?:semana|mes|año) que viene\b|\bpróxim[oa]\b|\bmañana\b|\bnavidad\b"
    r"|\b\d{1,2}/\d{1,2}\b|\bel \d{1,2}\b)"
)
_PORTUGUESE_TIME = (
    r"(?:\b(?:segunda|terça|quarta|quinta|sexta|sábado|domingo|janeiro|fevereiro|março|abril|maio"
    r"|junho|julho|agosto|setembro|outubro|novembro|dezembro)\b"
    r"|\b(?:semana|mês|ano) que vem\b|\bpróxim[oa]\b|\bamanhã\b|\bnatal\b|\b\d{1,2}/\d{1,2}\b|\bdia \d{1,2}\b)"
)
_CJK_TIME = (
    r"(?:[\d一二三四五六七八九十]+[月号號日]|周[一二三四五六日天]|星期[一二三四五六日天]|礼拜|[下明后]周|[下明]个?[月年]|明天|后天|[月火水木金土日]曜|来週|来月|来年"
    r"|明日|明後日|春节|圣诞|週末|周末)"
)

_MACROS = {
    "DE_TIME": _GERMAN_TIME,
    "FR_TIME": _FRENCH_TIME,
    "ES_TIME": _SPANISH_TIME,
    "PT_TIME": _PORTUGUESE_TIME,
    "CJK_TIME": _CJK_TIME,
    "DE_PERSON": r"(?:frau|mann|ehefrau|ehemann|partner(?:in)?|freund(?:in)?|tochter|töchter|sohn|söhne"
    r"|kind(?:er)?|mutter|vater|mama|papa|eltern|bruder|brüder|schwester|schwestern|oma|opa"
    r"|großmutter|großvater|tante|onkel|neffe|nichte|cousine?|hund|katze|kater"
    r"|schwiegermutter|schwiegervater|chef(?:in)?|kolleg(?:e|in)|vermieter(?:in)?|ärztin|arzt"
    r"|hausarzt|zahnarzt|nachbar(?:in)?|mitbewohner(?:in)?|firma|projektleiter(?:in)?"
    r"|teamleiter(?:in)?|kund(?:e|in)|lehrer(?:in)?)",
    "FR_PERSON": r"(?:femme|mari|épouse|époux|conjointe?|copine|copain|compagne|compagnon|filles?|fils|enfants?"
    r"|bébé|mère|père|parents|frères?|sœurs?|soeurs?|grand-mère|grand-père|tante|oncle|cousine?"
    r"|nièce|neveu|chien|chienne|chat|chatte|belle-mère|beau-père"
    r"|patronn?e?|cheffe?|collègue|propriétaire|médecin|dentiste|voisine?|colocataire|ami|amie"
    r"|meilleure? amie?|directeur|directrice|manager|cliente?|entreprise|société|prof)",
    "ES_PERSON": r"(?:mujer|esposa|esposo|marido|pareja|novia|novio|hijas?|hijos?|niñ[oa]s?|bebé|madre|padre"
    r"|mamá|papá|padres|hermanas?|hermanos?|abuela|abuelo|tía|tío|prima|primo|sobrina|sobrino"
    r"|perr[oa]|gat[oa]|suegra|suegro"
    r"|jefe|jefa|compañer[oa]|casero|casera|médico|médica|dentista|vecin[oa]|amig[oa]"
    r"|mejor amig[oa]|director[a]?|clienta?e?|empresa|profesora?)",
    "PT_PERSON": r"(?:mulher|esposa|marido|namorad[oa]|noiv[oa]|companheir[oa]|filhas?|filhos?|bebê|mãe|pai"
    r"|pais|irmã|irmãs|irmãos?|avó|avô|tia|tio|prima|primo|sobrinh[oa]|cachorr[oa]|cadela|cão"
    r"|gat[oa]|sogra|sogro"
    r"|chefe|colega|senhorio|médic[oa]|dentista|vizinh[oa]|amig[oa]|melhor amig[oa]|diretora?"
    r"|cliente|empresa|professora?)",
    "DE_LOOSE": r"(?!(?:das|dies|diese[rsnm]?|es|den|die|der|dem|ihn|sie|so|hier|da|dein\w*|was|wie|wenn)\b)",
    "FR_LOOSE": r"(?!(?:ça|cela|ce|cet|cette|ces|celui|celle|le (?:premier|second|deuxième)|la (?:première"
    r"|seconde|deuxième)|ta|ton|tes|votre|vos|comment|quand|bien (?:ça|la|le|ta|ton|ce)"
    r"|beaucoup (?:ça|ta|ce))\b)",
    "ES_LOOSE": r"(?!(?:eso|esto|est[ea]|es[ea]|aquell?[oa]|lo|la (?:primera|segunda)|el (?:primero|segundo)"
    r"|tu|tus|su|cómo|como (?:queda|está))\b)",
    "PT_LOOSE": r"(?!(?:isso|isto|est[ea]|ess[ea]|aquel[ea]|disso|disto|dess[ea]|dest[ea]|a (?:primeira"
    r"|segunda)|o (?:primeiro|segundo)|teu|tua|seu|sua|como (?:ficou|está))\b)",
}


def _rule(kind: Kind, importance: float, source: str, *, asked: bool = False) -> Rule:
    return Rule(kind, LazyPattern(expanded(source, _MACROS)), importance, asked)


_GERMAN = (
    _rule(
        Kind.FACT,
        0.85,
        r"(?:bitte )?(?:merk(?:e)? dir|merken sie sich|notier(?:e)?(?: dir)?|denk daran|denk dran"
        r"|vergiss nicht|behalt(?:e)?(?: im kopf)?|zur info|zur erinnerung|für später|nur zur info"
        r"|zur kenntnis)(?: bitte)?(?: mal| für später| für die zukunft)?"
        r"\s*(?:[,:–-]\s*(?:(?=dass ))?|\s(?=dass ))(?!zu\b)(?P<text>.{8,})",
        asked=True,
    ),
    _rule(Kind.FACT, 0.8, r"(?:notiz|merke|wichtig)\s*:\s*(?P<text>.{8,})", asked=True),
    _rule(
        Kind.PLAN,
        0.7,
        r"(?:bitte )?(?:erinner(?:e)? (?:mich|uns)(?: bitte)?(?: daran)?,? (?!wie\b|was\b|warum\b"
        r"|wer\b|nochmal wie).{6,}|(?:ich|wir) (?:darf|dürfen) nicht vergessen.{6,})",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:ich|wir) (?:bevorzuge|bevorzugen|mag|mögen|hasse|hassen|liebe|lieben|möchte immer"
        r"|möchte nie|will (?:nie|immer|keine?n?)|verwende (?:immer|nie|nur)|benutze (?:immer|nie"
        r"|nur)|nutze (?:immer|nie|nur)|esse (?:kein\w*|nie|nur|gern\w*)|trinke (?:kein\w*|nie|nur"
        r"|gern\w*)"
        r"|arbeite (?:am liebsten|lieber|nie|immer|nur)|schreibe (?:immer|nie|lieber|am liebsten)"
        r"|nehme (?:immer|nie|lieber))(?: (?:am liebsten|lieber|grundsätzlich|generell|wirklich"
        r"|sehr|einfach|gar|überhaupt|eigentlich)){0,2} <DE_LOOSE>(?!dich\b|nicht\b$|nicht (?:das"
        r"|die|wie)\b).{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:bitte )?(?:(?:ab (?:jetzt|sofort|heute)|von (?:jetzt|nun) an|in zukunft|künftig"
        r"|zukünftig|grundsätzlich)(?: bitte)?,? (?!geht\b|gibt\b|ist\b|wird\b)\w{3,} .{4,}"
        r"|(?:immer|niemals|nie) (?!noch\b|wieder\b|mehr\b"
        r"|mind\b)(?!wenn\b)(?:\w+ ){1,12}?\w{2,}en$)",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:bitte )?(?:antworte?|antworten sie|schreibe?|nutze?|verwende?|benutze?|sprich|rede"
        r"|halte?|mach|erkläre?|füge?|formuliere?|committe?|pushe?|lösche?|nimm|gib|frag|führe?"
        r"|duze?|sieze?)(?: \w+){0,3}? (?:immer|nie(?:mals)?|ab (?:jetzt|sofort|heute)|künftig"
        r"|in zukunft|grundsätzlich|von (?:jetzt|nun) an|stets)\b(?! wieder\b| noch\b).{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:(?:bitte|du kannst|ihr könnt) )?(?:nenn(?:e)? mich|mich nennen) (?!(?:nicht|wenn|verrückt"
        r"|altmodisch)\b)\w[\w'-]*(?: \w+)?$|(?:du kannst|ihr könnt) mich \w[\w'-]* nennen$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:mein|meine|unser|unsere) lieblings[\w-]+ (?:ist|sind) (?!das\b|der (?:erste"
        r"|zweite)\b).{2,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.75,
        r"ich bin (?:überzeugte[r]? |strenge[r]? )?(?:vegetarier(?:in)?|veganer(?:in)?"
        r"|pescetarier(?:in)?)\b.*",
    ),
    _rule(
        Kind.DECISION,
        0.75,
        r"(?:(?:wir|ich|das team) (?:haben|habe|hat) (?!.{0,80}\b(?:noch nicht"
        r"|nicht) (?:entschieden|beschlossen))(?:.{0,100}?\b(?:entschieden|beschlossen|geeinigt"
        r"|vereinbart|festgelegt)\b.*)|(?:wir|ich) (?:bleiben|bleibe) (?:bei|beim) (?!(?:der|dem"
        r"|deine\w+) (?:ersten|zweiten|letzten)|das\b|dies).{3,}"
        r"|(?:wir|ich) (?:nehmen|nehme|verwenden|nutzen|setzen auf|wechseln (?:zu|auf)|steigen auf"
        r"|ersetzen|streichen|unterstützen kein\w*) <DE_LOOSE>(?!ein(?:e|en)?\b"
        r"|auch\b)[\w.+#-]+ (?=.*\b(?:für|statt|als|um|nicht|mehr|künftig|überall)\b).{3,}"
        r"|(?:lass uns|lasst uns) (?:bei )?(?!(?:das|die|den|mal|sehen|schauen"
        r"|es)\b)[\w.+#-]+(?: [\w.+#-]+){0,4} (?:nehmen|verwenden|nutzen|bleiben)(?: .*)?$"
        r"|(?:entscheidung|beschlossen|entschieden)\s*:\s*.{4,})",
    ),
    _rule(
        Kind.PLAN,
        0.65,
        r"(?=.{0,160}<DE_TIME>)(?:(?:ich|wir) (?:fliege|fliegen|fahre|fahren|reise|reisen|ziehe"
        r"|ziehen|heirate|heiraten|muss|müssen|habe|haben|bin|sind|gehe|gehen|treffe|treffen"
        r"|besuche|besuchen|starte|starten|veröffentlichen|liefern|werde|werden)\b(?!.*\b(?:gerade"
        r"|gleich|fehler|heute|minuten)\b)(?!.*\b\w*ge\w+t$).{5,}"
        r"|(?:am|im|ab|bis|nächste[nrs]?|kommende[nrs]?|ende|anfang|mitte) .{2,30}? (?:fliege"
        r"|fliegen|fahre|fahren|reise|reisen|ziehe|ziehen|heirate|heiraten|muss|müssen|habe|haben"
        r"|bin|sind|gehe|gehen|treffe|treffen|besuche|starten|veröffentlichen|liefern|werde"
        r"|werden) (?:ich|wir) .{4,}"
        r"|(?:mein|meine|unser|unsere|der|die|das) (?:[\w-]*(?:termin|prüfung|flug|abgabe|frist"
        r"|deadline|hochzeit|urlaub|umzug|op|besprechung|meeting|release|vertrag|pass|geburtstag"
        r"|hochzeitstag|party|feier|konferenz))\b(?: \w+){0,4}? (?:ist|sind|beginnt|endet|läuft"
        r"|findet|wurde|geht)\b.{3,})",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:ich heiße|mein name ist|ich wohne (?:in|bei|auf|seit|jetzt|am|mit)|ich lebe (?:in|bei"
        r"|auf|seit|jetzt|mit)|wir (?:wohnen|leben) (?:in|bei|auf|seit|jetzt)"
        r"|ich komme aus (?!dem\b)|ich arbeite (?:als|bei|für|in|seit)(?! (?:diesem|dem|der"
        r"|gerade))|ich bin (?:in|am) .{2,30} geboren|ich wurde .{2,40} geboren"
        r"|ich bin (?:\w+ ){0,2}?(?:jahre alt|allergisch|schwanger|verheiratet|geschieden"
        r"|verwitwet|linkshänder(?:in)?|rechtshänder(?:in)?|farbenblind|diabetiker(?:in)?"
        r"|asthmatiker(?:in)?|rentner(?:in)?|selbst(?:st)?ändig|umgezogen|\w*(?:lehrer|entwickler"
        r"|ingenieur|ärzt|krankenschwester|krankenpfleger|pfleger|schreiner|tischler|anwält"
        r"|student|designer|architekt|journalist|köch|bäcker|gärtner|übersetzer)(?:in)?\b)"
        r"|ich bin (?:arzt|koch|anwalt|\d{1,3})\b|ich habe (?:eine? )?(?:\w+ )?(?:\w*allergie"
        r"|\w*intoleranz|diabetes|asthma|adhs|zöliakie|migräne|(?:zwei|drei|vier|\d|einen|eine"
        r"|ein) (?:kinder|kind|töchter|tochter|söhne|sohn|hunde?|katzen?|geschwister|brüder|bruder"
        r"|schwestern?))|ich vertrage (?:kein\w*)|ich spreche (?!gerade\b|von\b|über\b|mit\b)"
        r"|meine muttersprache ist|ich studiere|mein geburtstag ist|ich habe am .{2,30} geburtstag"
        r"|wir benutzen (?!das\b|die\b|den\b|hier\b|ein)|ich bin (?:letzte\w*|vor|im|gerade|jetzt"
        r"|diese\w*)? ?.{0,30}(?:nach|von) .{2,40}(?:gezogen|umgezogen))(?!.*\b(?:minuten"
        r"|gerade dabei)\b).{1,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:mein|meine|unser|unsere)(?: \w+)? <DE_PERSON>(?: (?!ist\b|hat\b|heißt\b|sagt\b"
        r"|meint\b|und ich\b|will\b)\w+){0,2} (?:heißt|heißen|ist (?:\w+ )?(?:allergisch|\d{1,3}\b"
        r"|schwanger|vegetarier\w*|veganer\w*|am \d|im \w+ geboren|\w+ von beruf|lehrer\w*|ärztin"
        r"|arzt|[\w-]*ingenieur\w*|krankenschwester|\w+ jahre)|wohnt|lebt|arbeitet (?:als|bei|in)"
        r"|mag (?!das|es)|hasst|liebt|isst (?:kein|nur|gern)|trinkt (?:kein|nur|gern)"
        r"|verträgt kein\w*|hat (?:am .{2,30} geburtstag|eine \w*allergie|\w*allergie|diabetes"
        r"|asthma|(?:zwei|drei|\d) kinder)|spricht|studiert|wird (?:am|im|\d)|zieht|heiratet)\b.*",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:mein|meine|unser|unsere|der|die|das) (?!\w*(?:funktion|variable|klasse|methode|datei"
        r"|spalte|test|branch|skript|tabelle|feld|button)\b)(?:[\w-]*(?:server|datenbank|host|projekt"
        r"|repo|firma|hund|katze|kater|team|cluster|rechner|boot|auto|app|produkt|straße|schule"
        r"|umgebung|domain))(?: [\w-]+){0,2} (?:heißt|heißen|läuft auf|liegt auf) \S.*",
    ),
)

_FRENCH = (
    _rule(
        Kind.FACT,
        0.85,
        r"(?:s'il te plaît,? )?(?:souviens-toi|rappelle-toi|souvenez-vous|retiens(?: bien)?"
        r"|retenez|note(?:z)?(?: bien)?|n'oublie pas|mémorise|garde en (?:tête|mémoire)"
        r"|pour (?:info|mémoire|plus tard|ta gouverne))(?: (?:s'il te plaît|stp))?(?:,? (?:que "
        r"|qu'(?=il|elle|on|un|en|a))|\s*[:,]\s*)(?P<text>(?!(?:de|comment|quand)\b).{8,})",
        asked=True,
    ),
    _rule(
        Kind.PLAN,
        0.7,
        r"(?:rappelle[- ]moi|rappelez[- ]moi|rappelle[- ]nous) (?:de |d'|que |qu').{6,}"
        r"|je ne dois pas oublier (?:de |d').{6,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:je|j'|on|nous) ?(?:préfère|préfères|préférons|prefere|aime(?: (?:bien|beaucoup|pas"
        r"|surtout))?|adore|déteste|n'aime pas|n'aime plus|ne supporte pas|ne veux (?:pas de"
        r"|jamais|plus de)|ne mange (?:pas|plus|jamais)|ne bois (?:pas|plus|jamais)"
        r"|n'utilise (?:jamais|que|pas)|utilise toujours|veux toujours"
        r"|écris toujours) ?<FR_LOOSE>(?!te\b|vous\b|comprendre|savoir|voir\b|avoir\b|quand (?:ça"
        r"|il|elle|le|la)).{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:je n'aime pas|je n'aime plus|je n'utilise (?:jamais|que|plus)|j'aime (?:bien |beaucoup )?"
        r"|j'adore|j'utilise toujours|j'évite|j'ai horreur (?:de |d'|des )) ?<FR_LOOSE>(?!te\b|vous\b"
        r"|quand (?:ça|il|elle|le|la)|comprendre|savoir|voir\b).{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:stp |s'il te plaît,? |à partir de maintenant,? |désormais,? |dorénavant,? "
        r"|à l'avenir,? ){0,2}(?:réponds?|répondez|utilise|utilisez|écris|écrivez|parle|parlez"
        r"|garde|mets|fais|explique|emploie|commite|lance|demande)(?:[- ]moi)? (?:toujours"
        r"|désormais|dorénavant|à partir de maintenant|à chaque fois)\b.{3,}"
        r"|(?:à partir de maintenant|désormais|dorénavant|à l'avenir),? (?!il\b|elle\b|c'est\b"
        r"|ça\b|on (?:va|a)\b|je (?:vais|suis)\b).{8,}|(?:stp |s'il te plaît,? )?(?:réponds?"
        r"|utilise|écris|parle|explique|appelle)(?:[- ]moi)? .{2,80} (?:à partir de maintenant"
        r"|désormais|dorénavant|à l'avenir|à chaque fois)$"
        r"|(?:s'il te plaît,? )?n'(?:utilise|écris|ajoute|emploie|efface|envoie"
        r"|oublie)(?:z)? jamais .{3,}|(?:s'il te plaît,? )?ne (?:commite|fais|mets|pousse|supprime"
        r"|modifie|réponds|touche|parle|lance)(?:z)? jamais .{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:(?:tu peux m'|vous pouvez m')appeler|appelle[- ]moi|appelez[- ]moi) (?!(?:quand|si|demain"
        r"|plus|un|une|le|la)\b)\w[\w'-]*(?: \w+)?$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:mon|ma|mes|notre) [\w -]{2,40} (?:préférée?s?|favorite?s?|favori) (?:est|sont"
        r"|c'est) .{2,}",
    ),
    _rule(Kind.PREFERENCE, 0.75, r"je suis (?:végétarien(?:ne)?|végane?|vegan|pescétarien(?:ne)?)\b.*"),
    _rule(
        Kind.DECISION,
        0.75,
        r"(?:(?:on a|nous avons|j'ai|l'équipe a|on s'est|nous nous sommes)(?: enfin| finalement"
        r"| tous)? (?:décidé|choisi|opté|convenu|tranché|mis d'accord|abandonné)(?: (?:de |d'|que "
        r"|qu'|pour |sur |contre ))? ?<FR_LOOSE>.{3,}|(?:on|nous) (?:reste|restons|part|partons"
        r"|passe|passons) (?:sur|avec|chez|à) <FR_LOOSE>(?!la\b|le\b|l'autre)[\w.+#-]{2,}.*"
        r"|c'est décidé\s*[:,]\s*.{6,}|décision\s*:\s*.{4,}"
        r"|on va (?:utiliser|garder|prendre|passer à|rester sur) <FR_LOOSE>(?!une?\b|la\b|le\b"
        r"|les\b)[\w.+#-]{2,} .{3,})",
    ),
    _rule(
        Kind.PLAN,
        0.65,
        r"(?=.{0,160}<FR_TIME>)(?:(?:le|en|au|début|fin|vendredi|lundi|mardi|mercredi|jeudi|samedi"
        r"|dimanche) .{0,25}?)?(?:je|j'|on|nous) ?(?:pars|part|partons|vole|volons|déménage"
        r"|déménageons|vais|va|allons|dois|doit|devons|me marie|se marie|serai|sera|serons"
        r"|ai (?:un|une|mon|rendez-vous)|a (?:un|une|rendez-vous)|prends|présente|rends|rencontre"
        r"|lance|lançons|livre|livrons|commence|arrive)\b(?!.*\b(?:minutes|maintenant"
        r"|tout de suite|aujourd'hui|erreur)\b).{4,}"
        r"|(?=.{0,160}<FR_TIME>)(?:mon|ma|notre|le|la) (?:[\w'-]+ ){0,3}?(?:rendez-vous|examen|vol"
        r"|mariage|réunion|entretien|opération|échéance|livraison|lancement|anniversaire"
        r"|déménagement|soutenance|passeport|visa|bail|contrat|train|fête)\b.{0,40}? (?:est|tombe"
        r"|commence|expire|finit|part|a été|aura lieu|sera|c'est)\b.{3,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:je m'appelle|mon (?:nom|prénom) est|mon anniversaire (?:est|c'est)|j'habite"
        r"|nous habitons|on habite|je vis (?:à|en|au|avec|seule?|dans)|je viens d[e'] ?(?!(?:faire"
        r"|finir|voir|lire|tester|lancer|le|la|l'|\w+(?:er|ir|re)\b))|je travaille (?:comme|chez"
        r"|pour|à|en|dans|de nuit)(?! (?:ça|cela|ce|cette))|je suis (?:né|née|marié|mariée"
        r"|divorcée?|enceinte|allergique|diabétique|asthmatique|gauch[eè]re?|daltonien(?:ne)?"
        r"|célibataire|retraitée?|dyslexique"
        r"|(?:une? )?(?:infirmi[eè]re?|médecin|professeure?|prof|développeu(?:r|se)|ingénieure?"
        r"|étudiante?|avocate?|architecte|journaliste|traducteur|traductrice|boulang[eè]re?"
        r"|cuisini[eè]re?|graphiste|designer|comptable)\b)|j'ai \d{1,3} ans|j'ai (?:deux|trois"
        r"|quatre|\d|une?|des) (?:enfants?|filles?|fils|frères?|sœurs?|soeurs?|chiens?|chats?"
        r"|jumeaux|jumelles)\b|j'ai (?:une allergie|de l'asthme|le diabète|un diabète"
        r"|une intolérance)|je parle (?!de\b|du\b|avec\b)|j'ai déménagé (?:à|en|au)"
        r"|ma langue maternelle est|je ne (?:mange|bois|conduis) pas"
        r"|je suis allergique) ?.{2,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:mon|ma|mes|notre|nos)(?: (?:petite?|grande?|meilleure?|nouve(?:au|lle)|ex"
        r"|ancien(?:ne)?|jeune))? <FR_PERSON>(?: (?!est\b|a\b|dit\b|s'appelle\b|et moi\b"
        r"|veut\b)\w[\w'-]*){0,2} (?:s'appelle(?:nt)?|est (?:\w+ment )?(?:allergique|intolérante?|née?"
        r"|végétarien(?:ne)?|végane?|enceinte|diabétique|infirmière|médecin|prof|ingénieure?"
        r"|mariée?)|a \d{1,3} ans|a (?:une allergie|le diabète|deux|trois)|habite|vit (?:à|en|au)"
        r"|travaille (?:comme|chez|à|pour)|aime (?!ça)|n'aime pas|déteste|adore|préfère"
        r"|ne (?:mange|boit|supporte) pas|parle|fête|se marie|déménage)\b.*",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:mon|ma|notre|le|la|l') ?(?!(?:fonction|variable|classe|méthode|fichier|colonne|test"
        r"|branche|script|table)\b)(?:serveur|base de données|base|projet|dépôt|entreprise|société"
        r"|chien|chienne|chat|chatte|équipe|cluster|machine|bateau|voiture|appli|application|produit"
        r"|école)(?: [\w'-]+){0,3} (?:s'appelle|se nomme|tourne sur) \S.*",
    ),
)

_SPANISH = (
    _rule(
        Kind.FACT,
        0.85,
        r"(?:por favor,? )?(?:recuerda|recuerde|ten en cuenta|ten presente|tenga en cuenta|anota"
        r"|apunta|memoriza|no olvides|para que (?:lo )?sepas|para (?:el )?futuro|toma nota(?: de)?"
        r"|nota|guarda)(?: (?:por favor|bien))?(?:,? que |\s*[:,]\s*)(?P<text>(?!cuando\b"
        r"|cómo\b).{8,})",
        asked=True,
    ),
    _rule(
        Kind.PLAN,
        0.7,
        r"(?:por favor,? )?(?:recuérdame|recuerdame|recuérdeme|recuérdanos) (?!(?:cómo|qué|por|quién"
        r"|cuál|como)\b)(?:que )?.{6,}|no (?:debo|puedo) olvidar(?:me)? (?:de )?.{6,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:yo )?(?:(?:siempre|normalmente|en general) )?(?:prefiero|preferimos|odio|detesto"
        r"|me encantan?|me gustan?|nos gustan?|no me gustan?|no soporto|evito|siempre (?:uso"
        r"|utilizo|quiero|escribo)|nunca (?:uso|utilizo|quiero|como|bebo)|no (?:como|bebo|uso) "
        r"|no quiero (?:que (?:uses|pongas|añadas)|más))(?: (?:más|mucho|nada"
        r"|muchísimo))? ?<ES_LOOSE>(?!cuando\b|ver\b|saber\b|mucho$|más$|nada$|que (?:lo"
        r"|me)\b).{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:por favor,? )?(?:(?:responde|respóndeme|contesta|usa|utiliza|escribe|habla|explica"
        r"|haz|pon|mantén|ejecuta|pregunta|trátame|llámame)(?:me)? (?:\w+ ){0,2}?(?:siempre"
        r"|a partir de ahora|de ahora en adelante|en adelante)\b.{3,}|(?:siempre"
        r"|nunca) (?:responde|contesta|usa|utiliza|escribe|hagas|uses|escribas|añadas|borres"
        r"|pongas|toques|respondas|subas|modifiques|pidas|pregunta|ejecuta|haz|pon)\b .{3,}"
        r"|(?:a partir de ahora|de ahora en adelante|en adelante|desde ahora),? (?!es\b|está\b"
        r"|hay\b|voy\b).{8,}|(?:responde|contesta|usa|escribe|habla"
        r"|explica)(?:me)? .{2,80} (?:a partir de ahora|de ahora en adelante|siempre)$)",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:(?:me puedes llamar|puedes llamarme|llámame|llamame)) (?!(?:cuando|si|mañana|loco|más|un"
        r"|una|el|la)\b)\w[\w'-]*(?: \w+)?$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:mi|mis|nuestr[oa]s?) [\w -]{2,40} (?:preferid[oa]s?|favorit[oa]s?) (?:es"
        r"|son) (?!la (?:primera|segunda)|es[ea]).{2,}",
    ),
    _rule(Kind.PREFERENCE, 0.75, r"(?:yo )?soy (?:vegetarian[oa]|vegan[oa]|pescetarian[oa])\b.*"),
    _rule(
        Kind.DECISION,
        0.75,
        r"(?:(?:ya )?(?:hemos|he|el equipo ha) (?:decidido|acordado|elegido|optado|quedado en"
        r"|descartado)(?: (?:que|por|en|no))* ?<ES_LOOSE>.{3,}|(?:al final |finalmente |ya )?(?:decidimos|acordamos|elegimos"
        r"|optamos por|decidí|elegí|opté por|nos quedamos con"
        r"|quedamos en)(?: que)? <ES_LOOSE>.{3,}|vamos a (?:usar|utilizar|quedarnos con|migrar a"
        r"|lanzar|dejar de) <ES_LOOSE>(?!una?\b|la\b|el\b|los\b)[\w.+#-]{2,}.*|(?:decisión"
        r"|decidido|acordado)\s*:\s*.{4,}|usaremos (?!una?\b|la\b|el\b)<ES_LOOSE>.{3,})",
    ),
    _rule(
        Kind.PLAN,
        0.65,
        r"(?=.{0,160}<ES_TIME>)(?:(?:el|en|a (?:principios|finales) de|la|este"
        r"|próximo) .{0,30}?)?(?:vuelo|volamos|viajo|viajamos|me mudo|nos mudamos|me caso"
        r"|nos casamos|salgo|salimos|tengo (?:una? |que |el |mi )|tenemos (?:una? |que |el )|voy a"
        r"|vamos a|debo|empiezo|empezamos|lanzamos|entrego|entregamos|presento|me voy|nos vamos"
        r"|estaré|estaremos)\b(?!.*\b(?:minutos|ahora mismo|hoy|error)\b).{4,}"
        r"|(?=.{0,160}<ES_TIME>)(?:mi|nuestr[oa]|el|la) (?:[\w'-]+ ){0,3}?(?:cita|examen|vuelo"
        r"|boda|reunión|entrevista|operación|plazo|entrega|lanzamiento|cumpleaños|mudanza"
        r"|pasaporte|visado|contrato|fiesta|aniversario)\b.{0,40}? (?:es|son|caduca|empieza"
        r"|termina|sale|se ha|será|cae|vence)\b.{3,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:yo )?(?:me llamo|mi (?:nombre|apellido|cumpleaños) es|vivo (?:en|con|sol[oa]|cerca)"
        r"|vivimos (?:en|con|cerca)|soy de (?!(?:los|las)\b)|trabajo (?:como|de|en"
        r"|para)(?! (?:esto|eso|este|el (?:código|proyecto)))|nací (?:en|el)|soy (?:alérgic[oa]"
        r"|celíac[oa]|diabétic[oa]|asmátic[oa]|zurd[oa]|daltónic[oa]|viud[oa]|solter[oa]"
        r"|(?:una? )?(?:enfermer[oa]|médic[oa]|profesora?|programadora?|desarrolladora?"
        r"|ingenier[oa]|estudiante|abogad[oa]|arquitect[oa]|periodista|traductora?|diseñadora?"
        r"|contable|maestr[oa]|cociner[oa])\b)"
        r"|estoy (?:casad[oa]|divorciad[oa]|embarazada|jubilad[oa])|tengo \d{1,3} años"
        r"|tengo (?:dos|tres|cuatro|\d|un|una) (?:hij[oa]s?|herman[oa]s?|perr[oa]s?|gat[oa]s?"
        r"|niñ[oa]s?|gemel[oa]s)\b|tengo (?:alergia|intolerancia|diabetes|asma|celiaquía)"
        r"|hablo (?!de\b|con\b)|me mudé a|mi lengua materna es|mi zona horaria es) ?.{2,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:mi|mis|nuestr[oa]s?)(?: (?:mejor|nuev[oa]|antigu[oa]))? <ES_PERSON>(?: (?:mayor|menor"
        r"|pequeñ[oa]))?(?: (?!es\b|está\b|ha\b|se\b|dice\b|y yo\b"
        r"|quiere\b)\w[\w'-]*){0,2} (?:se llaman?|es (?:alérgic[oa]|celíac[oa]|vegetarian[oa]"
        r"|vegan[oa]|diabétic[oa]|enfermer[oa]|médic[oa]|ingenier[oa]|profesora?|maestr[oa]"
        r"|de \w+)|tienen? (?:\d{1,3} años|alergia|diabetes|asma|dos|tres)|viven? en"
        r"|trabajan? (?:en|de|como|para)|cumple|odia|prefiere|no (?:come|bebe|tolera|puede comer)"
        r"|habla|nació|se (?:casa|muda)|está (?:embarazada|jubilad[oa]|casad[oa]))\b.*",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:mi|nuestr[oa]|el|la) (?!(?:función|variable|clase|método|archivo|columna|test|rama|script"
        r"|tabla)\b)(?:servidor|base de datos|proyecto|repositorio|repo|empresa|perr[oa]|gat[oa]"
        r"|equipo|clúster|cluster|máquina|barco|coche|app|aplicación|producto"
        r"|colegio)(?: [\w'-]+){0,3} (?:se llama|está en|corre en) \S.*",
    ),
)

_PORTUGUESE = (
    _rule(
        Kind.FACT,
        0.85,
        r"(?:por favor,? )?(?:lembra|lembre|lembre-se|lembra-te|lembre se|tenha em mente"
        r"|leve em conta|anota(?: aí)?|anote|memoriza|memorize|não (?:esqueça|esquece|se esqueça)"
        r"|para (?:referência|o futuro)|só para (?:você saber|constar)|nota|guarda|guarde"
        r"|toma nota)(?: (?:por favor|bem|de))?(?:,? que |\s*[:,]\s*)(?P<text>(?!quando\b"
        r"|como\b).{8,})",
        asked=True,
    ),
    _rule(
        Kind.PLAN,
        0.7,
        r"(?:por favor,? )?(?:me (?:lembra|lembre)|lembra-me|lembre-me|nos lembre) (?:de |d[oa] "
        r"|que )(?!(?:como|o que)\b).{6,}|não posso esquecer (?:de )?.{6,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:eu )?(?:(?:sempre|normalmente|em geral) )?(?:prefiro|preferimos|odeio|detesto|adoro"
        r"|amo|gosto (?:muito )?d[eoa]s?|não gosto d[eoa]s?|não suporto|evito|sempre (?:uso"
        r"|utilizo|quero|escrevo)|nunca (?:uso|utilizo|quero|como|bebo)|não (?:como|bebo|uso) "
        r"|não quero (?:que (?:uses|você use)|mais)) ?<PT_LOOSE>(?!quando\b|ver\b|saber\b|muito$"
        r"|mais$).{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:por favor,? )?(?:(?:responda|responde|use|usa|utilize|escreva|escreve|fale|fala"
        r"|explique|explica|faça|mantenha|rode|pergunte|coloque) (?:\w+ ){0,2}?(?:sempre"
        r"|a partir de agora|daqui (?:pra|para a) frente|de agora em diante)\b.{3,}|(?:sempre"
        r"|nunca) (?:responda|responde|use|usa|utilize|escreva|escreve|faça|faz|rode|adicione"
        r"|apague|coloque|mexa|suba|modifique|pergunte|commite)\b .{3,}"
        r"|(?:a partir de agora|daqui (?:pra|para a) frente|de agora em diante|doravante),? (?!é\b"
        r"|está\b|tem\b|vou\b).{8,}|(?:responda|responde|use|usa|escreva|fale"
        r"|explique)(?:-me)? .{2,80} (?:a partir de agora|daqui (?:pra|para a) frente"
        r"|de agora em diante|sempre)$)",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:(?:pode|podes|você pode) me chamar(?: de)?|me (?:chama|chame)(?: de)?|chama-me"
        r"|podes chamar-me) (?!(?:quando|se|amanhã|louco|mais|uma?|o|a)\b)\w[\w'-]*(?: \w+)?$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:o |a |os |as )?(?:meu|minha|meus|minhas|noss[oa]) [\w -]{2,40} (?:preferid[oa]s?"
        r"|favorit[oa]s?) (?:é|são) (?!a (?:primeira|segunda)|ess[ea]).{2,}",
    ),
    _rule(Kind.PREFERENCE, 0.75, r"(?:eu )?sou (?:vegetarian[oa]|vegan[oa])\b.*"),
    _rule(
        Kind.DECISION,
        0.75,
        r"(?:(?:já |nós |a gente |o time |a equipe )*(?:decidimos|decidi|decidiu|escolhemos"
        r"|escolhi|optamos por|optei por|combinamos|ficamos com"
        r"|concordamos em)(?: que)? <PT_LOOSE>.{3,}|vamos (?:usar|ficar com|migrar para|utilizar"
        r"|lançar|abandonar|parar de) <PT_LOOSE>(?!uma?\b|a\b|o\b|os\b)[\w.+#-]{2,}.*|(?:decisão"
        r"|decidido|combinado)\s*:\s*.{4,}|usaremos (?!uma?\b|a\b|o\b)<PT_LOOSE>.{3,})",
    ),
    _rule(
        Kind.PLAN,
        0.65,
        r"(?=.{0,160}<PT_TIME>)(?:(?:no|em|na|dia|próxim[oa]|até) .{0,30}?)?(?:eu )?(?:viajo"
        r"|viajamos|vou (?:viajar|para|me mudar|casar|apresentar|entregar|estar|ter|fazer (?:o|a) (?!que\b))"
        r"|vamos (?:viajar|para|nos mudar|lançar|apresentar|entregar)|voo|me mudo|me caso"
        r"|tenho (?:uma? |que |o |de |consulta|prova|reunião|voo)|temos (?:uma? |que |o )"
        r"|preciso (?:entregar|renovar|pagar|enviar|terminar)|começo|lançamos|entrego|apresento"
        r"|estarei|estaremos)\b(?!.*\b(?:minutos|agora mesmo|hoje|erro)\b).{4,}"
        r"|(?=.{0,160}<PT_TIME>)(?:(?:o |a )?(?:meu|minha|nosso|nossa)|o"
        r"|a) (?:[\w'-]+ ){0,3}?(?:consulta|prova|exame|voo|casamento|reunião|entrevista|cirurgia"
        r"|prazo|entrega|lançamento|aniversário|mudança|passaporte|visto|contrato"
        r"|festa)\b.{0,40}? (?:é|são|vence|começa|termina|sai|foi|será|cai|expira)\b.{3,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:eu )?(?:me chamo|chamo-me|(?:o )?meu (?:nome|sobrenome|aniversário) é|moro (?:em|no"
        r"|na|com|sozinh[oa]|perto)|moramos (?:em|no|na|com|perto)|vivo (?:em|no|na|com)"
        r"|sou de (?!(?:os|as)\b)|trabalho (?:como|de|em|no|na|para|com)(?! (?:isso|isto|este))"
        r"|nasci (?:em|no|na)|sou (?:alérgic[oa]|celíac[oa]|diabétic[oa]|asmátic[oa]|canhot[oa]"
        r"|daltônic[oa]|viúv[oa]|solteir[oa]|casad[oa]|divorciad[oa]|aposentad[oa]"
        r"|(?:uma? )?(?:enfermeir[oa]|médic[oa]|professora?|programadora?|desenvolvedora?"
        r"|engenheir[oa]|estudante|advogad[oa]|arquitet[oa]|jornalista|tradutora?|designer"
        r"|contadora?|cozinheir[oa])\b)"
        r"|tenho \d{1,3} anos|tenho (?:dois|duas|três|quatro|\d|um|uma) (?:filh[oa]s?|irm\w+"
        r"|cachorr[oa]s?|gat[oa]s?|crianças?|gême[oa]s)\b|tenho (?:alergia|intolerância|diabetes"
        r"|asma)|falo (?!de\b|com\b|sobre\b)|me mudei para|minha língua materna é) ?.{2,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:(?:o |a |os |as )?(?:meu|minha|meus|minhas|noss[oa]s?))(?: (?:melhor|nov[oa]"
        r"|antig[oa]))? <PT_PERSON>(?: (?:mais (?:velh[oa]|nov[oa])))?(?: (?!é\b|está\b|se\b"
        r"|disse\b|e eu\b|quer\b)\w[\w'-]*){0,2} (?:se chamam?|chama-se|é (?:o |a )?(?:alérgic[oa]"
        r"|celíac[oa]|vegetarian[oa]|vegan[oa]|diabétic[oa]|enfermeir[oa]|médic[oa]|engenheir[oa]"
        r"|professora?|de \w+)|tem (?:\d{1,3} anos|alergia|diabetes|asma|dois|três)|mora em"
        r"|vive em|trabalha (?:em|no|na|como|para|com)|faz (?:\d|aniversário)|odeia|prefere"
        r"|não (?:come|bebe|pode comer)|fala|nasceu|vai (?:se mudar|casar)|está (?:grávida"
        r"|aposentad[oa]))\b.*",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:o |a )?(?:meu |minha |nosso |nossa )?(?!(?:função|variável|classe|método|arquivo|coluna"
        r"|teste|branch|script|tabela)\b)(?:servidor|banco de dados|projeto|repositório|repo|empresa"
        r"|cachorr[oa]|gat[oa]|equipe|time|cluster|máquina|barco|carro|app|aplicativo|produto"
        r"|escola)(?: [\w'-]+){0,3} (?:se chama|chama-se|fica em|roda em) \S.*",
    ),
)

_CHINESE_PERSON = (
    r"(?:妻子|老婆|太太|丈夫|老公|先生|女儿|儿子|孩子|小孩|妈妈|爸爸|母亲|父亲|父母|哥哥|弟弟|姐姐|妹妹|奶奶|爷爷|外婆|外公|女朋友|男朋友|女友|男友|未婚妻|未婚夫|狗"
    r"|猫|老板|上司|经理|领导|同事|室友|房东|邻居|医生|老师|导师|客户|公司|助理|朋友)"
)
_CHINESE = (
    _rule(
        Kind.FACT,
        0.85,
        r"(?:请|麻烦)?(?:你)?(?:帮我)?(?:记住|记得|记一下|记下来?|记着|别忘了|不要忘了|備忘|备忘|记录一下|請記住|記住)[，,:：]?(?!要|去"
        r"|给我)(?P<text>.{4,})",
        asked=True,
    ),
    _rule(Kind.PLAN, 0.7, r"(?:请|麻烦)?(?:记得)?提醒(?:我|我们|一下我)(?!一下?怎么|怎么|什么|如何).{3,}"),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"我(?:们)?(?:个人|一般|通常|比较|更|最|非常|很|真的|一直|从来|一向|特别)*(?:喜欢(?!你|这|那|它|上面|第)|偏好|讨厌(?!这|那|你)|不喜欢(?!这"
        r"|那|你)|更愿意|习惯用|习惯(?!了)|只用|只喝|只吃|不吃|不喝|从不|总是用|宁愿|受不了(?!了|你)).{2,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:请|麻烦)?(?:从现在起|从现在开始|从今以后|今后|以后|往后|从此)[，,]?(?:请|都|就|你|我们|的回答|回答|始终|不要|别|一律|总是|每次).{3,}"
        r"|(?:请|麻烦)?(?:你)?(?:始终|总是|永远|每次都|一律)(?:用|使用|以|先|不要|要|别|给|保持|加).{2,}|(?:请|麻烦)(?:你)?(?:永远|绝对"
        r"|千万)?(?:不要|别)(?:再)?(?:用|使用|加)(?:表情|emoji).{0,20}|.{0,10}(?:永远|绝对)不要.{3,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:请|你可以|可以|大家都|就)?(?:叫我|称呼我)(?!做|去|来|怎|什)[^，。,\s]{1,8}(?:就行|就好|吧|即可|就可以了?)?$|我(?:们)?最(?:喜欢"
        r"|爱)的.{1,20}是(?!这|那).{1,}",
    ),
    _rule(Kind.PREFERENCE, 0.75, r"我(?:是)?(?:吃素|素食者|纯素|素食主义者|只吃素).{0,30}"),
    _rule(
        Kind.DECISION,
        0.75,
        r"(?:我们|我|团队|大家)(?:最后|最终|已经|终于|都|刚刚|刚|一致|今天|昨天|还是)*(?:决定|商定|定了|敲定|选定|选择了|选了|同意)(?!不了|不下|性|权|怎么"
        r"|是否|要不要|这|那)(?:了)?(?:用|使用|采用|不|放弃|改用|在|把|是|要|去|：|:|，)?.{2,}|(?:那)?(?:就|还是)(?:用|选|改用|采用)(?!这"
        r"|那|它|第|上面|你)[^，。]{2,30}(?:吧|了)$|决定[：:].{3,}|我们(?:改用|不再(?:用|支持|使用)|统一(?:用|使用)|以后(?:用"
        r"|都用)).{2,}",
    ),
    _rule(
        Kind.PLAN,
        0.65,
        r"(?=.{0,60}<CJK_TIME>)(?!.*(?:刚才|分钟|现在|今天))(?:我们?|我和.{1,8}).{0,15}?(?:飞|去|要|会|有|搬|结婚|出差|回|开始"
        r"|交|考|出发|参加|发布|上线|旅行|休假|面试|手术|见|打算|计划).{1,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"我(?:现在|目前|一直|家)?(?:住在?|住|来自|老家(?:是|在)|出生(?:于|在)|毕业于|在.{2,12}(?:工作|上班|上学|读书|教书|做[^，。什么]{2,10})|搬(?:到"
        r"|去)了?)(?!.*(?:酒店|几天)).{1,}|我(?:叫|的名字(?:是|叫)|名叫|姓)(?!你|他|她|它|做|什|不).{1,12}$|我是(?:一名|一个|一位"
        r"|个)?[^，。这那]{0,8}(?:医生|护士|老师|教师|工程师|程序员|律师|学生|设计师|会计|记者|翻译|厨师|作家|研究员|经理|左撇子|色盲)(?:.{0,20})$"
        r"|我对.{1,12}过敏.*|我(?:有|得了|患有).{0,4}(?:糖尿病|哮喘|高血压|过敏|乳糖不耐).*|我(?:今年)?\d{1,3}岁.*|我(?:的)?生日(?:是"
        r"|在).{2,}|我有(?:一|两|二|三|四|\d)(?:个|只|条)(?:孩子|女儿|儿子|哥哥|弟弟|姐姐|妹妹|狗|猫|小孩).*|我(?:会说|说)(?!的|过"
        r"|了)[^，。]{1,10}[语文话].*|我的(?:邮箱|电话|手机号|地址|时区|血型|母语|职业|用户名)(?:是|：|:).{2,}",
    ),
    _rule(
        Kind.FACT,
        0.7,
        rf"(?:我们?的?|咱们?的?)(?:大|小|二)?{_CHINESE_PERSON}(?:的名字)?[^，。说觉在今]{{0,8}}?(?:叫|是(?!不|谁|什|很|个好)"
        rf"|对.{{1,12}}过敏|住在?|\d{{1,3}}岁|生日|不吃|不喝|喜欢|讨厌|在.{{2,12}}(?:工作|上班|上学|读书)|有.{{0,4}}(?:过敏|糖尿病"
        rf"|哮喘)).*|(?:我们?的?)(?:测试|生产|开发|线上|数据库|预发)?(?:服务器|数据库|项目|公司|团队|集群|仓库|域名|狗|猫)(?:的?名字)?(?:叫"
        rf"|在|是)(?!不|什|怎|哪|很|不是).{{2,}}",
    ),
)

_JAPANESE_PERSON = (
    r"(?:妻|夫|旦那|嫁|主人|娘|息子|子供|子ども|母|父|両親|兄|弟|姉|妹|祖母|祖父|おばあちゃん|おじいちゃん|彼女|彼氏|婚約者|犬|猫|愛犬|愛猫|上司|部長|課長|社長|同僚"
    r"|大家|隣人|主治医|先生|担当者|会社|友人|親友)"
)
_JAPANESE = (
    _rule(
        Kind.FACT,
        0.85,
        r".{4,}?(?:を|と|って|は)?(?:覚えて(?:おいて|ください|いて|ね|て)|覚えといて|記憶して(?:おいて|ください)?|メモして(?:おいて|ください)?"
        r"|忘れないで(?:ください|ね)?|覚えておいて)(?:ください|くださいね|ね|ほしい|。)*$|(?:メモ|覚え書き|覚えておいて"
        r"|参考までに)[:：、]\s*(?P<text>.{4,})",
        asked=True,
    ),
    _rule(
        Kind.PLAN,
        0.7,
        r".{4,}?(?:リマインドして|思い出させて|教えて(?=.*(?:前に|までに))|忘れないように(?:して|言って))(?:おいて|ください|ね|くれ)*$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?!(?:これ|それ|あれ|この|その|どれ|どっち))(?:私は|僕は|俺は|わたしは|いつも|基本的に|個人的に)?[^、。]{2,40}?(?:(?:の?方"
        r"|ほう)?が(?:一番|とても|大|すごく)?(?:好き|嫌い|苦手)|は(?:大)?(?:嫌い|苦手|好きではありません|好きじゃない)|を好みます|を好む|が好みです)(?:です"
        r"|だ|なんです|なので|ます|。)*$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?:これからは?|今後は?|今から|以後|これ以降)(?:、)?(?:ずっと|必ず|いつも|全て|すべて)?.{3,}?(?:ください|して|してね|お願い(?:します)?|答えて"
        r"|使って|しないで|書いて|でお願い|にして)(?:ください|ね|。)*$|(?:必ず|いつも|常に|絶対に?|毎回)(?!.*(?:エラー|なります|なる"
        r"|失敗)).{3,}?(?:ください|お願い(?:します)?|使って|しないで|書いて|答えて)(?:ください|ね|。)*$",
    ),
    _rule(
        Kind.PREFERENCE,
        0.8,
        r"(?!(?:なん|何|どう))(?:私(?:のこと)?は|僕(?:のこと)?は)?[^、。]{1,12}(?:と|って)呼んで(?:ください|ね|いいです|くれ|もらえ.*|。)*$"
        r"|(?:私|僕)の(?:一番)?好きな.{1,20}は(?!これ|それ).{1,}",
    ),
    _rule(
        Kind.PREFERENCE,
        0.75,
        r"(?:私は|僕は|わたしは)?(?:ベジタリアン|ヴィーガン|ビーガン|菜食主義者?)(?:です|なので|なんです|だ).{0,20}$",
    ),
    _rule(
        Kind.DECISION,
        0.75,
        r"(?!(?:これ|それ|この|その|どれ))[^。]{3,}?(?:ことに(?:決めました|決めた|決まりました|決まった|しました|した|決定しました)|に(?:決めました|決めた"
        r"|決定しました|決まりました|決まった)|を採用(?:しました|することに).{0,10}|で(?:行く|いく)ことにし(?:ました|た))(?:ので|から|よ|。)*$"
        r"|決定[:：].{3,}",
    ),
    _rule(
        Kind.PLAN,
        0.65,
        r"(?=.{0,60}<CJK_TIME>)(?!.*(?:今日|今から|分後|さっき|エラー))(?!(?:これ|それ)).{2,}?(?:飛びます|行きます|行く予定(?:です)?"
        r"|出発します|引っ越します|結婚します|予定です|旅行します|出張します|始まります|あります|提出します|リリースします|締め切りです|しなければなりません|帰ります|受けます"
        r"|会います|会う予定(?:です)?)(?:ので|から|よ|。)*$",
    ),
    _rule(
        Kind.FACT,
        0.7,
        r"(?:私は|僕は|俺は|わたしは|今は?|現在)?[^、。これそ]{1,20}(?:に住んで(?:います|いる|る|ます|いて、[^。]{2,30}(?:です|ます))|出身です|で働いて(?:います|いる|ます)"
        r"|に勤めて(?:います|いる)|に引っ越しました|生まれです|アレルギーです|アレルギーがあります)(?:ので|から|。)*$|(?:私は|僕は"
        r"|わたしは)[^、。]{0,16}(?:医者|医師|看護師|教師|エンジニア|プログラマー|弁護士|学生|大学生|会社員|デザイナー|左利き|\d{1,3}歳)(?:です|だ|なので"
        r"|。)*$|(?:私|僕)の(?:名前|誕生日|職業|出身|母国語|血液型|メールアドレス|電話番号|住所|タイムゾーン)は(?!何).{2,}"
        r"|名前は(?!何)[^、。]{1,12}(?:です|と(?:いいます|言います|申します))$",
    ),
    _rule(
        Kind.FACT,
        0.7,
        rf"(?:私の|うちの|僕の|我が家の)?{_JAPANESE_PERSON}(?:の名前)?(?:の[^、。はが]{{1,10}})?(?:は|が)(?!今日|今|何|誰|どこ|怒"
        rf"|言)[^。]{{1,40}}?(?:です|といいます|と言います|という名前です|歳です|アレルギーです|アレルギーがあります|に住んで(?:います|いる)|で働いて(?:います"
        r"|いる)|が(?:好き|嫌い)です|食べません|飲みません)(?:ので|から|。)*$|(?:私の|うちの|僕の|当社の|弊社の)?(?:テスト|本番|開発"
        r"|ステージング)?(?:サーバー|サーバ|データベース|プロジェクト|会社|チーム|リポジトリ|ドメイン|クラスター)(?:の名前)?は(?!何|どこ"
        rf"|落)[^。]{{1,30}}?(?:です|といいます|と言います|にあります)$",
    ),
)


def _asked(*languages: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rules in languages for rule in rules if rule.asked)


def _others(*languages: tuple[Rule, ...]) -> tuple[Rule, ...]:
    return tuple(rule for rules in languages for rule in rules if not rule.asked)


ASKED = _asked(_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE)
ASKED_DENSE = _asked(_CHINESE, _JAPANESE)
GERMAN, FRENCH, SPANISH, PORTUGUESE = map(_others, (_GERMAN, _FRENCH, _SPANISH, _PORTUGUESE))
DENSE = _others(_CHINESE, _JAPANESE)

CORRECTS = LazyPattern(
    r"(?:(?:moment|ach|äh|quatsch|sorry|attends|ah|pardon|espera|perdón|ay|espera aí|opa|ops"
    r"|desculpa)[,.! ]+){0,2}(?:(?:nein|nee|falsch|stimmt nicht|korrektur|das (?:stimmt nicht"
    r"|ist falsch)|non|faux|c'est faux|correction|no|incorrecto|eso (?:está mal|no es así)"
    r"|corrección|não|errado|está errado|correção|isso está errado)(?:\s*[,.!:;–—]+\s*|$)){1,2}"
)
CORRECTED = LazyPattern(
    r"(?:(?:der|die|das|mein|meine|unser|unsere|le|la|les|mon|ma|notre|el|los|mi|nuestr[oa]|o|a|os"
    r"|meu|minha|nosso|nossa) (?!\w*(?:funktion|datei|test|fehler|zeile|code|fonction|fichier"
    r"|erreur|ligne|función|archivo|error|línea|función|função|arquivo|erro"
    r"|linha)\b)(?:[\w'-]+ ){1,4}?|l'(?:[\w-]+ ){1,3}?|(?:ich|wir|je|nous|on|yo|eu|nós) )"
    r"(?:ist|sind|war|liegt|läuft|heißt|findet|beginnt|endet|kostet|geht|wohne|wohnen|fliege"
    r"|fliegen|est|sont|s'appelle|commence|finit|coûte|part|habite|es|son|está|empieza|termina"
    r"|cuesta|se llama|sale|vivo|é|são|fica|começa|custa|se chama|sai|moro)\b.{2,}"
)
CORRECTED_DENSE = LazyPattern(
    r"(?:不对|不是|错了|不|更正|纠正一下|いいえ|いや|違います|違う|訂正)[，,、。：: ]+(?P<text>(?!这|那|它|他|她|これ"
    r"|それ).{2,40}?(?:是.{1,20}(?:不是|而不是).{1,}|不是.{1,20}(?:是|，是).{1,}|(?:は|が).{1,20}(?:ではなく"
    r"|じゃなくて).{1,}))"
)
"""How somebody puts something right in Chinese and Japanese: what it is, and what it is not."""
