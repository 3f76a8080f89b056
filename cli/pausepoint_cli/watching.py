"""Watching a session until it rests, by asking again and again, ever more seldom while nothing happens."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, nullcontext
from datetime import timedelta
from typing import TYPE_CHECKING, Any, Final

from pausepoint_cli.api import Json, segment
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.lists import asked_calls

if TYPE_CHECKING:
    from pausepoint_cli.desk import Desk

FIRST_PAUSE: Final = 0.5
LONGEST_PAUSE: Final = 10.0
_SLOWER: Final = 1.5
PAGE: Final = 100


def follow(
    desk: Desk, session_id: str, *, show: Callable[[Json], object] | None, until_end: bool, timeout: float | None
) -> Json:
    """Wait until a session rests, and return it.

    Args:
        show: is given the session's events as they come.
        until_end: a session that waits for a person is not at rest.
        timeout: in seconds.

    Raises:
        CommandError: it did not come to rest in time.
    """
    deadline = None if timeout is None else desk.world.now() + timedelta(seconds=timeout)
    path, seen, pause = f"/sessions/{segment(session_id)}", 0, FIRST_PAUSE
    with _spinner(desk):
        while True:
            session = desk.api.get(path)  # before its events: of a session at rest they are then all
            if show is not None:
                for event in events_after(desk, path, seen):
                    show(event)
                    seen, pause = event["seq"], FIRST_PAUSE
            if rests(session, until_end=until_end):
                return session
            if deadline is not None and desk.world.now() >= deadline:
                raise CommandError(Exit.TIMED_OUT, f"The session is still {session['status']} after {timeout:g} s.")
            desk.world.sleep(pause)
            pause = min(pause * _SLOWER, LONGEST_PAUSE)


def _spinner(desk: Desk) -> AbstractContextManager[object]:
    if desk.console.is_terminal:
        return desk.console.status("watching; Ctrl-C stops only this")
    return nullcontext()


def events_after(desk: Desk, path: str, seen: int) -> Any:
    """Return a session's events with numbers above `seen`."""
    return desk.api.pages(f"{path}/events", "events", start=str(seen), limit=PAGE)


def rests(session: Json, *, until_end: bool = False) -> bool:
    """Whether nothing more will happen by itself: the session has ended, or only people can move it."""
    match session["status"]:
        case "running":
            return False
        case "paused":
            calls = session["pending_calls"]
            return not until_end and bool(calls) and len(asked_calls(session)) == len(calls)
        case _:
            return True


def ending(session: Json) -> Exit:
    """Return the exit code for a session at rest."""
    match session["status"]:
        case "completed":
            return Exit.OK
        case "paused":
            return Exit.WAITS
        case _:
            return Exit.FAILED
