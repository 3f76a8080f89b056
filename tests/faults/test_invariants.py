"""Each invariant goes red on evidence in which it does not hold, and stays silent on a session as it should be."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pausepoint.domain.calls import CallStatus, Decision, Execution, PendingToolCall
from pausepoint.domain.events import DecisionRecorded, Event, ExecutionRecorded, SessionCancelled
from pausepoint.domain.session import Session, SessionStatus
from tests.faults.invariants import Entry, Evidence, Sent, Told, violations
from tests.support import sessions as domain
from tests.support.clock import START
from tests.support.stored import a_call, a_question, a_session

KEY = "s1:c2-0"
DIGEST = domain.DIGEST
AT = START + timedelta(seconds=10)
DECISION = Decision(
    verdict="approved",
    by="jo",
    at=START + timedelta(seconds=5),
    verified="link",
    digest_shown=DIGEST,
    digest_approved=DIGEST,
)
EXECUTION = Execution(id="x", digest=DIGEST, started_at=AT, deadline=AT + timedelta(seconds=60), ended_at=AT)
ENTRY = Entry("s1", "c2-0", KEY, DIGEST, retry_safe=False, gated=True, at=AT)


def record(**changes: Any) -> PendingToolCall:
    done = {"status": CallStatus.SUCCEEDED, "decision": DECISION, "execution": EXECUTION, "told": True}
    return a_call(**{**done, "digest": DIGEST, **changes})


def log() -> tuple[Event, ...]:
    executed = ExecutionRecorded(
        at=AT, call_id="c2-0", name="delete", execution_id="x", digest_run=DIGEST, ended_at=AT, status="succeeded"
    )
    said = DecisionRecorded(
        at=DECISION.at,
        call_id="c2-0",
        name="delete",
        verdict="approved",
        by="jo",
        verified="link",
        reason="",
        digest_shown=DIGEST,
    )
    return (
        domain.message(),
        domain.turn(domain.tool_call()),
        said,
        executed,
        domain.result("c2-0"),
        domain.turn(text="done"),
    )


def session(*calls: PendingToolCall, events: tuple[Event, ...] | None = None, **head: Any) -> Session:
    begun = a_session(**{"status": SessionStatus.COMPLETED, "lease": None, **head})
    return replace(begun, events=log() if events is None else events, calls={call.call_id: call for call in calls})


def sound(**changes: Any) -> Evidence:
    """Return evidence of a session in which one call was approved and run."""
    evidence = Evidence(
        sessions=[session(record())],
        entries=[ENTRY],
        effects={KEY: 1},
        pages={("s1", "c2-0"): {DIGEST}},
        model_calls=2,
        notices=[Sent("s1", "c2-0")],
        told=[Told("s1", "c2-0", "approved")],
        history=[
            record(status=CallStatus.PENDING, decision=None, execution=None, told=False),
            record(status=CallStatus.APPROVED, execution=None, told=False),
            record(status=CallStatus.EXECUTING, told=False),
            record(),
        ],
        every_write=True,
        from_beginning=True,
        quiescent=True,
        lost_answers_only=True,
        now=AT,
    )
    return replace(evidence, **changes)


def waiting(**changes: Any) -> PendingToolCall:
    return a_call(digest=DIGEST, **changes)


def paused(*calls: PendingToolCall) -> Session:
    return session(*calls, events=log()[:2], status=SessionStatus.PAUSED)


def test_a_session_as_it_should_be_breaks_nothing() -> None:
    assert violations(sound()) == []


BAD: dict[str, list[Callable[[], Evidence]]] = {
    "I1": [
        lambda: sound(entries=[ENTRY, ENTRY]),
        lambda: sound(effects={KEY: 2}),
        lambda: sound(entries=[ENTRY, replace(ENTRY, call_id="c2-1")]),
    ],
    "I2": [
        lambda: sound(entries=[replace(ENTRY, digest="other")]),
        lambda: sound(pages={("s1", "c2-0"): {"another"}}),
    ],
    "I3": [
        lambda: sound(sessions=[session(record(decision=None))]),
        lambda: sound(sessions=[session(record(status=CallStatus.CANCELLED))]),
        lambda: sound(sessions=[session(record(expires_at=START))]),
        lambda: sound(entries=[replace(ENTRY, at=START)]),
        lambda: sound(sessions=[session(record(), events=tuple(e for e in log() if e.type != "decision"))]),
    ],
    "I4": [
        lambda: sound(history=[record(), record(status=CallStatus.IN_DOUBT)]),
        lambda: sound(history=[waiting(), record(status=CallStatus.EXECUTING)]),
        lambda: sound(statuses=[("s1", "cancelled"), ("s1", "running")]),
        lambda: sound(sessions=[paused(waiting(status=CallStatus.APPROVED))]),
    ],
    "I5": [
        lambda: sound(history=[record(), record(decision=replace(DECISION, by="else"))]),
        lambda: sound(told=[Told("s1", "c2-0", "rejected")]),
        lambda: sound(sessions=[session(record(), events=(*log()[:3], log()[2], *log()[3:]))]),
    ],
    "I6": [
        lambda: sound(rows=[{"pk": "s1", "sk": "EV#0000000002", "body": "[1]"}]),
        lambda: sound(sessions=[session(record(), events=(*log()[:5], log()[4], log()[5]))]),
        lambda: sound(sessions=[session(record(), events=(*log()[:4], log()[5]))]),
        lambda: sound(sessions=[session(record(), events=(*log(), SessionCancelled(at=AT, by="jo")))]),
        lambda: sound(sessions=[session(record(told=False))]),
    ],
    "I7": [
        lambda: sound(sessions=[session(record(), status=SessionStatus.RUNNING)]),
        lambda: sound(sessions=[session(record(), status=SessionStatus.PAUSED)]),
        lambda: sound(sessions=[paused(record(status=CallStatus.EXECUTING))]),
        lambda: sound(sessions=[paused(waiting(expires_at=START))]),
        lambda: sound(sessions=[paused(record(status=CallStatus.IN_DOUBT, reconciled=True))]),
    ],
    "I8": [lambda: sound(untouched=[("GET", [1], [2])])],
    "I9": [
        lambda: sound(secrets=["s3cret"], texts={"logs": ["token s3cret"]}),
        lambda: sound(secrets=["s3cret"], rows=[{"pk": "s3cret"}]),
    ],
    "I10": [lambda: sound(model_calls=3, budget=2), lambda: sound(model_calls=52, crashes=1)],
    "I11": [
        lambda: sound(sessions=[paused(waiting())], notices=[]),
        lambda: sound(
            sessions=[paused(record(status=CallStatus.IN_DOUBT, reconciled=True))],
            notices=[Sent("s1", "c2-0", "Pausepoint: a tool call waits for your decision")],
        ),
    ],
}


@pytest.mark.parametrize(
    ("name", "evidence"),
    [(name, make) for name, cases in BAD.items() for make in cases],
    ids=lambda value: str(value)[:3],
)
def test_an_invariant_goes_red(name: str, evidence: Callable[[], Evidence]) -> None:
    assert name in {violation.partition(":")[0] for violation in violations(evidence())}


ANSWER = replace(DECISION, verdict="answered", answer='"eu"')


def question(**changes: Any) -> PendingToolCall:
    return a_question(**{"status": CallStatus.ANSWERED, "decision": ANSWER, "told": True, **changes})


def answered(call: PendingToolCall, *, text: str = "eu", answer: str = '"eu"', **changes: Any) -> Evidence:
    """Return evidence of a session in which one question was asked, and nothing entered."""
    said = replace(domain.decision_recorded("answered"), at=ANSWER.at, by="jo", answer=answer)
    told = domain.result("c2-0", text)
    events = (domain.message(), domain.turn(domain.tool_call()), said, told, domain.turn(text="done"))
    waits = question(status=CallStatus.PENDING, decision=None, told=False)
    evidence = sound(
        sessions=[session(call, events=events)],
        entries=[],
        effects={},
        pages={("s1", "c2-0"): {call.digest}},
        told=[Told("s1", "c2-0", "answered:eu")],
        history=[waits, replace(call, told=False), call],
    )
    return replace(evidence, **changes)


def test_a_question_as_it_should_be_breaks_nothing() -> None:
    assert violations(answered(question())) == []


@pytest.mark.parametrize(
    ("name", "evidence"),
    [
        ("I3", answered(question(), entries=[ENTRY])),
        ("I4", answered(question(question=None))),
        ("I4", answered(question(decision=replace(ANSWER, answer=None)))),
        ("I4", answered(question(status=CallStatus.APPROVED))),
        ("I4", answered(question(status=CallStatus.SUCCEEDED, execution=EXECUTION))),
        ("I4", answered(question(decision=DECISION))),
        ("I4", answered(question(expires_at=ANSWER.at))),
        ("I5", answered(question(), told=[Told("s1", "c2-0", "answered:us")])),
        ("I5", answered(question(), history=[question(decision=replace(ANSWER, answer='"us"'))])),
        ("I6", answered(question(), text="us")),
        ("I6", answered(question(), answer='"us"')),
    ],
    ids=lambda value: value if isinstance(value, str) else "",
)
def test_an_invariant_goes_red_on_a_question(name: str, evidence: Evidence) -> None:
    assert name in {violation.partition(":")[0] for violation in violations(evidence)}
