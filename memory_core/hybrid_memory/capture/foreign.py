"""What is asked to be remembered or put right in German, French, Spanish, Portuguese, Chinese and Japanese. Matched like ``english.py``.

What else is worth keeping in these languages the fitted model says (`gate`).
"""

from __future__ import annotations

from hybrid_memory.capture.model import StatementKind as Kind
from hybrid_memory.capture.rules import Rule
from hybrid_memory.language.lazy_pattern import LazyPattern


def _rule(importance: float, source: str) -> Rule:
    return Rule(Kind.FACT, LazyPattern(source), importance, asked=True)


ASKED: tuple[Rule, ...] = (
    _rule(
        0.85,
        r"(?:bitte )?(?:merk(?:e)? dir|merken sie sich|notier(?:e)?(?: dir)?|denk daran|denk dran"
        r"|vergiss nicht|behalt(?:e)?(?: im kopf)?|zur info|zur erinnerung|für später|nur zur info"
        r"|zur kenntnis)(?: bitte)?(?: mal| für später| für die zukunft)?"
        r"\s*(?:[,:–-]\s*(?:(?=dass ))?|\s(?=dass ))(?!zu\b)(?P<text>.{8,})",
    ),
    _rule(0.8, r"(?:notiz|merke|wichtig)\s*:\s*(?P<text>.{8,})"),
    _rule(
        0.85,
        r"(?:s'il te plaît,? )?(?:souviens-toi|rappelle-toi|souvenez-vous|retiens(?: bien)?"
        r"|retenez|note(?:z)?(?: bien)?|n'oublie pas|mémorise|garde en (?:tête|mémoire)"
        r"|pour (?:info|mémoire|plus tard|ta gouverne))(?: (?:s'il te plaît|stp))?(?:,? (?:que "
        r"|qu'(?=il|elle|on|un|en|a))|\s*[:,]\s*)(?P<text>(?!(?:de|comment|quand)\b).{8,})",
    ),
    _rule(
        0.85,
        r"(?:por favor,? )?(?:recuerda|recuerde|ten en cuenta|ten presente|tenga en cuenta|anota"
        r"|apunta|memoriza|no olvides|para que (?:lo )?sepas|para (?:el )?futuro|toma nota(?: de)?"
        r"|nota|guarda)(?: (?:por favor|bien))?(?:,? que |\s*[:,]\s*)(?P<text>(?!cuando\b"
        r"|cómo\b).{8,})",
    ),
    _rule(
        0.85,
        r"(?:por favor,? )?(?:lembra|lembre|lembre-se|lembra-te|lembre se|tenha em mente"
        r"|leve em conta|anota(?: aí)?|anote|memoriza|memorize|não (?:esqueça|esquece|se esqueça)"
        r"|para (?:referência|o futuro)|só para (?:você saber|constar)|nota|guarda|guarde"
        r"|toma nota)(?: (?:por favor|bem|de))?(?:,? que |\s*[:,]\s*)(?P<text>(?!quando\b"
        r"|como\b).{8,})",
    ),
)
"""How somebody asks to have something remembered in German, French, Spanish and Portuguese."""
ASKED_DENSE: tuple[Rule, ...] = (
    _rule(
        0.85,
        r"(?:请|麻烦)?(?:你)?(?:帮我)?(?:记住|记得|记一下|记下来?|记着|别忘了|不要忘了|備忘|备忘|记录一下|請記住|記住)[，,:：]?(?!要|去"
        r"|给我)(?P<text>.{4,})",
    ),
    _rule(
        0.85,
        r".{4,}?(?:を|と|って|は)?(?:覚えて(?:おいて|ください|いて|ね|て)|覚えといて|記憶して(?:おいて|ください)?|メモして(?:おいて|ください)?"
        r"|忘れないで(?:ください|ね)?|覚えておいて)(?:ください|くださいね|ね|ほしい|。)*$|(?:メモ|覚え書き|覚えておいて"
        r"|参考までに)[:：、]\s*(?P<text>.{4,})",
    ),
)
"""The same in Chinese and Japanese."""

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
