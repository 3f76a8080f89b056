"""What a command works with: the API, and the person or the program that reads what it says."""

from __future__ import annotations

import json
from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from rich.text import Text

from pausepoint_cli.api import Api, Json
from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.text import console_on, inline
from pausepoint_cli.where import Asked, find

if TYPE_CHECKING:
    from rich.console import Console, RenderableType

    from pausepoint_cli.world import World


class Desk:
    """One command's. With `as_json` a program reads stdout, and what is for a person goes to stderr."""

    def __init__(self, world: World, asked: Asked, *, as_json: bool) -> None:
        self.world, self._asked, self.as_json = world, asked, as_json

    @cached_property
    def api(self) -> Api:
        """The API; it is looked for when it is first needed."""
        return Api(find(self._asked, self.world), self.world)

    @cached_property
    def console(self) -> Console:
        """Where a person reads."""
        stream = self.world.stderr if self.as_json else self.world.stdout
        return console_on(stream, environ=self.world.environ)

    def tell(self, renderables: Iterable[RenderableType]) -> None:
        """Show something to a person, also beside JSON: what they are about to decide."""
        for renderable in renderables:
            self.console.print(renderable)

    def answer(self, body: Json, renderables: Iterable[RenderableType]) -> None:
        """Give a command's result: as the API's JSON, or in words."""
        if self.as_json:
            self.give(body)
        else:
            self.tell(renderables)

    def give(self, body: Json) -> None:
        """Write one JSON document on a line, in ASCII: whatever it contains, it does not drive a terminal."""
        self.world.stdout.write(json.dumps(body) + "\n")
        self.world.stdout.flush()

    def confirm(self, question: str, *, word: str | None = None) -> None:
        """Ask a person, and go on only if they agree: with y, or by typing a word.

        Raises:
            CommandError: they do not agree, or there is nobody to ask.
        """
        typed = self.ask(f"{question} Type {word} to go on: " if word else f"{question} [y/N] ")
        if typed.strip().lower() not in ({word.lower()} if word else {"y", "yes"}):
            raise CommandError(Exit.DECLINED, "You did not agree; nothing was sent.")

    def ask(self, question: str) -> str:
        """Ask a person for a line. Raises CommandError if nobody is there."""
        if not self.world.stdin.isatty():
            raise CommandError(
                Exit.USAGE, f"Nobody is there to ask ({question.strip()}): give the option that says it."
            )
        self.console.print(Text(question), end="")
        return self.world.stdin.readline()


def complain(world: World, message: str) -> None:
    """Tell on stderr what went wrong. The message may quote anything."""
    console_on(world.stderr, environ=world.environ).print(Text.assemble(("Error: ", "bold red"), inline(message)))
