"""An agent for tests of the functions: AGENT names it, a test writes its script, its tools keep count."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from decimal import Decimal
from typing import Annotated, Any

from pydantic import AfterValidator

from pausepoint import Agent, ToolContext, ask_human, tool
from pausepoint.models.scripted import ScriptedModel, Turn
from pausepoint.runtime.ports import ModelReply, ModelRequest

STRANGE_NAME = "books\r\nBcc: eve@example.com\tof \N{PARTY POPPER}"
LONG_TOOL_NAME = "shred_" + "x" * 58


@dataclass
class Desk:
    """What a test puts before the agent, and what it finds there afterwards."""

    model: ScriptedModel = field(default_factory=lambda: ScriptedModel([]))
    entered: list[tuple[str, dict[str, Any]]] = field(default_factory=list)
    contexts: list[ToolContext] = field(default_factory=list)
    result: Any = "done"
    meanwhile: Callable[[], object] | None = None

    def clear(self) -> None:
        self.model, self.entered, self.contexts = ScriptedModel([]), [], []
        self.result, self.meanwhile = "done", None

    def script(self, *turns: Turn) -> None:
        self.model = ScriptedModel(turns)

    @property
    def asked(self) -> Sequence[ModelRequest]:
        """The requests that the model got."""
        return self.model.requests

    def note(self, name: str, **arguments: Any) -> Any:
        """Keep what was entered, do what the test wants done meanwhile, give back or raise what it put here."""
        self.entered.append((name, arguments))
        if self.meanwhile is not None:
            meanwhile, self.meanwhile = self.meanwhile, None
            meanwhile()
        if isinstance(self.result, BaseException):
            raise self.result
        return self.result


desk = Desk()


class _Scripted:
    """Asks whatever model lies on the desk: the agent is made once, scripts come and go."""

    def settings(self) -> dict[str, Any]:
        return desk.model.settings()

    def respond(self, request: ModelRequest) -> ModelReply:
        return desk.model.respond(request)


@tool
def look(path: str = "") -> Any:
    """Look at a file: harmless."""
    return desk.note("look", path=path)


@tool(requires_confirmation=True)
def shred(path: str, context: ToolContext, copies: int = 1) -> Any:
    """Shred a file: for good."""
    desk.contexts.append(context)
    return desk.note("shred", path=path, copies=copies)


@tool(requires_confirmation=True)
def file_under(labels: dict[str, str]) -> Any:
    """File something under labels of any name."""
    return desk.note("file_under", labels=labels)


@tool(requires_confirmation=True, risk="high")
def burn(path: str) -> Any:
    """Burn a file: much is at stake."""
    return desk.note("burn", path=path)


@tool(retry_safe=False)
def stamp(path: str) -> Any:
    """Stamp a file: nobody is asked, but twice would be once too often."""
    return desk.note("stamp", path=path)


@tool(name=LONG_TOOL_NAME, requires_confirmation=True)
def shred_with_a_long_name(path: str) -> Any:
    """Shred a file."""
    return desk.note(LONG_TOOL_NAME, path=path)


@tool(question=True)
def pick_a_shelf(path: str, choices: list[str]) -> str:
    """Have a person pick the shelf for a file."""
    return str(desk.note("pick_a_shelf", path=path, choices=choices))


@tool(requires_confirmation=True)
def label(text: Annotated[str, AfterValidator(str.strip)], weight: float, urgent: bool = False) -> Any:
    """Label something; blanks around the text fall away."""
    return desk.note("label", text=text, weight=weight, urgent=urgent)


TOOLS = (look, shred, burn, file_under, stamp, shred_with_a_long_name, ask_human, pick_a_shelf, label)
agent = Agent(name="clerk", instructions="Keep the files in order.", model=_Scripted(), tools=TOOLS)
strange = Agent(name=STRANGE_NAME, model=_Scripted(), tools=TOOLS)
markup = Agent(name="<b>clerk</b>", model=_Scripted(), tools=TOOLS)
NOT_JSON: tuple[Any, ...] = ({1, 2}, datetime(2026, 11, 29, tzinfo=UTC), Decimal("1.50"), object(), float("nan"))
