"""Sends a decision, and tells how a session goes on after a request."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from rich.text import Text

from pausepoint.domain.canonical import canonical_json, parse_json
from pausepoint_cli.api import Json, segment
from pausepoint_cli.calls import LARGE_BYTES, code_of, size_of
from pausepoint_cli.exits import Exit
from pausepoint_cli.lists import outcome, session_end, status
from pausepoint_cli.text import Hanging, behind_bar, inline, json_block
from pausepoint_cli.watching import ending, events_after, follow

if TYPE_CHECKING:
    from rich.console import RenderableType

    from pausepoint_cli.desk import Desk


def confirm(desk: Desk, question: str, call: Json) -> None:
    """Ask; where so much is shown that a change is easily overlooked, for the code and not just for y."""
    desk.confirm(question, word=code_of(call) if size_of(call) > LARGE_BYTES else None)


def decide(
    desk: Desk,
    session: Json,
    call: Json,
    *,
    done: str,
    wait: bool,
    timeout: float | None,
    decision: str,
    reason: str,
    **more: Any,
) -> Exit:
    """Send one decision, with the digest of what was shown, and tell how the session goes on."""
    said = {"call_id": call["call_id"], "decision": decision, "digest": call["digest"], **more}
    if reason:
        said["reason"] = reason
    path = f"/sessions/{segment(session['session_id'])}/resume"
    # Repeating it is safe: the first decision stands, and the same again is answered as done.
    after = desk.api.post(path, {"decisions": [said]}, repeatable=True)
    if "arguments" in more:
        desk.tell(_coerced(desk, after, call, more["arguments"]))
    head = Hanging(Text(), Text("  "), Text(f"{done} ") + inline(call["call_id"]) + Text(" ") + inline(call["name"]))
    return finish(desk, after, wait=wait, timeout=timeout, head=[head])


def _coerced(desk: Desk, session: Json, call: Json, wanted: Json) -> Iterable[RenderableType]:
    """Tell what was approved if the tool's own rules made other arguments of those that were wanted."""
    recorded = _recorded(desk, session, call)
    if recorded is not None and canonical_json(recorded) != canonical_json(wanted):
        yield Text("The tool's own rules made these of your arguments, and these were approved:", "bold yellow")
        yield behind_bar(json_block(recorded))


def _recorded(desk: Desk, session: Json, call: Json) -> Json | None:
    """Return the arguments that a recorded decision approves; None if it cannot be seen yet."""
    for each in session["pending_calls"]:
        if each["call_id"] == call["call_id"] and "decision" in each:
            return each["decision"].get("arguments", call["arguments"])  # type: ignore[no-any-return]
    for event in events_after(desk, f"/sessions/{segment(session['session_id'])}", 0):
        if event["type"] == "decision" and event["call_id"] == call["call_id"]:
            text = event.get("arguments_approved")
            return call["arguments"] if text is None else parse_json(text)  # type: ignore[no-any-return]
    return None


def finish(
    desk: Desk, session: Json, *, wait: bool, timeout: float | None, head: Iterable[RenderableType] = ()
) -> Exit:
    """Tell how a session stands after a request; with `wait`, once it rests, and by the exit code."""
    if not desk.as_json:
        desk.tell(head)
    if wait:
        session = follow(desk, session["session_id"], show=None, until_end=False, timeout=timeout)
    now = desk.world.now()
    line = Text("Session ") + inline(session["session_id"], "cyan") + Text(" is ") + status(session)
    later = (
        [] if wait or session["status"] != "running" else [Text("  pausepoint watch ") + inline(session["session_id"])]
    )
    desk.answer(session, [line, *later, *outcome(session), *session_end(session, now)])
    return ending(session) if wait else Exit.OK
