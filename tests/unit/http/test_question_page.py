"""The page of a question, and of its answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from pausepoint.domain.answers import refusal_text
from pausepoint.domain.calls import CallStatus, Decision, PendingToolCall, Question
from pausepoint.domain.canonical import short_code
from pausepoint.http.page import outcome_page
from pausepoint.http.question_page import question_page
from tests.unit.http.samples import ASKED, NOW, Page, pending_call, words

S = CallStatus
TOKEN = "q" * 43
ACTION = "/approvals/s-1/c3-0"


def question(text: str = "Which region?", *choices: str, **changes: Any) -> PendingToolCall:
    arguments = {"choices": list(choices) or None, "question": text}
    return pending_call(arguments, name="ask_human", question=Question(text=text, choices=choices), **changes)


def page(call: PendingToolCall) -> str:
    return question_page(call, token=TOKEN, action=ACTION, now=NOW)


def answered(answer: str) -> PendingToolCall:
    call = question()
    decision = Decision(
        verdict="answered",
        by="the holder of the approval link",
        at=ASKED,
        verified="link",
        digest_shown=call.digest,
        digest_approved=call.digest,
        answer=answer,
    )
    return replace(call, status=S.ANSWERED, decision=decision)


def test_the_question_is_large_and_who_asks_and_until_when_is_said() -> None:
    call = question()
    text = words(page(call))
    assert '<h1 class="question"><bdi dir="ltr" translate="no">Which region?</bdi></h1>' in page(call)
    for part in (
        "custodian asks Which region?",
        "written by the model; nobody has checked it",
        "arn:aws:iam::123456789012:user/maria",
        "2026-11-30 15:04 UTC",
        "in 23 hours",
        short_code(call.digest),
        call.digest,
        call.arguments,
        "Exactly what is asked",
    ):
        assert part in text


def test_a_free_answer_is_a_text() -> None:
    parsed = Page(page(question()))
    assert parsed.all("form") == [{"method": "post", "action": ACTION, "autocomplete": "off"}]
    hidden = {field["name"]: field["value"] for field in parsed.all("input")}
    assert hidden == {"t": TOKEN, "digest": question().digest}
    [area] = parsed.all("textarea")
    assert (area["name"], area["maxlength"]) == ("answer", "2000")
    assert {"for": area["id"]} in parsed.all("label")
    assert [(b["name"], b["value"]) for b in parsed.all("button")] == [("decision", "answered")]


def test_choices_are_buttons_that_post_their_number() -> None:
    source = page(question("Which?", "eu", "us\r\n\u202e", ""))
    parsed = Page(source)
    assert parsed.all("textarea") == []
    buttons = [(button["name"], button["value"]) for button in parsed.all("button")]
    assert buttons == [("choice", "0"), ("choice", "1"), ("choice", "2")]
    assert {"type": "hidden", "name": "decision", "value": "answered"} in parsed.all("input")
    text = words(source)
    assert "‹U+000D CARRIAGE RETURN›" in text
    assert "‹empty text›" in text


def test_a_question_without_a_text_of_its_own_shows_the_arguments_first() -> None:
    call = pending_call({"path": "a.txt"}, name="pick_a_name", question=Question())
    text = words(page(call))
    assert "custodian asks by pick_a_name" in text
    assert text.index("Exactly what is asked") < text.index("Your answer")


def test_r25_hidden_characters_of_a_question_are_named() -> None:
    assert "‹U+202E RIGHT-TO-LEFT OVERRIDE›" in words(page(question("Which\u202e?")))


def test_a_questions_arguments_cannot_be_changed() -> None:
    assert "Change the arguments" not in words(page(question()))


@pytest.mark.parametrize(
    ("answer", "shown"),
    [
        ('"eu"', "‹text› eu"),
        ("false", "‹true/false› false"),
        ("0", "‹number› 0"),
        ('""', "‹text› ‹empty text›"),
        ('{"a":[1]}', "‹object, 1 key› ‹key 1› a ‹list, 1 item› ‹item 1› ‹number› 1"),
    ],
)
def test_the_answer_is_shown_with_who_gave_it(answer: str, shown: str) -> None:
    text = words(outcome_page(answered(answer), now=NOW))
    assert "custodian asked by ask_human Answered Answered by the holder of the approval link at" in text
    assert f"Answer {shown} Decision" in text
    assert "run" not in text.partition("Exact text")[0]


@pytest.mark.parametrize(
    ("status", "title", "told"),
    [
        (S.EXPIRED, "Expired, not answered", "Not answered: nobody answered in time, so the question expired."),
        (S.CANCELLED, "Cancelled, not answered", "Not answered: the question was cancelled."),
    ],
)
def test_case_45_a_question_that_nobody_answered_is_told_as_that(status: CallStatus, title: str, told: str) -> None:
    call = question(status=status)
    text = words(outcome_page(call, now=NOW))
    assert title in text
    assert "run" not in text.partition("Exact text")[0]
    assert refusal_text(call) == told
