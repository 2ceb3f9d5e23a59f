"""Each backend of the index, in a folder of its own, and short ways to ask it."""

from __future__ import annotations

from contextlib import nullcontext

from july import TODAY

from reverie.core.search.query import parse
from reverie.core.settings.value import Settings
from reverie.index.choosing import open_index
from reverie.testing import ToyEmbedder

BACKENDS = ("embedded", "lancedb")
LAKES = "painted lakes in Berlin"
SYNONYMS = {"automobile": "car", "茶": "tea"}


class Place:
    """A workspace's folder, and how to open its index."""

    def __init__(self, root, backend):
        self.root, self.backend = root, backend
        self.opened = []

    def open(self, embedder=None, *, lock=lambda _: nullcontext(), **settings):
        """Open the index; it is closed when the test is over."""
        chosen = Settings(index=settings.pop("index", self.backend), **settings)
        index = open_index(chosen, self.root, name="ws", embedder=embedder, lock=lock)
        self.opened.append(index)
        return index

    def close(self):
        """Close everything."""
        for index in self.opened:
            index.close()

    @property
    def words(self):
        """Where the backend keeps words."""
        return self.root / ".index" / ("text" if self.backend == "embedded" else "lance")

    @property
    def vectors(self):
        """Where the backend keeps vectors."""
        return self.root / ".index" / ("vectors" if self.backend == "embedded" else "lance")


def toy(**options):
    """Return an embedder for which some words mean the same."""
    return ToyEmbedder(synonyms=SYNONYMS, **options)


def asked(index, question, **more):
    """Return the candidates of a question, by words and by meaning."""
    return index.search(parse(question, TODAY), vector=index.meaning(question), **more)


def ids(index, question, **more):
    """Return the ids of a question's candidates, best words first, then nearest."""
    return [one.row.id for one in asked(index, question, **more)]


def spoken(index, question, **more):
    """Return the ids found by words alone."""
    return [one.row.id for one in index.search(parse(question, TODAY), **more)]


def nearest(index, question, **more):
    """Return the id nearest in meaning."""
    found = [one for one in asked(index, question, **more) if one.similarity is not None]
    return max(found, key=lambda one: one.similarity).row.id
