"""Tests of the judgement: what a dream may install, what falls, and why."""

from __future__ import annotations

from typing import Any

import pytest
from dream_world import entry

from reverie.core.batch import parts_of
from reverie.core.citations import cite
from reverie.core.fold import fold
from reverie.core.page_rules import fold_path
from reverie.core.policy import Case, judge
from reverie.core.proposal import Judged, Proposal, Settlement
from reverie.core.records import Entry

HEAD = "---\ntype: personal\ntitle: Work\nupdated: 2026-07-02\n---\n\n# Work\n\n"
GOOGLE = entry(1, "User works at Google in Zurich since 2024", category="work")
TEA = entry(2, "User likes green tea in the morning", category="preference")
PAGE = "3_Personal/Work.md"


def line(*entries: Entry, text: str = "") -> str:
    """Return a list item that says `text`, or what the first entry says, citing them all."""
    cited = " ".join(cite(one.day, one.id) for one in entries)
    return f"- {text or entries[0].text} {cited}\n"


def cited(one: Entry, page: str = PAGE, part: int = 0) -> Settlement:
    """Return the settlement of an entry cited on a page."""
    return Settlement(entry=one.id, outcome="cited", page=page, part=part)


def decide(
    pages: dict[str, str | None],
    settlements: tuple[Settlement, ...],
    batch: tuple[Entry, ...] = (GOOGLE, TEA),
    **world: Any,
) -> Judged:
    """Judge pages and settlements of a batch; `old` and `elsewhere` are pages and citations that stand."""
    states = {one.id: world.get("states", {}).get(one.id) or fold(one, ()) for one in batch}
    known = {**states, **{one.id: fold(one, ()) for one in world.get("known", ())}}
    old = world.get("old", {})
    existing = {*old, *world.get("existing", ())}
    case = Case(
        parts=[part for state in states.values() for part in parts_of(state)],
        old=old,
        existing=existing,
        folded={fold_path(path) for path in existing},
        find=known.get,
        page_of=lambda one: world.get("elsewhere", {}).get(one, ""),
        masked=world.get("masked", lambda _: False),
    )
    return judge(case, Proposal(pages=pages, settlements=settlements))


def refused(text: str, *, path: str = PAGE, batch: tuple[Entry, ...] = (GOOGLE, TEA), **world: Any) -> str:
    """Return why a page is refused; empty when it is installed."""
    judged = decide({path: text}, tuple(cited(one, path) for one in batch), batch, **world)
    assert (path in judged.pages) == (not any(one.place == path for one in judged.refusals))
    return next((one.reason for one in judged.refusals if one.place == path), "")


BOTH = line(GOOGLE) + line(TEA)


def test_an_honest_page_is_installed() -> None:
    """A page that says what its entries say is accepted, and so are their outcomes."""
    judged = decide({PAGE: HEAD + BOTH}, (cited(GOOGLE), cited(TEA)))
    assert judged.pages == {PAGE: HEAD + BOTH}
    assert judged.settlements == (cited(GOOGLE), cited(TEA))
    assert judged.refusals == ()


@pytest.mark.parametrize(
    "path",
    [
        "Work.md",
        "log.md",
        "index.md",
        "schema.md",
        "3_Personal/../SOUL.md",
        "../USER.md",
        "/3_Personal/Work.md",
        "3_Personal/.hidden.md",
        "3_Personal/.obsidian/app.md",
        "3_Personal//Work.md",
        "3_Personal/Work.txt",
        "3_Personal/CON:.md",
        "3_Personal/a\\b.md",
        "3_Personal/a\u202eb.md",
        "3_Personal/cafe\u0301.md",
        "9_Other/Work.md",
        "archive/2026-07-01.md",
        ".state/outcomes.md",
    ],
)
def test_only_content_pages_may_be_written(path: str) -> None:
    """Navigation, hidden names, other folders, ways out and odd names are refused (P-18)."""
    assert refused(HEAD + BOTH, path=path)


@pytest.mark.parametrize("twin", ["3_Personal/work.md", "3_Personal/WORK.md", "3_personal/Work.md"])
def test_a_name_that_differs_in_case_alone_is_taken(twin: str) -> None:
    """A new page may not stand beside one that some file systems take for the same."""
    assert "exists" in refused(HEAD + BOTH, existing={twin})


def test_two_new_pages_may_not_share_a_folded_name() -> None:
    """Two pages of one proposal that differ in case alone are both refused."""
    pages = {"3_Personal/Tea.md": HEAD + line(TEA), "3_Personal/TEA.md": HEAD + line(TEA)}
    assert decide(pages, (cited(TEA, "3_Personal/Tea.md"),)).pages == {}


def test_a_page_may_not_be_deleted() -> None:
    """A deletion is refused, whatever the page held (P-04)."""
    judged = decide({PAGE: None}, (), old={PAGE: HEAD + BOTH})
    assert judged.pages == {}
    assert "deleted" in judged.refusals[0].reason


@pytest.mark.parametrize(
    "front",
    ["", "---\ntitle: [\n---\n", "---\ntype: personal\n---\n", "---\ntitle: A\ntype: gossip\n---\n"],
)
def test_front_matter_must_be_valid(front: str) -> None:
    """A new page needs front matter that reads, with a title and known words."""
    assert refused(f"{front}\n{BOTH}")


def test_front_matter_may_not_lose_a_persons_field() -> None:
    """A field that is not ours stays through every rewrite."""
    old = HEAD.replace("updated", "cssclass: wide\nupdated") + line(GOOGLE)
    assert "cssclass" in refused(HEAD + BOTH, old={PAGE: old})


@pytest.mark.parametrize(
    "bad",
    [
        "<script>alert(1)</script>",
        "<img src=x onerror=alert(1)>",
        "<!-- hidden -->",
        "%% hidden %%",
        "<% tp.file.title %>",
        "[x](javascript:alert(1))",
        "`$= dv.pages()`",
        "```dataviewjs\ndv.pages()\n```",
        "```js\nx\n```",
    ],
)
def test_active_content_is_refused(bad: str) -> None:
    """Raw HTML, comments that hide text, and code that a viewer would run are refused."""
    assert refused(f"{HEAD}{BOTH}\n{bad}\n")


def test_plain_code_and_a_persons_own_html_are_no_offence() -> None:
    """A fence of plain text is fine, and what stood on the page before is not judged again."""
    assert refused(f"{HEAD}{BOTH}\n```text\n<b>\n```\n") == ""
    old = f"{HEAD}<details>mine</details>\n\n"
    assert refused(old + BOTH, old={PAGE: old}) == ""


def test_a_new_link_must_lead_to_a_page() -> None:
    """A link to a page that is neither there nor proposed is refused; a person's own plan for one stays."""
    assert "leads to no page" in refused(f"{HEAD}{BOTH}- [[3_Personal/Nowhere]]\n")
    assert refused(f"{HEAD}{BOTH}- [[3_Personal/Tea]]\n", existing={"3_Personal/Tea.md"}) == ""
    old = f"{HEAD}- [[3_Personal/Nowhere]]\n"
    assert refused(old + BOTH, old={PAGE: old}) == ""


def test_a_shrunk_page_is_refused() -> None:
    """A page that would lose more than half of its text is refused (R-19)."""
    old = HEAD + "".join(f"Something a person wrote about their work, line {n}.\n" for n in range(40))
    assert "more than half" in refused(HEAD + BOTH, old={PAGE: old})


def test_lines_moved_to_another_page_do_not_count_as_lost() -> None:
    """A page may give its lines to another page of the same proposal."""
    lines = "".join(f"Something a person wrote about their work, line {n}.\n" for n in range(40))
    judged = decide(
        {PAGE: HEAD + BOTH, "5_Archives/Work.md": HEAD + lines},
        (cited(GOOGLE), cited(TEA)),
        old={PAGE: HEAD + lines},
    )
    assert set(judged.pages) == {PAGE, "5_Archives/Work.md"}


@pytest.mark.parametrize(
    "mark",
    [
        "...",
        "…",
        "[...]",
        "(rest unchanged)",
        "... rest of the page unchanged ...",
        "- (remaining items omitted)",
        "*previous content stays as is*",
        "其余内容不变",
        "（省略）",
    ],
)
def test_elision_is_refused(mark: str) -> None:
    """A line that stands for text left out is refused."""
    assert refused(f"{HEAD}{BOTH}\n{mark}\n")


def test_a_sentence_about_rest_is_no_elision() -> None:
    """Words like the marks inside a sentence are words."""
    rest = entry(3, "The rest of the team stays in the Berlin office for now")
    assert refused(HEAD + line(rest), batch=(rest,)) == ""


def test_a_secret_is_refused() -> None:
    """A page that would hold a key is refused, even where the entry held it."""
    leak = entry(3, "The key is sk-proj-abcdefghijklmnopqrstuvwxyz0123456789ABCD")
    assert "secret" in refused(HEAD + line(leak), batch=(leak,))


def test_forgotten_text_is_refused() -> None:
    """A line that the mask knows is refused, however it is cited (P-17)."""
    assert "forgotten" in refused(HEAD + BOTH, masked=lambda text: "green tea" in text)


@pytest.mark.parametrize(
    ("text", "what"),
    [
        ("User works at Google in Zurich since 2024, with 12 others", "number 12"),
        ("User works at Google in Zurich since 2024-03-01", "date 2024-03-01"),
        ("User works at Google in Zurich since 2024 with Marta", "name 'marta'"),
        ("User works at Google in Zurich since 2024 (https://evil.example/x)", "address"),
        ("User works at Google in Zurich since 2024 on `reactor_core`", "code"),
        ("User works at Google in Zurich since 2024. Marta Diaz agrees", "name"),
    ],
)
def test_what_stands_nowhere_may_not_be_stated(text: str, what: str) -> None:
    """A number, date, name, address or code that is in no entry and on no page is refused (R-21, P-11)."""
    assert what in refused(HEAD + line(GOOGLE, text=text) + line(TEA))


def test_dates_may_follow_by_arithmetic() -> None:
    """A date a stated number of days, weeks, months or years away from one in the batch is no invention."""
    due = entry(3, "The report is due in 3 weeks", category="commitment")
    assert refused(HEAD + line(due, text="The report is due in 3 weeks, on 2026-07-22"), batch=(due,)) == ""
    assert "date" in refused(
        HEAD + line(due, text="The report is due in 3 weeks, on 2026-09-22"), batch=(due,)
    )


def test_what_stands_on_an_old_page_may_be_repeated() -> None:
    """What a page said before may be said on it again."""
    old = f"{HEAD}Office with Marta, room 12.\n"
    assert refused(f"{HEAD}Office with Marta in room 12.\n{BOTH}", old={PAGE: old}) == ""


@pytest.mark.parametrize(
    ("text", "lacks"),
    [
        ("User works at Google in Zurich", "number 2024"),
        ("User works in Zurich since 2024", "name 'google'"),
    ],
)
def test_a_citing_line_carries_its_entry(text: str, lacks: str) -> None:
    """A line must carry the numbers, dates and names of what it cites."""
    assert lacks in refused(HEAD + line(GOOGLE, text=text) + line(TEA))


def test_a_line_that_cites_one_entry_says_half_of_it() -> None:
    """Names and numbers alone do not carry an entry: half of its content words must be there (R-33)."""
    boats = entry(1, "User repairs old wooden sailing boats with friends near Google in Zurich since 2024")
    assert "half" in refused(HEAD + line(boats, text="Google, Zurich, 2024"), batch=(boats,))
    assert (
        refused(HEAD + line(boats, text="Repairs wooden sailing boats, Google, Zurich, 2024"), batch=(boats,))
        == ""
    )


def test_a_name_may_stand_in_the_title_above() -> None:
    """On a person's page a line need not repeat the name."""
    dana = entry(3, "Every week the vendor Dana prefers calls before noon")
    head = HEAD.replace("title: Work", "title: Dana").replace("# Work", "# Dana")
    said = line(dana, text="As a vendor prefers calls before noon, every week")
    assert refused(head + said, path="3_Personal/Dana.md", batch=(dana,)) == ""


def test_steps_beneath_a_line_count_as_the_line() -> None:
    """What follows a citing line deeper indented, citing nothing, is part of it."""
    how = entry(3, "Release:\n1. run `make lint`\n2. tag v2.3.1\n3. wait 10 minutes", category="procedure")
    body = (
        f"- Release: {cite(how.day, how.id)}\n  1. run `make lint`\n  2. tag v2.3.1\n  3. wait 10 minutes\n"
    )
    assert refused(HEAD + body, batch=(how,)) == ""
    assert "lacks" in refused(HEAD + body.replace("  2. tag v2.3.1\n", ""), batch=(how,))


def test_a_citation_of_nothing_is_refused() -> None:
    """A page that cites an id no entry has is refused."""
    ghost = entry(9, "User works at Google in Zurich since 2024")
    assert "no entry" in refused(HEAD + BOTH + line(ghost))


def test_cited_means_that_the_page_cites() -> None:
    """An outcome that names a page which does not cite the entry falls; the entry stays pending (R-33)."""
    judged = decide({PAGE: HEAD + line(GOOGLE)}, (cited(GOOGLE), cited(TEA)))
    assert judged.settlements == (cited(GOOGLE),)
    assert judged.refusals[0].place == TEA.id


def test_a_bad_page_falls_with_its_entries_and_what_went_into_them() -> None:
    """A dropped page takes its entries' outcomes with it, and those merged into them; the rest holds."""
    again = entry(3, "User works at Google in Zurich since 2024 still")
    tea = "3_Personal/Tea.md"
    judged = decide(
        {PAGE: HEAD + line(GOOGLE) + "\n...\n", tea: HEAD + line(TEA)},
        (cited(GOOGLE), cited(TEA, tea), Settlement(entry=again.id, outcome="merged", into=GOOGLE.id)),
        (GOOGLE, TEA, again),
    )
    assert set(judged.pages) == {tea}
    assert judged.settlements == (cited(TEA, tea),)


def test_pages_that_link_to_a_dropped_page_fall_too() -> None:
    """The fixpoint reaches what rests on what fell."""
    tea = "3_Personal/Tea.md"
    judged = decide(
        {PAGE: HEAD + line(GOOGLE) + "\n...\n", tea: f"{HEAD}{line(TEA)}- [[3_Personal/Work]]\n"},
        (cited(GOOGLE), cited(TEA, tea)),
    )
    assert judged.pages == {}
    assert judged.settlements == ()


def test_a_page_that_cites_an_unsettled_entry_falls() -> None:
    """A page may not cite an entry of the batch that stays pending: the next dream would write it twice."""
    judged = decide({PAGE: HEAD + BOTH}, (cited(GOOGLE),))
    assert judged.pages == {}
    assert judged.settlements == ()


def test_merges_end_at_a_cited_entry() -> None:
    """A chain of merges holds when it ends at an entry that a page cites, here or elsewhere; a circle does not."""
    a, b, c = (entry(n, f"The boat {n} is red") for n in (5, 6, 7))
    into_b = Settlement(entry=a.id, outcome="merged", into=b.id)
    into_c = Settlement(entry=b.id, outcome="superseded", into=c.id)
    assert decide({}, (into_b, into_c), (a, b), known=(c,), elsewhere={c.id: PAGE}).settlements == (
        into_b,
        into_c,
    )
    assert decide({}, (into_b, into_c), (a, b), known=(c,)).settlements == ()
    circle = Settlement(entry=b.id, outcome="merged", into=a.id)
    assert decide({}, (into_b, circle), (a, b)).settlements == ()
    assert decide({}, (Settlement(entry=a.id, outcome="merged", into="f" * 16),), (a,)).settlements == ()


def decline(one: Entry, reason: str = "small talk") -> Settlement:
    """Return a declining settlement."""
    return Settlement(entry=one.id, outcome="declined", reason=reason)


def test_what_may_not_be_declined() -> None:
    """Pins, explicit writes, promises and what is significant may not be declined, nor anything without a reason."""
    plain = entry(1, "hello there")
    assert decide({}, (decline(plain),), (plain,)).settlements == (decline(plain),)
    assert decide({}, (decline(plain, " "),), (plain,)).settlements == ()
    for one in (
        entry(2, "hello", session=""),
        entry(3, "hello", category="commitment"),
        entry(4, "hello", due="2026-07-03"),
        entry(5, "hello", sig=0.7),
    ):
        assert decide({}, (decline(one),), (one,)).settlements == ()
    pinned = fold(plain, ())
    pinned = type(pinned)(entry=plain, sig=0.5, confirmed=plain.at, pinned=True)
    assert decide({}, (decline(plain),), (plain,), states={plain.id: pinned}).settlements == ()


def test_not_more_than_half_of_a_batch_may_be_declined() -> None:
    """In a batch of ten or more, declining more than half declines nothing (R-07)."""
    batch = tuple(entry(n, f"hello {n}") for n in range(1, 11))
    assert len(decide({}, tuple(map(decline, batch[:5])), batch).settlements) == 5
    assert decide({}, tuple(map(decline, batch[:6])), batch).settlements == ()
    assert len(decide({}, tuple(map(decline, batch[:6])), batch[:6]).settlements) == 6


def test_only_the_batch_is_settled_and_once() -> None:
    """An entry outside the batch, a second outcome, and the runner's own outcome are refused."""
    other = entry(8, "something else")
    judged = decide(
        {PAGE: HEAD + BOTH},
        (
            cited(GOOGLE),
            cited(TEA),
            cited(TEA),
            cited(other),
            Settlement(entry=TEA.id, outcome="unprocessable", reason="no"),
        ),
    )
    assert judged.settlements == (cited(GOOGLE), cited(TEA))
    assert len(judged.refusals) == 3


def test_each_part_of_a_long_entry_is_settled_by_itself() -> None:
    """The parts of a long entry are cited by lines of their own, each carrying its piece (R-18)."""
    text = "".join(f"Chapter {n} tells of the harbour and its many boats. " for n in range(300))
    long = entry(3, text)
    pieces = parts_of(fold(long, ()))
    body = "".join(line(long, text=part.text.strip()) for part in pieces)
    settled = tuple(cited(long, part=part.number) for part in pieces)
    assert decide({PAGE: HEAD + body}, settled, (long,)).settlements == settled


def test_the_same_proposal_is_judged_the_same() -> None:
    """Judging twice gives the same answer."""
    proposal = ({PAGE: HEAD + BOTH + "\n...\n"}, (cited(GOOGLE), cited(TEA)))
    assert decide(*proposal) == decide(*proposal)
