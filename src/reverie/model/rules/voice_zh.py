"""Turn what a Chinese speaker says of himself into what is said of him: `我喜欢` becomes `用户喜欢`.

Owns the rewriting of pronouns; promises that code, links and quotes are left as they stand. Never decides what is
worth keeping.
"""

from __future__ import annotations

import re

from reverie.core.text.patterns import Words
from reverie.model.rules.claims import Scene

_WORKING = frozenset(("work", "project", "technical", "decision", "procedure", "lesson", "commitment"))
_KEPT = Words(r"`[^`\n]*`|https?://\S+|“[^”\n]{6,}”|「[^」\n]{6,}」|\"[^\"\n]{6,}\"")


def narrated(text: str, category: str, *, scene: Scene) -> str:
    """Rewrite a text from its speaker's view to a third person's; code, links and quotes stay."""
    parts, at = [], 0
    for kept in _KEPT.finditer(text):
        parts += [_renamed(text[at : kept.start()], category, scene), kept[0]]
        at = kept.end()
    return "".join(parts) + _renamed(text[at:], category, scene)


def names(scene: Scene) -> tuple[str, str]:
    """Return how the speaker and the one spoken to are called in stored text."""
    names = {"User": "用户", "Agent": "助手"}
    return names.get(scene.me, scene.me), names.get(scene.you, scene.you)


def _renamed(text: str, category: str, scene: Scene) -> str:
    me, you = names(scene)
    group = f"{me}团队" if category in _WORKING else f"{me}等人"
    text = re.sub(r"(?:我们|咱们)(?=家|公司|团队|组|部门|学校)", me, text)
    text = re.sub(r"我们|咱们", group, text)
    text = re.sub(r"(?<!自)我(?!国)|本人", me, text)
    return re.sub(r"(?:你|您)(?!们|好)", you, text)
