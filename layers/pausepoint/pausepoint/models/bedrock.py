"""Amazon Bedrock's Converse API as a `ChatModel`.

The rules of replaying a conversation are Converse's and Claude's own; see docs/architecture.md, "Models".
"""

from __future__ import annotations

import logging
import math
import os
import time
from collections.abc import Mapping, Sequence
from typing import Any, Final

from botocore.config import Config
from botocore.exceptions import (
    BotoCoreError,
    ClientError,
    ConnectTimeoutError,
    HTTPClientError,
    ReadTimeoutError,
)
from botocore.exceptions import ConnectionError as UnreachableError
from botocore.parsers import ResponseParserError

from pausepoint.adapters import aws
from pausepoint.domain.events import Usage
from pausepoint.domain.history import AssistantItem, UserItem
from pausepoint.domain.session import SessionSpec, ToolSpec
from pausepoint.errors import ConfigurationError, ModelError, ModelTimeout, Unavailable
from pausepoint.runtime.ports import ModelReply, ModelRequest, RequestedCall

_ATTEMPTS: Final = 4
_MARGIN_SECONDS: Final = 2.0
_TIMEOUT_STEP: Final = 5
_TRANSIENT: Final = frozenset(
    {
        "ThrottlingException",
        "ServiceUnavailableException",
        "InternalServerException",
        "ModelNotReadyException",
        "ModelTimeoutException",
    }
)
_BOUND_ELSEWHERE: Final = "bound to a different conversation"
_BINDING_CONTROLS: Final = "thinking-binding-controls-2026-08-01"

_logger = logging.getLogger("pausepoint.models")


class BedrockModel:
    """A model on Amazon Bedrock.

    Args:
        model_id: a model or inference profile; the variable MODEL_ID is looked up at the first use
            when it is left out.
        max_tokens: of one turn. Always sent: some models default to very few.
        temperature: left to the model when not given.
        additional_fields: passed on as `additionalModelRequestFields`, e.g. to turn on thinking.
        client: a boto3 `bedrock-runtime` client to use for everything; by default clients are made
            when needed, with a read timeout that fits the time the invocation has left.
    """

    def __init__(
        self,
        model_id: str | None = None,
        *,
        max_tokens: int = 4096,
        temperature: float | None = None,
        additional_fields: Mapping[str, Any] | None = None,
        client: Any = None,
    ) -> None:
        self._model_id = model_id
        self._inference: dict[str, float] = {"maxTokens": max_tokens}
        if temperature is not None:
            self._inference["temperature"] = temperature
        self._additional = dict(additional_fields or {})
        self._given_client = client
        self._clients: dict[int, Any] = {}

    def settings(self) -> dict[str, Any]:
        """Return what a session must remember to ask in the same way again."""
        model_id = self._model_id or os.environ.get("MODEL_ID")
        if not model_id:
            raise ConfigurationError("BedrockModel needs a model id: give it one, or set the variable MODEL_ID.")
        return {
            "model_id": model_id,
            "inference": self._inference,
            "additional": self._additional,
        }

    def respond(self, request: ModelRequest) -> ModelReply:
        """Ask Converse for the next turn. Throttling and faults on their side are tried again."""
        parameters = converse_request(request.spec, request.history)
        ends_at = time.monotonic() + request.timeout - _MARGIN_SECONDS
        try:
            return self._ask(parameters, ends_at)
        except ClientError as error:
            if _BOUND_ELSEWHERE not in error.response["Error"].get("Message", ""):
                raise _translated(error) from error
        # What the model thought was bound to another prefix: no retry cures that, so it is let go of.
        _logger.warning("thinking blocks dropped: they are bound to a different conversation")
        additional = _dropping_blocks(parameters.get("additionalModelRequestFields", {}))
        try:
            return self._ask({**parameters, "additionalModelRequestFields": additional}, ends_at)
        except ClientError as error:
            raise _translated(error) from error

    def _ask(self, parameters: Mapping[str, Any], ends_at: float) -> ModelReply:
        for attempt in range(1, _ATTEMPTS + 1):
            left = ends_at - time.monotonic()
            if left <= 0:
                raise ModelTimeout("The model did not answer in the time there was.")
            try:
                return reply_of(self._client(left).converse(**parameters))
            except (ReadTimeoutError, ConnectTimeoutError) as error:
                raise ModelTimeout("The model did not answer in the time there was.") from error
            except ClientError as error:
                transient = error.response["Error"]["Code"] in _TRANSIENT
                if not transient or attempt == _ATTEMPTS:
                    raise
            except (UnreachableError, HTTPClientError, ResponseParserError) as error:
                if attempt == _ATTEMPTS:
                    raise Unavailable(f"Bedrock cannot be reached: {error}") from error
            except BotoCoreError as error:  # no credentials, or a request that boto3 itself refuses to send
                raise ModelError(f"The request cannot be sent: {error}") from error
            time.sleep(min(0.2 * 2**attempt, max(0.0, ends_at - time.monotonic())))
        raise AssertionError("unreachable")

    def _client(self, seconds: float) -> Any:
        if self._given_client is not None:
            return self._given_client
        # A client has one read timeout for its life: keep a few, for steps of five seconds.
        timeout = max(1, min(900, math.floor(seconds / _TIMEOUT_STEP) * _TIMEOUT_STEP))
        if timeout not in self._clients:
            config = Config(
                connect_timeout=5,
                read_timeout=timeout,
                retries={"total_max_attempts": 1},
            )
            self._clients[timeout] = aws.session().create_client("bedrock-runtime", config=config)
        return self._clients[timeout]


def converse_request(spec: SessionSpec, history: Sequence[UserItem | AssistantItem]) -> dict[str, Any]:
    """Return the parameters of Converse for a session's spec and history."""
    settings = spec.model
    request: dict[str, Any] = {
        "modelId": settings["model_id"],
        "messages": _messages(history, with_status=_takes_status(settings["model_id"])),
        "inferenceConfig": settings["inference"],
    }
    if spec.system:
        request["system"] = [{"text": spec.system}]
    if spec.tools:
        request["toolConfig"] = {"tools": [_tool(tool) for tool in spec.tools]}
    if settings.get("additional"):
        request["additionalModelRequestFields"] = settings["additional"]
    return request


def reply_of(response: Mapping[str, Any]) -> ModelReply:
    """Return the turn in an answer of Converse; its message stays as it came."""
    message = response["output"]["message"]
    blocks = message.get("content", [])
    usage = response.get("usage", {})
    return ModelReply(
        message=dict(message),
        text="\n".join(block["text"] for block in blocks if "text" in block),
        stop_reason=response["stopReason"],
        calls=tuple(
            RequestedCall(
                tool_call_id=block["toolUse"]["toolUseId"],
                name=block["toolUse"]["name"],
                arguments=block["toolUse"].get("input", {}),
            )
            for block in blocks
            if "toolUse" in block
        ),
        usage=Usage(input_tokens=usage.get("inputTokens", 0), output_tokens=usage.get("outputTokens", 0)),
    )


def _messages(history: Sequence[UserItem | AssistantItem], *, with_status: bool) -> list[dict[str, Any]]:
    messages: list[dict[str, Any]] = []
    for item in history:
        if isinstance(item, AssistantItem):
            role, content = "assistant", list(item.message.get("content", []))
        else:
            role, content = "user", _user_content(item, with_status=with_status)
        if not content:
            continue  # an empty turn cannot be replayed, and says nothing
        if messages and messages[-1]["role"] == role:
            messages[-1]["content"].extend(content)
        else:
            messages.append({"role": role, "content": content})
    return messages


def _user_content(item: UserItem, *, with_status: bool) -> list[dict[str, Any]]:
    content: list[dict[str, Any]] = []
    for call, result in item.results:
        block: dict[str, Any] = {
            "toolUseId": call.tool_call_id,
            "content": [{"text": result.text}],
        }
        if with_status:
            block["status"] = result.status
        content.append({"toolResult": block})
    return content + [{"text": text} for text in item.texts]


def _dropping_blocks(additional: Mapping[str, Any]) -> dict[str, Any]:
    """Return the fields with Claude's thinking set to drop blocks that are bound to another prefix."""
    thinking = {"type": "adaptive", **additional.get("thinking", {})}
    return {
        **additional,
        "anthropic_beta": [*additional.get("anthropic_beta", []), _BINDING_CONTROLS],
        "thinking": {**thinking, "block_binding": {"prefix_mismatch_behavior": "drop_block"}},
    }


def _takes_status(model_id: str) -> bool:
    return "anthropic" in model_id or "nova" in model_id


def _tool(tool: ToolSpec) -> dict[str, Any]:
    return {
        "toolSpec": {
            "name": tool.name,
            "description": tool.description,
            "inputSchema": {"json": tool.input_schema},
        }
    }


def _translated(error: ClientError) -> ModelError | Unavailable:
    code = error.response["Error"]["Code"]
    message = error.response["Error"].get("Message", "")
    if code in _TRANSIENT:
        return Unavailable(f"The model is not available ({code}): {message}")
    return ModelError(f"The model refused the request ({code}): {message}")
