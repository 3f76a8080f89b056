"""Every error Pausepoint raises on purpose, each with a stable code.

PausepointError
├── InvalidInput            the caller sent something wrong; `field` names it
│   └── TooLarge
├── NotFound                no such session or call (or a wrong token: deliberately the same)
├── Conflict                the request is fine, the state does not allow it
│   ├── IdempotencyMismatch     same Idempotency-Key, other request
│   ├── CallsPending            a message to a session that waits for decisions
│   ├── AlreadyDecided          another verdict stands
│   ├── SessionBusy             another runner holds the lease
│   └── SessionEnded            the session was cancelled
├── CallExpired             the time to decide is over
├── LinkSpent               too many wrong one-time codes were tried with the link; another one is needed
├── OwnRequest              whoever asked for a call may not approve it
├── Unauthenticated         a signed-in route was reached without a signature
├── Unavailable             a service we need does not answer; nothing is half done, try again
├── ModelError              the model refused or failed for good
│   └── ModelTimeout            it did not answer in the time it was given
├── BudgetExceeded          a limit of the session is reached
├── UnsupportedVersion      a stored document is newer than this code
├── LostRace                internal: somebody else wrote first; reload and look again
└── ConfigurationError      the deployment or the agent is set up wrongly
"""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Sequence

    from pausepoint.domain.calls import PendingToolCall


class PausepointError(Exception):
    """Base of all errors raised on purpose. `code` is stable and appears in the problem's `type`."""

    code = "error"


class InvalidInput(PausepointError):
    """The request is wrong; `field` is the path of the part that is, e.g. `decisions.0.decision`."""

    code = "invalid-input"

    def __init__(self, message: str, *, field: str | None = None) -> None:
        super().__init__(message)
        self.field = field


class TooLarge(InvalidInput):
    """A part of the request is larger than allowed."""

    code = "too-large"


class NotFound(PausepointError):
    """No such session or call, or the token does not open it."""

    code = "not-found"


class Conflict(PausepointError):
    """The request is understood, but the state of the session does not allow it."""

    code = "conflict"


class IdempotencyMismatch(Conflict):
    """The Idempotency-Key was used before with another request."""

    code = "idempotency-mismatch"


class CallsPending(Conflict):
    """The session waits for decisions; `calls` are the ones that have none."""

    code = "calls-pending"

    def __init__(self, calls: Sequence[PendingToolCall]) -> None:
        names = ", ".join(f"{call.call_id} ({call.name}, {call.status})" for call in calls)
        super().__init__(f"The session waits for these calls: {names}. Decide them first.")
        self.calls = tuple(calls)


class AlreadyDecided(Conflict):
    """Another verdict stands for this call; `call` carries it."""

    code = "already-decided"

    def __init__(self, call: PendingToolCall) -> None:
        before = "was decided before and" if call.decision else "cannot be decided any more: it"
        super().__init__(f"Call {call.call_id} {before} is {call.status}.")
        self.call = call


class SessionBusy(Conflict):
    """Another invocation is advancing the session."""

    code = "session-busy"


class SessionEnded(Conflict):
    """The session was cancelled and takes nothing more."""

    code = "session-ended"


class CallExpired(PausepointError):
    """The time to decide this call is over."""

    code = "call-expired"


class LinkSpent(PausepointError):
    """The link is used up: too many one-time codes were tried with it."""

    code = "link-spent"


class OwnRequest(PausepointError):
    """Somebody else has to approve this call; `field` is the path of the decision that would have."""

    code = "own-request"

    def __init__(self, message: str, *, field: str) -> None:
        super().__init__(message)
        self.field = field


class Unauthenticated(PausepointError):
    """A route for signed-in callers was reached without an AWS signature."""

    code = "unauthenticated"


class Unavailable(PausepointError):
    """A service did not answer after its retries. Nothing is half done; `retry_after` is in seconds."""

    code = "unavailable"

    def __init__(self, message: str, *, retry_after: int = 2) -> None:
        super().__init__(message)
        self.retry_after = retry_after


class ModelError(PausepointError):
    """The model refused the request or failed in a way that retrying does not cure."""

    code = "model-failed"


class ModelTimeout(ModelError):
    """The model did not answer within the time the invocation could give it."""

    code = "model-timeout"


class ToolCutOff(PausepointError):
    """A tool did not come back in the time its invocation has. Whether it had its effect is not known."""

    code = "tool-cut-off"


class BudgetExceeded(PausepointError):
    """A limit of the session (model calls, tool calls, tokens, time, rejections) is reached."""

    code = "budget-exceeded"


class UnsupportedVersion(PausepointError):
    """A stored document was written by a newer version; nothing was changed."""

    code = "unsupported-version"


class LostRace(PausepointError):
    """Somebody else wrote first: what this runner knew is out of date. Never shown to callers."""

    code = "lost-race"


class ConfigurationError(PausepointError):
    """The agent or the deployment is set up wrongly; the message says what to change."""

    code = "configuration"
