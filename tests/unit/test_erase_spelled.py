"""However a file spells erased words: they go, or the file is named, before the erase and after it."""

from __future__ import annotations

import base64
import bz2
import gzip
import html
import io
import json
import lzma
import pickle
import quopri
import sqlite3
import tarfile
import zipfile
import zlib
from typing import TYPE_CHECKING
from urllib.parse import quote, quote_plus

import pytest
from hypothesis import given
from hypothesis import strategies as st

from reverie import layout
from reverie.core.formats.containers import MOST, closed, contents
from reverie.core.formats.readings import readings
from reverie.core.text.phrases import phrase

if TYPE_CHECKING:
    from desk import Desk

NUTS = "User is severely allergic to macadamia nuts"
HAN = "用户对夏威夷果严重过敏"
B = NUTS.encode()
ESCAPED = "".join(f"\\u{ord(one):04x}" for one in NUTS)


def zipped(data: bytes, how: int = zipfile.ZIP_DEFLATED) -> bytes:
    """Return a zip file with one member, as a program that writes forward makes it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", how) as file:
        file.writestr("document.xml", data)
    return out.getvalue()


def archived(mode: str) -> bytes:
    """Return a tar file with one member."""
    out = io.BytesIO()
    with tarfile.open(fileobj=out, mode=mode) as file:
        info = tarfile.TarInfo("x.txt")
        info.size = len(B)
        file.addfile(info, io.BytesIO(B))
    return out.getvalue()


def table() -> bytes:
    """Return a database that holds the words."""
    with sqlite3.connect(":memory:") as db:
        db.execute("CREATE TABLE said (text)")
        db.execute("INSERT INTO said VALUES (?)", (NUTS,))
        db.commit()
        data = db.serialize()
    db.close()
    return data


SPELLED = {
    "a text": B,
    "upper case": NUTS.upper().encode(),
    "wide": "".join(chr(ord(one) + 0xFEE0) if "!" <= one <= "~" else one for one in NUTS).encode(),
    "soft hyphens": NUTS.replace("all", "al\u00adl").encode(),
    "no blanks that are seen": NUTS.replace("maca", "ma\u200bca\u2060").encode(),
    "a mark of byte order": f"\ufeff{NUTS}".encode(),
    "broken lines": NUTS.replace(" ", "\n").encode(),
    "a quotation": NUTS.replace(" ", "\n> ").encode(),
    "an older code page": f"é {NUTS}".encode("latin-1"),
    "UTF-16": NUTS.encode("utf-16"),
    "UTF-16 without a mark": NUTS.encode("utf-16-be"),
    "UTF-32": NUTS.encode("utf-32"),
    "JSON in JSON": json.dumps({"a": json.dumps({"b": json.dumps([NUTS])})}).encode(),
    "escapes in a text": f'say "{ESCAPED}"'.encode(),
    "base64": base64.b64encode(B),
    "base64 in a text": b"data:text/plain;base64," + base64.urlsafe_b64encode(B).rstrip(b"=") + b".",
    "an address": quote(NUTS).encode(),
    "a form": quote_plus(NUTS).encode(),
    "a mail": quopri.encodestring(f"Ä {NUTS}".encode()),
    "a page with blanks that do not break": NUTS.replace(" ", "&nbsp;").encode(),
    "a page in numbers": "".join(f"&#{ord(one)};" for one in NUTS).encode(),
    "a page with tags": NUTS.replace(" ", "</b> <i>").encode(),
    "a word in two runs": NUTS.replace("maca", "<w:t>maca</w:t></w:r><w:r>").encode(),
    "gzip": gzip.compress(B),
    "two gzip streams": gzip.compress(b"Soup.\n") + gzip.compress(B),
    "zlib": zlib.compress(B),
    "a zip": zipped(B),
    "a zip that only stores": zipped(B, zipfile.ZIP_STORED),
    "a zip in a zip": zipped(zipped(f"<t>{html.escape(NUTS)}</t>".encode())),
    "a tar": archived("w"),
    "a tar in gzip": archived("w:gz"),
    "bzip2": bz2.compress(B),
    "xz": lzma.compress(B * 9),
    "a database": table(),
    "pickled": pickle.dumps({"a": NUTS}),
    "bytes": b"\0\1\2" + B + b"\xff\0",
    "wide bytes": b"\0\1\2" + NUTS.encode("utf-16-le") + b"\xff\0",
    "Chinese in UTF-16": HAN.encode("utf-16"),
    "Chinese in a zip": zipped(HAN.encode("utf-16-le") + "，。 a".encode("utf-16-le")),
}


@pytest.mark.parametrize("how", list(SPELLED))
def test_words_go_or_the_file_is_named(desk: Desk, how: str) -> None:
    """Written into a file in any of these ways, the words are gone after an erase, or the answer names the file."""
    entries = [desk.remember(NUTS), desk.remember(HAN)]
    desk.memory.drain()
    file = desk.root / layout.FILES / "kept.bin"
    file.parent.mkdir(exist_ok=True)
    file.write_bytes(SPELLED[how])
    planned = desk.memory.erase(entries, dry_run=True)
    assert file.read_bytes() == SPELLED[how]
    done = desk.memory.erase(entries)
    named = [one for one in done.leftovers if "kept.bin" in one]
    if file.read_bytes() == SPELLED[how]:
        assert named
        assert [one for one in planned.leftovers if "kept.bin" in one] == named
    else:
        assert not named
        assert "files/kept.bin" in planned.places
        text = " ".join(phrase(file.read_bytes().decode("utf-8", "replace")))
        assert "macadamia" not in text
    assert not any(one != named[0] for one in done.leftovers if named)


@pytest.mark.parametrize("name", [".DS_Store", "notes.txt"])
def test_a_stray_file_among_people_keeps_no_erase(desk: Desk, name: str) -> None:
    """A file that lies where people's folders are is cleaned like any other, and the erase is finished."""
    entry = desk.remember(NUTS)
    desk.keep(desk.memory.person("Dana")).remember("I like soup")
    (desk.root / layout.PEOPLE / name).write_bytes(B)
    assert f"people/{name}" in desk.memory.erase([entry], dry_run=True).places
    assert desk.memory.erase([entry]).leftovers == ()
    assert (desk.root / layout.PEOPLE / name).read_bytes() == b"[erased]"
    assert desk.again().remember("Something new").queued


def test_what_nobody_sees_makes_no_other_statement(desk: Desk) -> None:
    """Forgotten words said again with soft hyphens and joiners in them stay hidden."""
    entry = desk.remember(NUTS)
    desk.memory.drain()
    desk.memory.forget([entry])
    again = desk.memory.remember(NUTS.replace("maca", "ma\u00adca\u200d").replace(" is", "\u200b is"))
    assert again.asked
    assert desk.memory.list() == []
    assert desk.found("macadamia") == []


def test_what_is_packed_is_bounded() -> None:
    """A file that would unpack to more than may be held gives what fits, and one inside another ends somewhere."""
    bomb = gzip.compress(b"\0" * (MOST + 5_000))
    assert sum(map(len, contents(bomb))) <= MOST + len(bomb)
    data = B
    for _ in range(9):
        data = gzip.compress(data)
    assert len(list(contents(data))) == 4


def test_words_behind_damage_in_a_compressed_month_are_found() -> None:
    """A month whose first member was damaged still gives the words of the next one to whoever searches it."""
    first, second = (
        gzip.compress(f'{{"text": "{word}"}}\n'.encode()) for word in ("quernstone", "zarfquill")
    )
    harmed = first[:12] + bytes(len(first) - 12) + second
    assert any("zarfquill" in text for text in readings(".journal/archive/2026-07.jsonl.gz", harmed))


def test_what_cannot_be_read_is_known() -> None:
    """PDF, bzip2, xz and an encrypted zip are told; a text, a picture and an ordinary zip are not."""
    locked = bytearray(zipped(B))
    locked[6] |= 1
    assert all(map(closed, (b"%PDF-1.7\n", bz2.compress(B), lzma.compress(B), bytes(locked))))
    assert not any(map(closed, (B, b"\x89PNG\r\n\x1a\n", zipped(B), b"")))


@given(
    data=st.binary(max_size=300),
    head=st.sampled_from([b"", b"\x1f\x8b\x08", b"\x78\x9c", b"PK\x03\x04", b"<", b"%", b"&#"]),
)
def test_no_bytes_break_a_reading(data: bytes, head: bytes) -> None:
    """Whatever a file holds, it is read to the end."""
    for path in ("a", "a.json", "a.gz", "a.jsonl.gz"):
        assert all(isinstance(text, str) for text in readings(path, head + data))
