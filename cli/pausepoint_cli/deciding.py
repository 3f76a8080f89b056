"""The commands that decide: approve, reject, edit, answer, resolve."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer
from rich.text import Text

from pausepoint.domain.canonical import call_digest, canonical_json, parse_json, short_code
from pausepoint.errors import InvalidInput
from pausepoint_cli.api import Json, segment
from pausepoint_cli.calls import call_view, code_of
from pausepoint_cli.desk import Desk
from pausepoint_cli.editing import difference, edited
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.options import CallId, Reason, SessionId, Timeout, Wait, Yes, command
from pausepoint_cli.picking import pick
from pausepoint_cli.sending import confirm, decide

PANEL = "Decide"
Code = Annotated[
    str | None,
    typer.Option(metavar="CODE", help="Approve only if this is the code of what would run.", show_default=False),
]


class Happened(StrEnum):
    """What became of a call in doubt."""

    HAPPENED = "happened"
    DID_NOT_HAPPEN = "did-not-happen"
    RUN_AGAIN = "run-again"


def register(app: typer.Typer) -> None:
    """Add the commands to an app."""
    for function in (approve, reject, edit, answer, resolve):
        command(app, panel=PANEL)(function)


def approve(
    desk: Desk,
    *,
    session: SessionId,
    call: CallId = None,
    reason: Reason = "",
    code: Code = None,
    yes: Yes = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> Exit:
    """Show exactly what would run, ask, and let it run.

    With --yes nobody is asked; with --code as well, only what has that code is approved.
    """
    body, waiting = pick(desk, session, call, "permission")
    desk.tell(call_view(waiting, body, desk.world.now()))
    _check_code(waiting, code)
    if not yes:
        confirm(desk, "Let it run?", waiting)
    return decide(desk, body, waiting, done="Approved", wait=wait, timeout=timeout, decision="approved", reason=reason)


def reject(
    desk: Desk,
    *,
    session: SessionId,
    call: CallId = None,
    reason: Reason = "",
    wait: Wait = False,
    timeout: Timeout = None,
) -> Exit:
    """Refuse a call: it will not run, and the model reads the reason."""
    body, waiting = pick(desk, session, call, "permission")
    desk.tell(call_view(waiting, body, desk.world.now()))
    return decide(desk, body, waiting, done="Rejected", wait=wait, timeout=timeout, decision="rejected", reason=reason)


def edit(
    desk: Desk,
    *,
    session: SessionId,
    call: CallId = None,
    changes: Annotated[
        list[str] | None,
        typer.Option("--set", metavar="NAME=VALUE", help="Another value for one argument; may be repeated."),
    ] = None,
    arguments: Annotated[
        str | None, typer.Option(metavar="JSON|@FILE|-", help="All arguments: JSON, a file, or stdin (-).")
    ] = None,
    reason: Reason = "",
    yes: Yes = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> Exit:
    """Approve a call with other arguments; without --set and --arguments, in your editor.

    Shows the difference and asks. The tool stays the same, and the arguments are checked like the model's own.
    """
    body, waiting = pick(desk, session, call, "permission")
    desk.tell(call_view(waiting, body, desk.world.now()))
    changed = edited(desk.world, waiting["arguments"], sets=changes or (), given=arguments)
    try:
        text = canonical_json(changed)
    except InvalidInput as error:
        raise CommandError(Exit.USAGE, f"The changed arguments: it {error}.") from None
    if text == canonical_json(waiting["arguments"]):
        raise CommandError(
            Exit.DECLINED, "Nothing is changed; nothing was sent. `pausepoint approve` lets it run as it is."
        )
    desk.tell([Text("The change:", "bold"), *difference(waiting["arguments"], changed)])
    desk.tell([Text(f"The code of what would run then: {short_code(call_digest(waiting['name'], text))}")])
    if not yes:
        confirm(desk, "Let it run with these arguments?", waiting)
    return decide(
        desk,
        body,
        waiting,
        done="Approved, with changed arguments:",
        wait=wait,
        timeout=timeout,
        decision="approved",
        reason=reason,
        arguments=changed,
    )


def answer(
    desk: Desk,
    *,
    session: SessionId,
    call_or_answer: Annotated[
        str | None, typer.Argument(metavar="CALL", help="The call's id, if several ask.", show_default=False)
    ] = None,
    answer: Annotated[
        str | None, typer.Argument(metavar="ANSWER", help="What you answer; asked for if left out.", show_default=False)
    ] = None,
    json_value: Annotated[
        bool, typer.Option("--json-value", help="The answer is JSON (a number, true, a list), not a text.")
    ] = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> Exit:
    """Answer a question that the agent asks.

    A single word after the session is the answer, unless it is the id of a call that asks.
    """
    body, waiting, given = _asked(desk, session, call_or_answer, answer)
    desk.tell(call_view(waiting, body, desk.world.now()))
    choices = (waiting.get("question") or {}).get("choices") or []
    value: Any = given if given is not None else desk.ask("Your answer: ").rstrip("\n")
    if json_value:
        try:
            value = parse_json(value)
        except InvalidInput as error:
            raise CommandError(Exit.USAGE, f"The answer: it {error}.") from None
    if choices and value not in choices:
        raise CommandError(Exit.USAGE, f"The answer must be one of: {', '.join(map(str, choices))}.")
    return decide(
        desk, body, waiting, done="Answered", wait=wait, timeout=timeout, decision="answered", reason="", answer=value
    )


def resolve(
    desk: Desk,
    *,
    session: SessionId,
    call: Annotated[str, typer.Argument(metavar="CALL", help="The call's id, like c2-0.", show_default=False)],
    what: Annotated[Happened, typer.Argument(help="What became of it.", show_default=False)],
    reason: Reason = "",
    yes: Yes = False,
    wait: Wait = False,
    timeout: Timeout = None,
) -> Exit:
    """Say what became of a call in doubt, after you looked.

    happened: it took effect. did-not-happen: it did not, and is not run. run-again: it is asked for again, as another
    call that needs its own approval.
    """
    body, waiting = pick(desk, session, call, "doubt")
    desk.tell(call_view(waiting, body, desk.world.now()))
    if not yes:
        confirm(desk, f"Record that it {_SAID[what]}?", waiting)
    decision = what.value.replace("-", "_")
    return decide(desk, body, waiting, done="Recorded:", wait=wait, timeout=timeout, decision=decision, reason=reason)


_SAID = {
    Happened.HAPPENED: "did happen",
    Happened.DID_NOT_HAPPEN: "did not happen",
    Happened.RUN_AGAIN: "is to run again",
}


def _asked(desk: Desk, session: str, first: str | None, second: str | None) -> tuple[Json, Json, str | None]:
    """Tell a call's id from an answer; return the session, the call and the answer."""
    if second is not None:
        return *pick(desk, session, first, "question"), second
    body = desk.api.get(f"/sessions/{segment(session)}")
    if first is not None and any(first == call["call_id"] for call in body["pending_calls"]):
        return *pick(desk, session, first, "question"), None
    return *pick(desk, session, None, "question"), first


def _check_code(call: Json, code: str | None) -> None:
    if code is not None and code.upper() not in (code_of(call), call["digest"].upper()):
        told = f"Call {call['call_id']} has the code {code_of(call)}, not {code}: it is not what you looked at."
        raise CommandError(Exit.REFUSED, told)
