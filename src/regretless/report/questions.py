"""The questions of the paper, each answered by the tables and figures that name it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from regretless.report.attachments import Attachment
from regretless.report.groups import natural_order

QUESTIONS = {
    "Q1": "How good is each contrastive loss, in terms of regret?",
    "Q2": "What does the growth of the solution cache do to quality and time?",
    "Q3": "What do other solver-agnostic methods gain from the cache?",
    "Q4": "How do the methods compare with the state of the art, in regret and in time?",
}
MORE = "Further tables and figures"


@dataclass(frozen=True)
class Question:
    """A section of the page: its id, its name in the table of contents, its heading, and what it holds."""

    anchor: str
    name: str
    heading: str
    items: Sequence[Attachment]


def questions(attachments: Sequence[Attachment]) -> list[Question]:
    """Sort tables and figures into sections: numbered questions first, then other headings, the rest last."""
    names = {item.question for item in attachments}
    found = []
    for name in sorted(names, key=lambda name: (not name, not re.fullmatch(r"Q\d+", name), natural_order(name))):
        heading = f"{name}. {QUESTIONS[name]}" if name in QUESTIONS else (name or MORE)
        anchor = "question-" + (re.sub(r"[^a-z0-9]+", "-", name.lower()) or "more")
        found.append(Question(anchor, name or MORE, heading, [item for item in attachments if item.question == name]))
    return found
