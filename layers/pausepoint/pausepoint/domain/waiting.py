"""Which calls of all that wait for a person somebody asks for."""

from __future__ import annotations

from dataclasses import dataclass

from pausepoint.domain.calls import ASKING, CallStatus, PendingToolCall, Risk


@dataclass(frozen=True)
class Waiting:
    """Calls that wait for a person: those that have all of what is given here; without anything, all of them.

    Attributes:
        status: `pending` (for a decision) or `in_doubt` (for what became of it).
    """

    agent: str | None = None
    tool: str | None = None
    risk: Risk | None = None
    session_id: str | None = None
    status: CallStatus | None = None

    def includes(self, call: PendingToolCall) -> bool:
        """Whether a call, as it stands, is one of them."""
        asked = (
            (self.agent, call.agent),
            (self.tool, call.name),
            (self.risk, call.presentation.risk),
            (self.session_id, call.session_id),
            (self.status, call.status),
        )
        return call.status in ASKING and all(wanted in (None, found) for wanted, found in asked)


ALL_WAITING = Waiting()
