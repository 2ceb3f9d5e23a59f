"""What leads out of a workspace when it is taken for a path, and what lies outside, which nothing may touch or tell."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

CANARY = "the canary that lies outside"

_LEADING = (
    "../../canary.txt",
    "../../../canary.txt",
    "notebook/../../../canary.txt",
    "archive/../../../canary.txt",
    "..%2f..%2fcanary.txt",
    "%2e%2e%2f%2e%2e%2fcanary.txt",
    "%252e%252e%252f%252e%252e%252fcanary.txt",
    "..%c0%af..%c0%afcanary.txt",
    "....//....//canary.txt",
    "..\\..\\canary.txt",
    "C:\\canary.txt",
    "\\\\?\\C:\\canary.txt",
    "\\\\localhost\\c$\\canary.txt",
    "．．／．．／canary.txt",
    "‥/‥/canary.txt",
    "..∕..∕canary.txt",
    "~/canary.txt",
    "$HOME/canary.txt",
    "$(cat ../../canary.txt)",
    "../../canary.txt\0.md",
    "../../canary.txt\n",
    "../../canary.txt ",
    "../../canary.txt.",
    "planted.md",
    "notebook/planted.md",
    "notebook/linked/canary.txt",
    "/dev/stdin",
    "/dev/zero",
    "/proc/self/environ",
    "/proc/self/cwd/canary.txt",
    "CON",
    "nul.md",
    "-rf",
    "--config-dir=/",
    "@../../canary.txt",
    "..",
    ".",
    "/",
    "\\",
    "../" * 1_600 + "canary.txt",
    "a/" * 2_500,
)


@dataclass
class Outside:
    """A home with a canary beside its root, links to it planted in a workspace, and everything as it stood before."""

    home: Path
    workspace: Path
    before: dict[str, bytes] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Plant all of it."""
        for folder in (self.home, self.workspace.parent):
            (folder / "canary.txt").write_text(CANARY)
        (self.workspace / "planted.md").symlink_to(self.canary)
        (self.workspace / "notebook" / "planted.md").symlink_to(self.canary)
        (self.workspace / "notebook" / "linked").symlink_to(self.home)
        self.before = self.stands()

    @property
    def own(self) -> tuple[Path, ...]:
        """The folders that a server may write."""
        return self.workspace, self.workspace.parent / ".reverie", self.home / "config"

    @property
    def canary(self) -> Path:
        """The file that nothing reads."""
        return self.home / "canary.txt"

    @property
    def tricks(self) -> list[str]:
        """What to try in an argument; the home is spelled so that its plain name comes from a server alone."""
        whole = str(self.canary).replace("/", "//")
        return [*_LEADING, whole, f"file:{whole}", f"/proc/self/root{whole}"]

    def stands(self) -> dict[str, bytes]:
        """Return every file that a server may not write."""
        return {
            str(path): path.read_bytes()
            for path in self.home.rglob("*")
            if path.is_file() and not any(path.is_relative_to(one) for one in self.own)
        }

    def told(self, answer: str) -> str:
        """Return what an answer tells that nobody should be told, "" for nothing."""
        if CANARY in answer:
            return "the canary"
        return "the folder" if str(self.home) in answer else ""
