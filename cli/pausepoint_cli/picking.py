"""Finds the call that a decision is about, and says why there is none."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal

from pausepoint_cli.api import Json, segment
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.moments import absolute
from pausepoint_cli.watching import events_after

if TYPE_CHECKING:
    from pausepoint_cli.desk import Desk

Wanted = Literal["permission", "question", "doubt"]
_ASKS = {
    "permission": "waits for permission: `pausepoint approve`, `reject` or `edit`",
    "question": "asks a question: `pausepoint answer`",
    "doubt": "is in doubt: `pausepoint resolve`",
}


def pick(desk: Desk, session_id: str, call_id: str | None, wanted: Wanted) -> tuple[Json, Json]:
    """Return a session, and the call in it that waits for this kind of word.

    Raises:
        CommandError: there is none, it waits for something else, or there are several and none was named.
    """
    session = desk.api.get(f"/sessions/{segment(session_id)}")
    waiting: list[Json] = session["pending_calls"]
    if call_id is not None:
        call = next((each for each in waiting if each["call_id"] == call_id), None)
        if call is None:
            raise _gone(desk, session, call_id)
        if (kind := _kind(call)) != wanted:
            told = _ASKS[kind] if kind else f"is {call['status']}; nothing is asked of anybody"
            raise CommandError(Exit.REFUSED, f"Call {call_id} {told}.")
        return session, call
    fitting = [each for each in waiting if _kind(each) == wanted]
    match fitting:
        case [call]:
            return session, call
        case []:
            others = "".join(f" Call {each['call_id']} {_ASKS[kind]}." for each in waiting if (kind := _kind(each)))
            told = {"permission": "for permission", "question": "for an answer", "doubt": "in doubt"}[wanted]
            message = f"The session is {session['status']}, and no call of it waits {told}.{others}"
            raise CommandError(Exit.REFUSED, message.replace("waits in doubt", "is in doubt"))
        case _:
            names = ", ".join(f"{each['call_id']} ({each['name']})" for each in fitting)
            raise CommandError(Exit.USAGE, f"Several calls wait: {names}. Say which one.")


def _kind(call: Json) -> Wanted | None:
    match call["status"]:
        case "pending":
            return "question" if call.get("question") else "permission"
        case "in_doubt":
            return "doubt"
        case _:
            return None


def _gone(desk: Desk, session: Json, call_id: str) -> CommandError:
    """Say what became of a call that does not wait, as far as the log tells."""
    path = f"/sessions/{segment(session['session_id'])}"
    told: dict[str, Any] = {}
    for event in events_after(desk, path, 0):
        if event.get("call_id") == call_id:
            told[event["type"]] = event
        elif any(call["call_id"] == call_id for call in event.get("calls", ())):
            told["asked"] = event
    if decision := told.get("decision"):
        when = f"{decision['verdict']} by {decision['by']} at {absolute(decision['at'])} UTC"
        return CommandError(Exit.REFUSED, f"Call {call_id} was decided before: {when}.")
    if result := told.get("tool_result"):
        return CommandError(Exit.REFUSED, f"Call {call_id} waits for nobody any more: {result['text'][:500]}")
    if told:
        message = f"Call {call_id} waits for nobody any more; the session is {session['status']}."
        return CommandError(Exit.REFUSED, message)
    return CommandError(Exit.NOT_FOUND, f"Session {session['session_id']} has no call {call_id!r}.")
