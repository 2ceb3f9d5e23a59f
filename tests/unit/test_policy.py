"""Tests of the judgement of pages: what a dream may write, and why anything else falls."""

from __future__ import annotations

import pytest
from dream_world import entry
from judging import BOTH, GOOGLE, HEAD, PAGE, TEA, cited, decide, line, refused

from reverie.core.pages.citations import cite


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
        "3_Personal/CON.md",
        "3_Personal/lpt1.notes.md",
        "3_Personal/nul/Work.md",
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


@pytest.mark.parametrize(
    ("path", "existing", "why"),
    [
        ("3_Personal/people/Dana.md", "3_Personal/People/Bob.md", "differs from 3_Personal/People in case"),
        ("3_Personal/Café/Dana.md", "3_Personal/Cafe\u0301/Bob.md", "in case or spelling alone"),
        ("3_Personal/Tea.md/Dana.md", "3_Personal/Tea.md", "3_Personal/Tea.md is a file"),
        ("3_Personal/tea.md/Dana.md", "3_Personal/Tea.md", "3_Personal/tea.md is a file"),
        ("3_Personal/Tea.md", "3_Personal/Tea.md/Dana.md", "a folder of this name exists"),
    ],
)
def test_a_new_page_fits_among_the_folders(path: str, existing: str, why: str) -> None:
    """A page goes into no second spelling of a folder, beneath no file, and not in the place of a folder (P-19)."""
    assert why in refused(HEAD + BOTH, path=path, existing={existing})


def test_two_new_pages_may_not_spell_one_folder_differently() -> None:
    """Of two pages whose folders differ in case alone one is refused, and so is a page in the place of a folder."""
    pages = {"3_Personal/Tea/A.md": HEAD + line(TEA), "3_Personal/tea/B.md": HEAD + line(TEA)}
    assert [*decide(pages, (cited(TEA, "3_Personal/Tea/A.md"),)).pages] == ["3_Personal/Tea/A.md"]
    pages = {"3_Personal/Tea.md": HEAD + line(TEA), "3_Personal/Tea.md/B.md": HEAD + line(TEA)}
    assert [*decide(pages, (cited(TEA, "3_Personal/Tea.md/B.md"),)).pages] == ["3_Personal/Tea.md/B.md"]


def test_a_folder_in_two_spellings_takes_pages_in_both() -> None:
    """Where a person has both spellings of a folder, either takes a page, and a zone is always itself."""
    both = {"3_Personal/People/A.md", "3_Personal/people/B.md", "3_personal/C.md"}
    assert not refused(HEAD + BOTH, path="3_Personal/people/Work.md", existing=both)
    assert not refused(HEAD + BOTH, path="3_Personal/People/Work.md", existing=both)


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


@pytest.mark.parametrize(
    "bad",
    [
        "![x](https://example.com/pixel.png)",
        "![x][here]\n\n[here]: https://example.com/pixel.png",
        "[x](obsidian://example.com/?note)",
    ],
)
def test_nothing_is_fetched_by_looking_at_a_page(bad: str) -> None:
    """An image from elsewhere, and a link that commands a program, are refused though an entry names the address."""
    said = entry(9, f"The letter says {bad}", category="fact")
    assert "line " in refused(f"{HEAD}{line(said, text='The letter says x')}{bad}\n", batch=(said,))
    old = f"{HEAD}{bad}\n"
    assert refused(f"{old}{BOTH}", old={PAGE: old}) == ""


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
    assert "leads to no page" in refused(f"{old}{BOTH}- [[3_Personal/No]]\n", old={PAGE: old})
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


@pytest.mark.parametrize("unit", [" ", "*", "- ", " ...", "…", "(", "> ", "the "])
def test_a_line_without_an_end_is_judged(unit: str) -> None:
    """A line made of one mark by the hundred thousand is judged, and the page is refused or not (R-17)."""
    assert isinstance(refused(f"{HEAD}{BOTH}\n{unit * (100_000 // len(unit))}x\n"), str)


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


def test_the_numbers_of_a_list_are_no_statement() -> None:
    """Steps may be numbered although no entry has the numbers; a number within a step may not be made up."""
    steps = entry(9, "To brew tea, warm the pot, then pour the water", category="procedure")
    text = f"{HEAD}{line(steps)}  1. warm the pot\n  22) pour the water\n"
    assert refused(text, batch=(steps,)) == ""
    assert "the number 22" in refused(text.replace("22) pour", "2) pour 22 times"), batch=(steps,))


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
