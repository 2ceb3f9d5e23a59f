"""What fits: how large MEMORY.md may be, and which lines go when not all fit.

Owns the presets, how text is measured, and the order of sacrifice; promises that what is kept never exceeds the
budget, that the same claims in any order give the same choice, and that a protected one goes only when the protected
alone overflow; never cuts a line.

The order of sacrifice, first to go first: plain entries; what other pages say (`CONTEXT`); commitments due or
overdue; significance >= 0.90; procedures; pins. Within each the least weight goes first, then the least observed, the
least used, the longest unconfirmed, then the larger key. A line that is larger than a fifth of the budget and no longer
fits goes alone, and what is behind it may stay: one long text does not empty the file. After a hundred such lines the
rest goes too, so that the cost follows the budget.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable

import msgspec
from msgspec.structs import replace

from reverie.core.glance.standing import PLAIN
from reverie.core.settings.value import PublishSettings
from reverie.core.text.tokens import estimate

_LONG = 5  # a line above a fifth of the budget does not stop the lines behind it
_LONG_LINES = 100


class Size(msgspec.Struct, frozen=True):
    """How much room a text takes. Lines are line breaks; tokens are estimated, rather too many than too few."""

    characters: int = 0
    bytes: int = 0
    lines: int = 0
    tokens: int = 0

    def __add__(self, other: Size) -> Size:
        """Return the size of both texts, each ending its last line."""
        return Size(
            self.characters + other.characters,
            self.bytes + other.bytes,
            self.lines + other.lines,
            self.tokens + other.tokens,
        )


class Budget(msgspec.Struct, frozen=True, kw_only=True):
    """The ceilings of a text; None is no ceiling, all others hold. `newline` is how many bytes a line break takes."""

    characters: int | None = None
    bytes: int | None = None
    lines: int | None = None
    tokens: int | None = None
    newline: int = 1

    def measure(self, text: str) -> Size:
        """Return the size of `text` with line feeds for line breaks; what this budget does not limit counts 0."""
        breaks = text.count("\n")
        wider = breaks * (self.newline - 1)
        return Size(
            characters=len(text) + wider,
            bytes=0 if self.bytes is None else len(text.encode("utf-8", "surrogatepass")) + wider,
            lines=breaks,
            # A run of line breaks counts one token and each alone counts one: the sum of parts is never too small.
            tokens=0 if self.tokens is None else estimate(text.replace("\n", " ")) + breaks,
        )

    def holds(self, size: Size) -> bool:
        """Whether `size` is within every ceiling."""
        return not (
            (self.characters is not None and size.characters > self.characters)
            or (self.bytes is not None and size.bytes > self.bytes)
            or (self.lines is not None and size.lines > self.lines)
            or (self.tokens is not None and size.tokens > self.tokens)
        )

    def less(self, size: Size) -> Budget:
        """Return what is left after `size`; a ceiling below 0 holds nothing."""
        return replace(
            self,
            characters=None if self.characters is None else self.characters - size.characters,
            bytes=None if self.bytes is None else self.bytes - size.bytes,
            lines=None if self.lines is None else self.lines - size.lines,
            tokens=None if self.tokens is None else self.tokens - size.tokens,
        )

    def most_lines(self, shortest: int) -> int:
        """Return how many lines of at least `shortest` characters may be asked for before `fit` is full."""
        room = [most // shortest for most in (self.characters, self.bytes) if most is not None]
        # A line's break alone counts one token.
        room += [most for most in (self.lines, self.tokens) if most is not None]
        # Every line behind the last that fits is either one of the long ones or the end.
        return max(0, min(room)) + _LONG_LINES + 1

    def part(self, of: int) -> Budget:
        """Return one `of`-th of every ceiling."""
        return replace(
            self,
            characters=None if self.characters is None else self.characters // of,
            bytes=None if self.bytes is None else self.bytes // of,
            lines=None if self.lines is None else self.lines // of,
            tokens=None if self.tokens is None else self.tokens // of,
        )


PRESETS: dict[str, Budget] = {
    "lean": Budget(characters=12_000),
    "balanced": Budget(characters=25_000),
    "rich": Budget(characters=40_000),
    "max-context": Budget(characters=60_000),
    "claude-code": Budget(lines=200, bytes=25_000),  # what that host loads of the file
}


def budget_of(settings: PublishSettings, *, newline: str = "\n") -> Budget:
    """Return the preset with the optional ceilings (0: none) laid over it; the tightest of each kind wins."""
    preset = PRESETS[settings.budget_preset]
    lines = min(
        (most for most in (preset.lines, settings.max_lines or None) if most is not None), default=None
    )
    return replace(preset, lines=lines, tokens=settings.max_tokens or None, newline=len(newline))


class Claim(msgspec.Struct, frozen=True, kw_only=True, gc=False):
    """One line's claim to room: the heading it stands under and what it weighs.

    `key` is unique; `weight` 0 to 1 for entries; `confirmed` seconds since 1970.
    """

    key: str
    section: str
    standing: int = PLAIN
    weight: float = 0.0
    observations: int = 1
    uses: int = 0
    confirmed: float = 0.0


class Fitted(msgspec.Struct, frozen=True):
    """The claims that fit and those that do not, each in order of rank: the last is the first to go."""

    kept: tuple[Claim, ...]
    left_out: tuple[Claim, ...]


def rank(claim: Claim) -> tuple[int, float, int, int, float, str]:
    """Return the sort key of the order of sacrifice: the first in order is the last to go."""
    return (-claim.standing, -claim.weight, -claim.observations, -claim.uses, -claim.confirmed, claim.key)


def fit(
    claims: Iterable[Claim],
    budget: Budget,
    *,
    line: Callable[[Claim], str],
    heading: Callable[[str], str],
) -> Fitted:
    """Choose the claims that fit into `budget` together with the headings they need.

    `line` renders a claim and `heading` the first mention of a section, both ending with a line break; `line` is asked
    only for claims that are considered, so the cost beyond the sort follows the budget, not their number.
    """
    ordered = sorted(claims, key=rank)
    if not budget.holds(Size()):
        return Fitted((), tuple(ordered))
    long = budget.part(_LONG)
    used = Size()
    opened: set[str] = set()
    kept: list[Claim] = []
    skipped: list[Claim] = []
    for place, claim in enumerate(ordered):
        size = budget.measure(line(claim))
        needed = size if claim.section in opened else size + budget.measure(heading(claim.section))
        if budget.holds(used + needed):
            used += needed
            opened.add(claim.section)
            kept.append(claim)
        elif not long.holds(size) and len(skipped) < _LONG_LINES:
            skipped.append(claim)
        else:
            return Fitted(tuple(kept), (*skipped, *ordered[place:]))
    return Fitted(tuple(kept), tuple(skipped))
