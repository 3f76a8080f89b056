"""A session: its head, the agent as it started with it, its log, its calls, and what folds from them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from enum import StrEnum
from functools import cached_property
from typing import Any, Final

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.canonical import canonical_json, sha256_hex
from pausepoint.domain.documents import Document
from pausepoint.domain.events import (
    AssistantTurn,
    Event,
    LogEntry,
    SessionFailed,
    ToolCall,
    ToolResult,
    Usage,
)
from pausepoint.domain.history import Item
from pausepoint.domain.limits import Limits
from pausepoint.domain.tally import Tally

SCHEMA_VERSION: Final = 1
"""Version of the stored documents. 1: the first."""


class SessionStatus(StrEnum):
    """Where a session stands."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


WAKEABLE: Final = frozenset({SessionStatus.RUNNING, SessionStatus.PAUSED})
"""The states from which a runner goes on without anybody saying anything."""


class Lease(Document):
    """The right to advance a session, until a moment. `id` names the invocation that holds it."""

    id: str
    until: datetime


class ToolSpec(Document):
    """A tool as the model is told about it. `input_schema` is JSON Schema of an object."""

    name: str
    description: str
    input_schema: dict[str, Any]

    @property
    def schema_hash(self) -> str:
        """Changes when the meaning of arguments may have changed."""
        return sha256_hex(f"{self.name}\n{canonical_json(self.input_schema)}")


class SessionSpec(Document):
    """The agent as the session started with it; models refuse to go on when it changes underneath them.

    Attributes:
        model: what the model's adapter needs to make the same request again (id, inference settings).
        ordered: a call waits for all earlier calls of its turn.
    """

    system: str
    tools: tuple[ToolSpec, ...]
    model: dict[str, Any]
    ordered: bool = False


class SessionHead(Document):
    """The small mutable part.

    Attributes:
        expires: when the table may forget the session, in epoch seconds.
        stalls: how often the sweeper has found the session running with nobody at it, while its log stood
            at the number `stalled_at`.
    """

    session_id: str
    status: SessionStatus
    agent: str
    owner: str
    base_url: str
    lease: Lease | None = None
    limits: Limits = Limits()
    created_at: datetime
    updated_at: datetime
    expires: int
    request_hash: str = ""
    stalls: int = 0
    stalled_at: int = 0


@dataclass(frozen=True)
class Session:
    """One conversation as it is known at a moment."""

    head: SessionHead
    spec: SessionSpec
    events: tuple[Event, ...]
    calls: Mapping[str, PendingToolCall] = field(default_factory=dict)

    @property
    def next_seq(self) -> int:
        """The number that the next event gets."""
        return len(self.events) + 1

    @cached_property
    def tally(self) -> Tally:
        """What folds from the log."""
        return Tally().after(self.events)

    @property
    def last_turn(self) -> AssistantTurn | None:
        """The model's latest turn."""
        return self.tally.last_turn

    @cached_property
    def results(self) -> Mapping[str, ToolResult]:
        """The results so far, by the id of the turn's own call, whichever call brought the result."""
        own = self.tally.turns_own
        return {own.get(event.call_id, event.call_id): event for event in self.events if isinstance(event, ToolResult)}

    def told_of(self, call_id: str) -> bool:
        """Whether the log holds a result of this very call."""
        return any(isinstance(event, ToolResult) and event.call_id == call_id for event in self.events)

    @property
    def open_calls(self) -> tuple[ToolCall, ...]:
        """The calls of the last turn that have no result yet, as emitted; one that was reissued as it is now."""
        return tuple(self.tally.open_calls.values())

    @property
    def waiting_calls(self) -> tuple[PendingToolCall, ...]:
        """The calls that wait for a decision."""
        return tuple(call for call in self.calls.values() if call.status in (CallStatus.PENDING, CallStatus.IN_DOUBT))

    @property
    def usage(self) -> Usage:
        """Tokens of all model calls together."""
        return self.tally.usage

    @property
    def model_calls(self) -> int:
        """How often the model answered."""
        return self.tally.model_calls

    @property
    def tool_calls(self) -> int:
        """How many calls the model has asked for."""
        return self.tally.tool_calls

    @property
    def consecutive_rejections(self) -> int:
        """How many decisions in a row, up to now and since the user's last message, were rejections."""
        return self.tally.consecutive_rejections

    def rejections_of(self, digest: str) -> int:
        """How often a call with this digest was rejected."""
        return self.tally.rejections.get(digest, 0)

    @property
    def failure(self) -> SessionFailed | None:
        """Why the session failed, if it stands failed."""
        if self.head.status is not SessionStatus.FAILED:
            return None
        return next((event for event in reversed(self.events) if isinstance(event, SessionFailed)), None)

    @property
    def output(self) -> str:
        """The text of the model's latest turn."""
        return self.last_turn.text if self.last_turn else ""

    def history(self) -> tuple[Item, ...]:
        """Return the conversation as the model must see it."""
        return self.tally.history.items

    def after(
        self, entry: LogEntry | None, *, head: SessionHead | None = None, calls: Sequence[PendingToolCall] = ()
    ) -> Session:
        """Return the session as it is after a write that was acknowledged."""
        events = entry.events if entry else ()
        session = Session(
            head=head or self.head,
            spec=self.spec,
            events=self.events + events,
            calls={**self.calls, **{call.call_id: call for call in calls}},
        )
        vars(session)["tally"] = self.tally.after(events)  # the cached property, without folding everything again
        return session
