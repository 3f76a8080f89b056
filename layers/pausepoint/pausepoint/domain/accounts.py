"""What the log keeps of a call's record: who decided, what ran, and what was said of it afterwards."""

from __future__ import annotations

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.events import DecisionRecorded, DoubtResolved, Event, ExecutionRecorded


def said_about(record: PendingToolCall | None) -> tuple[Event, ...]:
    """Return what was decided on a call, and, if it was cut off, what ran and what became of it, as events."""
    events: list[Event] = []
    if record is not None and (decision := record.decision) is not None:
        events.append(
            DecisionRecorded(
                at=decision.at,
                call_id=record.call_id,
                name=record.name,
                verdict=decision.verdict,
                by=decision.by,
                verified=decision.verified,
                reason=decision.reason,
                digest_shown=decision.digest_shown,
                arguments_approved=decision.arguments,
                answer=decision.answer,
            )
        )
    if record is not None and (resolution := record.resolution) is not None:
        if (execution := record.execution) is not None:
            events.append(
                ExecutionRecorded(
                    at=execution.started_at,
                    call_id=record.call_id,
                    name=record.name,
                    execution_id=execution.id,
                    digest_run=execution.digest,
                    status=CallStatus.IN_DOUBT,
                )
            )
        events.append(
            DoubtResolved(
                at=resolution.at,
                call_id=record.call_id,
                name=record.name,
                answer=resolution.answer,
                by=resolution.by,
                verified=resolution.verified,
                reason=resolution.reason,
            )
        )
    return tuple(events)
