"""Large texts: compressed where that pays; where a row is too small, in the bucket before the row that names them."""

from __future__ import annotations

import base64
import hashlib
import random
import zlib
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from botocore.exceptions import ClientError, ReadTimeoutError

from pausepoint.adapters.dynamodb.bodies import ROW_BYTES, Bodies
from pausepoint.adapters.dynamodb.compression import inflated
from pausepoint.domain.calls import CallStatus
from pausepoint.domain.results import MAX_RESULT_BYTES
from pausepoint.errors import ConfigurationError, LostRace, PausepointError, Unavailable
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import (
    RUNNING,
    a_call,
    a_lease,
    a_result,
    a_session,
    a_turn,
    appending,
    brought,
    closing,
    ended,
    ending,
    moment,
    paused,
    pausing,
    said,
)
from tests.support.tables import Table

LIMIT_OF_A_ROW = 400 * 1024


def noise(size: int) -> str:
    """Return so many characters of text that does not get smaller by being compressed to a row's size."""
    return base64.b85encode(random.Random(size).randbytes(size)).decode()[:size]


NOISE = noise(600_000)
ENTRY = "EV#0000000002"


@pytest.fixture
def table(table: Table) -> Table:
    table.make_bucket()
    return table


@pytest.fixture
def roomy(place: Place) -> SessionStore:
    """A store, and a bucket where it needs one."""
    if place.table is not None:
        place.table.make_bucket()
    return place.store


def row_of(table: Table, sk: str = ENTRY) -> dict[str, Any]:
    (item,) = (item for item in table.items() if item["sk"]["S"] == sk)
    return item


def size_of(item: dict[str, Any]) -> int:
    return sum(len(name) + len(next(iter(value.values()))) for name, value in item.items())


# --- what comes back


@pytest.mark.parametrize(
    "text",
    [NOISE, noise(MAX_RESULT_BYTES - 2), "line of a log\n" * 80_000, "\N{PILE OF POO}\x00" * 90_000],
    ids=["noise", "a_megabyte_of_noise", "a_log", "poo"],
)
def test_case_35_a_result_of_up_to_a_megabyte_comes_back_whole(roomy: SessionStore, text: str) -> None:
    session = paused(roomy, call := a_call())
    executing = brought(roomy, call, CallStatus.EXECUTING)
    end = closing(session, ended(executing), "run-1")
    assert end.entry is not None
    result = a_result(call, text)

    roomy.commit(replace(end, entry=replace(end.entry, events=(result,))))

    assert roomy.load("s1").results["c2-0"] == result


def test_a_large_system_text_a_large_message_and_a_large_turn_come_back_whole(roomy: SessionStore) -> None:
    session = a_session(text=noise(400_000))
    session = replace(session, spec=replace(session.spec, system=noise(500_000)))
    turn = a_turn(message={"content": [{"text": NOISE}, {"reasoningContent": {"redactedContent": bytes(range(256))}}]})
    roomy.create(session)

    roomy.commit(ending(session, turn))

    loaded = roomy.load("s1")
    assert (loaded.spec, loaded.events) == (session.spec, (*session.events, turn))


# --- where it is kept


def test_what_is_too_large_for_a_row_is_in_the_bucket_under_its_hash_and_the_row_names_it(table: Table) -> None:
    store = table.store()
    store.create(a_session())

    store.commit(appending(store.load("s1"), said(NOISE)))

    row = row_of(table)
    assert {"body", "body_zlib"}.isdisjoint(row)
    ((key, packed),) = table.objects().items()
    assert key == row["body_key"]["S"] == hashlib.sha256(packed).hexdigest()
    assert NOISE in inflated(packed).decode()
    assert size_of(row) < 1024


def test_what_compresses_well_stays_in_its_row(table: Table) -> None:
    store = table.store()
    store.create(a_session())

    store.commit(appending(store.load("s1"), said("line of a log\n" * 70_000)))

    row = row_of(table)
    assert set(row) >= {"body_zlib"}
    assert {"body", "body_key"}.isdisjoint(row)
    assert (size_of(row) < 20_000, table.objects()) == (True, {})


@pytest.mark.parametrize("text", ["short", noise(50_000), noise(ROW_BYTES - 200)], ids=["short", "middle", "just_fits"])
def test_what_does_not_compress_and_fits_stays_readable_in_its_row(table: Table, text: str) -> None:
    store = table.store()
    store.create(a_session())

    store.commit(appending(store.load("s1"), said(text)))

    row = row_of(table)
    kept = row["body"]["S"] if "body" in row else inflated(row["body_zlib"]["B"]).decode()
    assert (text in kept, size_of(row) < LIMIT_OF_A_ROW, table.objects()) == (True, True, {})
    assert ("body" in row) == (len(text) < 1000)  # base 85 is a fifth longer than what it stands for


def test_the_same_large_text_twice_is_one_object(table: Table) -> None:
    store = table.store()
    for session_id in ("s1", "s2"):
        store.create(a_session(session_id, text=NOISE))

    assert len(table.objects()) == 1
    assert store.load("s1").events == store.load("s2").events


# --- the payload first


class Breaking:
    """An S3 client that refuses what is put or got, or looks at the table first."""

    def __init__(self, table: Table, error: Exception | None = None) -> None:
        self._table, self._error = table, error
        self.seen: list[object] = []

    def put_object(self, **parameters: Any) -> Any:
        self.seen.append(self._table.items())
        if self._error is not None:
            raise self._error
        return self._table.s3.put_object(**parameters)

    def get_object(self, **parameters: Any) -> Any:
        if self._error is not None:
            raise self._error
        return self._table.s3.get_object(**parameters)


def refused(code: str) -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": "said the test"}}, "PutObject")


ERRORS = [
    (refused("SlowDown"), Unavailable),
    (refused("InternalError"), Unavailable),
    (ReadTimeoutError(endpoint_url="https://s3.invalid"), Unavailable),
    (refused("AccessDenied"), ConfigurationError),
    (refused("NoSuchBucket"), ConfigurationError),
]
Act = Callable[[SessionStore], object]


def create(store: SessionStore) -> None:
    store.create(a_session("s2", text=NOISE))


def append(store: SessionStore) -> None:
    store.commit(appending(store.load("s1"), said(NOISE)))


def pause(store: SessionStore) -> None:
    commit = pausing(store.load("s1"), call := a_call("c2-1"))
    assert commit.entry is not None
    turn = a_turn(call, message={"content": [{"text": NOISE}]})
    store.commit(replace(commit, entry=replace(commit.entry, events=(turn,))))


def record(store: SessionStore) -> None:
    call = store.call("s1", "c2-0")
    end = closing(store.load("s1"), ended(call), "run-1")
    assert end.entry is not None
    store.commit(replace(end, entry=replace(end.entry, events=(a_result(call, NOISE),))))


def prepare(table: Table) -> None:
    store = table.store()
    store.create(a_session())
    store.commit(pausing(store.load("s1"), call := a_call(), status=None))
    brought(store, call, CallStatus.EXECUTING)


@pytest.mark.parametrize(("error", "raised"), ERRORS, ids=["slow", "internal", "timeout", "denied", "no_bucket"])
@pytest.mark.parametrize("write", [create, append, pause, record])
def test_r45_a_bucket_that_fails_leaves_no_row(
    table: Table, write: Act, error: Exception, raised: type[PausepointError]
) -> None:
    prepare(table)
    before = table.items()

    with pytest.raises(raised):
        write(table.store(bodies=Bodies(Breaking(table, error), table.bucket)))

    assert (table.items(), table.objects()) == (before, {})


@pytest.mark.parametrize("write", [create, append, pause, record])
def test_the_object_is_there_before_the_row_that_names_it(table: Table, write: Act) -> None:
    prepare(table)
    before = table.items()
    client = Breaking(table)

    write(table.store(bodies=Bodies(client, table.bucket)))

    assert client.seen == [before]
    assert table.items() != before
    assert len(table.objects()) == 1


def test_a_write_that_loses_its_race_leaves_nothing_but_an_object_that_nobody_names(table: Table) -> None:
    store = table.store()
    store.create(a_session())
    late = appending(store.load("s1"), said(NOISE))
    store.commit(appending(store.load("s1"), said("somebody else")))
    before = table.items()

    with pytest.raises(LostRace):
        store.commit(late)

    assert table.items() == before
    assert store.load("s1").events[1:] == (said("somebody else"),)


@pytest.mark.usefixtures("no_pauses")
def test_r44_a_large_write_whose_answer_is_lost_has_one_effect(table: Table) -> None:
    store, wire = table.faulty_store()
    store.create(a_session())
    wire.lose_answer("PutItem")

    store.commit(appending(store.load("s1"), said(NOISE)))

    assert table.store().load("s1").events[1:] == (said(NOISE),)
    assert len(table.objects()) == 1


# --- what was tampered with, or is gone


def stored(table: Table) -> str:
    """Store something large; return its object's key."""
    store = table.store()
    store.create(a_session())
    store.commit(appending(store.load("s1"), said(NOISE)))
    (key,) = table.objects()
    return key


@pytest.mark.parametrize("body", [b"", zlib.compress(b"[]"), zlib.compress(NOISE.encode()), b"garbage"])
def test_an_object_that_was_altered_is_refused(table: Table, body: bytes) -> None:
    key = stored(table)
    table.s3.put_object(Bucket=table.bucket, Key=key, Body=body)

    with pytest.raises(ConfigurationError, match=key):
        table.store().load("s1")

    table.altered = True  # the audit could not read it either


def test_an_object_that_is_gone_is_called_gone(table: Table) -> None:
    table.s3.delete_object(Bucket=table.bucket, Key=stored(table))

    with pytest.raises(ConfigurationError):
        table.store().load("s1")

    table.altered = True


@pytest.mark.parametrize(("error", "raised"), ERRORS[:4], ids=["slow", "internal", "timeout", "denied"])
def test_r45_a_bucket_that_does_not_answer_a_reader_is_told_apart(
    table: Table, error: Exception, raised: type[PausepointError]
) -> None:
    stored(table)

    with pytest.raises(raised):
        table.store(bodies=Bodies(Breaking(table, error), table.bucket)).load("s1")

    assert table.store().load("s1").events[1:] == (said(NOISE),)


def test_what_needs_no_body_needs_no_bucket(table: Table) -> None:
    stored(table)
    store = table.store(bodies=Bodies(None, ""))

    store.lease("s1", a_lease(), now=moment(1), statuses=frozenset({RUNNING}))

    assert store.head("s1").session_id == "s1"
    assert [head.session_id for head in store.sessions(None, limit=9, before=None)[0]] == ["s1"]
