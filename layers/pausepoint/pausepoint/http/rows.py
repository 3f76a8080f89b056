"""The arguments of a call as rows of name, kind and value; no two calls look the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Final

from pausepoint.domain.canonical import parse_json
from pausepoint.http.values import (
    MAX_PARTS,
    Json,
    Value,
    line_count,
    part_count,
    plural,
    segments_in,
    shown_json,
    shown_value,
)
from pausepoint.http.visible import Segment, beyond_ascii, right_to_left, visible

if TYPE_CHECKING:
    from collections.abc import Collection

LARGE_BYTES: Final = 32 * 1024
"""Past this many bytes of arguments the page asks for extra care (R26)."""
LONG_LINES: Final = 25
LONG_CHARACTERS: Final = 1500
"""Past either, a value can be folded by whoever has read it."""


@dataclass(frozen=True)
class Row:
    """One argument.

    Attributes:
        kind: what sort of value it is, and how much is in it.
        note: what may deceive the eye.
        much: how much a long value holds; empty for a short one.
        first: the tool's author wants it to be seen first.
    """

    name: list[Segment]
    kind: str
    value: Value
    note: str
    much: str
    first: bool


@dataclass(frozen=True)
class Arguments:
    """All arguments of a call. `counts` are for people; `has_chips` and `has_parts` ask for the legend."""

    rows: list[Row]
    counts: str
    size: int
    has_chips: bool
    has_parts: bool

    @property
    def large(self) -> bool:
        """Whether this is so much text that a change in it is easily overlooked."""
        return self.size > LARGE_BYTES


def is_large(text: str) -> bool:
    """Whether canonical arguments are so long that approving them takes an extra word (R26)."""
    return len(text.encode("utf-8")) > LARGE_BYTES


def read_arguments(text: str, highlight: Collection[str] = ()) -> Arguments:
    """Return what a person is shown for a canonical JSON object: all of it, whatever its size.

    Args:
        highlight: the names of the arguments that come first; unknown ones are no error.
    """
    values: dict[str, Json] = parse_json(text)
    names = sorted(values, key=lambda name: name not in highlight)  # stable: else as they stand in the text
    crowded = part_count(values) > MAX_PARTS
    rows = [_row(name, values[name], first=name in highlight, crowded=crowded) for name in names]
    size = len(text.encode("utf-8"))
    return Arguments(
        rows=rows,
        counts=" · ".join(
            (plural(len(rows), "argument"), plural(size, "byte"), plural(line_count(list(values.values())), "line"))
        ),
        size=size,
        has_chips=any(
            segment.kind in {"chip", "mark"} for row in rows for segment in (*row.name, *segments_in(row.value))
        ),
        has_parts=any(row.value.shape != "leaf" for row in rows),
    )


def much_text(text: str, lines: int) -> str:
    """Say how much a long text holds; empty for one that is not long."""
    if lines <= LONG_LINES and len(text) <= LONG_CHARACTERS:
        return ""
    return f"{plural(lines, 'line')}, {plural(len(text), 'character')}"


def _row(name: str, value: Json, *, first: bool, crowded: bool) -> Row:
    shown = shown_json(value) if crowded and isinstance(value, list | dict) else shown_value(value)
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return Row(
        name=visible(name),
        kind=shown.kind,
        value=shown,
        note=_note(name + text),
        much=much_text(text, line_count(value)),
        first=first,
    )


def _note(text: str) -> str:
    found = beyond_ascii(text)
    if not found:
        return ""
    note = f"Not only ASCII: {', '.join(found)}. Look-alikes are possible; the exact text tells."
    if right_to_left(text):
        note += " Words written from right to left are set apart; the pieces stand in the order of the text."
    return note
