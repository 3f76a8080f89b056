"""Tools that write down every entry into their bodies."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pausepoint import Tool, ToolContext, tool


class Files:
    """A pretended file system.

    Attributes:
        entries: each entry into a body as (tool, what it was given), oldest first.
        contexts: what was injected into `delete`, oldest first.
    """

    def __init__(self) -> None:
        self.entries: list[tuple[str, Any]] = []
        self.contexts: list[ToolContext] = []

    def entered(self, name: str) -> list[Any]:
        """Return what the tool's body was given, entry after entry."""
        return [given for entered, given in self.entries if entered == name]

    @property
    def delete(self) -> Tool:
        """Gated."""

        @tool(requires_confirmation=True)
        def delete(path: str, context: ToolContext) -> str:
            """Delete a file."""
            self.entries.append(("delete", path))
            self.contexts.append(context)
            return f"Deleted {path}."

        return delete

    @property
    def read(self) -> Tool:
        """Ungated, may be run again."""

        @tool
        def read(path: str) -> str:
            """Read a file."""
            self.entries.append(("read", path))
            return f"content of {path}"

        return read

    @property
    def send(self) -> Tool:
        """Ungated, but has an effect that must not happen twice."""

        @tool(retry_safe=False)
        def send(to: str) -> str:
            """Send a file."""
            self.entries.append(("send", to))
            return f"Sent to {to}."

        return send

    @property
    def all(self) -> list[Tool]:
        """Every one of them."""
        return [self.delete, self.read, self.send]


def pay_tool(entries: list[int], *, gate: bool | Callable[[Any], bool]) -> Tool:
    """Return a tool that pays an amount, behind a gate of the test's choice."""

    @tool(requires_confirmation=gate)
    def pay(amount: int = 5000) -> str:
        """Pay an amount."""
        entries.append(amount)
        return f"Paid {amount}."

    return pay


def returning(value: object) -> Tool:
    """Return an ungated tool that gives back (or, an exception, raises) one value."""

    @tool
    def give() -> Any:
        """Give it."""
        if isinstance(value, BaseException):
            raise value
        return value

    return give
