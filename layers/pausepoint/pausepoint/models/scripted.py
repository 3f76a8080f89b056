"""A model that answers with fixed turns: for tests of agents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pausepoint.domain.events import Usage
from pausepoint.errors import ModelError
from pausepoint.runtime.ports import ModelReply, ModelRequest, RequestedCall

Turn = str | Sequence[tuple[str, Mapping[str, Any]]] | ModelReply | Exception
"""Text, a list of (tool name, arguments), a whole reply, or an exception to raise."""


class ScriptedModel:
    """Answers request after request with the next turn of its script, and keeps the requests.

    Raises:
        ModelError: when the script is at its end.
    """

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = list(turns)
        self.requests: list[ModelRequest] = []

    def settings(self) -> dict[str, Any]:
        """Return what identifies this model."""
        return {"model_id": "scripted"}

    def respond(self, request: ModelRequest) -> ModelReply:
        """Return the next turn."""
        self.requests.append(request)
        if len(self.requests) > len(self._turns):
            raise ModelError("The script has no more turns.")
        turn = self._turns[len(self.requests) - 1]
        if isinstance(turn, Exception):
            raise turn
        if isinstance(turn, ModelReply):
            return turn
        return _reply(turn, number=len(self.requests))


def _reply(turn: str | Sequence[tuple[str, Mapping[str, Any]]], *, number: int) -> ModelReply:
    usage = Usage(input_tokens=10, output_tokens=10)
    if isinstance(turn, str):
        message = {"role": "assistant", "content": [{"text": turn}]}
        return ModelReply(message=message, text=turn, stop_reason="end_turn", usage=usage)
    calls = tuple(
        RequestedCall(f"toolu_{number}_{index}", name, dict(arguments)) for index, (name, arguments) in enumerate(turn)
    )
    content = [
        {"toolUse": {"toolUseId": call.tool_call_id, "name": call.name, "input": call.arguments}} for call in calls
    ]
    message = {"role": "assistant", "content": content}
    return ModelReply(message=message, text="", stop_reason="tool_use", calls=calls, usage=usage)
