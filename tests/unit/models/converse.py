"""A pretended Bedrock client, and what it answers."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from typing import Any, Literal

from botocore.exceptions import ClientError

from pausepoint.domain.history import AssistantItem, UserItem
from pausepoint.domain.session import SessionSpec, ToolSpec
from pausepoint.runtime.ports import ModelRequest
from tests.support.sessions import plain_call, result

CLAUDE = "eu.anthropic.claude-sonnet-5"
HELLO: dict[str, Any] = {
    "output": {"message": {"role": "assistant", "content": [{"text": "Hello."}]}},
    "stopReason": "end_turn",
    "usage": {"inputTokens": 12, "outputTokens": 3, "totalTokens": 15},
}


class FakeBedrock:
    """Gives its answers one after the other (an exception is raised) and keeps the requests."""

    def __init__(self, *answers: dict[str, Any] | Exception) -> None:
        self._answers = list(answers)
        self.requests: list[dict[str, Any]] = []

    def converse(self, **parameters: Any) -> dict[str, Any]:
        self.requests.append(parameters)
        answer = self._answers.pop(0)
        if isinstance(answer, Exception):
            raise answer
        return answer


def failure(code: str, message: str = "This is not what was expected.") -> ClientError:
    return ClientError({"Error": {"Code": code, "Message": message}}, "Converse")


def spec(model_id: str = CLAUDE, *, system: str = "Be brief.", tools: bool = True, **settings: Any) -> SessionSpec:
    tool = ToolSpec(name="read", description="Read a file.", input_schema={"type": "object", "properties": {}})
    model = {"model_id": model_id, "inference": {"maxTokens": 4096}, "additional": {}} | settings
    return SessionSpec(system=system, tools=(tool,) if tools else (), model=model)


def said(*content: dict[str, Any]) -> AssistantItem:
    return AssistantItem({"role": "assistant", "content": list(content)})


def told(*texts: str, results: Sequence[str] = (), status: Literal["success", "error"] = "success") -> UserItem:
    """Return a user item with a result for each of the call ids, and texts."""
    answered = tuple(
        (plain_call(call_id), replace(result(call_id, f"result of {call_id}"), status=status)) for call_id in results
    )
    return UserItem(results=answered, texts=texts)


def request(timeout: float = 60, **options: Any) -> ModelRequest:
    return ModelRequest(spec=spec(**options), history=[told("Hi")], timeout=timeout)
