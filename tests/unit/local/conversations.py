"""Requests as a client of Converse would send them, for the tests of the stand-in."""

from __future__ import annotations

from typing import Any

from local.model_turns import Turn, compose

MODEL = "anthropic.claude-test-v1:0"


def tool_spec(name: str, *parameters: str) -> dict[str, Any]:
    properties = {each: {"type": "string"} for each in parameters}
    schema = {"type": "object", "properties": properties}
    return {"toolSpec": {"name": name, "description": name, "inputSchema": {"json": schema}}}


TOOLS = [
    tool_spec("list_files", "prefix"),
    tool_spec("read_file", "path"),
    tool_spec("delete_file", "path"),
    tool_spec("ask_human", "question", "choices"),
    tool_spec("move_file", "source", "destination"),
]


def user(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    content = [{"text": each} if isinstance(each, str) else each for each in blocks]
    return {"role": "user", "content": content}


def assistant(*blocks: str | dict[str, Any]) -> dict[str, Any]:
    return {**user(*blocks), "role": "assistant"}


def use(tool_use_id: str, name: str = "read_file", **arguments: Any) -> dict[str, Any]:
    return {"toolUse": {"toolUseId": tool_use_id, "name": name, "input": arguments}}


def result(tool_use_id: str, text: str = "done", status: str | None = None) -> dict[str, Any]:
    block: dict[str, Any] = {"toolUseId": tool_use_id, "content": [{"text": text}]}
    return {"toolResult": {**block, "status": status} if status else block}


def request(*messages: dict[str, Any], tools: list[Any] | None = None, **more: Any) -> dict[str, Any]:
    body = {"messages": list(messages), "inferenceConfig": {"maxTokens": 100}, **more}
    offered = TOOLS if tools is None else tools
    return {**body, "toolConfig": {"tools": offered}} if offered else body


def turn_of(turn: Turn, *messages: dict[str, Any], **more: Any) -> dict[str, Any]:
    """Return the assistant message with which the stand-in answers ``messages``."""
    message: dict[str, Any] = compose(turn, MODEL, request(*messages, **more))["output"]["message"]
    return message
