"""Other arguments for a call: from the command line, a file, or the person's editor; and the difference."""

from __future__ import annotations

import difflib
import json
import re
import unicodedata
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from rich.text import Text

from pausepoint.domain.canonical import canonical_json, parse_json
from pausepoint.errors import InvalidInput
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.text import Hanging, json_block

if TYPE_CHECKING:
    from pausepoint_cli.world import World

Arguments = dict[str, Any]

_HIDDEN: Final = frozenset({"Cc", "Cf", "Cs", "Co", "Cn", "Zs", "Zl", "Zp"})
_STYLES: Final = {"-": "red", "+": "green", " ": "dim"}


def edited(world: World, arguments: Arguments, *, sets: Sequence[str], given: str | None) -> Arguments:
    """Return the arguments that are to run instead.

    Args:
        sets: `NAME=VALUE` each; a value is of the kind that it replaces: a text as it is, anything else as JSON.
        given: all arguments as JSON, `@file`, or `-` for what stands on stdin.

    Raises:
        CommandError: they are no JSON object, or name what is not there.
    """
    if given is not None and sets:
        raise CommandError(Exit.USAGE, "--set changes some arguments and --arguments all of them: give one of the two.")
    if given is not None:
        return _read(_source(world, given), "--arguments")
    if sets:
        return _with(arguments, sets)
    if not world.stdin.isatty():
        raise CommandError(Exit.USAGE, "Nobody is there to edit: say --set or --arguments.")
    return _read(world.edit(editable(arguments)), "What you wrote")


def editable(arguments: Arguments) -> str:
    """Return arguments as JSON for an editor; what would not show in it is written as JSON's escapes."""
    text = json.dumps(arguments, ensure_ascii=False, indent=2)
    return re.sub(r"[^\n -~]", _escape, text) + "\n"


def difference(before: Arguments, after: Arguments) -> Iterator[Hanging]:
    """Show the lines of JSON that differ, and those around them."""
    for line in difflib.ndiff(_lines(before), _lines(after)):
        if line[0] != "?":
            start = Text(f"  {line[0]} ", _STYLES[line[0]])
            yield Hanging(start, start, Text(line[2:], _STYLES[line[0]]))


def _with(arguments: Arguments, sets: Sequence[str]) -> Arguments:
    changed = dict(arguments)
    for each in sets:
        name, equals, value = each.partition("=")
        if not equals:
            raise CommandError(Exit.USAGE, f"--set {each!r}: it takes NAME=VALUE.")
        if name not in arguments:
            known = ", ".join(arguments) or "none"
            raise CommandError(Exit.USAGE, f"--set: the call has no argument {name!r}; it has: {known}.")
        changed[name] = value if isinstance(arguments[name], str) else _value(value, f"--set {name}")
    return changed


def _source(world: World, given: str) -> str:
    if given == "-":
        return world.stdin.read()
    if not given.startswith("@"):
        return given
    try:
        return (world.folder / Path(given[1:]).expanduser()).read_text(encoding="utf-8")
    except (OSError, ValueError) as error:
        raise CommandError(Exit.USAGE, f"--arguments: {given[1:]} cannot be read ({error}).") from None


def _read(text: str, what: str) -> Arguments:
    value = _value(text, what)
    if not isinstance(value, dict):
        raise CommandError(Exit.USAGE, f"{what}: it takes a JSON object with all arguments.")
    return value


def _value(text: str, what: str) -> Any:
    try:
        return parse_json(text)
    except InvalidInput as error:
        raise CommandError(Exit.USAGE, f"{what}: it {error}.") from None


def _lines(arguments: Arguments) -> list[str]:
    in_order = parse_json(canonical_json(arguments))
    return json_block(in_order).plain.split("\n")


def _escape(match: re.Match[str]) -> str:
    char = match[0]
    if unicodedata.category(char) not in _HIDDEN and not unicodedata.combining(char):
        return char
    units = char.encode("utf-16-be", "surrogatepass")
    return "".join(f"\\u{units[at]:02x}{units[at + 1]:02x}" for at in range(0, len(units), 2))
