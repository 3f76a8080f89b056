"""Reads short English commands: ``delete a.txt and b.txt``, ``move a.txt to old/a``, ``ask Which one? (a, b)``."""

from __future__ import annotations

import re
from dataclasses import dataclass

EXAMPLES = (
    "list",
    "list reports/",
    "read notes.txt",
    "delete notes.txt",
    "delete a.txt, b.txt and c.txt",
    "move a.txt to old/a.txt",
    "read a.txt and delete b.txt",
    'delete "a name with spaces.txt"',
    "ask Which of the two files may go?",
    "ask Which file may go? (a.txt, b.txt)",
)

_VERBS = {
    "delete": "delete",
    "remove": "delete",
    "read": "read",
    "show": "read",
    "list": "list",
    "ls": "list",
    "move": "move",
    "rename": "move",
}
_SEPARATORS = frozenset({",", ";", "and", "then", "&"})
_COURTESIES = frozenset({"please", "now", "also", "can", "could", "you", "kindly", "thanks"})
_FILLERS = frozenset({"the", "file", "files", "all", "my"})
_LIST_FILLERS = _FILLERS | {"in", "under", "from", "everything"}
_QUESTION = re.compile(r"(?:please\s+)?ask\s+(?P<text>.+?)(?:\s*\((?P<choices>[^()]+)\))?", re.DOTALL | re.IGNORECASE)
_TOKEN = re.compile(r'"([^"]+)"|\'([^\']+)\'|`([^`]+)`|([^\s,;]+|[,;])')


@dataclass(frozen=True)
class Command:
    """One thing to do: delete, read, list, move or ask.

    A list has one argument, which may be empty; a question has its text, and then what may be answered.
    """

    verb: str
    arguments: tuple[str, ...]


@dataclass(frozen=True)
class _Token:
    text: str
    quoted: bool

    def is_one_of(self, words: frozenset[str]) -> bool:
        return not self.quoted and self.text.lower() in words


def parse(text: str) -> list[Command]:
    """Return the commands of a text; none at all unless every part of it is understood.

    A part without a verb of its own takes the verb of the part before it. A question is all there is: whatever
    follows its verb is what is asked.
    """
    if question := _QUESTION.fullmatch(text.strip()):
        choices = (question["choices"] or "").split(",")
        return [Command("ask", (question["text"], *(choice.strip() for choice in choices if choice.strip())))]
    commands: list[Command] = []
    verb: str | None = None
    for part in _parts(text):
        if not part[0].quoted and part[0].text.lower() in _VERBS:
            verb = _VERBS[part[0].text.lower()]
            part = part[1:]  # noqa: PLW2901 - the part without its verb
        command = _command(verb, part) if verb else None
        if command is None:
            return []
        commands.append(command)
    return commands


def _parts(text: str) -> list[list[_Token]]:
    parts: list[list[_Token]] = [[]]
    for match in _TOKEN.finditer(text.strip().rstrip(".!?")):
        *quotes, bare = match.groups()
        quoted = next((each for each in quotes if each), None)
        token = _Token(quoted or bare, quoted is not None)
        if token.is_one_of(_SEPARATORS):
            parts.append([])
        elif not token.is_one_of(_COURTESIES):
            parts[-1].append(token)
    return [part for part in parts if part]


def _command(verb: str | None, tokens: list[_Token]) -> Command | None:
    fillers = _LIST_FILLERS if verb == "list" else _FILLERS
    words = [each for each in tokens if not each.is_one_of(fillers)]
    texts = [each.text for each in words]
    match verb, texts:
        case "list", []:
            return Command("list", ("",))
        case ("list" | "read" | "delete") as known, [name]:
            return Command(known, (name,))
        case "move", [source, to, destination] if to.lower() == "to" and not words[1].quoted:
            return Command("move", (source, destination))
        case _:
            return None
