"""The page on which a change of arguments is confirmed: what was asked, and what would run instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pausepoint.domain.canonical import canonical_json, parse_json, short_code
from pausepoint.http.parts import Fact, identity_facts, request_facts, shown_arguments
from pausepoint.http.presenting import stakes
from pausepoint.http.templating import render
from pausepoint.http.values import Json, kind_of, shown_json
from pausepoint.http.visible import Segment, flat, visible
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from pausepoint.domain.calls import PendingToolCall
    from pausepoint.http.edits import Edited

_WORDS: Final = re.compile(r"\w+|\W", re.DOTALL)


@dataclass(frozen=True)
class Side:
    """A value of one side: its kind, and its text in three parts, of which the middle one differs."""

    kind: str
    parts: tuple[list[Segment], list[Segment], list[Segment]]


@dataclass(frozen=True)
class Difference:
    """One argument that changes."""

    name: list[Segment]
    was: Side
    becomes: Side


def confirm_page(
    call: PendingToolCall, change: Edited, *, token: str, action: str, now: datetime, needs_code: bool = False
) -> str:
    """Return the page that shows a change, and asks for the approval of exactly what it makes.

    Args:
        call: a pending call.
        change: what would run instead.
        token: the link's secret; the form sends it back.
        action: the address that the form posts to, without the token.
        now: for the distance to the expiry only.
        needs_code: approving takes a one-time code.
    """
    return render(
        "confirm.html",
        title=f"Change {flat(visible(call.name))}?",
        tool=visible(call.name),
        agent=visible(call.agent),
        differences=list(_differences(call.arguments, change.arguments)),
        stakes=stakes(call),
        shown=shown_arguments(
            "What will run", change.arguments, change.digest, call.presentation.highlight, asks_word=True
        ),
        facts_shown=[
            *request_facts(call, now),
            Fact("New code", visible(short_code(change.digest)), "of exactly what will run"),
        ],
        identity=identity_facts(call),
        arguments_field=change.arguments,
        token=token,
        action=action,
        digest=call.digest,
        max_reason=MAX_REASON_CHARACTERS,
        needs_code=needs_code,
    )


def _differences(was: str, becomes: str) -> Iterator[Difference]:
    before: dict[str, Json] = parse_json(was)
    after: dict[str, Json] = parse_json(becomes)  # with the same names
    for name, old in before.items():
        new = after[name]
        if canonical_json(old) != canonical_json(new):
            of_old, of_new = _parts(_words(_text(old)), _words(_text(new)))
            yield Difference(visible(name), Side(kind_of(old), of_old), Side(kind_of(new), of_new))


def _text(value: Json) -> list[Segment]:
    return visible(value) if isinstance(value, str) else shown_json(value).text


def _parts(
    old: list[Segment], new: list[Segment]
) -> tuple[tuple[list[Segment], list[Segment], list[Segment]], tuple[list[Segment], list[Segment], list[Segment]]]:
    """Return two texts as a common beginning, what differs, and a common end."""
    shorter = min(len(old), len(new))
    start = next((at for at in range(shorter) if old[at] != new[at]), shorter)
    most = shorter - start
    end = next((at for at in range(most) if old[-1 - at] != new[-1 - at]), most)
    before = (old[:start], old[start : len(old) - end], old[len(old) - end :])
    return before, (new[:start], new[start : len(new) - end], new[len(new) - end :])


def _words(segments: list[Segment]) -> list[Segment]:
    return [
        Segment(kind, word) for kind, text in segments for word in (_WORDS.findall(text) if kind == "plain" else [text])
    ]
