"""A write whose answer is lost: boto3 sends it again, and it still counts once. Somebody else's still counts too."""

from __future__ import annotations

import pytest

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.canonical import sha256_hex
from pausepoint.errors import AlreadyDecided, LostRace, SessionBusy
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.ports import DueRow, SessionStore
from tests.contract.writes import (
    UPDATE,
    WRITES,
    Act,
    Write,
    a_few,
    all_writes,
    claim,
    cut_off,
    decide,
    lease,
    postpone_session,
    record,
    resolve,
    tell,
    waiting,
)
from tests.support.stored import (
    PAUSED,
    RUNNING,
    TOKEN_HASH,
    a_call,
    a_decision,
    a_lease,
    a_resolution,
    a_session,
    an_execution,
    appending,
    cancel,
    moment,
    said,
)
from tests.support.tables import Table

pytestmark = pytest.mark.usefixtures("no_pauses")


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


def other_link(store: SessionStore) -> object:
    return store.add_link(a_call("c2-0"), sha256_hex("a third token"), reconciled=False)


def other_expiry(store: SessionStore) -> object:
    return store.expire(a_call("c2-0"), now=moment(1001))


def other_answer(store: SessionStore) -> object:
    return store.resolve("s1", "c2-0", a_resolution("happened", by="ann"), token_hash=None)


def same_answer(store: SessionStore) -> object:
    return store.resolve("s1", "c2-0", a_resolution("run_again", by="ann"), token_hash=None)


def other_round(store: SessionStore) -> None:
    store.postpone(DueRow("s1", "c2-0", moment(1)), until=moment(500))


def other_round_of_sessions(store: SessionStore) -> None:
    postpone_session(store)


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
    ("postpone", other_round, LostRace),
    ("postpone", same_verdict, LostRace),
    ("postpone", cancelled, LostRace),
    ("postpone_session", other_round_of_sessions, LostRace),
    ("postpone_session", other_lease, LostRace),
    ("link", other_link, LostRace),
    ("link", same_verdict, LostRace),
    ("expire", same_verdict, LostRace),
    ("expire", other_expiry, LostRace),
    ("cut_off", cut_off, LostRace),
    ("cut_off", record, LostRace),
    ("resolve", other_answer, AlreadyDecided),
    ("resolve", same_answer, AlreadyDecided),
    ("resolve", record, AlreadyDecided),
    ("tell", tell, LostRace),
    ("late", resolve, LostRace),
    ("late", other_append, LostRace),
    ("fail", other_lease, LostRace),
    ("fail", other_append, LostRace),
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
