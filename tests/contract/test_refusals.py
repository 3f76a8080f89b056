"""A table that does not answer: bounded, said plainly, and nothing half done."""

from __future__ import annotations

import pytest

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.errors import ConfigurationError, LostRace, Unavailable
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.ports import SessionStore
from tests.contract.writes import UPDATE, WRITES, Act, Write, a_few, all_writes, waiting
from tests.support.stored import a_call, an_execution, brought, paused
from tests.support.tables import Table

pytestmark = pytest.mark.usefixtures("no_pauses")
THROTTLED = "ProvisionedThroughputExceededException"
ATTEMPTS = 4


@pytest.mark.parametrize("code", [THROTTLED, "ThrottlingException", "RequestLimitExceeded", "InternalServerError"])
@pytest.mark.parametrize("write", [WRITES["pause"], WRITES["claim"]], ids=["pause", "claim"])
def test_r45_every_sort_of_refusal_is_told_apart_from_a_lost_race(table: Table, write: Write, code: str) -> None:
    store, wire = table.faulty_store()
    write.prepare(store)
    wire.refuse(write.operation, code)

    with pytest.raises(Unavailable):
        write.act(store)


@all_writes
def test_r45_a_write_that_is_throttled_for_ever_ends_and_nothing_is_written(table: Table, write: Write) -> None:
    store, wire = table.faulty_store()
    write.prepare(store)
    before = table.items()
    wire.refuse(write.operation, THROTTLED)
    wire.sent.clear()

    with pytest.raises(Unavailable) as refused:
        write.act(store)

    assert refused.value.retry_after > 0
    assert wire.sent.count(write.operation) == ATTEMPTS
    assert table.items() == before


@a_few
def test_r45_a_write_that_is_throttled_once_succeeds(table: Table, name: str) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    memory = InMemoryStore()
    for each in (store, memory):
        write.prepare(each)
    wire.refuse(write.operation, THROTTLED, times=1)

    assert write.act(store) == write.act(memory)

    assert table.store().load("s1") == memory.load("s1")


READS: dict[str, tuple[str, Act]] = {
    "load": ("Query", lambda store: store.load("s1")),
    "head": ("GetItem", lambda store: store.head("s1")),
    "call": ("GetItem", lambda store: store.call("s1", "c2-0")),
    "sessions": ("Query", lambda store: store.sessions(None, limit=10, before=None)),
    "sessions_rows": ("BatchGetItem", lambda store: store.sessions(None, limit=10, before=None)),
    "pending": ("Query", lambda store: store.pending(limit=10, after=None)),
    "pending_rows": ("BatchGetItem", lambda store: store.pending(limit=10, after=None)),
    "notify": ("UpdateItem", lambda store: store.mark_notified(a_call())),
}
all_reads = pytest.mark.parametrize(("operation", "read"), READS.values(), ids=READS.keys())


@all_reads
def test_r45_a_read_that_is_throttled_for_ever_ends(table: Table, operation: str, read: Act) -> None:
    store, wire = table.faulty_store()
    waiting(store)
    wire.refuse(operation, THROTTLED)
    wire.sent.clear()

    with pytest.raises(Unavailable):
        read(store)

    assert wire.sent.count(operation) == ATTEMPTS


@all_reads
def test_r45_a_read_that_never_arrives_ends(table: Table, operation: str, read: Act) -> None:
    store, wire = table.faulty_store()
    waiting(store)
    for _ in range(ATTEMPTS):
        wire.lose_request(operation)

    with pytest.raises(Unavailable):
        read(store)


def test_r45_a_list_of_which_the_table_leaves_out_rows_for_ever_ends(table: Table) -> None:
    store, wire = table.faulty_store()
    waiting(store)
    wire.answer("BatchGetItem", lambda asked: {"Responses": {}, "UnprocessedKeys": asked["RequestItems"]})
    wire.sent.clear()

    with pytest.raises(Unavailable):
        store.pending(limit=10, after=None)

    assert 1 < wire.sent.count("BatchGetItem") <= 10


def test_r45_rows_that_the_table_leaves_out_are_asked_for_again(table: Table) -> None:
    store, wire = table.faulty_store()
    waiting(store)
    wire.answer("BatchGetItem", lambda asked: {"Responses": {}, "UnprocessedKeys": asked["RequestItems"]}, times=2)

    calls, _ = store.pending(limit=10, after=None)

    assert [call.call_id for call in calls] == ["c2-0", "c2-1"]


@pytest.mark.parametrize("name", ["lease", "decide", "claim", "append"])
def test_a_row_that_a_transaction_holds_for_a_moment_is_written_after_it(table: Table, name: str) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    memory = InMemoryStore()
    for each in (store, memory):
        write.prepare(each)
    wire.refuse(write.operation, "TransactionConflictException", times=3)

    assert write.act(store) == write.act(memory)


CONFLICT = {"CancellationReasons": [{"Code": "None"}, {"Code": "TransactionConflict", "Message": "held"}]}
MIXED = {"CancellationReasons": [{"Code": "ConditionalCheckFailed"}, {"Code": "TransactionConflict"}]}


@pytest.mark.parametrize("name", ["create", "pause", "record", "end", "cancel"])
def test_two_transactions_that_meet_do_not_lose_either(table: Table, name: str) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    write.prepare(store)
    wire.refuse(write.operation, "TransactionCanceledException", times=3, details=CONFLICT)

    write.act(store)

    assert wire.sent.count(write.operation) >= 4


@pytest.mark.parametrize(
    ("name", "code", "details"),
    [
        ("decide", "TransactionConflictException", {}),
        ("end", "TransactionCanceledException", CONFLICT),
        ("end", "TransactionCanceledException", {"CancellationReasons": [{"Code": "ThrottlingError"}]}),
    ],
)
def test_r45_a_row_that_is_held_for_ever_is_given_up(
    table: Table, name: str, code: str, details: dict[str, object]
) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    write.prepare(store)
    before = table.items()
    wire.refuse(write.operation, code, details=details)
    wire.sent.clear()

    with pytest.raises(Unavailable):
        write.act(store)

    assert wire.sent.count(write.operation) <= 10
    assert table.items() == before


def test_a_failed_condition_outweighs_a_conflict(table: Table) -> None:
    store, wire = table.faulty_store()
    WRITES["end"].prepare(store)
    wire.refuse("TransactWriteItems", "TransactionCanceledException", details=MIXED)

    with pytest.raises(LostRace):
        WRITES["end"].act(store)


@pytest.mark.parametrize("code", ["AccessDeniedException", "ResourceNotFoundException", "ValidationException"])
@pytest.mark.parametrize("name", ["decide", "pause", "append"])
def test_a_mistake_of_the_deployment_is_called_one(table: Table, name: str, code: str) -> None:
    write = WRITES[name]
    store, wire = table.faulty_store()
    write.prepare(store)
    wire.refuse(write.operation, code)

    with pytest.raises(ConfigurationError):
        write.act(store)


def test_r45_an_unknown_outcome_of_a_claim_enters_nothing_and_can_be_read_afterwards(table: Table) -> None:
    store, wire = table.faulty_store()
    approved = prepared(store)
    for _ in range(ATTEMPTS):
        wire.lose_answer(UPDATE)

    with pytest.raises(Unavailable):
        store.claim("s1", "c2-0", an_execution(approved))

    standing = table.store().call("s1", "c2-0")  # it had landed, and counted once
    assert (standing.status, standing.attempts) == (CallStatus.EXECUTING, 1)


def prepared(store: SessionStore) -> PendingToolCall:
    paused(store, a_call())
    return brought(store, a_call(), CallStatus.APPROVED)
