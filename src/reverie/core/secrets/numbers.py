"""Secrets made of digits: payment cards, IBANs, US social security numbers, Chinese resident ids.

Owns their shapes, issuers' ranges and check digits; promises that order numbers, phone numbers, timestamps,
ISBNs and IMEIs are left alone, because a number is only taken for a secret when its check digits and its range
or its label say so; never changes a text.
"""

from __future__ import annotations

from collections.abc import Iterator
from datetime import date

from reverie.core.text.patterns import Words

_CARD = Words(
    r"[2-6][0-9]{3}(?:[0-9]{10,15}+|(?:[ -][0-9]{4}){3}(?:[ -][0-9]{3}(?![0-9]))?|[ -][0-9]{6}[ -][0-9]{4,5}+)"
)
_IBAN = Words(r"[A-Z][A-Z][0-9][0-9](?:[ -]?[A-Z0-9]){11,32}+")
_SSN = Words(r"[0-9]{3}-[0-9]{2}-[0-9]{4}")
_NO_SSN = Words(r"000|666|9|...-00|.{7}0000")
_SSN_LABELLED = Words(
    r"(?:ssn|social security(?: (?:number|no\.?|#))?)['\"]?\s{0,3}(?:is|:|=|#)?\s{0,3}['\"]?"
    r"(?P<secret>(?!000|666|9)[0-9]{3}[ -]?(?!00)[0-9]{2}[ -]?(?!0000)[0-9]{4})(?![\w-])",
    fold=True,
)
_RESIDENT = Words(r"[1-9][0-9]{5}(?:19|20)[0-9]{9}[0-9Xx]")
_BORDER = Words(r"[A-Za-z0-9_-]")
_CLASSES = bytes.maketrans(
    b"123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ", b"000000000AAAAAAAAAAAAAAAAAAAAAAAAAA"
)  # digits become 0 and capitals A, so that one fast search finds any number of a shape

_NOT_A_CARD = Words(
    r"(?:order|invoice|tracking|shipment|parcel|ticket|reference|ref|booking|transaction|trace|request|imei|serial|isbn|"
    r"build|timestamp|snowflake|tweet|message|user|chat|channel|guild|account id|\bid|"
    r"订单|单号|编号|流水|运单|快递|工单|序列)\w{0,4}[\s:#=.,：\"'(号是为-]{0,5}(?:no\.?|number|id|is)?[\s:#=：\"']{0,3}$",
    fold=True,
)
_NOT_AN_SSN = Words(
    r"(?:order|invoice|part|ticket|case|ref(?:erence)?|sku|phone|tel|call|model|serial|item|build|lot|订单|编号|电话)"
    r"[\s:#=.：]{0,3}(?:no\.?|number|id|is|#)?[\s:#=：]{0,3}$",
    fold=True,
)
_LOOK_BACK = 32  # characters before a number in which a label says that it is something else

_IBAN_LENGTHS = {
    "AD": 24, "AE": 23, "AL": 28, "AT": 20, "AZ": 28, "BA": 20, "BE": 16, "BG": 22, "BH": 22, "BR": 29, "BY": 28,
    "CH": 21, "CR": 22, "CY": 28, "CZ": 24, "DE": 22, "DK": 18, "DO": 28, "EE": 20, "EG": 29, "ES": 24, "FI": 18,
    "FO": 18, "FR": 27, "GB": 22, "GE": 22, "GI": 23, "GL": 18, "GR": 27, "GT": 28, "HR": 21, "HU": 28, "IE": 22,
    "IL": 23, "IQ": 23, "IS": 26, "IT": 27, "JO": 30, "KW": 30, "KZ": 20, "LB": 28, "LC": 32, "LI": 21, "LT": 20,
    "LU": 20, "LV": 21, "MC": 27, "MD": 24, "ME": 22, "MK": 19, "MR": 27, "MT": 31, "MU": 30, "NL": 18, "NO": 15,
    "PK": 24, "PL": 28, "PS": 29, "PT": 25, "QA": 29, "RO": 24, "RS": 22, "SA": 24, "SE": 24, "SI": 19, "SK": 24,
    "SM": 27, "TN": 24, "TR": 26, "UA": 29, "VA": 22, "VG": 24, "XK": 20,
}  # fmt: skip


def luhn(digits: str) -> bool:
    """Tell whether the last digit is the Luhn check digit of the others (ISO/IEC 7812-1, annex B)."""
    total = 0
    for place, character in enumerate(reversed(digits)):
        value = ord(character) - 48
        if place % 2:
            value = value * 2 - 9 if value > 4 else value * 2  # noqa: PLR2004 - doubling passes nine from five on
        total += value
    return total % 10 == 0


def _card_issuer(digits: str) -> bool:
    """Tell whether the leading digits and the length belong to a card scheme."""
    two, three, four, length = int(digits[:2]), int(digits[:3]), int(digits[:4]), len(digits)
    sixteen = digits[0] == "4" or 51 <= two <= 55 or 2221 <= four <= 2720  # noqa: PLR2004 - Visa, Mastercard
    longer = (
        four == 6011 or two in {65, 62} or 644 <= three <= 649 or 3528 <= four <= 3589  # noqa: PLR2004 - Discover, UnionPay, JCB
    )
    return (
        (length == 16 and sixteen)  # noqa: PLR2004
        or (16 <= length <= 19 and longer)  # noqa: PLR2004
        or (length == 19 and digits[0] == "4")  # noqa: PLR2004
        or (length == 15 and two in {34, 37})  # noqa: PLR2004 - American Express
        or (length == 14 and (300 <= three <= 305 or two in {36, 38, 39}))  # noqa: PLR2004 - Diners Club
    )


def iban_end(text: str, start: int, *, stop: int) -> int:
    """Return where the IBAN that begins at `start` ends, or -1 when country, length or mod 97 do not fit."""
    length = _IBAN_LENGTHS.get(text[start : start + 2], 0)
    compact: list[str] = []
    for place in range(start, stop if length else start):
        if text[place] not in " -":
            compact.append(text[place])
        if len(compact) == length:
            if text[place + 1 : place + 2].isalnum():
                return -1
            turned = "".join(compact[4:] + compact[:4])
            return place + 1 if int("".join(str(int(c, 36)) for c in turned)) % 97 == 1 else -1
    return -1


def resident_id(number: str) -> bool:
    """Tell whether 18 characters are a Chinese resident id: a real birth date and GB 11643's check character."""
    try:
        date(int(number[6:10]), int(number[10:12]), int(number[12:14]))
    except ValueError:
        return False
    weighted = sum(int(number[place]) * (2 ** (17 - place) % 11) for place in range(17))
    return "10X98765432"[weighted % 11] == number[17].upper()


def numbers(text: str, encoded: bytes) -> Iterator[tuple[int, int, str]]:
    """Yield `(start, end, kind)` of every secret number of a text; `encoded` is the text in UTF-8."""
    shapes = encoded.translate(_CLASSES)
    joined = shapes.translate(None, b" -")
    if b"0" * 14 in joined:
        for start, end in _alone(_CARD, text):
            if _is_card(text, start, end):
                yield start, end, "card"
        for start, end in _alone(_RESIDENT, text):
            if resident_id(text[start:end]):
                yield start, end, "resident-id"
    if b"AA00" in joined:
        for start, stop in _alone(_IBAN, text, right=False):
            end = iban_end(text, start, stop=stop)
            if end > 0:
                yield start, end, "iban"
    if b"000-00-0000" in shapes:
        for start, end in _alone(_SSN, text):
            before = text[max(0, start - _LOOK_BACK) : start]
            if not _NO_SSN.match(text, start, end) and not _NOT_AN_SSN.search(before):
                yield start, end, "ssn"


def _alone(pattern: Words, text: str, *, right: bool = True) -> Iterator[tuple[int, int]]:
    """Yield the matches that are no part of a longer word or number; `right` says whether the end must be free too."""
    found = pattern.search(text)
    while found:
        start, end = found.span()
        free = not _BORDER.match(text, start - 1, start) if start else True
        free = free and not (right and _BORDER.match(text, end))
        free = free and not (
            text[max(0, start - 2) : start].endswith(".") and text[max(0, start - 2) : start - 1].isdigit()
        )
        if free:
            yield start, end
        found = pattern.search(text, end if free else start + 1)


def _is_card(text: str, start: int, end: int) -> bool:
    digits = text[start:end].replace(" ", "").replace("-", "")
    if not (_card_issuer(digits) and luhn(digits)) or len(set(digits)) == 1:
        return False
    return not _NOT_A_CARD.search(text[max(0, start - _LOOK_BACK) : start])


def labelled(text: str, lowered: str) -> Iterator[tuple[int, int, str]]:
    """Yield the numbers that a label names as social security numbers, with or without dashes."""
    for label in ("ssn", "social security"):
        place = lowered.find(label)
        while place >= 0:
            found = _SSN_LABELLED.match(text, place)
            if found:
                yield found.start("secret"), found.end("secret"), "ssn"
            place = lowered.find(label, place + len(label))
