"""What the Bedrock stand-in says: one assistant turn, and its shape in an answer of Converse."""

from __future__ import annotations

import hashlib
import json
import math
from dataclasses import dataclass
from typing import Any, Literal

from local import model_binding

Json = dict[str, Any]
Reasoning = Literal["text", "signature-only", "redacted"]

VALIDATION = "ValidationException"
_BYTES_PER_TOKEN = 4


class ConverseError(Exception):
    """An error in the shape of Bedrock's: status, exception type, message."""

    def __init__(self, status: int, error_type: str, message: str) -> None:
        super().__init__(message)
        self.status = status
        self.error_type = error_type
        self.message = message


def invalid(message: str) -> ConverseError:
    """Return the error with which Converse refuses a request."""
    return ConverseError(400, VALIDATION, message)


@dataclass(frozen=True)
class ToolCall:
    """One toolUse block to be. Without an id, one is derived from the request."""

    name: str
    input: Any
    id: str | None = None


@dataclass(frozen=True)
class Turn:
    """One assistant turn."""

    text: str | None = None
    calls: tuple[ToolCall, ...] = ()
    reasoning: Reasoning | None = None
    stop_reason: str | None = None
    delay_seconds: float = 0.0


def compose(turn: Turn, model_id: str, request: Json) -> Json:
    """Return the answer of Converse that carries ``turn``; the same for the same request."""
    content: list[Json] = []
    if turn.text is not None:
        content.append({"text": turn.text})
    for index, call in enumerate(turn.calls):
        tool_use_id = call.id or _derived_id(request, index)
        content.append({"toolUse": {"toolUseId": tool_use_id, "name": call.name, "input": call.input}})
    if turn.reasoning:
        content = model_binding.with_reasoning(turn.reasoning, content, model_id, request)
    used = {"inputTokens": _tokens(request), "outputTokens": _tokens(content)}
    return {
        "output": {"message": {"role": "assistant", "content": content}},
        "stopReason": turn.stop_reason or ("tool_use" if turn.calls else "end_turn"),
        "usage": {**used, "totalTokens": sum(used.values())},
        "metrics": {"latencyMs": int(turn.delay_seconds * 1000) + 1},
    }


def first_text(request: Json) -> str:
    """Return the first text of a valid request's first message: what a session begins with."""
    for block in request["messages"][0]["content"]:
        if "text" in block:
            return str(block["text"])
    return ""


def _derived_id(request: Json, index: int) -> str:
    material = json.dumps([request["messages"], index], sort_keys=True).encode()
    return "tooluse_" + hashlib.sha256(material).hexdigest()[:22]


def _tokens(value: Any) -> int:
    return math.ceil(len(json.dumps(value)) / _BYTES_PER_TOKEN)
