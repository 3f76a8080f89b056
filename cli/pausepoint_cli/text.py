"""Untrusted text in a terminal: everything in it can be seen, and nothing of it can pass for ours.

Characters that do not show, or that would drive the terminal, are named as on the approval page. Text of more than one
line stands behind a bar, on every line of the screen that it fills.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING, Any, Final, TextIO

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN, NEWLINE_MARK, SPACE_MARK, Segment, ascii_escaped, visible

if TYPE_CHECKING:
    from rich.console import ConsoleOptions

BAR: Final = "│ "
LEGEND: Final = (
    f"{CHIP_OPEN}…{CHIP_CLOSE}, {NEWLINE_MARK} and {SPACE_MARK} stand for characters that would not show; "
    "they never stand for themselves."
)
_MARKED: Final = "dim italic"
_LEAST_WIDTH: Final = 16
UNBOUNDED: Final = 100_000
"""Columns where there is no screen: every line is as long as it is."""


def inline(text: object, style: str = "") -> Text:
    """Return an untrusted text on one line."""
    return Text.assemble(*((segment.text, _style(segment, style)) for segment in _segments(text, layout=False)))


def block(text: object) -> Text:
    """Return an untrusted text with its own line breaks, which show; to be put behind a bar."""
    return Text.assemble(*((segment.text, _style(segment, "")) for segment in _segments(text, layout=True)))


def json_block(value: Any, indent: str = "\n") -> Text:
    """Return a JSON value over several lines; two different values never look the same."""
    match value:
        case dict() if value:
            return _brackets("{}", [(_scalar(key) + Text(": "), item) for key, item in value.items()], indent)
        case list() if value:
            return _brackets("[]", [(Text(), item) for item in value], indent)
        case _:
            return _scalar(value)


def exact(value: Any) -> str:
    """Return a JSON value in ASCII, on one line: what it is, whatever it looks like."""
    return ascii_escaped(json.dumps(value, ensure_ascii=False, sort_keys=True, separators=(",", ":")))


def hides_something(value: Any) -> bool:
    """Whether a JSON value has characters outside plain ASCII, which may look like others, or marks."""
    text = json.dumps(value, ensure_ascii=False)
    return not text.isascii() or any(segment.kind != "plain" for segment in visible(text))


@dataclass(frozen=True)
class Hanging:
    """A text that is wrapped behind a beginning of its own: `first` on its first line, `rest` on the others.

    The terminal itself never wraps it, so that no piece of it stands where a line of ours would begin.
    """

    first: Text
    rest: Text
    text: Text

    def __rich_console__(self, console: Console, options: ConsoleOptions) -> Iterator[Text]:
        width = options.max_width - max(cell_len(self.first.plain), cell_len(self.rest.plain))
        lines = self.text.wrap(console, max(width, _LEAST_WIDTH), overflow="fold")
        for index, line in enumerate(lines or [Text()]):
            yield Text.assemble(self.first if index == 0 else self.rest, line)


def behind_bar(text: Text, indent: str = "  ") -> Hanging:
    """Return a text behind a bar."""
    start = Text(indent + BAR, "dim")
    return Hanging(start, start, text)


def console_on(stream: TextIO, *, environ: Mapping[str, str]) -> Console:
    """Return a console without markup. Where it is no terminal, lines are as long as they are."""
    width = None if stream.isatty() or "COLUMNS" in environ else UNBOUNDED
    return Console(file=stream, width=width, markup=False, highlight=False, emoji=False, _environ=environ)


def joined(parts: Iterable[Text | str], separator: str = " · ") -> Text:
    """Return the parts that are not empty, with a separator between them."""
    return Text(separator).join(Text(part) if isinstance(part, str) else part for part in parts if part)


def _segments(text: object, *, layout: bool) -> Iterator[Segment]:
    value = text if isinstance(text, str) else json.dumps(text, ensure_ascii=False)
    for segment in visible(value):
        if segment.kind != "layout":
            chip = segment.kind == "chip"
            yield Segment(segment.kind, f"{CHIP_OPEN}{segment.text}{CHIP_CLOSE}" if chip else segment.text)
        elif layout:
            yield segment


def _style(segment: Segment, style: str) -> str:
    return _MARKED if segment.kind in ("chip", "mark") else style


def _brackets(brackets: str, items: list[tuple[Text, Any]], indent: str) -> Text:
    deeper = indent + "  "
    inner = Text(",").join(Text(deeper) + name + json_block(item, deeper) for name, item in items)
    return Text(brackets[0]) + inner + Text(indent + brackets[1])


def _scalar(value: Any) -> Text:
    """Return a key or a value as JSON. A text goes on on a new line after each line break in it."""
    text = json.dumps(value, ensure_ascii=False)
    ends = [escape.end() for escape in re.finditer(r"\\.", text) if escape[0] == r"\n"]
    pieces = (text[start:end] for start, end in pairwise([0, *ends, len(text)]))
    return Text("\n").join(inline(piece) for piece in pieces if piece)
