"""A quick search, for tests."""

from __future__ import annotations

from regretless.search import auto
from regretless.search.candidates import Candidate

FEW = [Candidate("map-dc", 0.01), Candidate("soft", 0.01), Candidate("spo-cache", 0.03, anchor=0.3)]


def search(loaded, **more):
    return auto(loaded.problem, loaded.train, loaded.model, candidates=FEW, epochs=4, progress=False, **more)
