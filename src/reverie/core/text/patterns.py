"""Patterns of words, written over several lines and compiled when they are first used.

Owns the one way in which large patterns are written: blanks stand for themselves, a line break and the indentation
after it for nothing. Promises that importing compiles none of them, which would cost half a second in each process,
and each turn that a host stores is a process; never changes what a pattern matches. A pattern that is compiled in a
moment may be made by `re.compile` as ever.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from functools import cached_property
from typing import Any


def joined(source: str) -> str:
    """Return a pattern's source on one line."""
    return re.sub(r"\n\s*", "", source) if "\n" in source else source


class Words:
    """A pattern that compiles itself when first asked; case counts unless `fold` is set."""

    def __init__(self, source: str, *, fold: bool = False) -> None:
        self.source = joined(source)
        self._flags = re.IGNORECASE if fold else re.NOFLAG

    @cached_property
    def pattern(self) -> re.Pattern[str]:
        """The compiled pattern."""
        return re.compile(self.source, self._flags)

    @cached_property
    def match(self) -> Callable[..., re.Match[str] | None]:
        """As `re.Pattern.match`."""
        return self.pattern.match

    @cached_property
    def fullmatch(self) -> Callable[..., re.Match[str] | None]:
        """As `re.Pattern.fullmatch`."""
        return self.pattern.fullmatch

    @cached_property
    def search(self) -> Callable[..., re.Match[str] | None]:
        """As `re.Pattern.search`."""
        return self.pattern.search

    @cached_property
    def finditer(self) -> Callable[..., Iterator[re.Match[str]]]:
        """As `re.Pattern.finditer`."""
        return self.pattern.finditer

    @cached_property
    def findall(self) -> Callable[..., list[Any]]:
        """As `re.Pattern.findall`."""
        return self.pattern.findall

    @cached_property
    def split(self) -> Callable[..., list[str | Any]]:
        """As `re.Pattern.split`."""
        return self.pattern.split

    @cached_property
    def sub(self) -> Callable[..., str]:
        """As `re.Pattern.sub`."""
        return self.pattern.sub
