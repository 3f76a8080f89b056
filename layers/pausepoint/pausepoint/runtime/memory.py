"""Everything in memory: for tests, and for agents that run without AWS."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from threading import RLock

from pausepoint.domain import calls as transitions
from pausepoint.domain.calls import Decision, Execution, PendingToolCall, Resolution
from pausepoint.domain.code_tries import code_tried
from pausepoint.domain.events import LogEntry
from pausepoint.domain.fields import moment_text
from pausepoint.domain.session import Lease, Session, SessionHead, SessionSpec, SessionStatus
from pausepoint.domain.waiting import ALL_WAITING, Waiting
from pausepoint.errors import LostRace, NotFound, SessionBusy
from pausepoint.runtime.ports import Commit, DueRow, Notice, Stall


class InMemoryStore:
    """A `SessionStore` in a dict. Its conditions are the domain's own transition functions."""

    def __init__(self) -> None:
        self._sessions: dict[str, Session] = {}
        self._postponed: dict[tuple[str, str], datetime] = {}
        self._last_code = 0
        self._lock = RLock()

    def create(self, session: Session) -> None:
        with self._lock:
            if session.head.session_id in self._sessions:
                raise LostRace("the session exists")
            self._sessions[session.head.session_id] = session

    def load(self, session_id: str) -> Session:
        with self._lock:
            try:
                return self._sessions[session_id]
            except KeyError:
                raise NotFound(f"There is no session {session_id!r}.") from None

    def head(self, session_id: str) -> SessionHead:
        return self.load(session_id).head

    def call(self, session_id: str, call_id: str) -> PendingToolCall:
        try:
            return self.load(session_id).calls[call_id]
        except KeyError:
            raise NotFound(f"There is no call {call_id!r} in session {session_id!r}.") from None

    def spec(self, session_id: str) -> SessionSpec:
        return self.load(session_id).spec

    def lease(self, session_id: str, lease: Lease, *, now: datetime, statuses: frozenset[SessionStatus]) -> SessionHead:
        with self._lock:
            session = self.load(session_id)
            held = session.head.lease
            if session.head.status not in statuses or (held is not None and held.until >= now and held.id != lease.id):
                raise SessionBusy(f"Session {session_id} is {session.head.status}.")
            head = replace(session.head, lease=lease, status=SessionStatus.RUNNING, updated_at=now)
            self._postponed.pop((session_id, ""), None)
            self._put(replace(session, head=head))
            return head

    def commit(self, commit: Commit) -> SessionHead:
        with self._lock:
            session = self._standing(commit.head.session_id)
            _check(session, commit)
            head = session.head
            if commit.status is not None:
                lease = head.lease if commit.keep_lease else None
                head = replace(head, status=commit.status, lease=lease, updated_at=commit.at)
                self._postponed.pop((head.session_id, ""), None)
            elif commit.stands is SessionStatus.PAUSED:
                head = replace(head, status=SessionStatus.RUNNING, updated_at=commit.at)
                self._postponed.pop((head.session_id, ""), None)
            changed = list(commit.new_calls)
            if commit.finished is not None:
                changed.append(_ended(session.calls[commit.finished.call.call_id], commit.finished.call))
            self._put(session.after(commit.entry, head=head, calls=changed))
            return head

    def decide(self, session_id: str, call_id: str, decision: Decision, *, token_hash: str | None) -> PendingToolCall:
        return self._move(session_id, call_id, lambda call: transitions.decided(call, decision, token_hash=token_hash))

    def claim(self, session_id: str, call_id: str, execution: Execution) -> PendingToolCall:
        try:
            return self._move(session_id, call_id, lambda call: transitions.claimed(call, execution))
        except NotFound:
            raise LostRace(f"call {call_id} is gone") from None

    def resolve(
        self, session_id: str, call_id: str, resolution: Resolution, *, token_hash: str | None
    ) -> PendingToolCall:
        return self._move(
            session_id, call_id, lambda call: transitions.resolved(call, resolution, token_hash=token_hash)
        )

    def count_code_try(self, session_id: str, call_id: str, token_hash: str) -> PendingToolCall:
        with self._lock:
            call = code_tried(self.call(session_id, call_id), token_hash=token_hash)
            if not call.token_hashes:
                return self._move(session_id, call_id, lambda _: call)
            self._put(self.load(session_id).after(None, calls=[call]))
            return call

    def use_code(self, step: int) -> None:
        with self._lock:
            if step <= self._last_code:
                raise LostRace("the code was used before")
            self._last_code = step

    def mark_notified(self, call: PendingToolCall, *, look_again: datetime | None = None) -> None:
        with self._lock:
            stored = self.call(call.session_id, call.call_id)
            if (stored.status, stored.spent_rounds) != (call.status, call.spent_rounds):
                return
            told = replace(stored, notify="sent", reminded=call.notify == "sent")
            self._put_call(told, due=look_again)

    def due(self, *, calls: bool, before: datetime, limit: int) -> list[DueRow]:
        found: list[DueRow] = []
        with self._lock:
            for session in self._sessions.values():
                session_id = session.head.session_id
                if not calls and (due := self._due_of(session.head)) is not None:
                    found.append(DueRow(session_id, None, due))
                found += [
                    DueRow(session_id, call.call_id, due)
                    for call in (session.calls.values() if calls else ())
                    if (due := self._due_of_call(call)) is not None
                ]
        found.sort(key=lambda row: row.due_at)
        return [row for row in found if row.due_at < before][:limit]

    def add_link(self, call: PendingToolCall, token_hash: str, *, reconciled: bool) -> PendingToolCall:
        with self._lock:
            stored = self._standing(call.session_id).calls.get(call.call_id)
            if stored is None or stored.token_hashes != call.token_hashes:
                raise LostRace("it is gone, or somebody else made a link")
            linked = transitions.linked(stored, call.status, token_hash, reconciled=reconciled)
            self._put(self.load(call.session_id).after(None, calls=[linked]))
            return linked

    def expire(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        return self._move_standing(call, lambda stored: transitions.expired(stored, now=now))

    def doubt(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        def doubted(stored: PendingToolCall) -> PendingToolCall:
            if stored.execution != call.execution:
                raise LostRace("another execution holds the call")
            return transitions.doubted(stored, now=now)

        return self._move_standing(call, doubted)

    def postpone(self, row: DueRow, *, until: datetime, stall: Stall | None = None) -> None:
        with self._lock:
            session = self._standing(row.session_id)
            call = session.calls.get(row.call_id) if row.call_id is not None else None
            gone = row.call_id is not None and call is None
            if gone or row.due_at != (self._due_of_call(call) if call else self._due_of(session.head)):
                raise LostRace("the row moved on")
            if call is not None:
                self._put_call(replace(call, sweeps=call.sweeps + 1), due=until)
                return
            self._postponed[row.session_id, ""] = until
            if stall is not None:
                self._put(replace(session, head=replace(session.head, stalls=stall.times, stalled_at=stall.at)))

    def close(
        self,
        session: Session,
        entry: LogEntry,
        calls: Sequence[PendingToolCall],
        *,
        status: SessionStatus,
        at: datetime,
    ) -> None:
        with self._lock:
            stored = self._standing(session.head.session_id)
            moved = any(stored.calls[call.call_id] != session.calls[call.call_id] for call in calls)
            moved |= (stored.head.status, stored.head.updated_at) != (session.head.status, session.head.updated_at)
            if stored.next_seq != entry.first or moved:
                raise LostRace("the session moved")
            head = replace(stored.head, status=status, lease=None, updated_at=at)
            self._put(stored.after(entry, head=head, calls=calls))

    def sessions(
        self, status: SessionStatus | None, *, limit: int, before: str | None
    ) -> tuple[list[SessionHead], str | None]:
        def place(head: SessionHead) -> str:
            return f"{moment_text(head.updated_at)}#{head.session_id}"

        with self._lock:
            heads = [session.head for session in self._sessions.values() if status in (None, session.head.status)]
        heads.sort(key=place, reverse=True)
        rest = [head for head in heads if before is None or place(head) < before]
        return rest[:limit], place(rest[limit - 1]) if len(rest) > limit else None

    def pending(
        self, *, limit: int, after: str | None, where: Waiting = ALL_WAITING
    ) -> tuple[list[PendingToolCall], str | None]:
        def place(call: PendingToolCall) -> str:
            due = transitions.due_at(call)
            return f"{moment_text(due) if due else ''}#{call.session_id}#{call.call_id}"

        with self._lock:
            calls = [call for session in self._sessions.values() for call in session.calls.values()]
        calls = [call for call in calls if where.includes(call)]
        calls.sort(key=place)
        rest = [call for call in calls if after is None or place(call) > after]
        return rest[:limit], place(rest[limit - 1]) if len(rest) > limit else None

    def _move(
        self, session_id: str, call_id: str, change: Callable[[PendingToolCall], PendingToolCall]
    ) -> PendingToolCall:
        with self._lock:
            call = replace(change(self.call(session_id, call_id)), sweeps=0)
            self._put_call(call, due=None)
            return call

    def _move_standing(
        self, call: PendingToolCall, change: Callable[[PendingToolCall], PendingToolCall]
    ) -> PendingToolCall:
        try:
            return self._move(call.session_id, call.call_id, change)
        except NotFound:
            raise LostRace(f"call {call.call_id} is gone") from None

    def _put_call(self, call: PendingToolCall, *, due: datetime | None) -> None:
        place = (call.session_id, call.call_id)
        self._postponed.pop(place, None)
        if due is not None:
            self._postponed[place] = due
        self._put(self.load(call.session_id).after(None, calls=[call]))

    def _due_of(self, head: SessionHead) -> datetime | None:
        if head.status is not SessionStatus.RUNNING:
            return None
        return self._postponed.get((head.session_id, "")) or (head.lease.until if head.lease else head.updated_at)

    def _due_of_call(self, call: PendingToolCall) -> datetime | None:
        due = transitions.due_at(call)
        return due and self._postponed.get((call.session_id, call.call_id), due)

    def _standing(self, session_id: str) -> Session:
        try:
            return self.load(session_id)
        except NotFound:
            raise LostRace("the session is gone") from None

    def _put(self, session: Session) -> None:
        self._sessions[session.head.session_id] = session


def _ended(stored: PendingToolCall, end: PendingToolCall) -> PendingToolCall:
    """Return a stored call at its end: whoever ends it says how, and cannot touch what was decided."""
    return replace(
        stored,
        status=end.status,
        outcome=end.outcome,
        told=end.told,
        execution=end.execution or stored.execution,
        resolution=end.resolution or stored.resolution,
    )


def _check(session: Session, commit: Commit) -> None:
    if commit.entry is not None and commit.entry.first != session.next_seq:
        raise LostRace("the log went on")
    if any(call.call_id in session.calls for call in commit.new_calls):
        raise LostRace("the call has a record already")
    if commit.status is not None and commit.log_at not in (None, session.next_seq):
        raise LostRace("the log went on")
    if commit.stands is not None and session.head.status is not commit.stands:
        raise LostRace("the session stands elsewhere")
    lease_id = session.head.lease.id if session.head.lease else None
    if (commit.status is not None or commit.new_calls) and lease_id != commit.lease_id:
        raise LostRace("the lease is not mine")
    if commit.finished is not None:
        call = commit.finished.call
        stored = session.calls.get(call.call_id)
        held_by = stored.execution.id if stored and stored.execution else None
        if stored is None or not transitions.can_end(stored, call) or held_by != commit.finished.execution_id:
            raise LostRace("the call is not held by this execution")


@dataclass
class InMemoryNotifier:
    """Keeps what it was to send, newest last."""

    sent: list[Notice] = field(default_factory=list)

    def send(self, notice: Notice) -> None:
        self.sent.append(notice)


@dataclass
class InMemoryQueue:
    """Keeps the sessions that somebody should wake, oldest first."""

    woken: list[str] = field(default_factory=list)

    def wake(self, session_id: str) -> None:
        self.woken.append(session_id)
