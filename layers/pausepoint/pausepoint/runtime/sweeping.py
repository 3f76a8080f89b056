"""Finding what a crash or a lost message left behind, and bringing it on its way again.

The `due` index only hints. Every row is read again, and what is done to it is a conditional write or a
wake-up, both of which may be done twice. So several sweepers at once do no harm, and neither does none for a
while.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Final

from pausepoint.domain.accounts import said_about
from pausepoint.domain.calls import CallStatus, PendingToolCall, closed, finished
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.events import ExecutionRecorded, LogEntry, SessionFailed, ToolResult
from pausepoint.domain.session import WAKEABLE, Session, SessionStatus
from pausepoint.errors import LostRace, NotFound, PausepointError
from pausepoint.runtime.asking import Asking
from pausepoint.runtime.context import Services
from pausepoint.runtime.ports import Commit, DueRow, FinishedCall, Stall

GRACE: Final = timedelta(seconds=30)
"""What fell due less than this ago is left to those who are at it."""
BATCH: Final = 100
_MOST: Final = 3200
_NOT_SWEPT: Final = "NotSwept"
MAX_STALLS: Final = 8
"""A session that was woken so often without its log moving fails."""
_CUT_OFF: Final = (
    "The process died while the tool ran, and the tool is not run once more. Whether it had its effect is not known."
)
_FIRST_PAUSE: Final = timedelta(minutes=1)
_LONGEST_PAUSE: Final = timedelta(hours=1)


@dataclass
class Swept:
    """What one round did, by name."""

    counts: Counter[str] = field(default_factory=Counter)


class Sweeper:
    """Looks after overdue rows, the longest overdue first.

    Args:
        services: the world.
        reminder: after how long an approver is told once more; None: never.
    """

    def __init__(self, services: Services, *, reminder: timedelta | None = None) -> None:
        self._services = services
        self._asking = Asking(services, reminder)

    def sweep(self, *, until: datetime) -> Swept:
        """Do one round: as much as there is to do, at most about twice a batch, and nothing new after `until`."""
        swept = Swept()
        before = self._services.clock.now() - GRACE
        for calls, look_after in ((True, self._call), (False, self._session)):
            limit, seen = BATCH, set[DueRow]()
            while True:
                overdue = self._services.store.due(calls=calls, before=before, limit=limit)
                helped = False
                for row in overdue:
                    if row in seen:
                        continue
                    if self._services.clock.now() >= until:
                        swept.counts["LeftForNextRound"] += 1
                        return swept
                    seen.add(row)
                    done = self._looked_after(row, look_after)
                    swept.counts[done] += 1
                    helped |= done != _NOT_SWEPT
                # A whole batch that cannot be helped (a newer version's rows, say) must not hide what is behind it.
                if helped or len(overdue) < limit or limit >= _MOST:
                    break
                limit *= 2
        return swept

    def _looked_after(self, row: DueRow, look_after: Callable[[DueRow], str]) -> str:
        try:
            return look_after(row)
        except (LostRace, NotFound):
            return "MovedOn"
        except Exception as error:  # noqa: BLE001 - also a row that nobody can read any more
            # One row that cannot be helped must not stand in the way of the others: it goes to the back.
            self._services.logger.warning(
                "row not swept", extra={"session_id": row.session_id, "call_id": row.call_id, "why": str(error)}
            )
            with suppress(PausepointError):
                self._services.store.postpone(row, until=self._services.clock.now() + _FIRST_PAUSE)
            return _NOT_SWEPT

    def _call(self, row: DueRow) -> str:
        assert row.call_id is not None
        store, now = self._services.store, self._services.clock.now()
        call = store.call(row.session_id, row.call_id)
        match call.status:
            case CallStatus.PENDING if call.overdue(now):
                store.expire(call, now=now)
                self._services.queue.wake(row.session_id)  # the row has moved: another round finds it where it is now
                return "Expired"
            case CallStatus.PENDING if call.notify != "sent":
                return self._notify(call, "Notified")
            case CallStatus.PENDING:
                reminder = None if call.reminded else self._asking.reminder_of(call)
                if reminder is not None and now >= reminder:
                    return self._notify(call, "Reminded")
                store.postpone(row, until=reminder or call.expires_at)
                return "Waiting"
            case CallStatus.EXECUTING if call.execution is not None and call.execution.deadline >= now:
                return "Running"
            case CallStatus.EXECUTING if not call.retry_safe:
                store.doubt(call, now=now)
                self._wake(row, call)
                return "Doubted"
            case CallStatus.IN_DOUBT if call.reconciled:
                return self._notify(call, "Notified") if call.notify != "sent" else "Waiting"
            case CallStatus.CANCELLED | CallStatus.STALE:
                return "MovedOn"
            case _ if call.told:
                return "MovedOn"
            case _:
                return self._carry_on(row, call)

    def _carry_on(self, row: DueRow, call: PendingToolCall) -> str:
        head = self._services.store.head(row.session_id)
        if call.status is CallStatus.EXECUTING and (head.status not in WAKEABLE or call.attempts >= MAX_STALLS):
            return self._give_up(row, call)
        if head.status in WAKEABLE:
            self._wake(row, call)
            return "Woken"
        # No runner takes up a session that has ended, but what became of the call is still to be found out.
        if call.status is CallStatus.IN_DOUBT:
            return self._notify(call, "Notified")
        self._services.store.postpone(row, until=datetime.fromtimestamp(head.expires, UTC))
        return "Waiting"

    def _give_up(self, row: DueRow, call: PendingToolCall) -> str:
        """End a call that could run again, but was cut off too often, or has nobody left to run it (R51)."""
        store, now, execution = self._services.store, self._services.clock.now(), call.execution
        assert execution is not None
        session = store.load(row.session_id)
        ended = finished(call, execution.id, CallStatus.FAILED, outcome=_CUT_OFF, at=now)
        executed = ExecutionRecorded(
            at=execution.started_at,
            call_id=call.call_id,
            name=call.name,
            execution_id=execution.id,
            digest_run=execution.digest,
            status=CallStatus.FAILED,
        )
        result = ToolResult(at=now, call_id=call.call_id, name=call.name, status="error", text=_CUT_OFF, entered=True)
        entry = LogEntry(first=session.next_seq, events=(*said_about(call), executed, result))
        # Like an execution that reports late: the log's next number and the execution's id are what it needs.
        given_up = FinishedCall(call=ended, execution_id=execution.id)
        store.commit(Commit(head=session.head, lease_id="", at=now, entry=entry, finished=given_up))
        self._services.queue.wake(row.session_id)
        return "GivenUp"

    def _notify(self, call: PendingToolCall, what: str) -> str:
        """Send a link of its own: the secrets of those before are known to nobody any more."""
        token = self._services.new_token()
        head = self._services.store.head(call.session_id)
        in_doubt = call.status is CallStatus.IN_DOUBT
        call = self._services.store.add_link(call, sha256_hex(token), reconciled=in_doubt)
        self._asking.send(head.base_url, call, token)
        return what

    def _wake(self, row: DueRow, call: PendingToolCall) -> None:
        self._services.queue.wake(row.session_id)
        self._services.store.postpone(row, until=self._services.clock.now() + _pause(call.sweeps))

    def _session(self, row: DueRow) -> str:
        store, now = self._services.store, self._services.clock.now()
        session = store.load(row.session_id)
        head = session.head
        if head.status is not SessionStatus.RUNNING or (head.lease is not None and head.lease.until >= now):
            return "MovedOn"
        deadlines = [
            call.execution.deadline
            for call in session.calls.values()
            if call.status is CallStatus.EXECUTING and call.execution is not None
        ]
        if any(deadline >= now for deadline in deadlines):
            store.postpone(row, until=max(deadlines))
            return "Running"
        standing_still = head.stalled_at == session.next_seq
        if standing_still and head.stalls >= MAX_STALLS:
            self._fail(session, now)
            return "Failed"
        self._services.queue.wake(row.session_id)
        stalls = head.stalls if standing_still else 0
        store.postpone(row, until=now + _pause(stalls), stall=Stall(times=stalls + 1, at=session.next_seq))
        return "Woken"

    def _fail(self, session: Session, now: datetime) -> None:
        message = f"The session was taken up {MAX_STALLS} times and each time stopped without getting further."
        failed = SessionFailed(at=now, code="stalled", message=message)
        entry = LogEntry(first=session.next_seq, events=(failed,))
        calls = [
            closed(call, CallStatus.CANCELLED)
            for call in session.calls.values()
            if call.status in (CallStatus.PENDING, CallStatus.APPROVED)
        ]
        self._services.store.close(session, entry, calls, status=SessionStatus.FAILED, at=now)


def _pause(times: int) -> timedelta:
    """Return how long to leave a row alone that was looked after so many times before."""
    return min(_FIRST_PAUSE * (1 << min(times, 10)), _LONGEST_PAUSE)
