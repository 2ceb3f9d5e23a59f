"""Nothing printed for a person acts on the terminal or hides."""

from __future__ import annotations

import io
import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie.surface.render import Line, Styled, bold, clean, line, plain, say

KEPT = {"\n", "\t"}
VISIBLE = {"Cc", "Cf", "Cs", "Zl", "Zp"}

anything = st.text(st.characters(codec=None, exclude_categories=()), max_size=60)


@given(anything)
def test_no_text_acts_or_hides(text: str) -> None:
    """What is printed holds no control, no override of direction, no half character and nothing without width."""
    for char in clean(text):
        if char in KEPT or char in "\u200c\u200d":
            continue
        code = ord(char)
        shaped = 0x0600 <= code <= 0x08E2 or 0x110BD <= code <= 0x1D17A
        assert unicodedata.category(char) not in VISIBLE or shaped, hex(code)


@given(anything)
def test_cleaning_twice_is_cleaning_once(text: str) -> None:
    """A clean text stays as it is."""
    assert clean(clean(text)) == clean(text)


@given(
    st.text(
        st.characters(categories=["L", "N", "P", "Zs", "So"], exclude_characters="\u115f\u1160\u3164\uffa0")
    )
)
def test_plain_text_is_left_alone(text: str) -> None:
    """Letters, digits, punctuation and symbols of any script are printed as they are."""
    assert clean(text) == text


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "␛[31mred␛[0m"),
        ("\x1b]0;title\x07", "␛]0;title␇"),
        ("a\rb", "a␍b"),
        ("a\r\nb", "a\nb"),
        ("\x9b31m", "⟨U+009B⟩31m"),
        ("a\u202eb\u2066c\u200e\u061c", "a⟨U+202E⟩b⟨U+2066⟩c⟨U+200E⟩⟨U+061C⟩"),
        ("pass\u200bword\ufeff\u2060", "pass⟨U+200B⟩word⟨U+FEFF⟩⟨U+2060⟩"),
        ("ad\u200dmin", "ad⟨U+200D⟩min"),
        ("\udc80", "⟨U+DC80⟩"),
        ("\U000e0041", "⟨U+E0041⟩"),
        ("👩\u200d👩\u200d👧", "👩\u200d👩\u200d👧"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("tab\tnew\nline", "tab\tnew\nline"),
        ("\x7f\x00", "␡␀"),
    ],
)
def test_what_acts_is_named(text: str, shown: str) -> None:
    """Each character that would act or hide is shown by its picture or its number, and joiners stay where they join."""
    assert clean(text) == shown


class _Terminal(io.StringIO):
    def isatty(self) -> bool:
        return True


@pytest.mark.parametrize("columns", ["24", "200"])
def test_a_terminal_of_any_width_gets_every_word(columns: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """On a narrow or wide terminal all words are printed, long lines go on indented, and no row is too long."""
    monkeypatch.setenv("COLUMNS", columns)
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("NO_COLOR", "1")
    terminal = _Terminal()
    words = [f"word{number}" for number in range(30)]
    say(line(" ".join(words), indent=4), "陈越 " * 20, to=terminal)
    rows = terminal.getvalue().split("\n")
    assert [word for word in terminal.getvalue().split() if word.startswith("word")] == words
    width = max(sum(2 if unicodedata.east_asian_width(char) in "WF" else 1 for char in row) for row in rows)
    assert width <= int(columns)
    if columns == "24":
        assert rows[1].startswith("    word")


def test_markup_is_no_markup(monkeypatch: pytest.MonkeyPatch) -> None:
    """What looks like markup, a link or an emoji's name in a text is printed as it stands."""
    monkeypatch.setenv("TERM", "xterm")
    monkeypatch.setenv("COLUMNS", "200")
    terminal = _Terminal()
    text = "[red]x[/red] [link=https://example.org]y[/link] :warning: [bold"
    say(text, line(Styled(text), bold("[/]")), to=terminal)
    assert text in terminal.getvalue()
    assert "\x1b]8" not in terminal.getvalue()


@given(anything, anything)
def test_no_escape_comes_out_of_a_text(one: str, two: str) -> None:
    """Where no terminal listens, not one escape is printed, styled or not."""
    stream = io.StringIO()
    say(one, line(Styled(two, "bold red"), indent=2), to=stream)
    assert "\x1b" not in stream.getvalue()
    assert stream.getvalue() == f"{clean(one)}\n{clean(two)}\n"


def test_an_encoding_that_lacks_a_character_gets_an_escape() -> None:
    """A stream that cannot write a character gets its escape, and no error is raised."""
    raw = io.BytesIO()
    stream = io.TextIOWrapper(raw, encoding="ascii", newline="\n")
    say("花生 and tea", to=stream)
    stream.flush()
    assert raw.getvalue() == b"\\u82b1\\u751f and tea\n"


def test_a_plain_line_is_its_texts() -> None:
    """A line without styles is its texts, one after the other."""
    assert plain(Line((Styled("a", "bold"), Styled("b\x1b")))) == "ab␛"
