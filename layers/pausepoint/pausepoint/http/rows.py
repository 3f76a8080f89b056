"""The arguments of a call as rows of name, kind and value; no two calls look the same."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, assert_never

from pausepoint.domain.canonical import parse_json
from pausepoint.http.visible import Segment, beyond_ascii, right_to_left, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

LARGE_BYTES: Final = 32 * 1024
"""Past this many bytes of arguments the page asks for extra care (R26)."""

Json = None | bool | int | float | str | list[Any] | dict[str, Any]


@dataclass(frozen=True)
class Row:
    """One argument. `kind` says what sort of value it is, `note` what may deceive the eye."""

    name: list[Segment]
    kind: str
    value: list[Segment]
    note: str


@dataclass(frozen=True)
class Arguments:
    """All arguments of a call. `counts` are for people; `has_chips` asks for the legend."""

    rows: list[Row]
    counts: str
    size: int
    has_chips: bool

    @property
    def large(self) -> bool:
        """Whether this is so much text that a change in it is easily overlooked."""
        return self.size > LARGE_BYTES


def read_arguments(text: str) -> Arguments:
    """Return what a person is shown for a canonical JSON object: all of it, whatever its size."""
    values: dict[str, Json] = parse_json(text)
    rows = [_row(name, value) for name, value in values.items()]
    size = len(text.encode("utf-8"))
    lines = sum(_lines(value) for value in values.values())
    return Arguments(
        rows=rows,
        counts=" · ".join((_plural(len(rows), "argument"), _plural(size, "byte"), _plural(lines, "line"))),
        size=size,
        has_chips=any(kind in {"chip", "mark"} for row in rows for kind, _ in row.name + row.value),
    )


def _row(name: str, value: Json) -> Row:
    match value:
        case str():
            lines = _lines(value)
            kind = f"text, {lines:,} lines" if lines > 1 else "text"
            return Row(visible(name), kind, visible(value), _note(name + value))
        case bool():
            kind = "true/false"
        case None:
            kind = "no value"
        case int() | float():
            kind = "number"
        case list():
            kind = f"list, {_plural(len(value), 'item')}"
        case dict():
            kind = f"object, {_plural(len(value), 'key')}"
        case _:
            assert_never(value)
    note = _note(name + json.dumps(value, ensure_ascii=False))
    return Row(visible(name), kind, list(_json(value)), note)


def _json(value: Json, indent: str = "\n") -> Iterator[Segment]:
    """Write JSON over several lines. Texts in it are escaped as in JSON, then made visible."""
    match value:
        case dict() if value:
            yield from _block("{}", [(json.dumps(k, ensure_ascii=False), v) for k, v in value.items()], indent)
        case list() if value:
            yield from _block("[]", [("", item) for item in value], indent)
        case _:
            yield from visible(json.dumps(value, ensure_ascii=False))


def _block(brackets: str, items: list[tuple[str, Json]], indent: str) -> Iterator[Segment]:
    deeper = indent + "  "
    yield Segment("plain", brackets[0])
    for index, (key, item) in enumerate(items):
        if index:
            yield Segment("plain", ",")
        yield Segment("layout", deeper)
        if key:
            yield from visible(key)
            yield Segment("plain", ": ")
        yield from _json(item, deeper)
    yield Segment("layout", indent)
    yield Segment("plain", brackets[1])


def _lines(value: Json) -> int:
    """Count lines of text: what a person has to read, however deep it is nested."""
    match value:
        case str():
            return value.count("\n") + 1
        case list():
            return sum(map(_lines, value))
        case dict():
            return sum(map(_lines, value.values()))
        case _:
            return 1


def _note(text: str) -> str:
    found = beyond_ascii(text)
    if not found:
        return ""
    note = f"Not only ASCII: {', '.join(found)}. Look-alikes are possible; the exact text tells."
    if right_to_left(text):
        note += " Letters written from right to left may stand in another order than in the text."
    return note


def _plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"
