"""What running an agent comes to."""

from __future__ import annotations

from dataclasses import dataclass

from pausepoint.domain.calls import WAITING, PendingToolCall
from pausepoint.domain.session import Session, SessionStatus


@dataclass(frozen=True)
class AgentResult:
    """What `run()` and `resume()` give back: the session as it rests, or as whoever is at it left it."""

    session: Session

    @property
    def session_id(self) -> str:
        """The session's id."""
        return self.session.head.session_id

    @property
    def status(self) -> SessionStatus:
        """Where the session stands."""
        return self.session.head.status

    @property
    def output(self) -> str:
        """The text of the model's latest turn."""
        return self.session.output

    @property
    def pending_calls(self) -> tuple[PendingToolCall, ...]:
        """The calls that still wait for a decision or for their end, as they were asked for."""
        records = (self.session.calls.get(call.call_id) for call in self.session.open_calls)
        return tuple(record for record in records if record is not None and record.status in WAITING)
