"""Tell a speaker's own words from what was quoted, fenced or pasted, and cut them into sentences.

Owns the reading of one turn's shape. Promises that every sentence is a verbatim stretch of the turn, that text of
another origin is never given as the speaker's own, and that the work is linear in what is read: at most `READ`
characters of a turn, of which no paragraph longer than `PARAGRAPH` counts as spoken. Never judges meaning.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Literal

import msgspec

from reverie.core.text.patterns import Words

READ = 16_000
PARAGRAPH = 1_500
LONGEST = 600  # a "sentence" longer than this is no single statement
COMMANDS = 12  # a fence with more lines than this is a file, not the command of a how-to

Kind = Literal["own", "quote", "fence", "paste"]


class Piece(msgspec.Struct, frozen=True):
    """A stretch `[start, end)` of a turn and whose words it holds."""

    start: int
    end: int
    kind: Kind


class Sentence(msgspec.Struct, frozen=True):
    """One sentence of a speaker's own words: `text` is `content[start:end]`.

    `item` says that it is an item of a list; `paragraph` numbers the own paragraphs of the turn.
    """

    text: str
    start: int
    end: int
    item: bool
    paragraph: int


_FENCE = re.compile(r" {0,3}(```+|~~~+)")
_QUOTE = re.compile(r" {0,3}[>＞|] ?")
_HEADING = re.compile(r" {0,3}#{1,6} ")
_CODE_LINE = Words(
    r"""\s*(?:
    (?:\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?\d\d:\d\d:\d\d|\w{3} [ \d]\d \d\d:\d\d:\d\d)
    |\[?(?:DEBUG|INFO|WARN(?:ING)?|ERROR|FATAL|CRITICAL|TRACE)\b[\]: ]
    |Traceback \(|File "[^"\n]+", line \d|at [\w.$<>]+\(|(?:\w+\.)*\w*(?:Error|Exception|Warning)\b:
    |</?[a-zA-Z!][^>\n]{0,200}>|<!--
    |[{}\[\]()]+,?\s*$|"[^"\n]{1,80}"\s*:|[{\[]"
    |[$%] \S|>>> |\.\.\. |(?:diff --git|@@ |\+\+\+ |--- [ab]/)
    |(?:def|class|import|from|func|fn|const|let|var|public|private|SELECT|INSERT|CREATE|export) [^.\n]*[({;:=]\s*$
    |From: |Subject: |To: |Cc: |Sent: |-{3,} ?(?:Forwarded|Original)
    |&?\w+(?:\.\w+)* ?= ?\S+;?\s*$
    )""",
)
_CODE_MARK = re.compile(r"[({;:=\"]")
_LEVELS = ("DEBUG", "INFO", "WARN", "ERROR", "FATAL", "CRITICAL", "TRACE")
_FENCES, _QUOTES = frozenset("`~"), frozenset(">＞|")
_PROGRAM = re.compile(r"(?:import|from|def|class|return|public|const|let|var|function)\b|#|[@<{}(\[]|\w+ = ")
_INDENTED = re.compile(r"(?: {4}|\t)\s*\S")
_ITEM = re.compile(r"\s*(?:[-*•+–]|\(?\d{1,2}[.)、．]|[一二三四五六七八九十]、|[①-⑩])\s*(?=\S)")
_PASTED = Words(
    r"""(?:\b(?:here(?:'s| is| are)|this is|below is|see|pasting|pasted|i (?:just )?(?:found|got|read|saw
    |copied|received))\b[^.!?\n]{0,60}\b(?:article|e-?mail|mail|text|log|logs|output|transcript|page
    |post|message|thread|readme|docs?|documentation|website|site|blog|snippet|code|error|trace|config
    |file|excerpt|paragraph|quote|letter|review|draft|response)\b[^.!?\n]{0,60}|\b(?:it|he|she|they
    |site|page|article|email|mail|docs?|readme|website|post|message|letter|error|log|ticket
    |reviewer)[ ](?:\w+ )?(?:says?|said|reads?|wrote|writes|states?|goes|is|was)
    |\bfrom the (?:web ?site|docs?|readme|article|page|email|blog|log)|\b(?:quote|copied|pasted
    |forwarded|fwd|excerpt|translate|summari[sz]e|proofread|review)\b[^.!?\n]{0,60}|(?:如下|下面是
    |以下是|原文|网页|网站|文章|邮件|日志|报错|文档|帖子|公告|新闻|聊天记录|转发|摘录|引用|翻译|总结
    |润色)[^。！？\n]{0,30})\s*[:：]\s*(?=\S|$)""",
    fold=True,
)
_COLON = re.compile(r"(?<![0-9])[:：]|[:：](?![0-9])")  # not only of a time of day
_HOSTILE = Words(
    r"\b(?:ignore|disregard|forget|override)\b[^.\n]{0,30}\b(?:instructions?|prompts?|rules)\b|\bsystem prompt\b"
    r"|(?:忽略|无视|忘掉|忘记)[^。\n]{0,12}(?:指令|提示|规则|要求|设定)|<\|im_(?:start|end)\|>",
    fold=True,
)
_WARY = ("instruction", "prompt", "rules", "<|im_", "指令", "提示", "规则", "要求", "设定")
_TOKEN = Words(  # each alternative begins with a fixed character, so that the search skips all others at once
    r"""`[^`\n]{0,300}`|“[^”\n]{0,300}”|"[^"\n]{0,300}"|「[^」\n]{0,300}」|《[^》\n]{0,100}》|https?://[^\s，。]+
    |(?P<stop>[.!?…。！？；;~～\n\U0001F300-\U0001FAFF☀-➿][.!?…。！？；~～\n\uFE0F]*["')\]”’』」）]*)"""
)
_ABBREVIATIONS = frozenset(
    r"""e.g i.e etc vs approx mr mrs ms dr prof st jr sr a.m p.m jan feb mar apr jun jul aug sep sept oct
    nov dec""".split()
)


def pieces(content: str, injected: tuple[tuple[int, int], ...] = ()) -> tuple[Piece, ...]:
    """Return the stretches of a turn in order; what was injected or lies beyond `READ` is in none of them."""
    text = _without(content[:READ], injected)
    found: list[Piece] = []
    fence, previous, pasted = "", "own", False
    for start, line in _lines(text):
        end, head = start + len(line), line.lstrip()[:1]
        mark = _FENCE.match(line) if head in _FENCES else None
        if fence:
            kind: Kind = "fence"
            fence = "" if mark and mark[1].startswith(fence) and not line[mark.end() :].strip() else fence
        elif mark:
            kind, fence = "fence", mark[1]
        elif pasted:
            kind = "paste"
        elif not head:
            kind = "own"
        elif previous == "quote" or (head in _QUOTES and _QUOTE.match(line)):
            kind = "quote"
        elif (_may_be_code(line, head) and _CODE_LINE.match(line)) or (
            line[0] in " \t" and _INDENTED.match(line) and not _ITEM.match(line)
        ):
            kind = "paste"
        else:
            kind = "own"
            if (":" in line or "：" in line) and _COLON.search(line) and (opened := _PASTED.search(line)):
                pasted = True
                found.append(Piece(start, start + opened.start(), "own"))
                found.append(Piece(start + opened.start(), end, "paste"))
                continue
        previous = kind if head else "own"
        if found and found[-1].kind == kind and found[-1].end == start:
            found[-1] = Piece(found[-1].start, end, kind)
        else:
            found.append(Piece(start, end, kind))
    return tuple(found)


def _may_be_code(line: str, head: str) -> bool:
    """Say whether a line that begins with `head` may be one of code: one of words is not without one of its marks."""
    return not head.isalpha() or _CODE_MARK.search(line) is not None or line.lstrip().startswith(_LEVELS)


def sentences(content: str, injected: tuple[tuple[int, int], ...] = ()) -> Iterator[Sentence]:
    """Yield the sentences of a turn that are its speaker's own words and none of them an order from elsewhere."""
    text = _without(content[:READ], injected)
    number = 0
    wary = _wary(text)
    for piece in pieces(content, injected):
        if piece.kind != "own":
            continue
        for start, end in _paragraphs(text, piece.start, piece.end):
            number += 1
            if end - start <= PARAGRAPH and not (wary and _HOSTILE.search(text, start, end)):
                yield from _cut(text, start, end, number)


def hostile(text: str) -> bool:
    """Tell whether a text orders an agent about, as text from elsewhere does that wants to be obeyed."""
    return _wary(text) and _HOSTILE.search(text) is not None


def _wary(text: str) -> bool:
    low = text.lower()
    for word in _WARY:  # noqa: SIM110 - each turn is asked; a generator takes three times as long
        if word in low:
            return True
    return False


def command_after(content: str, end: int) -> tuple[str, int] | None:
    """Return the commands of a short fence that follows at once, and where it ends; None if there is none."""
    opened = re.compile(r"\s*\n {0,3}(```+|~~~+)[^\n`]{0,30}\n").match(content, end)
    if opened is None:
        return None
    closed = content.find("\n" + opened[1], opened.end() - 1, opened.end() + 1_000)
    if closed < 0:
        return None
    lines = [line.strip() for line in content[opened.end() : closed].splitlines() if line.strip()]
    if not 0 < len(lines) <= COMMANDS:
        return None
    if any("`" in line or _PROGRAM.match(line) for line in lines):
        return None
    return "; ".join(f"`{line}`" for line in lines), closed + 1 + len(opened[1])


def _without(text: str, spans: tuple[tuple[int, int], ...]) -> str:
    """Blank out the injected spans, so that every position stays what it was."""
    for start, end in spans:
        start, stop = max(0, start), min(len(text), end)  # noqa: PLW2901
        if start < stop:
            text = text[:start] + "\n" * (stop - start) + text[stop:]
    return text


def _lines(text: str) -> Iterator[tuple[int, str]]:
    start = 0
    for line in text.split("\n"):
        yield start, line + "\n"
        start += len(line) + 1


def _paragraphs(text: str, start: int, end: int) -> Iterator[tuple[int, int]]:
    end = min(end, len(text))
    while start < end:
        stop = text.find("\n\n", start, end)
        stop = end if stop < 0 else stop + 2
        yield start, stop
        start = stop


def _cut(text: str, start: int, end: int, paragraph: int) -> Iterator[Sentence]:
    at, item = start, False
    for stop, line_ends in _stops(text, start, end):
        first = at
        if at == start or text[at - 1] == "\n":
            mark = _ITEM.match(text, at, stop)
            item = mark is not None
            first = at if mark is None else mark.end()
            if _HEADING.match(text, at, stop):
                first = stop if line_ends else text.find("\n", stop, end)
        if first < stop:
            words = text[first:stop].strip()
            if words and len(words) <= LONGEST:
                place = text.index(words, first)
                yield Sentence(words, place, place + len(words), item, paragraph)
        at = stop


def _stops(text: str, start: int, end: int) -> Iterator[tuple[int, bool]]:
    """Yield where sentences end, and whether a line ends there; code, links and quotes are passed over whole."""
    stop = start
    for token in _TOKEN.finditer(text, start, end):
        if token.lastgroup is None or not _ends(text, token, end):
            continue
        stop = token.end()
        yield stop, "\n" in token[0]
    if stop < end:
        yield end, True


def _ends(text: str, token: re.Match[str], end: int) -> bool:
    """Say whether a mark ends a sentence: not the point of "v1.2" or "e.g.", nor the number of a list's item."""
    mark, (place, stop) = token[0], token.span()
    if not mark.isascii() or "\n" in mark:
        return True
    if stop < end:
        after = text[stop]
        if not after.isspace() and not (mark[0] in "!?" and after >= "\u4e00"):
            return False
    if mark != ".":
        return mark != "'"
    before = text[max(0, place - 8) : place]
    if before.isalpha():
        return before.lower() not in _ABBREVIATIONS  # most stand behind a word longer than any of these
    words = before.split()
    last = words[-1].lower().lstrip("(\"'") if words else ""
    return last not in _ABBREVIATIONS and not (last.isdigit() and _numbers_item(text, place, last))


def _numbers_item(text: str, end: int, number: str) -> bool:
    start = end - len(number)
    return text[text.rfind("\n", 0, start) + 1 : start].strip() == ""
