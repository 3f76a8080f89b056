"""The histories that Bedrock Converse refuses, refused here with the same errors."""

from __future__ import annotations

import re
from itertools import pairwise
from typing import TYPE_CHECKING, Any

from local import model_reasoning
from local.model_turns import Json, invalid

if TYPE_CHECKING:
    from collections.abc import Callable

_TOOL_NAME = re.compile(r"[a-zA-Z0-9_-]{1,64}")
_TOOL_USE_ID = re.compile(r"[a-zA-Z0-9_.:-]{1,64}")
_OTHER_BLOCKS = frozenset({"image", "document", "video", "audio", "guardContent", "cachePoint", "citationsContent"})
# Tuples: what is looked up in them may be anything that JSON can hold.
_ROLES = ("user", "assistant")
_STATUSES = (None, "success", "error")


def validate(model_id: str, request: Any) -> list[str]:
    """Check one request as Converse does.

    Returns:
        The places of the reasoning blocks that no longer fit their conversation and that the
        request asks to drop.

    Raises:
        ConverseError: as Converse would answer.
    """
    if not isinstance(request, dict):
        raise invalid("The request body must be a JSON object.")
    messages = request.get("messages")
    if not isinstance(messages, list) or not messages:
        raise invalid(
            "A conversation must start with a user message. "
            "Try again with a conversation that starts with a user message."
        )
    _check_tools(request)
    for index, message in enumerate(messages):
        _check_message(index, message)
    _check_roles(messages)
    _check_tool_results(request, messages)
    return model_reasoning.check(model_id, request)


def _check_tools(request: Json) -> None:
    config = request.get("toolConfig")
    if config is None:
        return
    tools = config.get("tools") if isinstance(config, dict) else None
    if not isinstance(tools, list) or not tools:
        raise invalid("The tools field in toolConfig must contain at least one tool.")
    names: list[str] = []
    for index, tool in enumerate(tools):
        spec = tool.get("toolSpec") if isinstance(tool, dict) else None
        if spec is None:
            continue
        where = f"toolConfig.tools.{index}.toolSpec"
        _check_pattern(spec.get("name"), _TOOL_NAME, f"{where}.name")
        schema = (spec.get("inputSchema") or {}).get("json")
        if not isinstance(schema, dict) or schema.get("type") != "object":
            raise invalid(f"The value at {where}.inputSchema.json.type must be one of the following: object.")
        names.append(spec["name"])
    if len(set(names)) != len(names):
        raise invalid("tools: Tool names must be unique.")


def _check_message(index: int, message: Any) -> None:
    where = f"messages.{index}"
    if not isinstance(message, dict) or message.get("role") not in _ROLES:
        raise invalid(f"The value at {where}.role must be one of the following: user, assistant.")
    content = message.get("content")
    if not isinstance(content, list) or not content:
        raise invalid(
            f"The content field in the Message object at {where} is empty. "
            "Add a ContentBlock object to the content field and try again."
        )
    for position, block in enumerate(content):
        _check_block(f"{where}.content.{position}", message["role"], block)


def _check_block(where: str, role: str, block: Any) -> None:
    if not isinstance(block, dict) or len(block) != 1:
        raise invalid(f"The ContentBlock object at {where} must have exactly one field.")
    [(kind, value)] = block.items()
    checks: dict[str, Callable[[str, str, Any], None]] = {
        "text": _check_text,
        "toolUse": _check_tool_use,
        "toolResult": _check_tool_result,
        "reasoningContent": _check_reasoning,
    }
    if kind in checks:
        checks[kind](where, role, value)
    elif kind not in _OTHER_BLOCKS:
        raise invalid(f"The ContentBlock object at {where} has an unknown field: {kind}.")


def _check_text(where: str, _: str, text: Any) -> None:
    if not isinstance(text, str) or not text.strip():
        raise invalid(
            f"The text field in the ContentBlock object at {where} is blank. Add text to the text field, and try again."
        )


def _check_tool_use(where: str, role: str, use: Any) -> None:
    if role != "assistant" or not isinstance(use, dict):
        raise invalid(f"{where}: toolUse blocks can only be provided in assistant messages.")
    _check_pattern(use.get("toolUseId"), _TOOL_USE_ID, f"{where}.toolUse.toolUseId")
    _check_pattern(use.get("name"), _TOOL_NAME, f"{where}.toolUse.name")
    if not isinstance(use.get("input"), dict):
        raise invalid(
            f"The format of the value at {where}.toolUse.input is invalid. "
            "Provide a json object for the field and try again."
        )


def _check_tool_result(where: str, role: str, result: Any) -> None:
    if role != "user" or not isinstance(result, dict):
        raise invalid(f"{where}: toolResult blocks can only be provided in user messages.")
    _check_pattern(result.get("toolUseId"), _TOOL_USE_ID, f"{where}.toolResult.toolUseId")
    if result.get("status") not in _STATUSES:
        raise invalid(f"The value at {where}.toolResult.status must be one of the following: success, error.")
    content = result.get("content")
    if not isinstance(content, list) or not content:
        when = " when status value is error" if result.get("status") == "error" else ""
        raise invalid(f"The content field at {where}.toolResult cannot be empty{when}.")
    for position, block in enumerate(content):
        if not isinstance(block, dict) or len(block) != 1:
            raise invalid(f"{where}.toolResult.content.{position} must have exactly one field.")
        if "text" in block:
            _check_text(f"{where}.toolResult.content.{position}", role, block["text"])


def _check_reasoning(where: str, role: str, reasoning: Any) -> None:
    if role != "assistant" or not isinstance(reasoning, dict) or len(reasoning) != 1:
        raise invalid(f"{where}: reasoningContent blocks belong in assistant messages, one each.")


def _check_roles(messages: list[Json]) -> None:
    if messages[0]["role"] != "user":
        raise invalid(
            "A conversation must start with a user message. "
            "Try again with a conversation that starts with a user message."
        )
    roles = [message["role"] for message in messages]
    if any(one == other for one, other in pairwise(roles)):
        raise invalid(
            "A conversation must alternate between user and assistant roles. "
            "Make sure the conversation alternates between user and assistant roles and try again."
        )
    if roles[-1] != "user":
        raise invalid(
            "This model does not support assistant message prefill. The conversation must end with a user message."
        )


def _check_tool_results(request: Json, messages: list[Json]) -> None:
    asked: list[str] = []
    for index, message in enumerate(messages):
        content = message["content"]
        uses = [block["toolUse"]["toolUseId"] for block in content if "toolUse" in block]
        results = [block["toolResult"]["toolUseId"] for block in content if "toolResult" in block]
        if (uses or results) and not request.get("toolConfig"):
            raise invalid("The toolConfig field must be defined when using toolUse and toolResult content blocks.")
        where = f"messages.{index}.content"
        for kind, ids in (("toolUse", uses), ("toolResult", results)):
            repeated = sorted({each for each in ids if ids.count(each) > 1})
            if repeated:
                raise invalid(f"The {kind} blocks at {where} contain duplicate Ids: {', '.join(repeated)}")
        _match(where, asked, results, content)
        asked = uses


def _match(where: str, asked: list[str], results: list[str], content: list[Json]) -> None:
    missing = [each for each in asked if each not in results]
    if missing:
        raise invalid(f"Expected toolResult blocks at {where} for the following Ids: {', '.join(missing)}")
    if len(results) > len(asked):
        raise invalid(
            f"The number of toolResult blocks at {where} exceeds the number of toolUse blocks of previous turn."
        )
    if any("toolResult" not in block for block in content[: len(results)]):
        raise invalid(
            f"{where}: Did not find {len(results)} tool_result block(s) at the beginning of this "
            "message. Messages following tool_use blocks must begin with a matching number of "
            "tool_result blocks."
        )


def _check_pattern(value: Any, pattern: re.Pattern[str], where: str) -> None:
    if not isinstance(value, str) or not pattern.fullmatch(value):
        raise invalid(
            f"1 validation error detected: Value '{value}' at '{where}' failed to satisfy "
            f"constraint: Member must satisfy regular expression pattern: {pattern.pattern}"
        )
