"""Give one form to what is written in many ways: dates, times, numbers, inflected words.

Owns the forms; promises that a change of any digit changes the form, and that inflection is undone by rule and never
by a stemmer, which would make `engine` of `engineering`; never reads more than the one expression it is given.
"""

from __future__ import annotations

import re
import unicodedata

from reverie.core.guard.words import MONTHS

_WEEKDAYS = {"天": "7", "日": "7", "末": "6-7"} | dict(zip("一二三四五六", "123456", strict=True))
_NUMERALS = re.compile("[一二两三四五六七八九十]+")
_COMMAS = str.maketrans("，；", "。。")  # else they become ASCII commas, which also stand inside numbers
_ES = ("ses", "xes", "zes", "ches", "shes", "oes")


def date(kind: str, found: re.Match[str]) -> str:
    """Return one form for a date or time however it is written."""
    raw = found[0].lower()
    if kind == "time":
        return time(raw)
    if kind == "zhday":
        shift = raw[: re.search("[周星礼]", raw).start()] if re.search("[周星礼]", raw) else ""  # type: ignore[union-attr]
        return {"": "", "个": ""}.get(shift, shift.removesuffix("个")) + "w" + _WEEKDAYS[raw[-1]]
    if kind.startswith("day"):
        which = kind[-1]
        year, month = found[f"y{which}"], MONTHS[found[f"m{which}"].lower()]
        day = found[f"d{which}"].lstrip("0") or "0" if which != "3" else ""
        return f"{year or ''}-{month}-{day}"
    if "t" in raw or ":" in raw:
        return raw
    numbers = [part.lstrip("0") or "0" for part in re.findall(r"\d+", raw)]
    if kind == "zhdate" and "年" not in raw:
        numbers = ["", *numbers] if "月" in raw else ["", "", *numbers]
    return "-".join([*numbers, "", ""][:3])


def time(raw: str) -> str:
    """Return a time of day as `h:mm`, with what cannot be read left as it is."""
    digits = re.findall(r"\d+", _NUMERALS.sub(lambda found: chinese_number(found[0]), raw))
    hour, rest = int(digits[0]), digits[1:]
    if "半" in raw:
        rest = ["30"]
    late = re.search(r"p\.?m|下午|晚上", raw) is not None
    early = re.search(r"a\.?m|凌晨", raw) is not None
    noon = 12
    if late and hour < noon:
        hour += noon
    elif early and hour == noon:
        hour = 0
    elif late and hour > noon:
        return raw
    return ":".join([str(hour), *([part.zfill(2) for part in rest] or ["00"])])


def number(raw: str) -> str:
    """Return one form for equal numbers: no thousands commas, no cents of zero, scale written out."""
    value = raw.strip().replace(",", "").replace("−", "-").removeprefix("+")
    scale = value[-1].lower() if not value[-1].isdigit() else ""
    value = value.rstrip("kKmM万亿千百 ") if scale else value
    whole, _, fraction = value.partition(".")
    fraction = "" if fraction == "00" else fraction  # 5.00 is 5, but version 3.10 is not 3.1
    zeros = {"k": 3, "千": 3, "m": 6, "万": 4, "亿": 8, "百": 2}.get(scale, 0)
    fraction, moved = fraction[zeros:], fraction[:zeros]
    if zeros:
        whole = (whole + moved.ljust(zeros, "0")).lstrip("0") or "0"
    return whole + ("." + fraction if fraction else "")


def chinese_number(numeral: str) -> str:
    """Return the value of a Chinese numeral below ten thousand, else the numeral itself."""
    digits = {c: i for i, c in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
    if any(c in "万亿" for c in numeral):
        return numeral
    if all(c in digits for c in numeral):
        return "".join(str(digits[c]) for c in numeral)
    total, last = 0, 0
    for c in numeral:
        if c in digits:
            last = digits[c]
        else:
            total += (last or 1) * {"十": 10, "百": 100, "千": 1000}[c]
            last = 0
    return str(total + last)


def roots(stem: str) -> set[str]:
    """Return what a verb may be without -ed or -ing: `runn` run, `liv` live, `plan` plan or plane, `tri` try."""
    if stem.endswith("i"):
        return {stem[:-1] + "y"}
    if len(stem) > 1 and stem[-1] == stem[-2] and stem[-1] not in "lsz":
        return {stem[:-1]}
    double = {stem[:-1]} if len(stem) > 1 and stem[-1] == stem[-2] else set()
    return {stem, stem + "e"} | double


def singulars(word: str) -> set[str]:
    """Return what a word in -s may be without it: `companies` company, `watches` watch, `planes` plane."""
    if word.endswith("ies"):
        return {word[:-3] + "y", word[:-1]}
    if word.endswith(_ES):
        return {word[:-2], word[:-1]}
    return {word[:-1]}


def plain_text(text: str) -> str:
    """Return the text with one form for each character: compatibility forms, quotes, digits."""
    plain = unicodedata.normalize("NFKC", text.translate(_COMMAS)).replace("’", "'").replace("‘", "'")
    if not plain.isascii():
        plain = "".join(str(unicodedata.decimal(c)) if c.isdecimal() else c for c in plain)
    return plain
