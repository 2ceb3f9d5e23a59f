"""The sample conversations lived through whole, against the hand-written answers."""

from __future__ import annotations

import tomllib
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from reverie.core.fold import EntryState
from reverie.core.where import Where
from reverie.recall import Ask
from reverie.surface.cli.demo_life import Life, begin, live, turns_of
from reverie.surface.cli.demo_talk import SAMPLES, sample_talks

ANSWERS: dict[str, list[dict[str, Any]]] = tomllib.loads(
    (SAMPLES / "answers.toml").read_text(encoding="utf-8")
)
ALL = Where(include_previous=True, include_hidden=True)
DERIVED = (".index", ".state/locks")


@dataclass(frozen=True, slots=True)
class Week:
    """One sample lived through: its life, its folder, and its part of the answers."""

    name: str
    life: Life
    folder: Path

    def answers(self, kind: str) -> list[dict[str, Any]]:
        """Return this file's answers of a kind."""
        return [one for one in ANSWERS[kind] if one["file"] == self.name]

    def states(self) -> list[EntryState]:
        """Return every entry, previous and hidden ones too."""
        return self.life.memory.list(ALL)


@pytest.fixture(scope="module", params=["aria.jsonl", "xiaolan.jsonl"])
def week(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Week]:
    """A sample's week, lived through on its own clock."""
    name = str(request.param)
    talk = next(one for one in sample_talks() if f"{one.agent}.jsonl" == name)
    folder = tmp_path_factory.mktemp(talk.agent)
    life, clock = begin(talk, folder / "workspace", config_dir=folder / "config")
    for _ in live(life, clock):
        pass
    yield Week(name, life, folder / "workspace")
    life.memory.close()


def holds(state: EntryState, words: list[str]) -> bool:
    """Whether an entry's text or evidence has all the words."""
    text = f"{state.entry.text} {state.entry.evidence}".casefold()
    return all(word.casefold() in text for word in words)


def test_changed_facts_show_the_present_first(week: Week) -> None:
    """P-10: of a fact that changed the new value is current, and the old employer is no longer."""
    settled = []
    for answer in week.answers("current"):
        states = week.states()
        new = [one for one in states if holds(one, answer["must"]) and one.current]
        old = [one for one in states for words in answer.get("previous", ()) if holds(one, [words])]
        old = [one for one in old if not holds(one, answer["must"])]
        settled.append((answer["subject"], bool(new), sum(one.current for one in old), len(old)))
    for subject, found, still, of in settled:
        print(
            f"  {week.name} {subject}: new value {'current' if found else 'not found'}, old current {still} of {of}"
        )
    employer = settled[0]
    assert employer[1]
    assert employer[2] == 0
    assert employer[3] > 0
    assert sum(found for _, found, _, _ in settled) >= len(settled) - 1


def test_what_holds_side_by_side_is_not_replaced(week: Week) -> None:
    """Liking tea does not replace liking coffee: both stay current."""
    for answer in week.answers("current"):
        for words in answer.get("beside", ()):
            assert any(holds(one, [words]) and one.current for one in week.states()), answer["subject"]


@pytest.mark.slow
def test_every_entry_has_an_outcome(week: Week) -> None:
    """After the last night nothing is pending, and the watermark is the last day."""
    status = week.life.memory.status()
    assert status.pending == {}
    assert status.watermark == week.life.days[-1].day
    assert sum(status.outcomes.values()) == status.entries


def test_promises_are_due_when_they_were_promised(week: Week) -> None:
    """Most promises are on the due list, or done, with the date the speaker meant."""
    promised = [one for one in week.states() if one.due]
    right = 0
    answers = week.answers("due")
    for answer in answers:
        day = answer["date"].isoformat()
        right += any(
            one.due[:10] == day and one.entry.turns and from_turn(week, one, answer["turn"])
            for one in promised
        )
    print(f"  {week.name}: {right} of {len(answers)} promises have their date")
    assert right >= 0.7 * len(answers)


def from_turn(week: Week, state: EntryState, turn: str) -> bool:
    """Whether an entry was read from the turn of that id."""
    return turn in turns_of(week.life, state.entry.session, turns=state.entry.turns)


def test_no_secret_reaches_the_disk(week: Week) -> None:
    """R-44: no file of the workspace holds a secret of the conversation."""
    secrets = [one["text"] for one in week.answers("never") if one.get("on_disk") is False]
    assert secrets
    for path in week.folder.rglob("*"):
        if path.is_file():
            data = path.read_bytes()
            assert not [secret for secret in secrets if secret.encode() in data], path


@pytest.mark.slow
def test_what_must_not_be_remembered_is_no_active_entry(week: Week) -> None:
    """Small talk, questions, jokes, hypotheses and instructions in quoted web text become no active entry."""
    for never in week.answers("never"):
        kept = [
            one.entry.text
            for one in week.states()
            if one.entry.status == "active" and holds(one, [never["text"]])
        ]
        assert not kept, never


def test_questions_find_their_turns(week: Week) -> None:
    """Most questions about the week have a turn that answers them among the first ten hits."""
    found = 0
    questions = week.answers("question")
    for question in questions:
        hits = week.life.memory.ask(Ask(query=question["text"], k=10)).hits
        reached: set[str] = set()
        for hit in hits:
            if hit.turns:
                reached.update(turns_of(week.life, hit.session, turns=hit.turns))
            for entry in hit.entries:
                cited = week.life.memory.get(entry).entry
                reached.update(turns_of(week.life, cited.session, turns=cited.turns))
        if reached.intersection(question["turns"]):
            found += 1
        else:
            print(f"  {week.name}: {question['text']} has none of {question['turns']}")
    print(f"  {week.name}: {found} of {len(questions)} questions find their turn")
    assert found >= 0.85 * len(questions)


def test_memory_file_shows_the_present_employer_alone(week: Week) -> None:
    """MEMORY.md names the present employer, and no line says the user works where they no longer do."""
    employer = week.answers("current")[0]
    text = (week.folder / "MEMORY.md").read_text(encoding="utf-8")
    previous = {one.entry.id for one in week.states() if holds(one, employer["previous"]) and not one.current}
    assert employer["must"][0] in text
    assert not [entry for entry in previous if entry in text]


def test_the_workspace_checks_clean(week: Week) -> None:
    """After a whole week every invariant of the files holds."""
    assert week.life.memory.check() == ()
