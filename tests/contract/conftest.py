"""The three stores that one suite is run against, each empty at the start of a test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from botocore.httpsession import URLLib3Session

from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.ports import SessionStore
from tests.support.aws import locked_moto
from tests.support.emulator import ministack
from tests.support.tables import Table

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest

MINISTACK = pytest.param("ministack_table", marks=pytest.mark.emulator, id="ministack")
TABLES = [pytest.param("moto_table", id="moto"), MINISTACK]


@dataclass(frozen=True)
class Place:
    """A store, and everything that is in it as something that can be compared."""

    store: SessionStore
    everything: Callable[[], object]
    table: Table | None = None


@pytest.fixture(scope="session")
def ministack_url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    with ministack(tmp_path_factory.mktemp("ministack")) as url:
        yield url


@pytest.fixture
def moto_table() -> Iterator[Table]:
    with locked_moto():
        table = Table(deliver=_done_by_moto)
        yield table
        _audit(table)


@pytest.fixture
def ministack_table(ministack_url: str) -> Iterator[Table]:
    table = Table(deliver=_send, endpoint_url=ministack_url)
    yield table
    _audit(table)
    table.drop()


@pytest.fixture(params=TABLES)
def table(request: pytest.FixtureRequest) -> Table:
    """A table: for what only the DynamoDB store can show."""
    made: Table = request.getfixturevalue(request.param)
    return made


@pytest.fixture(params=[pytest.param(None, id="memory"), *TABLES])
def place(request: pytest.FixtureRequest) -> Place:
    if request.param is None:
        store = InMemoryStore()
        return Place(store, lambda: _everything(store))
    table: Table = request.getfixturevalue(request.param)
    return Place(table.store(), table.items, table)


@pytest.fixture
def store(place: Place) -> SessionStore:
    return place.store


@pytest.fixture
def swept(place: Place) -> Place:
    """A place in which a test says when rows are due, so that the audit does not ask."""
    if place.table is not None:
        place.table.swept = True
    return place


@pytest.fixture
def no_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    """Let nobody wait between two attempts."""
    monkeypatch.setattr("botocore.retries.standard.ExponentialBackoff.delay_amount", lambda *_: 0)
    for module in ("listing", "writes"):
        monkeypatch.setattr(f"pausepoint.adapters.dynamodb.{module}.sleep", lambda _: None)


def _everything(store: InMemoryStore) -> object:
    heads, _ = store.sessions(None, limit=1000, before=None)
    return [store.load(head.session_id) for head in heads]


def _audit(table: Table) -> None:
    if not table.altered:
        table.audit()


def _send(request: AWSPreparedRequest) -> None:
    URLLib3Session().send(request)


def _done_by_moto(_: AWSPreparedRequest) -> None:
    """Moto has taken the request in by the time its answer is lost."""
