"""The parts of a request beside its body: query parameters and headers."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Final

from pausepoint.domain.session import SessionStatus
from pausepoint.errors import InvalidInput, NotFound

DEFAULT_PAGE: Final = 50
MAX_PAGE: Final = 100
SESSION_ID: Final = re.compile(r"[a-z0-9]{26}")
IDEMPOTENCY_KEY: Final = re.compile(r"[\x21-\x7e]{1,255}")


def known_id(session_id: str) -> str:
    """Return the id of a session from a path; raise NotFound, without a look at the table, if none is like it."""
    if not SESSION_ID.fullmatch(session_id):
        raise NotFound("There is no such session.")
    return session_id


def page_size(query: Mapping[str, str]) -> int:
    """Return `limit`: 1 to 100, 50 when it is left out."""
    return _number(query, "limit", default=DEFAULT_PAGE, low=1, high=MAX_PAGE)


def page_start(query: Mapping[str, str]) -> int:
    """Return `next` of a log: the number of the last event already seen, 0 at the start."""
    return _number(query, "next", default=0, low=0, high=10**10)


def cursor(query: Mapping[str, str]) -> str | None:
    """Return `next` of a list, as the list gave it."""
    return query.get("next")


def status_filter(query: Mapping[str, str]) -> SessionStatus | None:
    """Return `status`, if it is asked for."""
    text = query.get("status")
    if text is None:
        return None
    try:
        return SessionStatus(text)
    except ValueError:
        known = ", ".join(SessionStatus)
        raise InvalidInput(f"`status` must be one of {known}.", field="status") from None


def idempotency_key(headers: Mapping[str, str]) -> str | None:
    """Return the Idempotency-Key: 1 to 255 visible ASCII characters."""
    lowered = {name.lower(): value for name, value in headers.items()}
    text = lowered.get("idempotency-key")
    if text is not None and not IDEMPOTENCY_KEY.fullmatch(text):
        raise InvalidInput("The Idempotency-Key must have 1 to 255 visible ASCII characters.", field="Idempotency-Key")
    return text


def _number(query: Mapping[str, str], name: str, *, default: int, low: int, high: int) -> int:
    text = query.get(name)
    if text is None:
        return default
    if not re.fullmatch(r"[0-9]{1,11}", text) or not low <= int(text) <= high:
        raise InvalidInput(f"`{name}` must be a whole number from {low} to {high}.", field=name)
    return int(text)
