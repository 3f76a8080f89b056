"""The writes that look after sessions: links, expiry, doubt, postponing, endings. The sweeper's side of the store."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.adapters.dynamodb.writes import ABSENT, ConditionFailed, Write, Writer, translated
from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.domain.calls import CallStatus, PendingToolCall, Resolution, doubted, expired, linked
from pausepoint.domain.events import LogEntry
from pausepoint.domain.fields import moment_text
from pausepoint.domain.session import Session, SessionHead, SessionStatus
from pausepoint.errors import AlreadyDecided, LostRace, NotFound
from pausepoint.runtime.ports import DueRow, NewId, Stall

LEASE_IS_MINE: Final = "#lease.#id = :lease_id"
WITH_LINK: Final = " AND contains(#token_hashes, :token_hash)"
_HEAD_STANDS: Final = (
    # nobody took the session up or laid it down since it was looked at
    "#status = :status_before AND #updated_at = :updated_before"
)

_NOTIFIED: Final = (
    # it stands where it stood when its notice was sent
    "#status = :before"
    # and the link in the notice has not been used up since
    " AND (#spent_rounds = :rounds{absent})"
)
_LINKABLE: Final = (
    # it still asks a person what it asked when it was looked at
    "#status = :before"
    # nobody else made a link meanwhile, which this write would take away
    " AND #token_hashes = :links"
)
_EXPIRABLE: Final = (
    # nobody has decided, and the time to decide is over
    "#status = :pending AND #expires_at <= :now"
)
_DOUBTABLE: Final = (
    # the execution that was looked at still holds it, its time is over, and it may not simply run again
    "#status = :executing AND #execution.#id = :execution_id AND #execution.#deadline < :now AND #retry_safe = :no"
)
_RESOLVABLE: Final = (
    # nobody has said what became of it, and its execution has not reported after all
    "#status = :in_doubt"
)


class Upkeep:
    """The part of the store that the sweeper and the ends of sessions need."""

    def __init__(self, client: Any, table: str, new_id: NewId, bodies: Bodies) -> None:
        self._client = client
        self._table = table
        self.new_id = new_id
        self.bodies = bodies
        self.writer = Writer(client, table)

    def due(self, *, calls: bool, before: datetime, limit: int) -> list[DueRow]:
        """Return overdue rows by the `due` index."""
        try:
            items = self._client.query(
                TableName=self._table,
                IndexName=rows.DUE_INDEX,
                KeyConditionExpression="due_kind = :kind AND due_at < :before",
                ExpressionAttributeValues={
                    ":kind": {"S": rows.DUE_CALL if calls else rows.DUE_SESSION},
                    ":before": {"S": moment_text(before)},
                },
                Limit=limit,
            )["Items"]
        except AWS_FAULTS as error:
            raise translated(error) from error
        return [rows.to_due(rows.from_item(item)) for item in items]

    def mark_notified(self, call: PendingToolCall, *, look_again: datetime | None = None) -> None:
        """Note that the approver was told; on a call that moved on, the notice does not matter any more."""
        nonce = self.new_id()
        sent = replace(call, notify="sent")
        index = rows.call_index(sent)
        write = Write(
            key=_key(call),
            condition=_NOTIFIED.format(absent="" if call.spent_rounds else " OR attribute_not_exists(#spent_rounds)"),
            values={"before": call.status, "rounds": call.spent_rounds},
            row={
                "notify": "sent",
                "reminded": call.notify == "sent",
                **index,
                **({"due_at": moment_text(look_again)} if look_again else {}),
                "nonce": nonce,
            },
        )
        try:
            self.writer.write(write, nonce=nonce)
        except ConditionFailed as failed:
            if failed.first is None:
                raise NotFound(f"There is no call {call.call_id!r} in session {call.session_id!r}.") from None

    def add_link(self, call: PendingToolCall, token_hash: str, *, reconciled: bool) -> PendingToolCall:
        """Add a link's hash to a call that asks a person."""
        changed = linked(call, call.status, token_hash, reconciled=reconciled)
        return self._change(
            call,
            condition=_LINKABLE,
            values={"before": call.status, "links": list(call.token_hashes)},
            row={
                "token_hashes": list(changed.token_hashes),
                "notify": changed.notify,
                "reconciled": changed.reconciled,
            },
        )

    def expire(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        """Close a pending call whose time is over."""
        changed = expired(call, now=now)
        values = {"pending": CallStatus.PENDING, "now": moment_text(now)}
        return self._change(call, condition=_EXPIRABLE, values=values, row=_moved(changed))

    def doubt(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        """Put a call in doubt."""
        changed = doubted(call, now=now)
        assert call.execution is not None
        values = {
            "executing": CallStatus.EXECUTING,
            "execution_id": call.execution.id,
            "now": moment_text(now),
            "no": False,
        }
        row = {**_moved(changed), "notify": changed.notify}
        return self._change(call, condition=_DOUBTABLE, values=values, row=row)

    def resolve(
        self, session_id: str, call_id: str, resolution: Resolution, *, token_hash: str | None
    ) -> PendingToolCall:
        """Say what became of a call in doubt."""
        nonce = self.new_id()
        write = Write(
            key=rows.key(session_id, rows.call_sk(call_id)),
            condition=_RESOLVABLE + (WITH_LINK if token_hash is not None else ""),
            values={
                "in_doubt": CallStatus.IN_DOUBT,
                **({"token_hash": token_hash} if token_hash is not None else {}),
            },
            row={
                "status": CallStatus.SUCCEEDED if resolution.answer == "happened" else CallStatus.FAILED,
                "resolution": resolution.dump(),
                "due_kind": rows.DUE_CALL,
                "due_at": moment_text(resolution.at),
                "sweeps": 0,
                "nonce": nonce,
            },
        )
        call, written = self.write_call(session_id, call_id, write, nonce=nonce)
        if written:
            return call
        if call.status is not CallStatus.IN_DOUBT:
            raise AlreadyDecided(call)
        raise LostRace("the token opens nothing")

    def write_call(self, session_id: str, call_id: str, write: Write, *, nonce: str) -> tuple[PendingToolCall, bool]:
        """Send a write to a CALL row; return the call as it stands then, and whether it was written.

        Raises:
            NotFound: there is no such call.
            Unavailable: whether it was written is not known.
        """
        try:
            return rows.to_call(self.writer.write(write, nonce=nonce)), True
        except ConditionFailed as failed:
            if failed.first is None:
                raise NotFound(f"There is no call {call_id!r} in session {session_id!r}.") from None
            return rows.to_call(failed.first), False

    def postpone(self, row: DueRow, *, until: datetime, stall: Stall | None = None) -> None:
        """Note that somebody looked after a row."""
        nonce = self.new_id()
        sk = rows.META if row.call_id is None else rows.call_sk(row.call_id)
        write = Write(
            key=rows.key(row.session_id, sk),
            # it waits for what it waited for
            condition="#due_at = :seen",
            values={"seen": moment_text(row.due_at)},
            row={
                "due_at": moment_text(until),
                **({"stalls": stall.times, "stalled_at": stall.at} if stall else {}),
                "nonce": nonce,
            },
            adds={} if row.call_id is None else {"sweeps": 1},
        )
        self.write_all([write], nonce=nonce)

    def close(
        self,
        session: Session,
        entry: LogEntry,
        calls: Sequence[PendingToolCall],
        *,
        status: SessionStatus,
        at: datetime,
    ) -> None:
        """Bring a session to an end and close calls of it, in one piece."""
        nonce = self.new_id()
        head = replace(session.head, status=status, lease=None, updated_at=at)
        writes = [
            # taking the next number of the log stops a runner that is under way
            Write(row=rows.entry_row(head, entry, nonce, self.bodies), condition=ABSENT),
            self.head_write(
                head,
                condition=_HEAD_STANDS,
                values={
                    "status_before": session.head.status,
                    "updated_before": moment_text(session.head.updated_at),
                },
                nonce=nonce,
            ),
        ]
        writes += [
            Write(
                key=_key(call),
                # it stands where it stood: not decided, not entered since
                condition="#status = :before",
                values={"before": session.calls[call.call_id].status},
                row={"status": call.status, "outcome": call.outcome, **rows.call_index(call), "nonce": nonce},
            )
            for call in calls
        ]
        self.write_all(writes, nonce=nonce)

    def head_write(self, head: SessionHead, *, condition: str, values: dict[str, Any], nonce: str) -> Write:
        return Write(
            key=rows.key(head.session_id, rows.META),
            condition=condition,
            values=values,
            row={
                "status": head.status,
                "lease": head.lease.dump() if head.lease else None,
                "updated_at": moment_text(head.updated_at),
                **rows.head_index(head),
                "nonce": nonce,
            },
        )

    def write_all(self, writes: Sequence[Write], *, nonce: str) -> None:
        """Send writes as one. Raises LostRace if a condition does not hold."""
        try:
            if len(writes) == 1:
                self.writer.write(writes[0], nonce=nonce)
            elif writes:
                self.writer.write_all(writes, nonce=nonce)
        except ConditionFailed:
            raise LostRace("somebody else wrote first") from None

    def get(self, session_id: str, sk: str, missing: str) -> rows.Row:
        try:
            answer = self._client.get_item(TableName=self._table, Key=rows.key(session_id, sk), ConsistentRead=True)
        except AWS_FAULTS as error:
            raise translated(error) from error
        if "Item" not in answer:
            raise NotFound(missing)
        return rows.from_item(answer["Item"])

    def _change(
        self,
        call: PendingToolCall,
        *,
        condition: str,
        values: dict[str, Any],
        row: dict[str, Any],
    ) -> PendingToolCall:
        nonce = self.new_id()
        write = Write(key=_key(call), condition=condition, values=values, row={**row, "nonce": nonce})
        try:
            return rows.to_call(self.writer.write(write, nonce=nonce))
        except ConditionFailed:
            raise LostRace(f"call {call.call_id} moved on") from None


def _key(call: PendingToolCall) -> rows.Item:
    return rows.key(call.session_id, rows.call_sk(call.call_id))


def _moved(call: PendingToolCall) -> dict[str, Any]:
    return {"status": call.status, "sweeps": 0, **rows.call_index(call)}
