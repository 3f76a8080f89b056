"""What a session does next follows from what is stored, and from nothing else."""

from __future__ import annotations

from datetime import timedelta

import pytest

from pausepoint.domain.calls import Answer, CallStatus, Resolution
from pausepoint.domain.events import SessionCancelled, SessionFailed
from pausepoint.domain.steps import AwaitDecisions, CallModel, Finish, Readiness, RunCalls, next_step, readiness
from tests.support.clock import START
from tests.support.sessions import execution, message, plain_call, question, record, result, session_of, tool_call, turn

S = CallStatus
FAILED = SessionFailed(at=START, code="model-failed", message="no")
CANCELLED = SessionCancelled(at=START, by="maria")


def test_a_message_is_for_the_model() -> None:
    assert next_step(session_of(message()), START) == CallModel()


def test_a_turn_without_calls_is_the_end() -> None:
    assert next_step(session_of(message(), turn(text="Done.")), START) == Finish()


def test_a_message_after_the_end_is_for_the_model() -> None:
    assert next_step(session_of(message(), turn(text="Done."), message("More")), START) == CallModel()


def test_case_25_a_stored_turn_without_results_is_carried_on() -> None:
    call = plain_call("c2-0")
    assert next_step(session_of(message(), turn(call)), START) == RunCalls((call,))


def test_the_model_is_due_when_every_call_has_its_result() -> None:
    one, two = plain_call("c2-0"), plain_call("c2-1")
    assert next_step(session_of(message(), turn(one, two), result("c2-0")), START) == RunCalls((two,))
    assert next_step(session_of(message(), turn(one, two), result("c2-0"), result("c2-1")), START) == CallModel()


@pytest.mark.parametrize("status", S)
def test_a_guarded_call_waits_is_entered_or_is_answered(status: CallStatus) -> None:
    call = tool_call()
    step = next_step(session_of(message(), turn(call), calls=[record(status=status)]), START)
    if status in {S.PENDING, S.EXECUTING}:
        assert step == AwaitDecisions((call,))
    else:
        assert step == RunCalls((call,))
    assert (readiness(call, record(status=status), START) is Readiness.ENTER) == (status is S.APPROVED)
    assert (readiness(call, record(status=status), START) is Readiness.RECONCILE) == (status is S.IN_DOUBT)


@pytest.mark.parametrize("status", [S.PENDING, S.ANSWERED, S.EXPIRED, S.CANCELLED])
def test_a_question_waits_for_its_answer_and_is_never_entered(status: CallStatus) -> None:
    call = tool_call(retry_safe=True)
    ready = readiness(call, question(status=status), START)
    assert ready is (Readiness.WAIT if status is S.PENDING else Readiness.ANSWER)


def test_a_call_in_doubt_is_asked_about_once_and_then_waits_for_a_person() -> None:
    call, asked = tool_call(), record(status=S.IN_DOUBT, reconciled=True)
    assert readiness(call, asked, START) is Readiness.WAIT
    assert next_step(session_of(message(), turn(call), calls=[asked]), START) == AwaitDecisions((call,))


@pytest.mark.parametrize(
    ("retry_safe", "seconds", "ready"),
    [
        (True, 901, Readiness.ENTER),
        (True, 900, Readiness.WAIT),
        (False, 901, Readiness.WAIT),
        (False, 10**7, Readiness.WAIT),
    ],
)
def test_only_a_retry_safe_call_is_entered_again_after_it_was_cut_off(
    retry_safe: bool, seconds: float, ready: Readiness
) -> None:
    call = tool_call(retry_safe=retry_safe)
    executing = record(status=S.EXECUTING, execution=execution(), retry_safe=retry_safe)
    now = START + timedelta(seconds=seconds)
    assert readiness(call, executing, now) is ready
    step = RunCalls((call,)) if ready is Readiness.ENTER else AwaitDecisions((call,))
    assert next_step(session_of(message(), turn(call), calls=[executing]), now) == step


@pytest.mark.parametrize(
    ("status", "answer", "ready"),
    [
        (S.SUCCEEDED, "happened", Readiness.ANSWER),
        (S.FAILED, "did_not_happen", Readiness.ANSWER),
        (S.FAILED, "run_again", Readiness.REISSUE),
    ],
)
def test_what_was_said_of_a_call_in_doubt_decides_what_is_done(
    status: CallStatus, answer: Answer, ready: Readiness
) -> None:
    resolution = Resolution(answer=answer, by="maria", at=START, verified="link")
    assert readiness(tool_call(), record(status=status, resolution=resolution), START) is ready


def test_a_call_whose_record_is_gone_is_answered_and_never_entered() -> None:
    assert readiness(tool_call(), None, START) is Readiness.ANSWER


def test_a_refused_call_is_answered_and_never_entered() -> None:
    assert readiness(tool_call(refusal="no"), None, START) is Readiness.ANSWER
    assert readiness(tool_call(refusal="no"), record(status=S.APPROVED), START) is Readiness.ANSWER


def test_calls_that_can_run_do_not_wait_for_those_that_cannot() -> None:
    waiting, free = tool_call("c2-0"), plain_call("c2-1")
    session = session_of(message(), turn(waiting, free), calls=[record("c2-0")])
    assert next_step(session, START) == RunCalls((free,))


def test_in_an_ordered_session_a_call_waits_for_all_before_it() -> None:
    waiting, free = tool_call("c2-0"), plain_call("c2-1")
    session = session_of(message(), turn(waiting, free), calls=[record("c2-0")], ordered=True)
    assert next_step(session, START) == AwaitDecisions((waiting,))


def test_in_an_ordered_session_what_stands_before_the_waiting_one_runs() -> None:
    free, waiting, approved = plain_call("c2-0"), tool_call("c2-1"), tool_call("c2-2")
    records = [record("c2-1"), record("c2-2", status=S.APPROVED)]
    session = session_of(message(), turn(free, waiting, approved), calls=records, ordered=True)
    assert next_step(session, START) == RunCalls((free,))
    rejected = [record("c2-1", status=S.REJECTED), record("c2-2", status=S.APPROVED)]
    session = session_of(message(), turn(free, waiting, approved), result("c2-0"), calls=rejected, ordered=True)
    assert next_step(session, START) == RunCalls((waiting, approved))


def test_calls_that_all_wait_are_awaited_together() -> None:
    one, two = tool_call("c2-0"), tool_call("c2-1")
    session = session_of(message(), turn(one, two), calls=[record("c2-0"), record("c2-1", status=S.EXECUTING)])
    assert next_step(session, START) == AwaitDecisions((one, two))


def test_a_failed_session_rests_until_somebody_speaks() -> None:
    assert next_step(session_of(message(), FAILED), START) == Finish()
    assert next_step(session_of(message(), FAILED, message("Again")), START) == CallModel()


def test_case_48_nothing_follows_a_cancellation() -> None:
    call = plain_call("c2-0")
    assert next_step(session_of(message(), CANCELLED), START) == Finish()
    assert next_step(session_of(message(), turn(call), CANCELLED), START) == Finish()


def test_case_48_nothing_follows_a_cancellation_even_if_a_late_result_was_still_written() -> None:
    session = session_of(message(), turn(tool_call()), CANCELLED, result("c2-0"), calls=[record(status=S.SUCCEEDED)])
    assert next_step(session, START) == Finish()


def test_a_message_between_a_turn_and_its_results_does_not_hide_the_calls() -> None:
    call = plain_call("c2-0")
    assert next_step(session_of(message(), turn(call), message("Hurry")), START) == RunCalls((call,))
