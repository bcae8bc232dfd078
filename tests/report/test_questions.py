from __future__ import annotations

from regretless.report.attachments import Attachment
from regretless.report.questions import MORE, questions


def test_questions_come_in_order_and_the_rest_last() -> None:
    names = ("Q10", "", "Beyond the paper", "Q2", "Q1")
    found = questions([Attachment(f"title of {name}", question=name) for name in names])
    assert [question.name for question in found] == ["Q1", "Q2", "Q10", "Beyond the paper", MORE]
    assert [question.heading for question in found][2:] == ["Q10", "Beyond the paper", MORE]
    assert found[0].heading == "Q1. How good is each contrastive loss, in terms of regret?"
    assert [question.anchor for question in found][2:] == ["question-q10", "question-beyond-the-paper", "question-more"]


def test_a_question_holds_what_names_it_in_its_order() -> None:
    (question,) = questions([Attachment("b", question="Q1"), Attachment("a", question="Q1")])
    assert [item.title for item in question.items] == ["b", "a"]


def test_nothing_attached_asks_no_question() -> None:
    assert questions([]) == []
