"""Every write of the protocol: what comes before it, itself, and the operation it is for AWS."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from pausepoint.domain.calls import CallStatus, claimed, closed, model_told
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.code_tries import MAX_TRIES
from pausepoint.domain.events import LogEntry, SessionFailed
from pausepoint.domain.session import SessionStatus
from pausepoint.runtime.ports import DueRow, SessionStore, Stall
from tests.support.stored import (
    PAUSED,
    TOKEN_HASH,
    a_call,
    a_decision,
    a_lease,
    a_question,
    a_resolution,
    a_session,
    an_execution,
    appending,
    brought,
    cancel,
    closing,
    ended,
    ending,
    moment,
    paused,
    pausing,
    said,
    settling,
)

Act = Callable[[SessionStore], object]
PUT, UPDATE, TRANSACT = "PutItem", "UpdateItem", "TransactWriteItems"


def created(store: SessionStore) -> None:
    store.create(a_session())


def waiting(store: SessionStore) -> None:
    paused(store, a_call("c2-0"), a_call("c2-1"))


def at(status: CallStatus) -> Act:
    def prepare(store: SessionStore) -> None:
        waiting(store)
        brought(store, a_call("c2-0"), status)

    return prepare


def lease(store: SessionStore) -> object:
    return store.lease("s1", a_lease("other", until=200), now=moment(100), statuses=frozenset({PAUSED}))


def decide(store: SessionStore) -> object:
    return store.decide("s1", "c2-0", a_decision(a_call()), token_hash=TOKEN_HASH)


def asking(store: SessionStore) -> None:
    paused(store, a_question())


def answer_question(store: SessionStore) -> object:
    return store.decide("s1", "c2-0", a_decision(a_question(), "answered"), token_hash=TOKEN_HASH)


def claim(store: SessionStore) -> object:
    return store.claim("s1", "c2-0", an_execution(store.call("s1", "c2-0")))


def record(store: SessionStore) -> object:
    return store.commit(closing(store.load("s1"), ended(store.call("s1", "c2-0")), "run-1"))


def doubt(store: SessionStore) -> object:
    in_doubt = ended(store.call("s1", "c2-0"), CallStatus.IN_DOUBT)
    return store.commit(settling(store.head("s1"), in_doubt, "run-1"))


def answer(store: SessionStore) -> object:
    told = model_told(store.call("s1", "c2-0"), outcome="Not run.")
    return store.commit(closing(store.load("s1"), told, None))


def stale(store: SessionStore) -> object:
    return store.commit(closing(store.load("s1"), closed(a_call(), CallStatus.STALE, outcome="Not run."), None))


def postpone(store: SessionStore) -> None:
    store.postpone(DueRow("s1", "c2-0", moment(1)), until=moment(500))


def postpone_session(store: SessionStore) -> None:
    store.postpone(DueRow("s1", None, moment(60)), until=moment(500), stall=Stall(times=1, at=2))


def link(store: SessionStore) -> object:
    return store.add_link(a_call("c2-0"), sha256_hex("another token"), reconciled=False)


def count_try(store: SessionStore) -> object:
    return store.count_code_try("s1", "c2-0", TOKEN_HASH)


def tried_out(store: SessionStore) -> None:
    waiting(store)
    for _ in range(MAX_TRIES):
        count_try(store)


def expire(store: SessionStore) -> object:
    return store.expire(a_call("c2-0"), now=moment(1000))


def cut_off(store: SessionStore) -> object:
    call = claimed(a_call(decision=a_decision(a_call()), status=CallStatus.APPROVED), an_execution(a_call()))
    return store.doubt(call, now=moment(51))


def resolve(store: SessionStore) -> object:
    return store.resolve("s1", "c2-0", a_resolution("run_again"), token_hash=TOKEN_HASH)


def resolved(store: SessionStore) -> None:
    at(CallStatus.IN_DOUBT)(store)
    resolve(store)


def tell(store: SessionStore) -> object:
    told = model_told(store.call("s1", "c2-0"), outcome="It was said.")
    return store.commit(closing(store.load("s1"), told, "run-1"))


def fail(store: SessionStore) -> None:
    session = store.load("s1")
    failed = SessionFailed(at=moment(100), code="stalled", message="It did not get further.")
    entry = LogEntry(first=session.next_seq, events=(failed,))
    store.close(session, entry, [], status=SessionStatus.FAILED, at=moment(100))


@dataclass(frozen=True)
class Write:
    """One step of the protocol: what comes before it, itself, and the operation it is for AWS."""

    prepare: Act
    act: Act
    operation: str


WRITES: dict[str, Write] = {
    "create": Write(lambda _: None, created, TRANSACT),
    "lease": Write(waiting, lease, UPDATE),
    "append": Write(created, lambda store: store.commit(appending(store.load("s1"), said("more"))), PUT),
    "pause": Write(created, lambda store: store.commit(pausing(store.load("s1"), a_call())), TRANSACT),
    "records": Write(created, lambda store: store.commit(pausing(store.load("s1"), a_call(), status=None)), TRANSACT),
    "notify": Write(waiting, lambda store: store.mark_notified(a_call()), UPDATE),
    "decide": Write(waiting, decide, UPDATE),
    "answer_question": Write(asking, answer_question, UPDATE),
    "claim": Write(at(CallStatus.APPROVED), claim, UPDATE),
    "record": Write(at(CallStatus.EXECUTING), record, TRANSACT),
    "doubt": Write(at(CallStatus.EXECUTING), doubt, UPDATE),
    "answer": Write(at(CallStatus.REJECTED), answer, TRANSACT),
    "stale": Write(at(CallStatus.APPROVED), stale, TRANSACT),
    "end": Write(created, lambda store: store.commit(ending(store.load("s1"))), TRANSACT),
    "rest": Write(created, lambda store: store.commit(replace(ending(store.load("s1")), entry=None)), UPDATE),
    "postpone": Write(waiting, postpone, UPDATE),
    "postpone_session": Write(created, postpone_session, UPDATE),
    "link": Write(waiting, link, UPDATE),
    "count": Write(waiting, count_try, UPDATE),
    "spend": Write(tried_out, count_try, UPDATE),
    "use_code": Write(waiting, lambda store: store.use_code(5), UPDATE),
    "expire": Write(waiting, expire, UPDATE),
    "cut_off": Write(at(CallStatus.EXECUTING), cut_off, UPDATE),
    "resolve": Write(at(CallStatus.IN_DOUBT), resolve, UPDATE),
    "tell": Write(resolved, tell, TRANSACT),
    "late": Write(at(CallStatus.IN_DOUBT), record, TRANSACT),
    "fail": Write(created, fail, TRANSACT),
    "cancel": Write(at(CallStatus.APPROVED), lambda store: cancel(store, store.load("s1")), TRANSACT),
}
a_few = pytest.mark.parametrize("name", ["lease", "append", "pause", "claim"])
all_writes = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())
