"""Secrets that a label names: `password = …`, `my password is …`, `密码是 …`, `--token …`, recovery phrases.

Owns the labels and how much a value must prove; promises that only the value is a secret, never the label;
never takes code (`os.getenv("PW")`, `password: str`), placeholders or ordinary prose for one.

How much a value must prove depends on what stands between: after `=` or `:` nearly anything that is no word of
prose, after `is` something no ordinary word looks like.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator

import msgspec

from reverie.core.secrets.stems import stem_of
from reverie.core.secrets.table import is_placeholder, looks_random
from reverie.core.text.patterns import Words


class _Label(msgspec.Struct, frozen=True):
    word: str
    kind: str
    strong: bool = False  # what follows a strong label is a secret even when it is short
    after: tuple[str, ...] = ("",)  # the label counts only behind one of these
    short: bool = False  # also an ordinary word: it must stand alone, and only `=` or `:` joins it


_KEYS = tuple(
    f"{name}{blank}"
    for name in (
        "api",
        "access",
        "secret",
        "private",
        "account",
        "auth",
        "signing",
        "encryption",
        "license",
        "subscription",
    )
    for blank in (" ", "_", "-", "")
)
LABELS = (
    _Label("password", "password", strong=True),
    _Label("passwort", "password", strong=True),
    _Label("mot de passe", "password", strong=True),
    _Label("passwd", "password", strong=True),
    _Label("passcode", "password", strong=True),
    _Label("passphrase", "password", strong=True),
    _Label("pwd", "password", strong=True),
    _Label("pw", "password", strong=True, short=True),
    _Label("pass", "password", strong=True, short=True),
    _Label("密码", "password", strong=True),
    _Label("密碼", "password", strong=True),
    _Label("口令", "password", strong=True),
    _Label("credential", "password"),
    _Label("secret", "secret"),
    _Label("token", "token"),
    _Label("令牌", "token"),
    _Label("key", "api-key", after=_KEYS),
    _Label("密钥", "api-key"),
    _Label("秘钥", "api-key"),
    _Label("私钥", "api-key"),
)

_JOIN = Words(
    r"""(?ix)
    (?P<purpose> \s (?:for|to|of|at|on) \s [^\n:=|.,;!?"]{1,40}? )?
    (?:['"`*_\])]{0,4} (?:\s?\([^()\n]{0,30}\))? [*_]{0,2}
       \s{0,4} (?P<operator> :=|=>|->|==?|[:：＝] |[|]) [*_]{0,2} \s{0,4}
      | (?P<opening>>) (?=[^<>\s]{1,128}</)
      | (?:\s{1,2}|(?='s\s))
        (?P<word> 's | (?:is|was|are|ist|lautet|est) (?:\s(?:now|still|currently|set\sto))? :?
        | (?:changed|set|reset)\sto )
        \s{1,4}
      | \s{0,2} (?P<zh> 现在是|目前是|改成了?|改为|换成了?|设成了?|设为|設為|就是|是|为|為 ) \s{0,2} [:：]? \s{0,2}
      | (?(purpose) (?!) | (?P<blank>\s) (?=[^\s]) ) )
    """
)
_QUOTED = Words(r"""(?P<mark>['"`“‘「『])(?P<value>[^'"`“”‘’「」』\n]{1,256})['"`”’」』]""")
_BARE = Words(r"[!-~]{1,2048}+")
_LONG = 512  # characters from which a value is neither code nor a placeholder
_WORD = 6  # letters from which a plain word may be a password
_TOKEN = 12  # characters of the shortest token, key or secret
_SHORTEST = 4  # characters of the shortest password or code
_ENDS = ".,;:!?)]}>'\"`*|"
_CODE = Words(
    r"(?ix) [a-z_][\w.]{0,80}[(\[] .{0,400} | (?:[a-z_]\w{0,40}\.)+[a-z_]\w{0,60} | [a-z_]{1,40}(?:_[a-z]{1,40})+"
    r"| (?:str|string|int|bool|bytes|text|any|object|number|optional)\b.{0,80}"
    r"| (?:secretstr|char|varchar|void|final|self|this)\b.{0,80}"
    r"| (?:/|~|\./|\.\./|[a-z]:\\).{0,400} | & .{0,80} | \d{1,2}[-:/.]\d{1,2}[-:/.]\d{2,4} | https?://.{0,400}"
)
_SCHEME_NAMES = Words(
    r"(?i)(?:sha|md|rs|hs|es|utf|aes|rsa|base|oauth|bcrypt|argon|ed|x)[-_]?\d{1,5}.{0,12}|1password.{0,4}|[0-9]fa\b.{0,10}"
)
_PROSE = frozenset(
    """required optional wrong incorrect correct weak strong expired invalid valid missing empty blank unknown unchanged
    reset changed stored saved hashed encrypted rotated shared private public secret safe secure default same different
    prompt input field string text value type name none null true false yes long short simple easy hard good bad fine
    there here below above attached unset needed provided forgotten lost leaked compromised protected managed always
    never still only just also please must should will would the a an my your our their his her its this that these
    what how not in on at by to for from with of and or used usual ready rejected accepted updated broken revoked
    disabled enabled important sensitive visible hidden obvious temporary permanent complicated
    """.split()
)
_ADJECTIVE = Words(r"(?:ed|ing|able|ible|ful|less|ive|ary|ent|ant|ous|ly|tion|al)$")
_POSSESSED = Words(
    r"(?:my|our|wi-?fi|login|router|netflix|account|email|laptop|phone|admin|root)\s{1,2}$", fold=True
)
_PHRASE_LABEL = Words(
    r"(?:seed phrase|recovery phrase|mnemonic(?: phrase)?|secret phrase|助记词)[*_`'\"]{0,3}"
    r"\s{0,2}(?:is|are|是|为|[:：=])?\s{0,3}['\"“`]?"
    r"(?P<secret>[a-z]{3,8}(?:[ ,]{1,2}[a-z]{3,8}){11,23})(?![a-z])",
    fold=True,
)
_BEFORE = Words(r"[A-Za-z0-9-]")
_PINS = Words(
    r"cv[vc]2?['\"*`]{0,3}\s{0,2}(?:is|:|=|：|是)?\s{0,3}['\"`]?(?P<secret>[0-9]{3,4})(?![\w.-])",
    fold=True,
)
_LONE = (
    ("seed phrase", _PHRASE_LABEL, "seed-phrase"),
    ("recovery phrase", _PHRASE_LABEL, "seed-phrase"),
    ("mnemonic", _PHRASE_LABEL, "seed-phrase"),
    ("secret phrase", _PHRASE_LABEL, "seed-phrase"),
    ("助记词", _PHRASE_LABEL, "seed-phrase"),
    ("cvv", _PINS, "card-code"),
    ("cvc", _PINS, "card-code"),
    ("pin is ", Words(r"(?i)pin is (?:now )?(?P<secret>[0-9]{4})(?![\w.:-])"), "pin"),
    ("pin: ", Words(r"(?i)pin: (?P<secret>[0-9]{4})(?![\w.:-])"), "pin"),
    ("pin code", Words(r"(?i)pin code(?: is|:) ?(?P<secret>[0-9]{4})(?![\w.:-])"), "pin"),
)


def assignments(text: str, lowered: str, *, stems: Collection[str]) -> Iterator[tuple[int, int, str]]:
    """Yield `(start, end, kind)` of every labelled secret.

    `lowered` is the text, each letter in lower case, and `stems` are those of `secret_stems` that it holds.
    """
    for label in LABELS:
        if stem_of(label.word) not in stems:
            continue
        place = lowered.find(label.word)
        while place >= 0:
            after = place + len(label.word)
            named = lowered.endswith(label.after, max(0, place - 16), place)
            found = _value(text, place, after, label) if named else None
            if found:
                yield *found, label.kind
            place = lowered.find(label.word, found[1] if found else after)
    for words, pattern, kind in _LONE:
        if stem_of(words) not in stems:
            continue
        place = lowered.find(words)
        while place >= 0:
            lone = None if _BEFORE.match(text, place - 1, place) else pattern.match(text, place)
            if lone:
                yield *lone.span("secret"), kind
            place = lowered.find(words, place + len(words))


def _value(text: str, place: int, after: int, label: _Label) -> tuple[int, int] | None:
    """Return the span of the secret that the label at `place` names, or None."""
    join = _JOIN.match(text, after, after + 120)
    if not join or (
        label.short
        and not (join["operator"] and not join["purpose"] and not _BEFORE.match(text, place - 1, place))
    ):
        return None
    loose = bool(join["blank"]) and not _is_flag(text, place)
    if loose and (not label.strong or join["purpose"]):
        return None
    start = join.end()
    quoted = _QUOTED.match(text, start)
    if quoted and not loose:
        accepted = _accept_quoted(quoted["value"], label, spoken=bool(join["word"] or join["zh"]))
        return quoted.span("value") if accepted else None
    bare = _BARE.match(text, start)
    if not bare:
        return None
    value = _trim(bare[0], in_address="&" in bare[0] or text[max(0, place - 1) : place] in {"?", "&", ";"})
    if not value or value.startswith("[redacted:") or value.lower() == text[place:after].lower():
        return None
    if len(value) <= _LONG and (_CODE.fullmatch(bare[0]) or _CODE.fullmatch(value) or is_placeholder(value)):
        return None
    end = start + len(value)
    if loose:
        return (
            (start, end)
            if len(value) >= _WORD and _proves(value, label, spoken=True) and not value.isdigit()
            else None
        )
    spoken = bool(join["word"] or join["zh"])
    if label.short and value.isdigit():
        return None
    sure = _proves(value, label, spoken=spoken) or (
        label.strong
        and not label.short
        and not join["purpose"]
        and _plain_word(text, place, start, end, join)
    )
    return (start, end) if sure else None


def _trim(value: str, *, in_address: bool) -> str:
    """Return a bare value without what belongs to the sentence, the address or the markup around it."""
    for stop in ("</", '"', "'", "`", ";", ",") + (("&", "#") if in_address else ()):
        head = value.split(stop, 1)[0]
        value = head or value
    return (
        value.rstrip(_ENDS)
        if not value.endswith(("!", "?")) or len(value) < _WORD
        else value.rstrip(".,;:)]}>'\"`*|")
    )


def _is_flag(text: str, place: int) -> bool:
    """Tell whether the label is a command's option (`--password x`), where a blank assigns."""
    return text[max(0, place - 30) : place].rpartition(" ")[2].startswith("-")


def _accept_quoted(value: str, label: _Label, *, spoken: bool) -> bool:
    """Tell whether a quoted value is a secret: after a strong label nearly all are."""
    if value.startswith("[redacted:") or is_placeholder(value.strip()) or value.strip().lower() in _PROSE:
        return False
    if label.strong:
        return len(value) >= _SHORTEST and (not spoken or " " not in value.strip())
    return " " not in value and _proves(value, label, spoken=spoken)


def _proves(value: str, label: _Label, *, spoken: bool) -> bool:
    """Tell whether a value looks like a secret by itself, as strictly as its label and joint demand."""
    if _SCHEME_NAMES.fullmatch(value):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    symbols = any(not c.isalnum() and c not in "-_'’./," for c in value.strip("!?"))
    if not label.strong:
        return (
            len(value) >= _TOKEN and letters and digits and (looks_random(value) or len(set(value)) >= _WORD)
        )
    if letters and (digits or symbols):
        return len(value) >= (5 if spoken else 4)
    if digits and not letters:
        return len(value) >= _SHORTEST and not (spoken and "." in value)
    capitals = sum(c.isupper() for c in value[1:])
    return not spoken and len(value) >= _WORD and 0 < capitals < len(value) - 1 and "-" not in value


def _plain_word(text: str, place: int, start: int, end: int, join: re.Match[str]) -> bool:
    """Tell whether one plain word is a password: alone to the end of its clause and no word one says of passwords."""
    word = text[start:end]
    rest = text[end : end + 24].lstrip(".!,;\"'`*| ")
    if (
        not re.fullmatch(r"[A-Za-z]+(?:[-_][A-Za-z]+)*", word)
        or word.lower() in _PROSE
        or (rest and text[end] == " ")
    ):
        return False
    if join["word"] or join["zh"]:
        possessed = bool(_POSSESSED.search(text[max(0, place - 20) : place])) or bool(join["zh"])
        return (
            possessed
            and len(word) >= _WORD
            and not _ADJECTIVE.search(word.lower())
            and text[end : end + 1] in {"", ".", "\n"}
        )
    ends = text[end : end + 1] in {"", "\n", "\r", ";", "&", ",", "*", "`", '"', "'", "<", "|", "."}
    return ends and len(word) >= _WORD and not _ADJECTIVE.search(word.lower())
