"""Sessions and calls as lists, and a session's head."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from pausepoint.domain.canonical import short_code
from pausepoint_cli.calls import ASKING, RISK_STYLES, Call
from pausepoint_cli.moments import absolute, relative
from pausepoint_cli.text import Hanging, behind_bar, block, inline, joined, json_block

if TYPE_CHECKING:
    from rich.console import RenderableType

Session = Mapping[str, Any]

_STATUS_STYLES: Final = {
    "running": "blue",
    "paused": "bold yellow",
    "completed": "green",
    "failed": "bold red",
    "cancelled": "dim",
}
_INDENT: Final = Text("  ")
_SHOWN_CHARACTERS: Final = 200
"""Of arguments, in a list."""


def session_lines(session: Session, now: datetime) -> Iterator[RenderableType]:
    """Show one member of the list of sessions."""
    changed = relative(session.get("updated_at"), now)
    yield Hanging(
        Text(), _INDENT, joined([inline(session["session_id"], "cyan"), status(session), f"changed {changed}"])
    )
    by = Text("started by ") + inline(session["requested_by"])
    yield Hanging(_INDENT, _INDENT, joined([Text("agent ") + inline(session["agent"]), by]))


def session_head(session: Session) -> Iterator[RenderableType]:
    """Show what a session is, above its timeline."""
    title = joined([Text("Session ") + inline(session["session_id"], "bold cyan"), status(session)])
    yield Hanging(Text(), _INDENT, title + Text(" · agent ") + inline(session["agent"]))
    by = Text.assemble(f"Started {absolute(session['created_at'])} UTC by ", inline(session["requested_by"]))
    yield Hanging(Text(), _INDENT, by)
    if usage := session.get("usage"):
        tokens = usage["input_tokens"] + usage["output_tokens"]
        counts = f"Model calls: {usage['model_calls']}. Tool calls: {usage['tool_calls']}. Tokens: {tokens:,}."
        yield Hanging(Text(), _INDENT, Text(counts, "dim"))


def session_end(session: Session, now: datetime) -> Iterator[RenderableType]:
    """Show what a session waits for, and what can be done about it."""
    for call in session.get("pending_calls") or ():
        yield from waiting_lines({**session, **call}, now)
        yield from hints(session, call)


def outcome(session: Session) -> Iterator[RenderableType]:
    """Show what a session said in the end, or why it did not."""
    if error := session.get("error"):
        yield Text.assemble(("It failed: ", "bold red"), inline(error["code"]))
        yield behind_bar(block(error["message"]))
    elif session["status"] == "completed" and session.get("output"):
        yield behind_bar(block(session["output"]))


def waiting_lines(call: Call, now: datetime) -> Iterator[RenderableType]:
    """Show one call that waits, in the list of all of them or at the end of a session."""
    risk = str(call.get("risk", ""))
    head = [
        inline(call["session_id"], "cyan") + Text(" ") + inline(call["call_id"], "cyan"),
        inline(call["name"], "bold"),
        inline(risk, RISK_STYLES.get(risk, "")) + Text(" risk") if risk else "",
        Text(_waits(call, now), "bold yellow"),
        f"code {short_code(str(call['digest']))}",
    ]
    yield Hanging(Text(), _INDENT, joined(head))
    if question := call.get("question"):
        yield behind_bar(block(question["text"]) if question.get("text") else json_block(call["arguments"]))
    else:
        yield behind_bar(_short(call["arguments"]))
    asked = f"asked for {relative(call.get('requested_at'), now)}"
    yield Hanging(_INDENT, _INDENT, Text.assemble(f"{asked} by ", inline(call.get("requested_by", ""))))


def hints(session: Session, call: Call) -> Iterator[Text]:
    """Say which commands move a call."""
    target = Text(" ") + inline(session["session_id"]) + Text(" ") + inline(call["call_id"])
    if call["status"] == "in_doubt":
        yield Text.assemble(("  pausepoint resolve", "dim"), target, (" happened|did-not-happen|run-again", "dim"))
    elif call["status"] == "pending" and call.get("question"):
        yield Text.assemble(("  pausepoint answer", "dim"), target, (" ANSWER", "dim"))
    elif call["status"] == "pending":
        yield Text.assemble(("  pausepoint approve", "dim"), target, ("   (or reject, edit)", "dim"))


def status(session: Session) -> Text:
    """Return where a session stands."""
    word = str(session["status"])
    return inline(word, _STATUS_STYLES.get(word, ""))


def asked_calls(session: Session) -> list[Call]:
    """Return the calls of a session that ask a person."""
    return [call for call in session.get("pending_calls") or () if call.get("status") in ASKING]


def nothing(what: str) -> Iterable[Text]:
    """Say that a list is empty."""
    return [Text(what, "dim")]


def _waits(call: Call, now: datetime) -> str:
    match call["status"]:
        case "pending":
            return f"expires {relative(call.get('expires_at'), now)}"
        case "in_doubt":
            return "in doubt: somebody has to say what happened"
        case other:
            return str(other) if other in ("approved", "executing") else "waits"


def _short(arguments: Any) -> Text:
    """Return arguments on one line; a list is no place to read all of a long text."""
    text = json.dumps(arguments, ensure_ascii=False)
    if len(text) <= _SHOWN_CHARACTERS:
        return inline(text)
    return inline(text[:_SHOWN_CHARACTERS]) + Text(
        f"… and {len(text) - _SHOWN_CHARACTERS:,} characters more: see `pausepoint show`", "dim"
    )
