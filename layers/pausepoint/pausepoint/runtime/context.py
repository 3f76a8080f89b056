"""What one invocation carries: its services, and how much time it has."""

from __future__ import annotations

import logging
from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta, tzinfo
from typing import Final

from pausepoint.runtime.ports import CallWithin, Clock, NewId, Notifier, OneTimeCodes, SessionStore, WorkQueue
from pausepoint.runtime.timing import call_within


@dataclass(frozen=True)
class Services:
    """The world, as the runtime sees it.

    Attributes:
        zone: the time zone of the people who are asked; times are shown in it beside UTC.
        codes: the one-time codes that approving a risky call by a link takes; None where it takes none.
    """

    store: SessionStore
    notifier: Notifier
    queue: WorkQueue
    clock: Clock
    new_id: NewId
    new_token: Callable[[], str]
    logger: logging.Logger
    call_within: CallWithin = call_within
    zone: tzinfo = UTC
    codes: OneTimeCodes | None = None


FOREVER: Final = timedelta(hours=1)
"""How long an invocation without a limit of its own holds a lease."""
RECORD_SECONDS: Final = 2.0
"""What is kept back from a tool's time for writing down its result."""
STEP_SECONDS: Final = 3.0
"""The least time worth starting a step in."""


@dataclass(frozen=True)
class ExecutionContext:
    """One invocation on its way through the loop.

    Attributes:
        id: names the invocation; leases and executions carry it.
        ends_at: whatever runs must be back before this moment; the lease runs out shortly after it.
        hand_over_at: no step starts after this moment, the work queue goes on instead.
        answer_by: somebody waits, and not longer than this; a model that takes longer is handed over to the
            work queue rather than failed. None where nobody waits.
        retried: nobody waits, and the sweeper comes by: what is out of order now is tried again later,
            with longer and longer pauses, before the session fails.
        caller: who asked (an ARN where the request was signed).
        base_url: the public address of the API, without a slash at its end.
    """

    id: str
    ends_at: datetime
    hand_over_at: datetime
    answer_by: datetime | None = None
    retried: bool = False
    caller: str = "local"
    base_url: str = "http://localhost"

    @classmethod
    def unlimited(cls, services: Services, *, caller: str = "local") -> ExecutionContext:
        """Return a context for running outside of Lambda."""
        ends_at = services.clock.now() + FOREVER
        return cls(id=services.new_id(), ends_at=ends_at, hand_over_at=ends_at, caller=caller)

    def seconds_left(self, now: datetime) -> float:
        """How long the model may take for a turn that is asked for now."""
        return ((self.answer_by or self.ends_at) - now).total_seconds()

    def tool_seconds(self, now: datetime) -> float:
        """How long a tool that is entered now may take: what it did must still be written down."""
        return (self.ends_at - now).total_seconds() - RECORD_SECONDS

    def must_hand_over(self, now: datetime) -> bool:
        """Whether it is too late to start another step."""
        return now >= self.hand_over_at or self.seconds_left(now) < STEP_SECONDS
