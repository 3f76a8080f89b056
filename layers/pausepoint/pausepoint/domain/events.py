"""The session's log: immutable facts, numbered without gaps, written together in entries."""

from __future__ import annotations

from datetime import datetime
from typing import Any, Final, Literal

from pausepoint.domain.calls import Answer, Verdict
from pausepoint.domain.documents import Document
from pausepoint.domain.fields import kind_of


class Usage(Document):
    """What a model call cost, in tokens."""

    input_tokens: int = 0
    output_tokens: int = 0

    def __add__(self, other: Usage) -> Usage:
        return Usage(
            input_tokens=self.input_tokens + other.input_tokens,
            output_tokens=self.output_tokens + other.output_tokens,
        )

    @property
    def total(self) -> int:
        """Input and output together."""
        return self.input_tokens + self.output_tokens


class ToolCall(Document):
    """One call of an assistant turn, as it was understood when the turn was stored.

    Attributes:
        call_id: ours, `c<seq>-<index>`; `tool_call_id` is the provider's and not unique.
        arguments: canonical JSON, validated, coerced and completed; None when refused.
        refusal: why the call is not run and nobody is asked; None when it may run.
    """

    call_id: str
    tool_call_id: str
    name: str
    arguments: str | None = None
    digest: str = ""
    schema_hash: str = ""
    gated: bool = False
    retry_safe: bool = True
    refusal: str | None = None

    @property
    def guarded(self) -> bool:
        """Whether the call has a record of its own, which is claimed before the tool is entered."""
        return self.refusal is None and (self.gated or not self.retry_safe)


class UserMessage(Document):
    """Somebody said something to the agent."""

    type: Literal["user_message"] = "user_message"
    at: datetime
    by: str
    text: str


class AssistantTurn(Document):
    """What the model answered. `message` is the provider's own, to be replayed unchanged."""

    type: Literal["assistant_turn"] = "assistant_turn"
    at: datetime
    message: dict[str, Any]
    text: str
    calls: tuple[ToolCall, ...] = ()
    stop_reason: str
    usage: Usage = Usage()


class DecisionRecorded(Document):
    """The decision under which a call was run or refused, copied into the log when it took effect."""

    type: Literal["decision"] = "decision"
    at: datetime
    call_id: str
    name: str
    verdict: Verdict
    by: str
    verified: str
    reason: str
    digest_shown: str
    arguments_approved: str | None = None
    """Set where the approver edited the arguments."""
    answer: str | None = None
    """What a person answered to a question, as canonical JSON."""


class ExecutionRecorded(Document):
    """A guarded tool's body was entered, with exactly these bytes. One without an end was cut off."""

    type: Literal["execution"] = "execution"
    at: datetime
    call_id: str
    name: str
    execution_id: str
    digest_run: str
    ended_at: datetime | None = None
    status: str


class ToolResult(Document):
    """The one answer to a call that the model reads."""

    type: Literal["tool_result"] = "tool_result"
    at: datetime
    call_id: str
    name: str
    status: Literal["success", "error"]
    text: str
    entered: bool
    """Whether the tool's body was entered for it."""


class DoubtResolved(Document):
    """Somebody, or the tool's `reconcile`, said what became of a call that was cut off."""

    type: Literal["doubt_resolved"] = "doubt_resolved"
    at: datetime
    call_id: str
    name: str
    answer: Answer
    by: str
    verified: str
    reason: str


class CallReissued(Document):
    """A call in doubt is to run again: another call, with its own approval, takes its place in the turn."""

    type: Literal["call_reissued"] = "call_reissued"
    at: datetime
    call_id: str
    name: str
    reissued_as: str
    arguments: str
    digest: str


class SessionFailed(Document):
    """The session cannot go on by itself; another message continues it."""

    type: Literal["session_failed"] = "session_failed"
    at: datetime
    code: str
    message: str


class SessionCancelled(Document):
    """Somebody ended the session for good."""

    type: Literal["session_cancelled"] = "session_cancelled"
    at: datetime
    by: str


Event = (
    UserMessage
    | AssistantTurn
    | DecisionRecorded
    | ExecutionRecorded
    | ToolResult
    | DoubtResolved
    | CallReissued
    | SessionFailed
    | SessionCancelled
)


_EVENT: Final = kind_of(Event)


def load_event(stored: object) -> Event:
    """Return the event that `dump` made this of. Raises Malformed if it did not."""
    event: Event = _EVENT.read(stored)
    return event


class LogEntry(Document):
    """One or more events written together; the first has the number `first`."""

    first: int
    events: tuple[Event, ...]

    @property
    def next(self) -> int:
        """The number of the event that follows this entry."""
        return self.first + len(self.events)
