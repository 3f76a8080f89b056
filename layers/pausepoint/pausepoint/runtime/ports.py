"""What the runtime needs from the world, as small Protocols. Adapters implement them, tests fake them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, Literal, Protocol, TypeVar

from pausepoint.domain.calls import Decision, Execution, PendingToolCall, Resolution, Risk
from pausepoint.domain.events import LogEntry, Usage
from pausepoint.domain.history import AssistantItem, UserItem
from pausepoint.domain.session import Lease, Session, SessionHead, SessionSpec, SessionStatus
from pausepoint.domain.waiting import ALL_WAITING, Waiting


class Clock(Protocol):
    """Tells the time, in UTC."""

    def now(self) -> datetime:
        """Return the present moment."""


NewId = Callable[[], str]
"""Makes an identifier that nobody can guess: at least 128 random bits, of the characters a-z 2-7."""

Result = TypeVar("Result")


class CallWithin(Protocol):
    """Calls a tool, and waits for it as long as there is time."""

    def __call__(self, seconds: float, function: Callable[[], Result], /) -> Result:
        """Return what the function returns, or raise what it raises.

        Raises:
            ToolCutOff: it did not come back within that many seconds.
        """


@dataclass(frozen=True)
class RequestedCall:
    """A tool call as the model asked for it, not yet looked at."""

    tool_call_id: str
    name: str
    arguments: Any


@dataclass(frozen=True)
class ModelRequest:
    """One question to the model. `timeout` is in seconds."""

    spec: SessionSpec
    history: Sequence[UserItem | AssistantItem]
    timeout: float


@dataclass(frozen=True)
class ModelReply:
    """One assistant turn. `message` is the provider's own and is replayed unchanged.

    `stop_reason` is one of Bedrock Converse's words, whatever the provider.
    """

    message: dict[str, Any]
    text: str
    stop_reason: str
    calls: tuple[RequestedCall, ...] = ()
    usage: Usage = field(default_factory=Usage)


class ChatModel(Protocol):
    """A language model behind its provider's API."""

    def settings(self) -> dict[str, Any]:
        """Return what a session must remember to ask in the same way again: model id, inference settings."""

    def respond(self, request: ModelRequest) -> ModelReply:
        """Return the next assistant turn.

        Raises:
            ModelTimeout: no answer within the request's timeout.
            ModelError: the model refused the request, or failed for good.
            Unavailable: throttled or out of order, also after the adapter's own retries.
        """


@dataclass(frozen=True)
class FinishedCall:
    """A guarded call at its end: `call` as it is now, and the execution that must still hold it.

    `execution_id` is None for a call that is closed without having been entered.
    """

    call: PendingToolCall
    execution_id: str | None


@dataclass(frozen=True)
class Commit:
    """What a runner writes in one piece, all of it or nothing.

    Attributes:
        head: the head as the runner knows it.
        lease_id: the runner's lease. It must still be in force whenever calls are added or the status
            changes; the log's next free number guards everything else.
        entry: must be the next of the log.
        status: the session's new status.
        keep_lease: False gives the lease back with the same write.
        log_at: the number that the log's next event will have, as the runner knows it. A change of status
            without an entry requires it: who lays a session down must not have missed a late result.
        stands: where the session must still stand. A paused one is put among the running again: what is
            written here may be all that it was waiting for, and its runner may die before it can say so.
    """

    head: SessionHead
    lease_id: str
    at: datetime
    entry: LogEntry | None = None
    new_calls: tuple[PendingToolCall, ...] = ()
    finished: FinishedCall | None = None
    status: SessionStatus | None = None
    keep_lease: bool = True
    log_at: int | None = None
    stands: SessionStatus | None = None


@dataclass(frozen=True)
class DueRow:
    """A hint that somebody should look after a call, or after a session (`call_id` is None), since `due_at`."""

    session_id: str
    call_id: str | None
    due_at: datetime


@dataclass(frozen=True)
class Stall:
    """A session was found with nobody at it `times` times in a row, its log standing before the number `at`."""

    times: int
    at: int


class SweepStore(Protocol):
    """What the sweeper needs of the store. Every write is conditional: several sweepers do no harm."""

    def due(self, *, calls: bool, before: datetime, limit: int) -> list[DueRow]:
        """Return the rows whose time came before a moment, the longest overdue first. Eventually complete."""

    def add_link(self, call: PendingToolCall, token_hash: str, *, reconciled: bool) -> PendingToolCall:
        """Let one more link decide a call that asks a person. Raises LostRace if it moved on."""

    def expire(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        """Close a pending call whose time is over. Raises LostRace if it was decided."""

    def doubt(self, call: PendingToolCall, *, now: datetime) -> PendingToolCall:
        """Put a call whose execution was cut off in doubt. Raises LostRace if it came to an end."""

    def postpone(self, row: DueRow, *, until: datetime, stall: Stall | None = None) -> None:
        """Note that somebody looked after a row, and when to look again. Raises LostRace if it moved on.

        Args:
            stall: what to remember of a session for the next time.
        """

    def close(
        self,
        session: Session,
        entry: LogEntry,
        calls: Sequence[PendingToolCall],
        *,
        status: SessionStatus,
        at: datetime,
    ) -> None:
        """Bring a session to an end and close `calls`, in one piece. Raises LostRace if anything moved meanwhile."""


class CodeStore(Protocol):
    """What is remembered of one-time codes: how many were tried, and which was the last to be used."""

    def count_code_try(self, session_id: str, call_id: str, token_hash: str) -> PendingToolCall:
        """Count one try or, where none is left, use the call's links up; return the call as it is then.

        The code may count for something only if the token is still among the call's.

        Raises:
            AlreadyDecided: it is not pending any more. LinkSpent: the link was used up before.
            LostRace: the token is not this call's. NotFound: there is no such call.
        """

    def use_code(self, step: int) -> None:
        """Note that the code of a time step was used. Raises LostRace if that one or a later one was used before."""


class SessionStore(SweepStore, CodeStore, Protocol):
    """Where sessions live. Every write is conditional; reads of one session are strongly consistent."""

    def create(self, session: Session) -> None:
        """Store a new session. Raises LostRace if its id is taken."""

    def load(self, session_id: str) -> Session:
        """Return the whole session. Raises NotFound."""

    def head(self, session_id: str) -> SessionHead:
        """Return a session's head. Raises NotFound."""

    def call(self, session_id: str, call_id: str) -> PendingToolCall:
        """Return one call. Raises NotFound."""

    def spec(self, session_id: str) -> SessionSpec:
        """Return the agent as a session started with it. Raises NotFound."""

    def lease(self, session_id: str, lease: Lease, *, now: datetime, statuses: frozenset[SessionStatus]) -> SessionHead:
        """Take the lease and mark the session running; return its new head.

        Raises:
            SessionBusy: another runner holds a lease that has not run out, or the status is not among `statuses`.
            NotFound: there is no such session.
        """

    def commit(self, commit: Commit) -> SessionHead:
        """Write what a runner has to write; return the head as it is then. Raises LostRace."""

    def decide(self, session_id: str, call_id: str, decision: Decision, *, token_hash: str | None) -> PendingToolCall:
        """Put a decision on a pending call and return the call.

        Raises:
            AlreadyDecided: it is not pending any more; the error carries the call as it stands.
            CallExpired: the time to decide is over.
            LostRace: the digest that was shown or the token is not this call's.
            NotFound: there is no such call.
        """

    def claim(self, session_id: str, call_id: str, execution: Execution) -> PendingToolCall:
        """Mark a call as executing, before its tool is entered. Raises LostRace if it may not be."""

    def resolve(
        self, session_id: str, call_id: str, resolution: Resolution, *, token_hash: str | None
    ) -> PendingToolCall:
        """Say what became of a call in doubt, and return the call.

        Raises:
            AlreadyDecided: it is not in doubt (any more); the error carries the call as it stands.
            LostRace: the token is not this call's. NotFound: there is no such call.
        """

    def mark_notified(self, call: PendingToolCall, *, look_again: datetime | None = None) -> None:
        """Note that the approver was told, and when to look at the call again (for a reminder).

        Does nothing for a call that moved on.
        """

    def sessions(
        self, status: SessionStatus | None, *, limit: int, before: str | None
    ) -> tuple[list[SessionHead], str | None]:
        """Return heads, the latest changed first, and where the next page starts. Eventually complete."""

    def pending(
        self, *, limit: int, after: str | None, where: Waiting = ALL_WAITING
    ) -> tuple[list[PendingToolCall], str | None]:
        """Return calls that wait for a person, the most urgent first, and where the next page starts.

        A page may be short, or empty, and still have a next one.
        """


NoticeEvent = Literal["requested", "reminded", "in_doubt", "decided", "finished", "expired"]
"""What a notice is about. The first three ask a person, and carry a link."""


@dataclass(frozen=True)
class Notice:
    """A message about a call: in words for people, as data for programs.

    Attributes:
        subject: one line of under 100 characters.
        body: for people.
        payload: for programs: JSON in ASCII, small enough for SNS (`runtime/payloads.py`).
        agent: by this, `tool`, `risk` and `event` subscribers choose what they get. One line, never empty.
    """

    event: NoticeEvent
    subject: str
    body: str
    payload: str
    session_id: str
    call_id: str
    agent: str
    tool: str
    risk: Risk


class Notifier(Protocol):
    """Tells whoever wants to know: approvers first of all."""

    def send(self, notice: Notice) -> None:
        """Send it, or raise Unavailable."""


class OneTimeCodes(Protocol):
    """Codes that change with the time, of a secret that approvers share (RFC 6238)."""

    def step_of(self, code: str, now: datetime) -> int | None:
        """Return the number of the time step whose code this is, or None if it is none of now, just before or after.

        Args:
            code: six digits.

        Raises:
            Unavailable: the secret cannot be read now. ConfigurationError: it is none.
        """


class WorkQueue(Protocol):
    """Wakes a runner for a session, some time soon, at least once."""

    def wake(self, session_id: str) -> None:
        """Queue it, or raise Unavailable."""
