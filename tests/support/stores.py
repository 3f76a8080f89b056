"""An in-memory store that reads back what DynamoDB's rows would give, and lets a test step in anywhere."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.domain.calls import Decision, Execution, PendingToolCall, Resolution
from pausepoint.domain.events import LogEntry
from pausepoint.domain.session import Lease, Session, SessionHead, SessionSpec, SessionStatus
from pausepoint.domain.waiting import ALL_WAITING, Waiting
from pausepoint.runtime.memory import InMemoryStore
from pausepoint.runtime.ports import Commit, DueRow, Stall
from tests.support.bucket import Bucket

ROW_BYTES = 400 * 1024


class ObservedStore:
    """Honours `SessionStore`, and DynamoDB's limit of 400 KB on what is written.

    Attributes:
        memory: where everything is; a test that plays an intruder changes it directly.
        operations: the names of the methods that were called, oldest first.
    """

    def __init__(self) -> None:
        self.memory = InMemoryStore()
        self.operations: list[str] = []
        self._hooks: dict[str, list[Callable[[], object]]] = defaultdict(list)
        self._bodies = Bodies(Bucket(), "overflow")

    def before(self, operation: str, act: Callable[[], object]) -> None:
        """Do something once, before the next such operation."""
        self._hooks[f"before {operation}"].append(act)

    def after(self, operation: str, act: Callable[[], object]) -> None:
        """Do something once, after the next such operation: it has landed, its caller does not know yet."""
        self._hooks[f"after {operation}"].append(act)

    def create(self, session: Session) -> None:
        self._at("before create")
        self.memory.create(session)
        self._at("after create")

    def load(self, session_id: str) -> Session:
        self._at("before load")
        session = as_stored(self.memory.load(session_id), self._bodies)
        self._at("after load")
        return session

    def head(self, session_id: str) -> SessionHead:
        return self.memory.head(session_id)

    def call(self, session_id: str, call_id: str) -> PendingToolCall:
        return self.memory.call(session_id, call_id)

    def spec(self, session_id: str) -> SessionSpec:
        return self.load(session_id).spec

    def lease(self, session_id: str, lease: Lease, *, now: datetime, statuses: frozenset[SessionStatus]) -> SessionHead:
        self._at("before lease")
        head = self.memory.lease(session_id, lease, now=now, statuses=statuses)
        self._at("after lease")
        return head

    def commit(self, commit: Commit) -> SessionHead:
        self._at("before commit")
        if commit.entry is not None:
            assert _bytes_of(rows.entry_row(commit.head, commit.entry, "nonce", self._bodies)) < ROW_BYTES
        head = self.memory.commit(commit)
        self._at("after commit")
        return head

    def decide(self, session_id: str, call_id: str, decision: Decision, *, token_hash: str | None) -> PendingToolCall:
        self._at("before decide")
        call = self.memory.decide(session_id, call_id, decision, token_hash=token_hash)
        self._at("after decide")
        return call

    def claim(self, session_id: str, call_id: str, execution: Execution) -> PendingToolCall:
        self._at("before claim")
        call = self.memory.claim(session_id, call_id, execution)
        self._at("after claim")
        return call

    def resolve(
        self, session_id: str, call_id: str, resolution: Resolution, *, token_hash: str | None
    ) -> PendingToolCall:
        self._at("before resolve")
        call = self.memory.resolve(session_id, call_id, resolution, token_hash=token_hash)
        self._at("after resolve")
        return call

    def count_code_try(self, session_id: str, call_id: str, token_hash: str) -> PendingToolCall:
        self._at("before count_code_try")
        call = self.memory.count_code_try(session_id, call_id, token_hash)
        self._at("after count_code_try")
        return call

    def use_code(self, step: int) -> None:
        self._at("before use_code")
        self.memory.use_code(step)
        self._at("after use_code")

    def mark_notified(self, call: PendingToolCall, *, look_again: datetime | None = None) -> None:
        self._at("before mark_notified")
        self.memory.mark_notified(call, look_again=look_again)
        self._at("after mark_notified")

    def due(self, *, calls: bool, before: datetime, limit: int) -> list[DueRow]:
        return self.memory.due(calls=calls, before=before, limit=limit)

    def add_link(self, call: PendingToolCall, token_hash: str, *, reconciled: bool) -> PendingToolCall:
        self._at("before add_link")
        linked = self.memory.add_link(call, token_hash, reconciled=reconciled)
        self._at("after add_link")
        return linked

    def expire(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        self._at("before expire")
        expired = self.memory.expire(call, now=now)
        self._at("after expire")
        return expired

    def doubt(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        self._at("before doubt")
        doubted = self.memory.doubt(call, now=now)
        self._at("after doubt")
        return doubted

    def postpone(self, row: DueRow, *, until: datetime, stall: Stall | None = None) -> None:
        self._at("before postpone")
        self.memory.postpone(row, until=until, stall=stall)
        self._at("after postpone")

    def close(
        self,
        session: Session,
        entry: LogEntry,
        calls: Sequence[PendingToolCall],
        *,
        status: SessionStatus,
        at: datetime,
    ) -> None:
        self._at("before close")
        self.memory.close(session, entry, calls, status=status, at=at)
        self._at("after close")

    def sessions(
        self, status: SessionStatus | None, *, limit: int, before: str | None
    ) -> tuple[list[SessionHead], str | None]:
        return self.memory.sessions(status, limit=limit, before=before)

    def pending(
        self, *, limit: int, after: str | None, where: Waiting = ALL_WAITING
    ) -> tuple[list[PendingToolCall], str | None]:
        return self.memory.pending(limit=limit, after=after, where=where)

    def alter_call(self, session_id: str, call_id: str, **changes: Any) -> None:
        """Change a stored call behind everybody's back."""
        call = replace(self.memory.call(session_id, call_id), **changes)
        self.memory._put(self.memory.load(session_id).after(None, calls=[call]))

    def _at(self, moment: str) -> None:
        when, operation = moment.split(" ")
        if when == "before":
            self.operations.append(operation)
        hooks = self._hooks[moment]
        if hooks:
            hooks.pop(0)()


def _bytes_of(row: rows.Row) -> int:
    return sum(
        len(name) + len(value if isinstance(value, bytes) else str(value).encode()) for name, value in row.items()
    )


def as_stored(session: Session, bodies: Bodies | None = None) -> Session:
    """Return the session as a fresh process reads it from the table's rows, and a bucket of its own or this one."""
    bodies = bodies or Bodies(Bucket(), "overflow")
    head = session.head
    written = [
        rows.head_row(head, "nonce"),
        rows.spec_row(session, "nonce", bodies),
        rows.entry_row(head, LogEntry(first=1, events=session.events), "nonce", bodies),
        *(rows.call_row(call, expires=head.expires, nonce="nonce") for call in session.calls.values()),
    ]
    return rows.to_session(head.session_id, [rows.from_item(rows.to_item(row)) for row in written], bodies)
