"""What a session may use up, and what of a turn can be kept."""

from __future__ import annotations

from datetime import datetime
from typing import Final

from pausepoint.domain.events import AssistantTurn
from pausepoint.domain.session import Session
from pausepoint.domain.values import dump_json
from pausepoint.errors import BudgetExceeded

_TURN_BYTES: Final = 1024 * 1024
_TURN_DEPTH: Final = 200
_TOO_DEEP: Final = f"it is nested deeper than {_TURN_DEPTH} levels"


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
    try:
        text = dump_json(turn.dump())
    except RecursionError:
        return _TOO_DEEP
    except (TypeError, ValueError) as error:  # not data, not of the kind that it says, endless digits
        return str(error)
    # Most texts have fewer brackets than there may be levels.
    if text.count("{") + text.count("[") > _TURN_DEPTH and _is_deeper(turn.message, than=_TURN_DEPTH):
        return _TOO_DEEP
    size = len(text.encode("utf-8"))
    return f"it has {size} bytes, and at most {_TURN_BYTES} are kept" if size > _TURN_BYTES else None


def _is_deeper(value: object, *, than: int) -> bool:
    level = [value]
    for _ in range(than):
        inner: list[object] = []
        for item in level:
            inner += item.values() if isinstance(item, dict) else item if isinstance(item, list | tuple) else ()
        level = inner
    return bool(level)
