"""A JSON value as people read it: a text, a table where it is flat, an indented tree where it is deep.

Read in order, a shown value says first what it is and how much is in it, then its parts, each with its number.
So the value can be read back from what is shown, and no two values look the same. Whatever the page says of its
own stands between the brackets of the chips, which no text can imitate.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Final, Literal, assert_never

from pausepoint.http.visible import Segment, visible

if TYPE_CHECKING:
    from collections.abc import Iterator

Json = None | bool | int | float | str | list[Any] | dict[str, Any]

MAX_COLUMNS: Final = 4
"""So many columns can be read on a phone; a list of wider objects is a tree."""
MAX_CELL: Final = 200
"""Characters of a text that still reads well in a cell."""
MAX_PARTS: Final = 2000
"""A call with more parts than that is shown as JSON: a page of tables would be too large to be sent."""


@dataclass(frozen=True)
class Leaf:
    """A value without parts. `kind` says what it is; a text of one line is the usual case."""

    kind: str
    text: list[Segment]
    shape: Literal["leaf"] = "leaf"

    @property
    def usual(self) -> bool:
        """Whether it is what a reader takes it for without being told."""
        return self.kind == "text"


@dataclass(frozen=True)
class Member:
    """One part of a value: `key 1` with its name, or `item 1` without one."""

    label: str
    name: list[Segment]
    value: Value


@dataclass(frozen=True)
class Branch:
    """An object or a list with its parts; `pairs` are a table of names and leaves."""

    kind: str
    members: list[Member]
    depth: int
    shape: Literal["pairs", "tree"]


@dataclass(frozen=True)
class Grid:
    """A list of flat objects as a table; a cell of None: this object has no such key."""

    kind: str
    columns: list[list[Segment]]
    rows: list[list[Leaf | None]]
    shape: Literal["grid"] = "grid"


Value = Leaf | Branch | Grid


def shown_value(value: Json, depth: int = 0) -> Value:
    """Return a JSON value as it is shown; `depth` counts the values around it."""
    match value:
        case dict() if value:
            members = [
                Member(f"key {number}", visible(key), shown_value(item, depth + 1))
                for number, (key, item) in enumerate(value.items(), 1)
            ]
            flat = all(isinstance(member.value, Leaf) for member in members)
            return Branch(kind_of(value), members, depth, "pairs" if flat else "tree")
        case list() if value:
            return _grid(value) or Branch(
                kind_of(value),
                [Member(f"item {number}", [], shown_value(item, depth + 1)) for number, item in enumerate(value, 1)],
                depth,
                "tree",
            )
        case dict():
            return Leaf(kind_of(value), [Segment("chip", "empty object")])
        case list():
            return Leaf(kind_of(value), [Segment("chip", "empty list")])
        case str():
            return Leaf(kind_of(value), visible(value))
        case _:
            return Leaf(kind_of(value), [Segment("plain", json.dumps(value))])


def shown_json(value: Json) -> Leaf:
    """Return a value as JSON over several lines, each of its texts escaped as in JSON and then made visible."""
    return Leaf(f"{kind_of(value)}, as JSON", list(_json(value, "\n")))


def part_count(value: Json) -> int:
    """Count values, however deep they are nested."""
    match value:
        case list():
            return 1 + sum(map(part_count, value))
        case dict():
            return 1 + sum(map(part_count, value.values()))
        case _:
            return 1


def kind_of(value: Json) -> str:
    """Say what sort of value it is, and how much is in it."""
    match value:
        case str():
            lines = line_count(value)
            return f"text, {lines:,} lines" if lines > 1 else "text"
        case bool():
            return "true/false"
        case None:
            return "no value"
        case int() | float():
            return "number"
        case list():
            return f"list, {plural(len(value), 'item')}"
        case dict():
            return f"object, {plural(len(value), 'key')}"
        case _:
            assert_never(value)


def line_count(value: Json) -> int:
    """Count lines of text: what a person has to read, however deep it is nested."""
    match value:
        case str():
            return value.count("\n") + 1
        case list():
            return sum(map(line_count, value))
        case dict():
            return sum(map(line_count, value.values()))
        case _:
            return 1


def segments_in(value: Value) -> Iterator[Segment]:
    """Return every segment that a shown value has, names included."""
    match value:
        case Leaf():
            yield from value.text
        case Branch():
            for member in value.members:
                yield from member.name
                yield from segments_in(member.value)
        case Grid():
            for column in value.columns:
                yield from column
            for row in value.rows:
                for cell in row:
                    yield from cell.text if cell else ()
        case _:
            assert_never(value)


def plural(count: int, noun: str) -> str:
    """Return `1 byte`, `2,000 bytes`."""
    return f"{count:,} {noun}" if count == 1 else f"{count:,} {noun}s"


def _json(value: Json, indent: str) -> Iterator[Segment]:
    match value:
        case dict() if value:
            yield from _block(
                "{}", [(json.dumps(key, ensure_ascii=False), item) for key, item in value.items()], indent
            )
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


def _grid(items: list[Any]) -> Grid | None:
    """Return a table for a list of flat objects with few keys, and None for any other list."""
    if not all(isinstance(item, dict) and all(map(_fits, item.values())) for item in items):
        return None
    names = sorted({key for item in items for key in item})
    if not 0 < len(names) <= MAX_COLUMNS:
        return None
    cells = [[_cell(item, name) for name in names] for item in items]
    return Grid(kind_of(items), [visible(name) for name in names], cells)


def _cell(item: dict[str, Any], name: str) -> Leaf | None:
    if name not in item:
        return None
    leaf = shown_value(item[name])
    assert isinstance(leaf, Leaf)
    return leaf


def _fits(value: Json) -> bool:
    match value:
        case str():
            return len(value) <= MAX_CELL and "\n" not in value
        case list() | dict():
            return not value
        case _:
            return True
