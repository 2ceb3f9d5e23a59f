"""Tests of patterns that compile themselves when they are first used."""

from __future__ import annotations

import re
import subprocess
import sys

from reverie.core.text.patterns import Words

_COMPILED = """
from reverie.core.text.patterns import Words
made, make = [], Words.__init__

def noted(self, *given, **named):
    make(self, *given, **named)
    made.append(self)

Words.__init__ = noted
import reverie.memory
print(len(made) > 100, sum("pattern" in vars(one) for one in made))
"""


def test_lines_are_joined() -> None:
    """A line break and the indentation after it stand for nothing, blanks within a line for themselves."""
    words = Words(r"""(?:green tea
        |milk)\b""")
    assert words.fullmatch("green tea")
    assert words.fullmatch("milk")
    assert not words.fullmatch("greentea")


def test_case_counts_unless_folded() -> None:
    """Case counts, unless `fold` is set."""
    assert not Words("tea").search("Tea")
    assert Words("tea", fold=True).search("Tea")


def test_it_answers_as_the_compiled_pattern_does() -> None:
    """Every method answers as that of the pattern it stands for."""
    text, source = "tea, milk; tea", r"(\w+)[,;]? ?"
    words, plain = Words(source), re.compile(source)
    for method in ("match", "fullmatch", "search"):
        assert str(getattr(words, method)(text)) == str(getattr(plain, method)(text))
    assert [one.span() for one in words.finditer(text)] == [one.span() for one in plain.finditer(text)]
    assert words.findall(text) == plain.findall(text)
    assert words.split(text) == plain.split(text)
    assert words.sub("-", text) == plain.sub("-", text)


def test_importing_every_verb_compiles_none() -> None:
    """Importing the verbs makes hundreds of patterns and compiles none of them."""
    done = subprocess.run([sys.executable, "-c", _COMPILED], check=True, capture_output=True, text=True)
    assert done.stdout.split() == ["True", "0"]
