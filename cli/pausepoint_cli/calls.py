"""A call as a person is asked about it: what exactly would run, and what is to be known before."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from datetime import datetime
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from pausepoint.domain.canonical import call_digest, canonical_json, short_code
from pausepoint.errors import InvalidInput
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.moments import absolute, relative
from pausepoint_cli.text import LEGEND, Hanging, behind_bar, block, exact, hides_something, inline, joined, json_block

if TYPE_CHECKING:
    from rich.console import RenderableType

LARGE_BYTES: Final = 32 * 1024
"""Past this many bytes of arguments a change is easily overlooked."""
RISK_STYLES: Final = {"low": "green", "medium": "yellow", "high": "bold red"}
ASKING: Final = frozenset({"pending", "in_doubt"})
"""The states in which a person is asked."""
_LABEL_WIDTH: Final = 11

Call = Mapping[str, Any]


def code_of(call: Call) -> str:
    """Return the short code of what would run, for people to compare.

    Raises:
        CommandError: the API's digest is not that of the arguments that it shows.
    """
    try:
        computed = call_digest(str(call["name"]), canonical_json(call["arguments"]))
    except InvalidInput as error:
        raise CommandError(
            Exit.ERROR, f"The arguments of call {call['call_id']} cannot be shown: it {error}."
        ) from None
    if computed != call["digest"]:
        told = "The API gives a digest that is not that of the arguments it shows. Nothing is decided on such a call."
        raise CommandError(Exit.ERROR, told)
    return short_code(computed)


def size_of(call: Call) -> int:
    """Return how many bytes the arguments have."""
    return len(canonical_json(call["arguments"]).encode("utf-8"))


def call_view(call: Call, session: Mapping[str, Any], now: datetime) -> Iterator[RenderableType]:
    """Show a call that waits: the action first, the model's own words last."""
    code, question = code_of(call), call.get("question")
    in_doubt = call.get("status") == "in_doubt"
    action = "In doubt" if in_doubt else "Asked with" if question else "Would run"
    yield _line(action, Text.assemble(inline(call["name"], "bold"), f"   code {code}   call ", inline(call["call_id"])))
    if in_doubt:
        yield _line("", Text("It was started, and nobody heard how it ended: it may have taken effect."))
    risk = str(call.get("risk", ""))
    if risk:
        yield _line("Risk", inline(risk, RISK_STYLES.get(risk, "")))
    if warning := call.get("warning"):
        yield _line("Warning", inline(warning, "bold"))
    if question:
        yield from question_view(question)
    yield from arguments_view(call)
    yield from who_and_when(call, session, now)
    if words := call.get("model_text"):
        yield Text("The agent's model wrote, and nobody has checked:", "dim")
        yield behind_bar(block(words))


def question_view(question: Mapping[str, Any]) -> Iterator[RenderableType]:
    """Show what is asked, and what may be answered."""
    if question.get("text"):
        yield _line("Question", Text(""))
        yield behind_bar(block(question["text"]))
    if choices := question.get("choices"):
        yield _line("Choices", Text(""))
        for choice in choices:
            yield behind_bar(json_block(choice))


def arguments_view(call: Call) -> Iterator[RenderableType]:
    """Show every argument in full, those first that the tool's author wants to be looked at."""
    arguments: Mapping[str, Any] = call["arguments"]
    changed = (call.get("decision") or {}).get("arguments")
    if changed is not None:
        yield _line("Changed", Text("Whoever approved it put other arguments, and those were run:"))
        yield behind_bar(json_block(changed))
    first = [name for name in call.get("highlight") or () if name in arguments]
    size = size_of(call)
    counts = joined([_plural(len(arguments), "argument"), _plural(size, "byte")])
    lot = ". This is a lot: read all of it" if size > LARGE_BYTES else ""
    yield _line("Arguments", counts + Text(lot + (". Look at these first:" if first else "")))
    for name in first:
        yield behind_bar(json_block(name) + Text(": ") + json_block(arguments[name]))
    others = [name for name in arguments if name not in first]
    if first and others:
        yield _line("", Text("And the others:"))
    for name in others:
        yield behind_bar(json_block(name) + Text(": ") + json_block(arguments[name]))
    if hides_something(arguments):
        yield Text(LEGEND, "dim")
        yield Text("Exactly, in ASCII:", "dim")
        yield behind_bar(Text(exact(arguments)))


def who_and_when(call: Call, session: Mapping[str, Any], now: datetime) -> Iterator[RenderableType]:
    """Say who asks, since when, and until when."""
    asked = f"{relative(call.get('requested_at'), now)} ({absolute(call.get('requested_at'))} UTC)"
    yield _line("Asked for", Text.assemble(inline(session.get("requested_by", "")), f", {asked}"))
    if call.get("status") == "pending":
        expires = call.get("expires_at")
        yield _line("Expires", Text(f"{relative(expires, now)} ({absolute(expires)} UTC)"))
    yield _line("Session", joined([inline(session["session_id"]), Text("agent ") + inline(session.get("agent", ""))]))


def _line(label: str, text: Text) -> RenderableType:
    if not text.plain:
        return Text(label, "dim")
    return Hanging(Text(label.ljust(_LABEL_WIDTH), "dim"), Text(" " * _LABEL_WIDTH), text)


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
