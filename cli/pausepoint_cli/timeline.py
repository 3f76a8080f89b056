"""A session's log as a timeline: who said, asked, decided and did what, and when."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from pausepoint_cli.moments import absolute
from pausepoint_cli.text import Hanging, behind_bar, block, inline, joined, json_block

if TYPE_CHECKING:
    from rich.console import RenderableType

Event = Mapping[str, Any]

_VERDICTS: Final = {
    "approved": ("approved", "green"),
    "rejected": ("rejected", "red"),
    "answered": ("answered", "green"),
}
_DOUBTS: Final = {
    "happened": "it did happen",
    "did_not_happen": "it did not happen",
    "run_again": "it is to run again, as another call",
}
_IDENTITIES: Final = {
    "aws-signature": "verified: by an AWS signature",
    "link": "claimed: by holding the link",
    "caller": "claimed: by the caller's own word",
    "reconcile": "by the tool's own check",
}
_INDENT: Final = " " * 21
_LONG: Final = 4000
"""Characters of a text that are shown if not all of it is asked for."""
_NARROW: Final = 64
"""Under this width what follows a headline begins near the left."""


@dataclass(frozen=True)
class _Told:
    """An event in words: a headline of ours, then lines of ours, and under each what somebody else wrote."""

    headline: Text
    parts: Sequence[tuple[str | Text, Text]] = ()


def timeline(events: Iterable[Event], *, width: int, full: bool = False) -> Iterator[RenderableType]:
    """Show events in their order. Only what is ours stands without a bar before it.

    Args:
        full: long texts too are shown to their end; arguments always are.
    """
    indent = "  " if width < _NARROW else _INDENT
    for event in events:
        shown, lengths = (event, []) if full else _cut(event)
        told = _TELLERS.get(str(event.get("type")), _unknown)(shown)
        yield Hanging(Text(f"{absolute(event.get('at'))}  ", "dim"), Text(indent), told.headline)
        for label, text in told.parts:
            if label:
                yield Hanging(Text(indent), Text(indent), Text(label) if isinstance(label, str) else label)
            yield behind_bar(text, indent)
        for length in lengths:
            note = f"… the first {_LONG:,} of {length:,} characters; --full shows all of them"
            yield Hanging(Text(indent), Text(indent), Text(note, "dim"))


def _cut(event: Event) -> tuple[Event, list[int]]:
    """Return an event with the beginnings of its long texts, and how long those are."""
    long = {
        name: text
        for name in ("text", "message", "reason")
        if isinstance(text := event.get(name), str) and len(text) > _LONG
    }
    return {**event, **{name: text[:_LONG] for name, text in long.items()}}, [len(text) for text in long.values()]


def identity(event: Event) -> Text:
    """Say how it is known who it was."""
    told = _IDENTITIES.get(str(event.get("verified"))) or event.get("identity") or event.get("verified", "unknown")
    return Text.assemble("(", inline(told), ")", style="dim")


def _said(event: Event) -> _Told:
    return _Told(Text.assemble(inline(event["by"], "bold"), " says"), [("", block(event["text"]))])


def _turn(event: Event) -> _Told:
    parts: list[tuple[str | Text, Text]] = [("", block(event["text"]))] if event.get("text") else []
    calls = event.get("calls") or ()
    for call in calls:
        if call.get("refusal"):
            parts.append((_call(call) + Text(" was not allowed, and nobody was asked:"), block(call["refusal"])))
        else:
            parts.append((_call(call) + Text(" with"), json_block(call.get("arguments"))))
    told = "the agent asks for a tool" if len(calls) == 1 else f"the agent asks for {len(calls)} tools"
    return _Told(Text(told if calls else "the agent says", "bold"), parts)


def _decided(event: Event) -> _Told:
    verb, style = _VERDICTS.get(str(event["verdict"]), ("decided", ""))
    head = Text.assemble((verb, f"bold {style}"), " ", _call(event), " by ", inline(event["by"], "bold"), " ")
    parts: list[tuple[str | Text, Text]] = []
    if event.get("arguments_approved"):
        parts.append(("with changed arguments", json_block(_parsed(event["arguments_approved"]))))
    if event.get("answer") is not None:
        parts.append(("the answer", json_block(_parsed(event["answer"]))))
    return _Told(head + identity(event), [*parts, *_reason(event)])


def _executed(event: Event) -> _Told:
    head = Text.assemble("started ", _call(event))
    if event.get("ended_at"):
        return _Told(head + Text(f", ended {absolute(event['ended_at'])}: ") + inline(event["status"]))
    return _Told(head + Text(", and was cut off: nobody heard how it ended", "bold red"))


def _result(event: Event) -> _Told:
    if event.get("status") == "success":
        word = ("result of ", "green")
    else:
        word = ("error from " if event.get("entered") else "not run: ", "red")
    return _Told(Text.assemble(word, _call(event)), [("", block(event["text"]))])


def _doubt(event: Event) -> _Told:
    told = inline(_DOUBTS.get(str(event["answer"]), event["answer"]))
    head = Text.assemble("of ", _call(event), ", cut off, ", inline(event["by"], "bold"), " says: ", told, " ")
    return _Told(head + identity(event), _reason(event))


def _reissued(event: Event) -> _Told:
    head = Text.assemble(_call(event), " is asked for again, as ", inline(event["reissued_as"], "bold"))
    return _Told(head, [("with", json_block(_parsed(event.get("arguments"))))])


def _failed(event: Event) -> _Told:
    head = Text.assemble(("the session failed: ", "bold red"), inline(event["code"]))
    return _Told(head, [("", block(event["message"]))])


def _cancelled(event: Event) -> _Told:
    return _Told(Text.assemble(("the session was cancelled", "bold red"), " by ", inline(event["by"], "bold")))


def _unknown(event: Event) -> _Told:
    rest = {name: value for name, value in event.items() if name not in ("seq", "type", "at")}
    return _Told(Text("an event of a newer kind: ") + inline(event.get("type", "unknown")), [("", json_block(rest))])


_TELLERS: Final[Mapping[str, Callable[[Event], _Told]]] = {
    "user_message": _said,
    "assistant_turn": _turn,
    "decision": _decided,
    "execution": _executed,
    "tool_result": _result,
    "doubt_resolved": _doubt,
    "call_reissued": _reissued,
    "session_failed": _failed,
    "session_cancelled": _cancelled,
}
"""One for every type of event; a test holds them against the library's. Newer types are shown as they are."""


def _call(event: Event) -> Text:
    return joined([inline(event["call_id"], "cyan"), inline(event["name"], "bold")], " ")


def _reason(event: Event) -> list[tuple[str | Text, Text]]:
    return [("the reason", block(event["reason"]))] if event.get("reason") else []


def _parsed(text: Any) -> Any:
    try:
        return json.loads(text)
    except (TypeError, ValueError):
        return text
