"""Durable human approval for LLM agents on AWS Lambda."""

from __future__ import annotations

from pausepoint.domain.limits import Limits
from pausepoint.domain.questions import ask_human
from pausepoint.domain.tools import Tool, ToolContext, tool
from pausepoint.runtime.agent import Agent, AgentResult
from pausepoint.runtime.decisions import DecisionRequest

__all__ = ["Agent", "AgentResult", "DecisionRequest", "Limits", "Tool", "ToolContext", "ask_human", "tool"]
