"""The `SessionStore` on one DynamoDB table: every step of the protocol, with its condition."""

from __future__ import annotations

from dataclasses import replace
from datetime import datetime
from typing import Any, Final

from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.adapters.dynamodb.codes import Codes
from pausepoint.adapters.dynamodb.listing import Listing
from pausepoint.adapters.dynamodb.upkeep import LEASE_IS_MINE, WITH_LINK
from pausepoint.adapters.dynamodb.writes import ABSENT, ConditionFailed, Write, translated
from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.domain.calls import CallStatus, Decision, Execution, PendingToolCall, origins
from pausepoint.domain.events import LogEntry
from pausepoint.domain.fields import moment_text
from pausepoint.domain.session import Lease, Session, SessionHead, SessionSpec, SessionStatus
from pausepoint.domain.waiting import ALL_WAITING, Waiting
from pausepoint.errors import AlreadyDecided, CallExpired, LostRace, NotFound, SessionBusy
from pausepoint.runtime.ports import Commit, FinishedCall, NewId

_LEASABLE: Final = (
    # it is a session in one of the states the caller can start from
    "#status IN ({statuses})"
    # and nobody is at it: there is no lease, or it has run out, or it is mine (my answer was lost)
    " AND (attribute_not_exists(#lease) OR #lease.#until < :now OR #lease.#id = :lease_id)"
)
_DECIDABLE: Final = (
    # nobody has decided, and it was not closed: of all posts, one finds this true
    "#status = :pending"
    # the time to decide is not over, whether or not anybody has noticed yet
    " AND #expires_at > :now"
    # what the person was shown is what is stored
    " AND #digest = :digest"
    # a question is answered, and permission given for everything else
    " AND {is_question}(#question)"
)
_CLAIMABLE: Final = (
    # it is approved and nobody has started it
    "(#status = :approved"
    # or its execution was cut off, and its author says that running it again does no harm
    " OR (#status = :executing AND #retry_safe = :yes AND #execution.#deadline < :now))"
    # and what will run is what a person approved, or, for a call nobody had to approve, what was recorded
    " AND ((#decision.#verdict = :approved AND #decision.#digest_approved = :digest)"
    " OR (#gated = :no AND #digest = :digest))"
)


class DynamoDBStore(Codes):
    """Keeps sessions in one table.

    Args:
        client: a boto3 DynamoDB client.
        table: the table's name.
        new_id: makes the nonces.
        bodies: packs the large texts.
    """

    def __init__(self, client: Any, table: str, new_id: NewId, bodies: Bodies) -> None:
        super().__init__(client, table, new_id, bodies)
        self._client = client
        self._table = table
        self._listing = Listing(client, table)

    def create(self, session: Session) -> None:
        nonce = self.new_id()
        entry = LogEntry(first=1, events=session.events)
        created = [
            rows.head_row(session.head, nonce),
            rows.spec_row(session, nonce, self.bodies),
            rows.entry_row(session.head, entry, nonce, self.bodies),
        ]
        self.write_all([Write(row=row, condition=ABSENT) for row in created], nonce=nonce)

    def load(self, session_id: str) -> Session:
        pages = self._client.get_paginator("query").paginate(
            TableName=self._table,
            KeyConditionExpression="pk = :pk",
            ExpressionAttributeValues={":pk": {"S": session_id}},
            ConsistentRead=True,
        )
        try:
            return rows.to_session(
                session_id, [rows.from_item(item) for page in pages for item in page["Items"]], self.bodies
            )
        except AWS_FAULTS as error:
            raise translated(error) from error

    def head(self, session_id: str) -> SessionHead:
        return rows.to_head(self.get(session_id, rows.META, f"There is no session {session_id!r}."))

    def call(self, session_id: str, call_id: str) -> PendingToolCall:
        missing = f"There is no call {call_id!r} in session {session_id!r}."
        return rows.to_call(self.get(session_id, rows.call_sk(call_id), missing))

    def spec(self, session_id: str) -> SessionSpec:
        return rows.to_spec(self.get(session_id, rows.SPEC, f"There is no session {session_id!r}."), self.bodies)

    def lease(self, session_id: str, lease: Lease, *, now: datetime, statuses: frozenset[SessionStatus]) -> SessionHead:
        names = {f"status_{status}": status for status in sorted(statuses)}
        nonce = self.new_id()
        write = Write(
            key=rows.key(session_id, rows.META),
            condition=_LEASABLE.format(statuses=", ".join(f":{name}" for name in names)),
            values={**names, "now": moment_text(now), "lease_id": lease.id},
            row={
                "status": SessionStatus.RUNNING,
                "lease": lease.dump(),
                "updated_at": moment_text(now),
                "listed_status": SessionStatus.RUNNING,
                "listed_at": f"{moment_text(now)}#{session_id}",
                "due_kind": rows.DUE_SESSION,
                "due_at": moment_text(lease.until),
                "nonce": nonce,
            },
        )
        try:
            return rows.to_head(self.writer.write(write, nonce=nonce))
        except ConditionFailed as failed:
            if failed.first is None:
                raise NotFound(f"There is no session {session_id!r}.") from None
            raise SessionBusy(f"Session {session_id} is {failed.first['status']}.") from None

    def commit(self, commit: Commit) -> SessionHead:
        nonce = self.new_id()
        head = commit.head
        writes: list[Write] = []
        if commit.entry is not None:
            writes.append(Write(row=rows.entry_row(head, commit.entry, nonce, self.bodies), condition=ABSENT))
        elif commit.status is not None and commit.log_at is not None:
            # nobody has written on: a late result, say, of which this runner does not know
            writes.append(Write(key=rows.entry_key(head.session_id, commit.log_at), condition=ABSENT))
        if commit.status is not None:
            lease = head.lease if commit.keep_lease else None
            head = replace(head, status=commit.status, lease=lease, updated_at=commit.at)
            mine = {"lease_id": commit.lease_id}
            writes.append(self.head_write(head, condition=LEASE_IS_MINE, values=mine, nonce=nonce))
        elif commit.stands is SessionStatus.PAUSED:
            head = replace(head, status=SessionStatus.RUNNING, updated_at=commit.at)
            stands = {"stands": commit.stands}
            writes.append(self.head_write(head, condition="#status = :stands", values=stands, nonce=nonce))
        elif commit.stands is not None:
            key = rows.key(head.session_id, rows.META)
            writes.append(Write(key=key, condition="#status = :stands", values={"stands": commit.stands}))
        elif commit.new_calls:
            key = rows.key(head.session_id, rows.META)
            writes.append(Write(key=key, condition=LEASE_IS_MINE, values={"lease_id": commit.lease_id}))
        for call in commit.new_calls:
            row = rows.call_row(call, expires=head.expires, nonce=nonce)
            writes.append(Write(row=row, condition=ABSENT))
        if commit.finished is not None:
            writes.append(_finishing(commit.finished, nonce))
        self.write_all(writes, nonce=nonce)
        return head

    def decide(self, session_id: str, call_id: str, decision: Decision, *, token_hash: str | None) -> PendingToolCall:
        status = CallStatus(decision.verdict)
        is_question = "attribute_exists" if status is CallStatus.ANSWERED else "attribute_not_exists"
        nonce = self.new_id()
        write = Write(
            key=rows.key(session_id, rows.call_sk(call_id)),
            condition=_DECIDABLE.format(is_question=is_question) + (WITH_LINK if token_hash is not None else ""),
            values={
                "pending": CallStatus.PENDING,
                "now": moment_text(decision.at),
                "digest": decision.digest_shown,
                **({"token_hash": token_hash} if token_hash is not None else {}),
            },
            row={
                "status": status,
                "decision": decision.dump(),
                # Whatever was decided, somebody has to act on it, and be found if the wake-up is lost.
                "due_kind": rows.DUE_CALL,
                "due_at": moment_text(decision.at),
                "sweeps": 0,
                "nonce": nonce,
            },
        )
        call, written = self.write_call(session_id, call_id, write, nonce=nonce)
        if written:
            return call
        if call.status is not CallStatus.PENDING:
            raise AlreadyDecided(call)
        if call.overdue(decision.at):
            raise CallExpired(f"The time to decide ended at {call.expires_at:%Y-%m-%d %H:%M} UTC.")
        raise LostRace("what was shown is not what is stored")

    def claim(self, session_id: str, call_id: str, execution: Execution) -> PendingToolCall:
        nonce = self.new_id()
        write = Write(
            key=rows.key(session_id, rows.call_sk(call_id)),
            condition=_CLAIMABLE,
            values={
                "approved": CallStatus.APPROVED,
                "executing": CallStatus.EXECUTING,
                "yes": True,
                "no": False,
                "now": moment_text(execution.started_at),
                "digest": execution.digest,
            },
            row={
                "status": CallStatus.EXECUTING,
                "execution": execution.dump(),
                "due_kind": rows.DUE_CALL,
                "due_at": moment_text(execution.deadline),
                "sweeps": 0,
                "nonce": nonce,
            },
            adds={"attempts": 1},
        )
        try:
            return rows.to_call(self.writer.write(write, nonce=nonce))
        except ConditionFailed:
            raise LostRace(f"call {call_id} may not be entered") from None

    def sessions(
        self, status: SessionStatus | None, *, limit: int, before: str | None
    ) -> tuple[list[SessionHead], str | None]:
        return self._listing.sessions(status, limit=limit, before=before)

    def pending(
        self, *, limit: int, after: str | None, where: Waiting = ALL_WAITING
    ) -> tuple[list[PendingToolCall], str | None]:
        return self._listing.pending(limit=limit, after=after, where=where)


def _finishing(finished: FinishedCall, nonce: str) -> Write:
    call = finished.call
    before = {f"from_{status}": status for status in sorted(origins(call.status) - {call.status})}
    fence = "attribute_not_exists(#execution)"  # it was never entered
    values: dict[str, Any] = dict(before)
    if finished.execution_id is not None:
        fence = "#execution.#id = :execution_id"  # this execution still holds it (R43)
        values["execution_id"] = finished.execution_id
    # there is an edge from where it stands to where it goes
    edge = f"#status IN ({', '.join(f':{name}' for name in before)})"
    if call.status in origins(call.status):
        # or it stands there already: the model was not told yet, and what was said of it is what is known here
        values |= {"itself": call.status, "no": False}
        known = "attribute_not_exists(#resolution)"
        if call.resolution is not None:
            known = "#resolution = :resolution"
            values["resolution"] = _resolution(call)
        edge = f"({edge} OR (#status = :itself AND #told = :no AND {known}))"
    return Write(
        key=rows.key(call.session_id, rows.call_sk(call.call_id)),
        condition=f"{edge} AND {fence}",
        values=values,
        row={
            "status": call.status,
            "outcome": call.outcome,
            "told": call.told,
            **({"execution": call.execution.dump()} if call.execution else {}),
            **({"resolution": _resolution(call)} if call.resolution else {}),
            **rows.call_index(call),
            "nonce": nonce,
        },
    )


def _resolution(call: PendingToolCall) -> Any:
    return call.resolution.dump() if call.resolution else None
