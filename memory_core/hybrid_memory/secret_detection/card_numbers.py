"""Card numbers: digits of a length that an issuer gives, with the right check digit (Luhn, ISO/IEC 7812), written as cards show them.

A number among ten has a right check digit by chance, so the beginning has to be an issuer's too, and the groups those of a card. Lengths
that tell times, order numbers and serial numbers as well (13, 14 and 17 to 19 digits) count only alongside a word for a card.
"""

from __future__ import annotations

from collections.abc import Iterator

from hybrid_memory.language.lazy_pattern import LazyPattern
from hybrid_memory.secret_detection.findings import SecretFound

CARD_NUMBER = "card number"

_DIGITS = LazyPattern(
    "(?<![0-9A-Za-z._/#+-])[0-9](?:[ .\u00a0\u202f-]?[0-9]){12,18}(?![0-9A-Za-z_]|[.,-][0-9]|[ \u00a0\u202f][0-9])"
)
_CARD_WORDS = LazyPattern(
    r"card|karte|carte|tarjeta|cart[aã]o|carta |kaart|kort|kart|visa|master|amex|american express|maestro|discover|diners|unionpay"
    r"|карт|卡|カード|카드",
    2,  # re.IGNORECASE
)
# Words for other numbers, of which one in ten has a right check digit; digits in the groups of a card are one alongside them too.
_OTHER_NUMBERS = LazyPattern(
    r"(?:(?<![^\W\d_])(?:order|invoice|serial|account|tracking|shipment|parcel|ticket|case|reference|ref|booking|transaction|customer|member|contract|policy"
    r"|meter|imei|isbn|ean|sku|barcode|bestell\w{0,10}|bestellung|auftrag\w{0,10}|rechnung\w{0,10}|serie\w{0,10}|konto\w{0,10}|kunden\w{0,10}"
    r"|sendung\w{0,10}|vertrag\w{0,10}|commande|facture|compte|pedido|factura|cuenta|fattura|ordine|conto|заказ\w{0,3}|сч[её]т\w{0,3}"
    r"|id|number|nummer|numéro|número|номер|reading|value|chat|telegram|phone)s?(?![^\W\d_])|订单|訂單|账号|帳號|注文|口座|주문|계좌)"
    r"(?:[ _-]?(?:number|num|no|nr|id|code|is|was|says|of|ist|est|es|de|号|番号)\b\.?){0,3}[\s:#=\"'.(-]{0,4}$",
    2,  # re.IGNORECASE
)
_TEST_NUMBER = LazyPattern(r"[\s,:()=-]{1,3}(?:is |as )?(?:an? |the |ist )?(?:test|dummy|fake|example|sample)", 2)
_SEPARATORS = LazyPattern("[ .\u00a0\u202f-]")
_WORD_BEFORE = 48  # characters before a number in which the word for a card may stand
_GROUPS = frozenset(
    {(16,), (15,), (4, 4, 4, 4), (4, 6, 5), (4, 6, 4), (4, 4, 4, 4, 3), (13,), (14,), (17,), (18,), (19,)}
)
_PLAIN_LENGTHS = frozenset({15, 16})


def find_card_numbers(text: str) -> Iterator[SecretFound]:
    """Yield the card numbers of a text."""
    for found in _DIGITS.finditer(text):
        written = found[0]
        parts = _SEPARATORS.split(written)
        digits = "".join(parts)
        if tuple(map(len, parts)) not in _GROUPS or len(set(_SEPARATORS.findall(written))) > 1:
            continue
        if not is_issued(digits) or not has_check_digit(digits):
            continue
        before = text[max(found.start() - _WORD_BEFORE, 0) : found.start()]
        of_card = _CARD_WORDS.search(before) is not None
        if len(parts) == 1 and not of_card and _OTHER_NUMBERS.search(before):
            continue
        if _TEST_NUMBER.match(text, found.end()):
            continue
        if len(digits) in _PLAIN_LENGTHS or of_card:
            yield SecretFound(found.start(), found.end(), CARD_NUMBER)


def is_issued(digits: str) -> bool:
    """Return True if an issuer of cards gives numbers of this beginning and length."""
    size, two, three, four = len(digits), int(digits[:2]), int(digits[:3]), int(digits[:4])
    if two in (34, 37):
        return size == 15  # noqa: PLR2004 - American Express
    if digits[0] == "4":
        return size in (13, 16, 19)  # Visa
    if 51 <= two <= 55 or 2221 <= four <= 2720:  # noqa: PLR2004 - Mastercard
        return size == 16  # noqa: PLR2004 - digits of such a number
    if 300 <= three <= 305 or two in (36, 38, 39):  # noqa: PLR2004 - Diners Club
        return size == 14  # noqa: PLR2004 - digits of such a number
    if four == 6011 or 644 <= three <= 649 or two in (65, 62) or 3528 <= four <= 3589:  # noqa: PLR2004 - Discover, UnionPay, JCB
        return size in (16, 19)
    return False


def has_check_digit(digits: str) -> bool:
    """Return True if the last digit is the check digit of the others, by Luhn's rule."""
    total = 0
    for place, digit in enumerate(reversed(digits)):
        value = int(digit) * (1 + place % 2)
        total += value - 9 if value > 9 else value  # noqa: PLR2004 - the sum of two digits
    return total % 10 == 0
