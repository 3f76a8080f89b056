"""Moments as the API writes them, and as people read them."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any, Final

_UNITS: Final = (("day", 86_400), ("hour", 3_600), ("minute", 60))


def moment(text: Any) -> datetime | None:
    """Return a moment of the API's; None for anything else."""
    try:
        read = datetime.fromisoformat(text)
    except (TypeError, ValueError):
        return None
    return read if read.tzinfo else read.replace(tzinfo=UTC)


def absolute(text: Any) -> str:
    """Return a moment as `2026-11-29 16:04:09`, in UTC; nothing where there is none."""
    read = moment(text)
    return f"{read.astimezone(UTC):%Y-%m-%d %H:%M:%S}" if read else ""


def relative(text: Any, now: datetime) -> str:
    """Return about how far away a moment is: `in 23 hours`, `5 minutes ago`; rounded down."""
    read = moment(text)
    if read is None:
        return "at an unknown time"
    seconds = (read - now).total_seconds()
    for unit, size in _UNITS:
        count = int(abs(seconds) // size)
        if count:
            span = f"{count} {unit}" if count == 1 else f"{count} {unit}s"
            return f"in {span}" if seconds > 0 else f"{span} ago"
    return "in less than a minute" if seconds > 0 else "just now"
