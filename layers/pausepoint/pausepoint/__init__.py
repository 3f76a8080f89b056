"""Durable human approval for LLM agents on AWS Lambda."""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from pausepoint.domain.limits import Limits
    from pausepoint.domain.questions import ask_human
    from pausepoint.domain.tools import Tool, ToolContext, tool
    from pausepoint.runtime.agent import Agent
    from pausepoint.runtime.decisions import DecisionRequest
    from pausepoint.runtime.result import AgentResult

__all__ = ["Agent", "AgentResult", "DecisionRequest", "Limits", "Tool", "ToolContext", "ask_human", "tool"]

# Imported when they are asked for (PEP 562): the page behind a link needs none of them, and a person waits for it.
_HOMES: Final = {
    "Agent": "runtime.agent",
    "AgentResult": "runtime.result",
    "DecisionRequest": "runtime.decisions",
    "Limits": "domain.limits",
    "Tool": "domain.tools",
    "ToolContext": "domain.tools",
    "ask_human": "domain.questions",
    "tool": "domain.tools",
}


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__})
