"""The simple rules by which the Bedrock stand-in answers: commands to calls, results to a text."""

from __future__ import annotations

import json
from typing import Any

from local.model_commands import EXAMPLES, Command, parse
from local.model_turns import Json, ToolCall, Turn

NOTE = "(Local stand-in for Bedrock: fixed rules, no LLM.)"

_MAX_QUOTED_RESULT = 2_000

# The parameters as the example agent names them; another agent's are found by their order.
_TOOLS = {
    "delete": ("delete_file", ("path",)),
    "read": ("read_file", ("path",)),
    "list": ("list_files", ("prefix",)),
    "move": ("move_file", ("source", "destination")),
    "ask": ("ask_human", ("question",)),
}


def answer(request: Json) -> Turn:
    """Return the turn that the rules give for a valid request."""
    last = request["messages"][-1]["content"]
    results = [block["toolResult"] for block in last if "toolResult" in block]
    texts = [block["text"] for block in last if "text" in block]
    summary = _summary(request, results) if results else None
    if not texts:
        return _say(summary or _help(None, request))
    return _follow(texts[-1], request, summary)


def _follow(text: str, request: Json, summary: str | None) -> Turn:
    commands = parse(text)
    if not commands:
        return _say(summary, _help(text, request))
    schemas = _schemas(request)
    missing = sorted({_TOOLS[each.verb][0] for each in commands} - schemas.keys())
    if missing:
        reason = f"I understood {text.strip()!r}, but this agent offers no {', '.join(missing)}."
        return _say(summary, reason)
    calls = tuple(_call(command, schemas) for command in commands)
    intent = "I call " + ", ".join(f"{each.name}({_arguments(each.input)})" for each in calls) + "."
    turn = _say(summary, intent)
    return Turn(text=turn.text, calls=calls)


def _say(*parts: str | None) -> Turn:
    return Turn(text="\n\n".join([*(part for part in parts if part), NOTE]))


def _help(text: str | None, request: Json) -> str:
    offered = ", ".join(_schemas(request)) or "none"
    opening = f"I did not understand {text.strip()[:200]!r}." if text else "I saw no text to act on."
    examples = "; ".join(EXAMPLES)
    return f"{opening} I understand: {examples}. Tools this agent offers: {offered}."


def _schemas(request: Json) -> dict[str, Json]:
    tools = (request.get("toolConfig") or {}).get("tools") or []
    specs = [tool["toolSpec"] for tool in tools if "toolSpec" in tool]
    return {spec["name"]: spec["inputSchema"]["json"] for spec in specs}


def _call(command: Command, schemas: dict[str, Json]) -> ToolCall:
    name, usual = _TOOLS[command.verb]
    if command.verb == "ask":
        question, *choices = command.arguments
        return ToolCall(name, {"question": question, **({"choices": choices} if choices else {})})
    declared = list(schemas[name].get("properties") or {})
    names = usual if set(usual) <= set(declared) or len(declared) < len(usual) else declared
    return ToolCall(name, dict(zip(names, command.arguments, strict=False)))


def _arguments(values: dict[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in values.items())


def _summary(request: Json, results: list[Json]) -> str:
    names = {
        block["toolUse"]["toolUseId"]: block["toolUse"]["name"]
        for block in request["messages"][-2]["content"]
        if "toolUse" in block
    }
    return "\n".join(_outcome(names[each["toolUseId"]], each) for each in results)


def _outcome(name: str, result: Json) -> str:
    text = "\n".join(_content(block) for block in result["content"])
    if result.get("status") == "error":
        return f'{name}: not done. "{text}"'
    if len(text) > _MAX_QUOTED_RESULT:
        text = f"{text[:_MAX_QUOTED_RESULT]}… ({len(text)} characters in all)"
    return f"{name}: {text}"


def _content(block: Json) -> str:
    [(kind, value)] = block.items()
    if kind == "text":
        return str(value)
    return _compact(value) if kind == "json" else f"({kind})"


def _compact(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
