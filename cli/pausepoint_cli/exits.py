"""How a command ends: its exit code, and the one error that carries it. `docs/cli.md` has the same table."""

from __future__ import annotations

from collections.abc import Mapping
from enum import IntEnum
from http import HTTPStatus
from typing import Final


class Exit(IntEnum):
    """An exit code. Scripts may rely on them."""

    OK = 0
    ERROR = 1
    USAGE = 2
    NOT_FOUND = 3
    REFUSED = 4
    NOT_ALLOWED = 5
    UNAVAILABLE = 6
    FAILED = 7
    WAITS = 8
    DECLINED = 9
    TIMED_OUT = 10
    INTERRUPTED = 130


MEANINGS: Final[Mapping[Exit, str]] = {
    Exit.OK: "It is done.",
    Exit.ERROR: "Something is wrong with the API or with this program.",
    Exit.USAGE: "What was asked is wrong: a word, an option or a value.",
    Exit.NOT_FOUND: "There is no such session or call.",
    Exit.REFUSED: "Refused as things stand: decided before, expired, changed, running or ended.",
    Exit.NOT_ALLOWED: "Not allowed: no credentials, or not these.",
    Exit.UNAVAILABLE: "The API cannot be reached, or has no time; try again.",
    Exit.FAILED: "The session failed or was cancelled (only `watch` and `--wait`).",
    Exit.WAITS: "The session waits for a person (only `watch` and `--wait`).",
    Exit.DECLINED: "You did not agree; nothing was sent.",
    Exit.TIMED_OUT: "The session did not come to rest within `--timeout`.",
    Exit.INTERRUPTED: "Ctrl-C.",
}

_BY_STATUS: Final[Mapping[int, Exit]] = {
    HTTPStatus.BAD_REQUEST: Exit.USAGE,
    HTTPStatus.UNAUTHORIZED: Exit.NOT_ALLOWED,
    HTTPStatus.FORBIDDEN: Exit.NOT_ALLOWED,
    HTTPStatus.NOT_FOUND: Exit.NOT_FOUND,
    HTTPStatus.CONFLICT: Exit.REFUSED,
    HTTPStatus.GONE: Exit.REFUSED,
    HTTPStatus.REQUEST_ENTITY_TOO_LARGE: Exit.USAGE,
    HTTPStatus.TOO_MANY_REQUESTS: Exit.UNAVAILABLE,
    HTTPStatus.BAD_GATEWAY: Exit.UNAVAILABLE,
    HTTPStatus.SERVICE_UNAVAILABLE: Exit.UNAVAILABLE,
    HTTPStatus.GATEWAY_TIMEOUT: Exit.UNAVAILABLE,
}


class CommandError(Exception):
    """A command cannot go on; the message is for the person who gave it, in plain sentences."""

    def __init__(self, code: Exit, message: str) -> None:
        super().__init__(message)
        self.code = code


def exit_of(status: int) -> Exit:
    """Return the exit code for an HTTP status that is no success."""
    return _BY_STATUS.get(status, Exit.ERROR)
