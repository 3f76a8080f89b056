"""A clock that stands still until a test moves it."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class FakeClock:
    """Honours `Clock`."""

    def __init__(self, now: datetime = START) -> None:
        self._now = now

    def now(self) -> datetime:
        return self._now

    def advance(self, **duration: float) -> None:
        """Let time pass: `clock.advance(minutes=5)`."""
        self._now += timedelta(**duration)
