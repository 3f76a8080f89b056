"""The page on which a change of arguments is confirmed: what was asked, and what would run instead."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pausepoint.domain.canonical import short_code
from pausepoint.http.page import _Fact, _identity_facts, _render, _request_facts, _Shown
from pausepoint.http.rows import read_arguments
from pausepoint.http.visible import Segment, ascii_escaped, flat, visible
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS

if TYPE_CHECKING:
    from collections.abc import Iterator
    from datetime import datetime

    from pausepoint.domain.calls import PendingToolCall
    from pausepoint.http.edits import Edited

_WORDS: Final = re.compile(r"\w+|\W", re.DOTALL)


@dataclass(frozen=True)
class Difference:
    """One argument that changes: each value in three parts, of which the middle one differs."""

    name: list[Segment]
    was: tuple[list[Segment], list[Segment], list[Segment]]
    becomes: tuple[list[Segment], list[Segment], list[Segment]]
    note: str


def confirm_page(call: PendingToolCall, change: Edited, *, token: str, action: str, now: datetime) -> str:
    """Return the page that shows a change, and asks for the approval of exactly what it makes.

    Args:
        call: a pending call.
        change: what would run instead.
        token: the link's secret; the form sends it back.
        action: the address that the form posts to, without the token.
        now: for the distance to the expiry only.
    """
    return _render(
        "confirm.html",
        title=f"Change {flat(visible(call.name))}?",
        tool=visible(call.name),
        agent=visible(call.agent),
        differences=list(_differences(call.arguments, change.arguments)),
        shown=_Shown(
            "What will run",
            read_arguments(change.arguments),
            ascii_escaped(change.arguments),
            change.digest,
        ),
        facts_shown=[
            *_request_facts(call, now),
            _Fact("New code", visible(short_code(change.digest)), "of exactly what will run"),
        ],
        identity=_identity_facts(call),
        arguments_field=change.arguments,
        token=token,
        action=action,
        digest=call.digest,
        max_reason=MAX_REASON_CHARACTERS,
    )


def _differences(was: str, becomes: str) -> Iterator[Difference]:
    # Both have the same names, in the order of canonical JSON.
    for old, new in zip(read_arguments(was).rows, read_arguments(becomes).rows, strict=True):
        if (old.kind, old.value) != (new.kind, new.value):
            before, after = _parts(_words(old.value), _words(new.value))
            yield Difference(old.name, before, after, new.note)


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
