"""Tokens: made once, kept as hashes, bound to a root, to workspaces, to people, to a right and to a time."""

from __future__ import annotations

import hmac
import json
import stat
from datetime import timedelta
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pytest
from http_world import NOW

from reverie.errors import BadSettings, Conflict, DamagedFile, NewerFormat, NotFound, UsageError
from reverie.surface.cli.main import run
from reverie.surface.http import tokens as module
from reverie.surface.http.tokens import TOKENS, Tokens
from reverie.testing import FixedClock

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def clock() -> FixedClock:
    """A clock that stands."""
    return FixedClock(NOW)


@pytest.fixture
def tokens(tmp_path: Path, clock: FixedClock) -> Tokens:
    """The tokens of a root."""
    return Tokens(tmp_path / "config", tmp_path / "root", clock=clock)


def test_the_first_token_is_made_once_for_its_owner_alone(tokens: Tokens) -> None:
    """The first start makes a file only its owner may read, and later starts find the same token in it."""
    file = tokens.first()
    token = file.read_text().strip()
    assert tokens.first() == file
    assert file.read_text().strip() == token
    for made in (file, file.parent / TOKENS):
        assert stat.S_IMODE(made.stat().st_mode) == 0o600
    grant = tokens.grant(token)
    assert grant is not None
    assert grant.allows("admin", workspace="any", person="anybody")


def test_a_lost_first_token_is_made_anew_and_the_old_one_opens_nothing(tokens: Tokens) -> None:
    """Without its file the first token is replaced, and the one that was lost is no longer valid."""
    file = tokens.first()
    old = file.read_text().strip()
    file.unlink()
    new = tokens.first().read_text().strip()
    assert new != old
    assert tokens.grant(old) is None
    assert tokens.grant(new) is not None


def test_no_token_stands_in_the_list(tokens: Tokens, tmp_path: Path) -> None:
    """The list of tokens holds hashes, and neither the first nor a further token."""
    made = [tokens.first().read_text().strip(), tokens.add("phone", "read")]
    kept = (tmp_path / "config" / TOKENS).read_text()
    assert not any(token in kept for token in made)
    assert len(json.loads(kept)["tokens"]) == 2


def test_a_token_opens_one_root(tokens: Tokens, tmp_path: Path) -> None:
    """A token of one root opens nothing beneath another, whose first token has a file of its own."""
    other = Tokens(tmp_path / "config", tmp_path / "elsewhere", clock=FixedClock(NOW))
    mine, theirs = tokens.first(), other.first()
    assert mine != theirs
    assert other.grant(mine.read_text().strip()) is None
    assert tokens.grant(theirs.read_text().strip()) is None
    assert tokens.first() == mine


def test_a_removed_token_opens_nothing_at_once(tokens: Tokens) -> None:
    """A token that was removed is refused by a server that knew it a moment ago."""
    token = tokens.add("phone", "write")
    assert tokens.grant(token)
    tokens.remove("phone")
    assert tokens.grant(token) is None
    with pytest.raises(NotFound, match="phone"):
        tokens.remove("phone")


def test_a_token_expires(tokens: Tokens, clock: FixedClock) -> None:
    """A token opens what it does until its time, and nothing from then on."""
    token = tokens.add("guest", "read", expires=NOW + timedelta(hours=1))
    assert tokens.grant(token)
    clock.advance(hours=1)
    assert tokens.grant(token) is None


def test_a_name_is_given_once(tokens: Tokens) -> None:
    """Two tokens cannot have one name, and one without a name, a workspace or a known right is refused."""
    tokens.add("phone", "read")
    with pytest.raises(Conflict, match="phone"):
        tokens.add("phone", "admin")
    with pytest.raises(UsageError):
        tokens.add(" ", "read")
    with pytest.raises(UsageError):
        tokens.add("x", "root")  # type: ignore[arg-type]
    with pytest.raises(UsageError):
        tokens.add("x", "read", workspaces=())


@pytest.mark.parametrize("token", ["", "rev_", "x" * 10_000, "rev_\ud800", "\x00"])
def test_what_is_no_token_opens_nothing(tokens: Tokens, token: str) -> None:
    """An empty, cut, huge or malformed token opens nothing and breaks nothing."""
    tokens.first()
    assert tokens.grant(token) is None


@pytest.mark.parametrize(
    ("right", "may"),
    [("read", {"read"}), ("write", {"read", "write"}), ("admin", {"read", "write", "admin"})],
)
def test_a_right_holds_the_smaller_ones(tokens: Tokens, right: str, may: set[str]) -> None:
    """Who may write may read, who is an admin may all, and nobody may more."""
    grant = tokens.grant(tokens.add("x", right))  # type: ignore[arg-type]
    assert grant is not None
    assert {one for one in ("read", "write", "admin") if grant.may(one)} == may


def test_a_token_of_some_people_opens_nobody_else(tokens: Tokens) -> None:
    """A token for Dana opens neither the agent's own memory nor another person's; "" opens the agent's alone."""
    dana = tokens.grant(tokens.add("dana", "read", people=("Dana",)))
    own = tokens.grant(tokens.add("own", "read", people=("",)))
    assert dana is not None
    assert own is not None
    assert [dana.knows(one) for one in ("Dana", "dana", "Mira", "", "*")] == [
        True,
        False,
        False,
        False,
        False,
    ]
    assert [own.knows(one) for one in ("", "Dana")] == [True, False]


def test_a_list_that_others_may_read_is_refused(tokens: Tokens, tmp_path: Path) -> None:
    """A list or a first token's file that others may read is an error with its remedy."""
    file = tokens.first()
    (tmp_path / "config" / TOKENS).chmod(0o644)
    with pytest.raises(BadSettings, match="chmod 600"):
        Tokens(tmp_path / "config", tmp_path / "root").grants()
    (tmp_path / "config" / TOKENS).chmod(0o600)
    file.chmod(0o604)
    with pytest.raises(BadSettings, match="chmod 600"):
        tokens.first()


@pytest.mark.parametrize("text", ["", "{", "[]", '{"tokens": [{"name": 1}]}'])
def test_a_damaged_list_opens_nothing(tokens: Tokens, tmp_path: Path, text: str) -> None:
    """A list that cannot be read is named and left alone, and no request passes meanwhile."""
    tokens.first()
    place = tmp_path / "config" / TOKENS
    place.write_text(text)
    with pytest.raises(DamagedFile, match=TOKENS):
        tokens.grant("rev_x")
    with pytest.raises(DamagedFile, match=TOKENS):
        tokens.add("x", "admin")
    assert place.read_text() == text


def test_a_newer_list_is_refused(tokens: Tokens, tmp_path: Path) -> None:
    """A list of a newer version is refused instead of being read as if it were this one."""
    tokens.first()
    (tmp_path / "config" / TOKENS).write_text('{"version": 2, "tokens": []}')
    with pytest.raises(NewerFormat):
        tokens.grants()


def test_the_command_makes_lists_and_removes_tokens(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """`reverie token` prints a new token once, lists what each opens without it, and removes one by its name."""

    def said(*words: str) -> str:
        capsys.readouterr()
        assert (
            run(["--config-dir", str(tmp_path / "config"), "token", *words, "--root", str(tmp_path / "root")])
            == 0
        )
        return capsys.readouterr().out

    made = said("add", "phone", "--right", "write", "--agent", "support", "--person", "Dana", "--days", "30")
    grant = Tokens(tmp_path / "config", tmp_path / "root").grant(made.strip())
    assert grant is not None
    assert (grant.right, grant.workspaces, grant.people) == ("write", ("support",), ("Dana",))
    assert grant.expires is not None
    listed = said("list")
    assert "phone: write of support for Dana until" in listed
    assert made.strip() not in listed + said("list", "--json")
    said("remove", "phone")
    assert Tokens(tmp_path / "config", tmp_path / "root").grants() == ()


@pytest.mark.parametrize("which", [0, 2, None])
def test_each_token_is_compared_whichever_it_is(
    tokens: Tokens, monkeypatch: pytest.MonkeyPatch, which: int | None
) -> None:
    """Every token is compared, whole and in constant time, so that the time tells neither its place nor its text."""
    made = [tokens.add(name, "read") for name in ("a", "b", "c")]
    compared: list[int] = []

    def compare(left: bytes, right: bytes) -> bool:
        compared.append(len(left) - len(right))
        return hmac.compare_digest(left, right)

    monkeypatch.setattr(module, "hmac", SimpleNamespace(compare_digest=compare))
    found = tokens.grant("x" if which is None else made[which])
    assert (found.name if found else None) == (None if which is None else "abc"[which])
    assert compared == [0, 0, 0]
