"""A write whose answer is lost: boto3 sends it again, and it still counts once. Somebody else's still counts too."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import pytest

from pausepoint.domain.calls import CallStatus, answered, closed
from pausepoint.errors import AlreadyDecided, LostRace, SessionBusy
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.ports import SessionStore
from tests.support.stored import (
    PAUSED,
    RUNNING,
    TOKEN_HASH,
    a_call,
    a_decision,
    a_lease,
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
from tests.support.tables import Table

pytestmark = pytest.mark.usefixtures("no_pauses")
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


def claim(store: SessionStore) -> object:
    return store.claim("s1", "c2-0", an_execution(store.call("s1", "c2-0")))


def record(store: SessionStore) -> object:
    return store.commit(closing(store.load("s1"), ended(store.call("s1", "c2-0")), "run-1"))


def doubt(store: SessionStore) -> object:
    in_doubt = ended(store.call("s1", "c2-0"), CallStatus.IN_DOUBT)
    return store.commit(settling(store.head("s1"), in_doubt, "run-1"))


def answer(store: SessionStore) -> object:
    told = answered(store.call("s1", "c2-0"), outcome="Not run.")
    return store.commit(closing(store.load("s1"), told, None))


def stale(store: SessionStore) -> object:
    return store.commit(closing(store.load("s1"), closed(a_call(), CallStatus.STALE, outcome="Not run."), None))


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
    "notify": Write(waiting, lambda store: store.mark_notified("s1", "c2-0"), UPDATE),
    "decide": Write(waiting, decide, UPDATE),
    "claim": Write(at(CallStatus.APPROVED), claim, UPDATE),
    "record": Write(at(CallStatus.EXECUTING), record, TRANSACT),
    "doubt": Write(at(CallStatus.EXECUTING), doubt, UPDATE),
    "answer": Write(at(CallStatus.REJECTED), answer, TRANSACT),
    "stale": Write(at(CallStatus.APPROVED), stale, TRANSACT),
    "end": Write(created, lambda store: store.commit(ending(store.load("s1"))), TRANSACT),
    "rest": Write(created, lambda store: store.commit(replace(ending(store.load("s1")), entry=None)), UPDATE),
    "cancel": Write(at(CallStatus.APPROVED), lambda store: cancel(store, store.load("s1")), TRANSACT),
}
a_few = pytest.mark.parametrize("name", ["lease", "append", "pause", "claim"])
all_writes = pytest.mark.parametrize("write", WRITES.values(), ids=WRITES.keys())


@all_writes
def test_r44_a_write_whose_answer_is_lost_succeeds_with_one_effect(table: Table, write: Write) -> None:
    store, wire = table.faulty_store()
    memory = InMemoryStore()
    for each in (store, memory):
        write.prepare(each)
    wire.lose_answer(write.operation)
    wire.sent.clear()

    result = write.act(store)

    assert wire.sent.count(write.operation) == 2
    assert result == write.act(memory)
    assert table.store().load("s1") == memory.load("s1")


@a_few
def test_r44_a_write_that_was_lost_on_its_way_is_sent_again(table: Table, name: str) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    memory = InMemoryStore()
    for each in (store, memory):
        write.prepare(each)
    wire.lose_request(write.operation)
    wire.sent.clear()

    assert write.act(store) == write.act(memory)

    assert wire.sent.count(write.operation) == 2
    assert table.store().load("s1") == memory.load("s1")


def other_session(store: SessionStore) -> None:
    store.create(a_session(text="somebody else's"))


def other_append(store: SessionStore) -> object:
    return store.commit(appending(store.load("s1"), said("somebody else's")))


def other_lease(store: SessionStore) -> object:
    return store.lease("s1", a_lease("rival", until=300), now=moment(100), statuses=frozenset({PAUSED, RUNNING}))


def other_verdict(store: SessionStore) -> object:
    return store.decide("s1", "c2-0", a_decision(a_call(), "rejected", by="ann"), token_hash=TOKEN_HASH)


def same_verdict(store: SessionStore) -> object:
    return store.decide("s1", "c2-0", a_decision(a_call(), by="ann"), token_hash=TOKEN_HASH)


def other_claim(store: SessionStore) -> object:
    return store.claim("s1", "c2-0", an_execution(store.call("s1", "c2-0"), "run-2"))


def cancelled(store: SessionStore) -> None:
    cancel(store, store.load("s1"))


RIVALS = [
    ("create", other_session, LostRace),
    ("lease", other_lease, SessionBusy),
    ("lease", cancelled, SessionBusy),
    ("append", other_append, LostRace),
    ("append", cancelled, LostRace),
    ("pause", other_append, LostRace),
    ("pause", other_lease, LostRace),
    ("pause", cancelled, LostRace),
    ("records", other_lease, LostRace),
    ("records", cancelled, LostRace),
    ("decide", other_verdict, AlreadyDecided),
    ("decide", same_verdict, AlreadyDecided),
    ("decide", cancelled, AlreadyDecided),
    ("claim", other_claim, LostRace),
    ("claim", cancelled, LostRace),
    ("record", other_append, LostRace),
    ("answer", other_append, LostRace),
    ("stale", other_claim, LostRace),
    ("end", other_append, LostRace),
    ("end", other_lease, LostRace),
    ("rest", other_lease, LostRace),
    ("rest", cancelled, LostRace),
    ("cancel", other_claim, LostRace),
    ("cancel", other_append, LostRace),
]


@pytest.mark.parametrize(
    ("name", "rival", "lost"), RIVALS, ids=[f"{name}-{rival.__name__}" for name, rival, _ in RIVALS]
)
def test_r44_what_somebody_else_wrote_meanwhile_is_no_success_of_mine(
    table: Table, name: str, rival: Act, lost: type[Exception]
) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    write.prepare(store)
    after: list[object] = []

    def meanwhile() -> None:
        rival(table.store())
        after.append(table.items())

    wire.lose_request(write.operation, meanwhile=meanwhile)
    wire.lose_answer(write.operation)  # of the second attempt: it says that the condition failed

    with pytest.raises(lost):
        write.act(store)

    assert [table.items()] == after


def test_r44_a_decision_that_is_acted_on_before_its_answer_arrives_is_seen_to_stand(table: Table) -> None:
    store, wire = table.faulty_store()
    waiting(store)
    wire.lose_answer(UPDATE, then=lambda: claim(table.store()))

    with pytest.raises(AlreadyDecided) as refused:
        decide(store)

    assert refused.value.call.decision == a_decision(a_call())
    assert refused.value.call.status is CallStatus.EXECUTING


def test_r44_a_lease_that_was_lost_again_is_not_taken_for_held(table: Table) -> None:
    store, wire = table.faulty_store()
    waiting(store)

    def overtaken() -> None:
        table.store().lease("s1", a_lease("rival", until=400), now=moment(300), statuses=frozenset({RUNNING}))

    wire.lose_answer(UPDATE, then=overtaken)

    with pytest.raises(SessionBusy):
        lease(store)

    held = store.head("s1").lease
    assert held is not None
    assert held.id == "rival"


@a_few
def test_r44_a_write_whose_answers_are_lost_but_the_last_has_one_effect_all_the_same(table: Table, name: str) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    memory = InMemoryStore()
    for each in (store, memory):
        write.prepare(each)
    for _ in range(3):
        wire.lose_answer(write.operation)

    assert write.act(store) == write.act(memory)

    assert table.store().load("s1") == memory.load("s1")
