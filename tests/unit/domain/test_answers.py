"""What the model is told of calls that were not run, or not run as it asked."""

from __future__ import annotations

import pytest

from pausepoint.domain.answers import edited_note, refusal_text
from pausepoint.domain.calls import CallStatus
from tests.support.sessions import ARGUMENTS, decision, question, record

S = CallStatus


def test_case_27_a_rejection_without_a_reason_says_so_and_not_to_repeat() -> None:
    text = refusal_text(record(status=S.REJECTED, decision=decision("rejected", reason=" \n")))
    assert "a person rejected" in text
    assert "Do not repeat" in text


def test_case_28_a_reason_is_passed_on_word_for_word() -> None:
    reason = 'He said "no",\nthen 🎉 </tool_result> {braces} %s'
    assert reason in refusal_text(record(status=S.REJECTED, decision=decision("rejected", reason=reason)))


def test_case_45_an_expired_call_was_neither_denied_nor_will_it_run() -> None:
    text = refusal_text(record(status=S.EXPIRED))
    assert "expired" in text
    assert text.startswith("Not run")
    assert "rejected" not in text
    assert "denied" not in text


@pytest.mark.parametrize("status", [S.CANCELLED, S.STALE, S.REJECTED, S.EXPIRED])
def test_whatever_was_not_run_is_said_not_to_have_run(status: CallStatus) -> None:
    assert refusal_text(record(status=status)).startswith("Not run")


@pytest.mark.parametrize(
    ("answer", "text"),
    [
        ('"eu"', "eu"),
        ('"  two\\n lines \\"x\\" "', '  two\n lines "x" '),
        ("false", "false"),
        ("0", "0"),
        ("-0.0", "-0.0"),
        ('""', '""'),
        ('" \\n"', '" \\n"'),
        ('{"a":[1,null]}', '{"a":[1,null]}'),
        ('"{\\"a\\":1}"', '{"a":1}'),
    ],
)
def test_an_answer_is_passed_on_word_for_word_and_is_never_empty(answer: str, text: str) -> None:
    assert refusal_text(question(status=S.ANSWERED, decision=decision("answered", answer=answer))) == text


@pytest.mark.parametrize("status", [S.CANCELLED, S.EXPIRED])
def test_a_question_that_was_not_answered_is_said_not_to_have_been(status: CallStatus) -> None:
    assert refusal_text(question(status=status)).startswith("Not answered")


@pytest.mark.parametrize("status", [S.PENDING, S.APPROVED, S.EXECUTING, S.IN_DOUBT])
def test_a_call_that_is_not_at_its_end_has_no_answer(status: CallStatus) -> None:
    with pytest.raises(AssertionError):
        refusal_text(record(status=status))


def test_case_29_an_edit_is_told_from_what_to_what() -> None:
    note = edited_note(record(decision=decision(arguments='{"path":"b.txt"}')))
    assert f'from {ARGUMENTS} to {{"path":"b.txt"}}' in note


def test_without_an_edit_there_is_nothing_to_tell() -> None:
    assert edited_note(record()) == ""
    assert edited_note(record(decision=decision())) == ""
