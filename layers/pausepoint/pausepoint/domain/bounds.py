"""What a session may use up, and what of a turn can be kept."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pausepoint.domain.events import AssistantTurn, Event
from pausepoint.domain.session import Session
from pausepoint.domain.values import dump_json
from pausepoint.errors import BudgetExceeded

_TURN_BYTES: Final = 1024 * 1024
_TURN_DEPTH: Final = 200


def check_budgets(session: Session, now: datetime) -> None:
    """Raise BudgetExceeded when the session may not ask the model again."""
    limits = session.head.limits
    age = (now - session.head.created_at).total_seconds()
    used = {
        f"{limits.model_calls} model calls": session.model_calls >= limits.model_calls,
        f"{limits.tool_calls} tool calls": session.tool_calls > limits.tool_calls,
        f"{limits.tokens} tokens": session.usage.total >= limits.tokens,
        f"{limits.seconds} seconds": age >= limits.seconds,
        f"{limits.consecutive_rejections} rejections in a row": session.consecutive_rejections
        >= limits.consecutive_rejections,
    }
    for what, exceeded in used.items():
        if exceeded:
            raise BudgetExceeded(f"The session stopped: its budget of {what} is used up.")


def unkeepable(turn: AssistantTurn) -> str | None:
    """Say why a turn cannot be stored; None when it can."""
    if _is_deeper(turn.message, than=_TURN_DEPTH):
        return f"it is nested deeper than {_TURN_DEPTH} levels"
    try:
        size = _size(turn)
    except (TypeError, ValueError, RecursionError) as error:  # not data, endless digits, endless depth
        return str(error)
    return f"it has {size} bytes, and at most {_TURN_BYTES} are kept" if size > _TURN_BYTES else None


def _is_deeper(value: object, *, than: int) -> bool:
    level = [value]
    for _ in range(than):
        inner: list[object] = []
        for item in level:
            inner += item.values() if isinstance(item, dict) else item if isinstance(item, list | tuple) else ()
        level = inner
    return bool(level)


def _size(event: Event) -> int:
    # The provider's message may hold bytes and half surrogate pairs.
    document = event.dump(without={"message"})
    return len(dump_json([document, getattr(event, "message", None)]).encode("utf-8"))
