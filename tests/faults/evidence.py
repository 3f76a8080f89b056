"""What a schedule of faults leaves behind, whichever tier ran it."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.session import Session

CallKey = tuple[str, str]
"""Session id and call id."""


@dataclass(frozen=True)
class Entry:
    """One entry into a tool's body, as the tool itself saw it.

    Attributes:
        digest: of the bytes that were passed (`call_digest` of the tool's name and canonical arguments).
        at: when, by the clock of whoever ran it.
    """

    session_id: str
    call_id: str
    idempotency_key: str
    digest: str
    retry_safe: bool
    gated: bool
    at: datetime


@dataclass(frozen=True)
class Sent:
    """A message to the approver that went out."""

    session_id: str
    call_id: str
    subject: str = ""


@dataclass(frozen=True)
class Told:
    """What somebody who decided was told: the decision that stands, in the words of the product."""

    session_id: str
    call_id: str
    standing: str


@dataclass(frozen=True)
class Evidence:
    """What a schedule left behind. Fields that a tier cannot see stay empty, and nothing is claimed of them.

    Attributes:
        sessions: as loaded from the store at the end.
        rows: the table's rows, without type tags (`rows.from_item`).
        entries: into tools' bodies, oldest first.
        effects: how often the outside world changed, by idempotency key.
        pages: the digests on the pages that were posted, by call.
        model_calls: how often the model was asked.
        crashes: of processes; a runner that outlived its lease counts as one.
        budget: model calls allowed for all sessions together; None: the sum of their limits.
        notices: messages that were sent.
        told: what those who decided were told.
        history: the calls as they were after each write that was seen, oldest first.
        every_write: `history` misses none. from_beginning: it also begins with the calls' creation.
        statuses: the sessions' statuses in the same manner: (session, status).
        untouched: (what was asked, the table before, the table after) of requests that must not write.
        secrets: tokens and keys. texts: what was written where no secret may be (logs, paths, queue), by place.
        lost_answers_only: no process crashed and no runner outlived its lease.
        quiescent: faults stopped, and the sweeper and the queue ran until nothing moved any more.
        now: when the sessions were loaded, for what is overdue.
        skew: how far the clocks were apart.
    """

    sessions: Sequence[Session] = ()
    rows: Sequence[Mapping[str, Any]] = ()
    entries: Sequence[Entry] = ()
    effects: Mapping[str, int] = field(default_factory=dict)
    pages: Mapping[CallKey, Collection[str]] = field(default_factory=dict)
    model_calls: int = 0
    crashes: int = 0
    budget: int | None = None
    notices: Sequence[Sent] = ()
    told: Sequence[Told] = ()
    history: Sequence[PendingToolCall] = ()
    every_write: bool = False
    from_beginning: bool = False
    statuses: Sequence[tuple[str, str]] = ()
    untouched: Sequence[tuple[str, object, object]] = ()
    secrets: Collection[str] = ()
    texts: Mapping[str, Sequence[str]] = field(default_factory=dict)
    lost_answers_only: bool = False
    quiescent: bool = False
    now: datetime | None = None
    skew: timedelta = timedelta(0)

    def calls(self) -> Iterator[PendingToolCall]:
        """Yield every record of every session."""
        for session in self.sessions:
            yield from session.calls.values()

    def record_of(self, entry: Entry) -> PendingToolCall | None:
        """Return the record of the call that was entered."""
        for session in self.sessions:
            if session.head.session_id == entry.session_id:
                return session.calls.get(entry.call_id)
        return None
