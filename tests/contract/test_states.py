"""Every step from every state: each store allows just the edges that the domain names, with the same outcome."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import get_args

import pytest

from pausepoint.domain.calls import EDGES, Answer, CallStatus, PendingToolCall, claimed, decided, finished
from pausepoint.errors import AlreadyDecided, CallExpired, LostRace, PausepointError
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import (
    TOKEN_HASH,
    a_call,
    a_decision,
    a_question,
    a_resolution,
    a_session,
    an_execution,
    brought,
    cancel,
    moment,
    pausing,
    settling,
)

Step = Callable[[SessionStore, PendingToolCall], PendingToolCall]
_S = CallStatus
STATES: list[tuple[CallStatus, bool]] = [(status, False) for status in CallStatus if status is not CallStatus.ANSWERED]
STATES += [(status, True) for status in (_S.PENDING, _S.ANSWERED, _S.EXPIRED, _S.CANCELLED, _S.STALE)]
"""What a call that wants permission, and one that asks a question (True), can be brought to."""
ANSWERING = frozenset((status, status) for status in (_S.REJECTED, _S.ANSWERED, _S.EXPIRED, _S.CANCELLED))
"""The model is told of what came to its end without it; the call stays what it is."""


def approve(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
    return store.decide(call.session_id, call.call_id, a_decision(call), token_hash=TOKEN_HASH)


def reject(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
    return store.decide(call.session_id, call.call_id, a_decision(call, "rejected"), token_hash=TOKEN_HASH)


def answer(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
    return store.decide(call.session_id, call.call_id, a_decision(call, "answered"), token_hash=TOKEN_HASH)


def claim(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
    return store.claim(call.session_id, call.call_id, an_execution(call, "run-2", at=500, deadline=600))


def close(status: CallStatus) -> Step:
    def step(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
        execution_id = call.execution.id if call.execution else None
        end = replace(call, status=status, outcome=f"It is {status}.", told=True)
        store.commit(settling(store.head(call.session_id), end, execution_id))
        return end

    return step


def expire(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
    return store.expire(call, now=moment(5000))


def doubt(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
    return store.doubt(call, now=moment(5000))


def resolve(answer: Answer) -> Step:
    def step(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
        return store.resolve(call.session_id, call.call_id, a_resolution(answer), token_hash=TOKEN_HASH)

    return step


ENDINGS = {
    status: close(status)
    for status in (
        *(_S.REJECTED, _S.ANSWERED, _S.EXPIRED, _S.CANCELLED),
        *(_S.STALE, _S.SUCCEEDED, _S.FAILED, _S.IN_DOUBT),
    )
}
RESOLVING = {answer: resolve(answer) for answer in get_args(Answer)}
OTHERS: dict[CallStatus, list[Step]] = {
    _S.APPROVED: [approve],
    _S.REJECTED: [reject],
    _S.ANSWERED: [answer],
    _S.EXPIRED: [expire],
    _S.EXECUTING: [claim],
    _S.IN_DOUBT: [doubt],
    _S.SUCCEEDED: [RESOLVING["happened"]],
    _S.FAILED: [RESOLVING["did_not_happen"], RESOLVING["run_again"]],
}
STEPS = list(ENDINGS.items())
STEPS += [(target, step) for target, steps in OTHERS.items() for step in steps]


@pytest.mark.parametrize(("origin", "asks"), STATES)
def test_i4_case_04_every_change_of_a_call_is_an_edge_of_the_table(
    place: Place, origin: CallStatus, *, asks: bool
) -> None:
    store = place.store
    calls = [a_question(f"c2-{index}") if asks else a_call(f"c2-{index}") for index in range(len(STEPS))]
    session = a_session()
    store.create(session)
    store.commit(pausing(session, *calls))
    if origin is _S.CANCELLED:
        cancel(store, store.load("s1"))
    else:
        calls = [brought(store, call, origin) for call in calls]
    calls = [store.call("s1", call.call_id) for call in calls]
    assert {call.status for call in calls} == {origin}

    todo = [(call, target, step) for call, (target, step) in zip(calls, STEPS, strict=True)]
    before = place.everything()
    for call, target, step in todo:
        if not _is_edge(origin, target, step, asks=asks):
            with pytest.raises((LostRace, AlreadyDecided)):
                step(store, call)
    assert place.everything() == before
    for call, target, step in todo:
        if _is_edge(origin, target, step, asks=asks):
            moved = step(store, call)
            assert moved.status is target
            assert store.call("s1", call.call_id) == moved


def _is_edge(origin: CallStatus, target: CallStatus, step: Step, *, asks: bool) -> bool:
    if step in (approve, reject, answer) and asks != (step is answer):
        return False  # permission for a question, or an answer to what asks for permission
    if step in RESOLVING.values():  # what an execution says it says otherwise
        return origin is _S.IN_DOUBT
    return target in EDGES[origin] or ((origin, target) in ANSWERING and step in ENDINGS.values())


@pytest.mark.parametrize(("origin", "asks"), STATES)
def test_i4_a_step_ends_as_the_domain_says(store: SessionStore, origin: CallStatus, *, asks: bool) -> None:
    calls = [a_question(f"c2-{index}") if asks else a_call(f"c2-{index}") for index in range(6)]
    session = a_session()
    store.create(session)
    store.commit(pausing(session, *calls))
    if origin is _S.CANCELLED:
        cancel(store, store.load("s1"))
    else:
        for call in calls:
            brought(store, call, origin)
    approved, late, rejected, entered, ended, answered = (store.call("s1", call.call_id) for call in calls)

    def finish(store: SessionStore, call: PendingToolCall) -> PendingToolCall:
        end = close(_S.SUCCEEDED)(store, call)
        return store.call("s1", end.call_id)

    decision = a_decision(approved)
    in_vain = a_decision(late, at=5000)
    rejection = a_decision(rejected, "rejected")
    answering = a_decision(answered, "answered")
    execution = an_execution(entered, "run-2", at=500, deadline=600)
    for from_store, from_domain in (
        (
            lambda: store.decide("s1", "c2-0", decision, token_hash=TOKEN_HASH),
            lambda: decided(approved, decision, token_hash=TOKEN_HASH),
        ),
        (lambda: store.decide("s1", "c2-1", in_vain, token_hash=None), lambda: decided(late, in_vain, token_hash=None)),
        (
            lambda: store.decide("s1", "c2-2", rejection, token_hash=None),
            lambda: decided(rejected, rejection, token_hash=None),
        ),
        (lambda: store.claim("s1", "c2-3", execution), lambda: claimed(entered, execution)),
        (
            lambda: store.decide("s1", "c2-5", answering, token_hash=None),
            lambda: decided(answered, answering, token_hash=None),
        ),
    ):
        assert outcome(from_store) == outcome(from_domain)

    def by_domain() -> PendingToolCall:
        return finished(ended, "run-1", _S.SUCCEEDED, outcome="It is succeeded.", at=moment(30))

    in_store, in_domain = outcome(lambda: finish(store, ended)), outcome(by_domain)
    if isinstance(in_domain, PendingToolCall):
        assert isinstance(in_store, PendingToolCall)
        assert in_store.status is in_domain.status
    else:
        assert in_store == in_domain


def outcome(step: Callable[[], PendingToolCall]) -> object:
    """Return the call that a step leads to, or what it raises and, of a standing decision, what stands."""
    try:
        return step()
    except AlreadyDecided as error:
        return AlreadyDecided, error.call
    except (CallExpired, LostRace) as error:
        return type(error), None
    except PausepointError as error:  # would be none of the outcomes that the Protocol names
        pytest.fail(f"{type(error).__name__}: {error}")
