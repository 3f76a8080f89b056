"""Ending a session for good, so that nothing of it can be approved or run afterwards."""

from __future__ import annotations

from typing import Final

from pausepoint.domain.accounts import said_about
from pausepoint.domain.calls import CallStatus, closed
from pausepoint.domain.events import LogEntry, SessionCancelled
from pausepoint.domain.session import Session, SessionStatus
from pausepoint.errors import LostRace, Unavailable
from pausepoint.runtime.context import Services

_ATTEMPTS: Final = 10
_OPEN: Final = frozenset({CallStatus.PENDING, CallStatus.APPROVED})


def cancel(services: Services, session_id: str, *, by: str) -> Session:
    """End a session; cancelling twice is harmless. A call that is executing is not interrupted.

    Raises:
        NotFound: there is no such session.
        Unavailable: it kept moving; nothing was changed.
    """
    for _ in range(_ATTEMPTS):
        session = services.store.load(session_id)
        if session.head.status is SessionStatus.CANCELLED:
            return session
        now = services.clock.now()
        # The log's next number is taken on purpose: a runner that is under way finds it taken, and stops.
        stopped = [call for call in session.calls.values() if call.status in _OPEN]
        said = [event for call in stopped for event in said_about(call)]
        entry = LogEntry(first=session.next_seq, events=(*said, SessionCancelled(at=now, by=by)))
        calls = [closed(call, CallStatus.CANCELLED) for call in stopped]
        try:
            services.store.close(session, entry, calls, status=SessionStatus.CANCELLED, at=now)
        except LostRace:
            continue
        return services.store.load(session_id)
    raise Unavailable("The session is busy; try again in a moment.")
