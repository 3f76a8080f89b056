"""The commands around sessions: start, message, list, approvals, show, watch, cancel."""

from __future__ import annotations

import uuid
from enum import StrEnum
from typing import Annotated, Any

import typer

from pausepoint_cli.api import Json, segment
from pausepoint_cli.desk import Desk
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.lists import nothing, outcome, session_end, session_head, session_lines, status, waiting_lines
from pausepoint_cli.options import SessionId, Timeout, Wait, Yes, command
from pausepoint_cli.sending import finish
from pausepoint_cli.text import inline
from pausepoint_cli.timeline import timeline
from pausepoint_cli.watching import PAGE, ending, events_after, follow

TALK = "Talk to the agent"
LOOK = "Look"
Message = Annotated[
    str, typer.Argument(metavar="MESSAGE", help="What to say; - reads it from stdin.", show_default=False)
]
Limit = Annotated[int, typer.Option(metavar="NUMBER", min=1, help="How many to show.")]
Full = Annotated[bool, typer.Option("--full", help="Show long texts to their end.")]
All = Annotated[bool, typer.Option("--all", help="Show all of them.")]


class Risk(StrEnum):
    """How much is at stake, by the word of the tool's author."""

    LOW = "low"
    MEDIUM = "medium"
    HIGH = "high"


class Waiting(StrEnum):
    """What a person is asked about a call."""

    PENDING = "pending"
    IN_DOUBT = "in_doubt"


class Status(StrEnum):
    """Where a session stands."""

    RUNNING = "running"
    PAUSED = "paused"
    COMPLETED = "completed"
    FAILED = "failed"
    CANCELLED = "cancelled"


def register(app: typer.Typer) -> None:
    """Add the commands to an app."""
    command(app, panel=TALK)(start)
    command(app, panel=TALK, name="message")(say)
    command(app, panel=TALK)(cancel)
    command(app, panel=LOOK, name="list")(list_sessions)
    command(app, panel=LOOK)(approvals)
    command(app, panel=LOOK)(show)
    command(app, panel=LOOK)(watch)


def start(
    desk: Desk,
    *,
    message: Message,
    wait: Wait = False,
    timeout: Timeout = None,
    respond_async: Annotated[
        bool, typer.Option("--async", help="Return at once; the agent runs in the background.")
    ] = False,
    idempotency_key: Annotated[
        str | None,
        typer.Option(metavar="KEY", help="The same key and message start one session only; made up if left out."),
    ] = None,
) -> Exit:
    """Start a session with a message, and show what comes of it."""
    key = idempotency_key or uuid.uuid4().hex
    headers = {"Idempotency-Key": key, **({"Prefer": "respond-async"} if respond_async else {})}
    body = {"message": _text(desk, message)}
    try:
        session = desk.api.post("/sessions", body, repeatable=True, **headers)
    except CommandError as error:
        if error.code is Exit.UNAVAILABLE:
            told = f"{error} With --idempotency-key {key} it is safe to send it again."
            raise CommandError(error.code, told) from None
        raise
    return finish(desk, session, wait=wait, timeout=timeout)


def say(
    desk: Desk,
    *,
    session: SessionId,
    message: Message,
    wait: Wait = False,
    timeout: Timeout = None,
) -> Exit:
    """Say something more in a session that rests."""
    path = f"/sessions/{segment(session)}/messages"
    # Not repeated by itself: a message that arrived twice would be two messages.
    body = desk.api.post(path, {"message": _text(desk, message)}, repeatable=False)
    return finish(desk, body, wait=wait, timeout=timeout)


def cancel(
    desk: Desk,
    *,
    session: SessionId,
    yes: Yes = False,
) -> Exit:
    """End a session for good. What waits in it will not run."""
    if not yes:
        body = desk.api.get(f"/sessions/{segment(session)}")
        desk.tell([*session_head(body), *session_end(body, desk.world.now())])
        desk.confirm("End it for good?")
    body = desk.api.post(f"/sessions/{segment(session)}/cancel", repeatable=True)
    desk.answer(body, [inline(body["session_id"], "cyan") + " is " + status(body)])
    return Exit.OK


def list_sessions(
    desk: Desk,
    *,
    status: Annotated[Status | None, typer.Option(help="Only those that stand there.")] = None,
    limit: Limit = 20,
    everything: All = False,
) -> Exit:
    """List sessions, the latest changed first."""
    body = _gathered(desk, "/sessions", "sessions", limit=None if everything else limit, status=status)
    now = desk.world.now()
    lines = [line for session in body["sessions"] for line in session_lines(session, now)]
    desk.answer(body, [*(lines or nothing("There are none.")), *_more(body)])
    return Exit.OK


def approvals(
    desk: Desk,
    *,
    session: Annotated[str | None, typer.Option(metavar="SESSION", help="Only those of this session.")] = None,
    agent: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this agent.")] = None,
    tool: Annotated[str | None, typer.Option(metavar="NAME", help="Only those of this tool.")] = None,
    risk: Annotated[Risk | None, typer.Option(help="Only those of this risk.")] = None,
    status: Annotated[
        Waiting | None, typer.Option(help="Only those that wait for a decision, or that are in doubt.")
    ] = None,
    limit: Limit = 20,
    everything: All = False,
) -> Exit:
    """List the calls of all sessions that wait for a person."""
    query = {"session": session, "agent": agent, "tool": tool, "risk": risk, "status": status}
    body = _gathered(desk, "/approvals", "approvals", limit=None if everything else limit, **query)
    now = desk.world.now()
    lines = [line for call in body["approvals"] for line in waiting_lines(call, now)]
    desk.answer(body, [*(lines or nothing("Nothing waits for a decision.")), *_more(body)])
    return Exit.OK


def show(desk: Desk, *, session: SessionId, full: Full = False) -> Exit:
    """Show a session's timeline: what was said, asked, decided, run, and by whom."""
    path = f"/sessions/{segment(session)}"
    body = desk.api.get(path)
    events = list(events_after(desk, path, 0))
    lines: list[Any] = [*session_head(body), "", *timeline(events, width=desk.console.width, full=full)]
    if ending_lines := list(session_end(body, desk.world.now())):
        lines += ["", *ending_lines]
    desk.answer({**body, "events": events}, lines)
    return Exit.OK


def watch(
    desk: Desk,
    *,
    session: SessionId,
    until_end: Annotated[bool, typer.Option("--until-end", help="Go on while the session waits for a person.")] = False,
    full: Full = False,
    timeout: Timeout = None,
) -> Exit:
    """Show a session's timeline as it grows, until the session rests.

    With --json: one event on a line, and the session on the last line.
    """

    def show_event(event: Json) -> None:
        desk.answer(event, timeline([event], width=desk.console.width, full=full))

    body = follow(desk, session, show=show_event, until_end=until_end, timeout=timeout)
    lines: list[Any] = ["", inline(body["session_id"], "cyan") + " is " + status(body)]
    error = outcome(body) if body["status"] == "failed" else ()
    desk.answer(body, [*lines, *error, *session_end(body, desk.world.now())])
    return ending(body)


def _gathered(desk: Desk, path: str, name: str, *, limit: int | None, **query: Any) -> Json:
    """Return a list's body with up to so many members, from as many pages as that takes."""
    found: list[Json] = []
    following: Any = None
    while True:
        size = PAGE if limit is None else min(PAGE, limit - len(found))
        page = desk.api.get(path, limit=size, next=following, **query)
        found += page[name]
        following = page["next"]
        if following is None or (limit is not None and len(found) >= limit):
            return {name: found, "next": following}


def _more(body: Json) -> list[Any]:
    return list(nothing("There are more: --limit NUMBER or --all.")) if body["next"] is not None else []


def _text(desk: Desk, message: str) -> str:
    return desk.world.stdin.read() if message == "-" else message
