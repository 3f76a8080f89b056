"""An agent whose tools say what is at stake, and which asks questions: AGENT names it, the desk has its script."""

from __future__ import annotations

from typing import Any

from pausepoint import Agent, ask_human, tool
from tests.support.clerk import _Scripted, desk


@tool(
    requires_confirmation=True,
    risk="high",
    warning="What is struck off is gone for good.",
    highlight=["name"],
)
def strike_off(register: str, name: str, note: str = "") -> Any:
    """Strike somebody off a register."""
    return desk.note("strike_off", register=register, person=name, note=note)


agent = Agent(name="registrar", model=_Scripted(), tools=[strike_off, ask_human])
