"""The system's clock and random source: the only place that reads either."""

from __future__ import annotations

import base64
import secrets
from datetime import UTC, datetime


class SystemClock:
    """The machine's time."""

    def now(self) -> datetime:
        """Return the present moment in UTC."""
        return datetime.now(UTC)


def new_id() -> str:
    """Return 130 random bits as 26 characters of a-z and 2-7."""
    return base64.b32encode(secrets.token_bytes(17)).decode("ascii").lower()[:26]


def new_token() -> str:
    """Return 256 random bits as base64url: the secret in an approval link."""
    return secrets.token_urlsafe(32)
