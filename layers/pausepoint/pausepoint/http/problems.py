"""The one table that turns our errors into HTTP: `application/problem+json` (RFC 9457)."""

from __future__ import annotations

from dataclasses import dataclass
from http import HTTPStatus
from typing import Any, Final

from pausepoint import errors
from pausepoint.http.views import call_body

TYPE_PREFIX: Final = "urn:pausepoint:problem:"

_STATUS: Final[tuple[tuple[type[errors.PausepointError], int, str], ...]] = (
    # The first class that fits counts: the narrower ones stand first.
    (errors.TooLarge, 413, "Too large"),
    (errors.InvalidInput, 400, "Invalid request"),
    (errors.NotFound, 404, "Not found"),
    (errors.Unauthenticated, 403, "Not signed"),
    (errors.OwnRequest, 403, "Not yours to approve"),
    (errors.CallExpired, 410, "Expired"),
    (errors.LinkSpent, 410, "This link is used up"),
    (errors.Conflict, 409, "Conflict"),
    (errors.Unavailable, 503, "Try again"),
    (errors.UnsupportedVersion, 409, "Stored by a newer version"),
    (errors.ConfigurationError, 500, "Set up wrongly"),
)


@dataclass(frozen=True)
class Problem:
    """An answer that says what is wrong. `retry_after` is in seconds."""

    status: int
    body: dict[str, Any]
    retry_after: int | None = None


def status_of(error: errors.PausepointError) -> tuple[int, str]:
    """Return the HTTP status and title of an error."""
    for kind, status, title in _STATUS:
        if isinstance(error, kind):
            return status, title
    return 500, "Internal error"


def detail_of(error: errors.PausepointError) -> str:
    """Return what the caller may read. How a deployment is wrong is for its log."""
    status, _ = status_of(error)
    told = status < HTTPStatus.INTERNAL_SERVER_ERROR or status == HTTPStatus.SERVICE_UNAVAILABLE
    return str(error) if told else _INTERNAL


def problem_of(error: errors.PausepointError) -> Problem:
    """Return the answer for an error raised on purpose."""
    status, title = status_of(error)
    body: dict[str, Any] = {
        "type": TYPE_PREFIX + error.code,
        "title": title,
        "status": status,
        "detail": detail_of(error),
    }
    match error:
        case errors.InvalidInput(field=str() as field) | errors.OwnRequest(field=field):
            body["field"] = field
        case errors.CallsPending():
            body["calls"] = [call_body(call) for call in error.calls]
        case errors.AlreadyDecided():
            body["call"] = call_body(error.call)
        case _:
            pass
    retry_after = error.retry_after if isinstance(error, errors.Unavailable) else None
    return Problem(status, body, retry_after)


def plain_problem(status: int, code: str, title: str, detail: str) -> Problem:
    """Return an answer for what is not an error of ours (no such route, a fault in the code)."""
    return Problem(status, {"type": TYPE_PREFIX + code, "title": title, "status": status, "detail": detail})


_INTERNAL: Final = "Something went wrong on our side. The log has the details."
INTERNAL_PROBLEM: Final = plain_problem(500, "internal", "Internal error", _INTERNAL)
