"""Asking a person about a call: sending the link, and noting that it was sent."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime, timedelta

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.runtime.context import Services
from pausepoint.runtime.notices import notice_for


@dataclass(frozen=True)
class Asking:
    """How people are asked in a deployment.

    Attributes:
        reminder: after how long somebody who has not decided is told once more; None: never.
    """

    services: Services
    reminder: timedelta | None

    def send(self, base_url: str, call: PendingToolCall, token: str) -> None:
        """Send the notice with a link to a call, and note it. What is noted too late is sent again.

        Raises:
            Unavailable: it was not sent, or that could not be noted.
        """
        now = self.services.clock.now()
        self.services.notifier.send(notice_for(base_url, call, token, at=now))
        first = call.status is CallStatus.PENDING and call.notify != "sent"
        again = self.reminder_of(call) if first else None
        # A first notice that is late, or follows links that were used up, leaves nothing to remind of.
        self.services.store.mark_notified(call, look_again=again if again is not None and again > now else None)

    def reminder_of(self, call: PendingToolCall) -> datetime | None:
        """Return when the person is to be told once more; None when never."""
        due = call.requested_at + self.reminder if self.reminder else None
        return due if due is not None and due < call.expires_at else None
