"""An agent whose every entry, effect and model call is on disk before anything else happens."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any, Final

from pausepoint import Agent, ToolContext, tool
from pausepoint.domain.canonical import call_digest, canonical_json
from pausepoint.domain.events import Usage
from pausepoint.domain.history import AssistantItem, UserItem
from pausepoint.runtime.ports import ModelReply, ModelRequest, RequestedCall

GATED: Final = "shred"
GATED_RETRY_SAFE: Final = "archive"
UNGATED_RETRY_SAFE: Final = "look"
UNGATED_UNSAFE: Final = "send"
KINDS: Final = (GATED, GATED_RETRY_SAFE, UNGATED_RETRY_SAFE, UNGATED_UNSAFE)
DONE: Final = "All done."

_PLANS: Final[Mapping[str, list[list[str]]]] = {
    **{kind: [[kind]] for kind in KINDS},
    "mixed": [[UNGATED_RETRY_SAFE, GATED, UNGATED_UNSAFE]],
    "two": [[GATED, GATED_RETRY_SAFE]],
    "turns": [[UNGATED_UNSAFE], [GATED]],
}
"""By the user's message: the calls of each turn. After the last turn the model says that it is done."""


def plan_of(message: str) -> list[list[str]]:
    """Return the calls of each turn that a message asks for."""
    return _PLANS[message]


class Diary:
    """Lines in a file, each of them on disk before the next thing happens."""

    def __init__(self) -> None:
        self._path: Path | None = None
        self.now: Callable[[], datetime] = lambda: datetime.now(UTC)

    def open(self, path: Path) -> None:
        self._path = path
        path.write_bytes(b"")

    def write(self, **line: Any) -> None:
        assert self._path is not None
        file = os.open(self._path, os.O_WRONLY | os.O_APPEND)
        try:
            os.write(file, json.dumps({**line, "at": self.now().isoformat()}).encode() + b"\n")
            os.fsync(file)
        finally:
            os.close(file)

    def restore(self, lines: list[dict[str, Any]]) -> None:
        """Have it hold these lines and nothing else."""
        assert self._path is not None
        self._path.write_text("".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8")

    def read(self) -> list[dict[str, Any]]:
        assert self._path is not None
        return [json.loads(line) for line in self._path.read_text(encoding="utf-8").splitlines()]


class Moments:
    """Where a test may step in, by name: `before effect`, `after effect`, `before model`, `after model`."""

    def __init__(self) -> None:
        self.reached: Callable[[str], object] = lambda _: None


diary, moments = Diary(), Moments()


def _run(name: str, arguments: dict[str, Any], context: ToolContext) -> str:
    digest = call_digest(name, canonical_json(arguments))
    line: dict[str, Any] = {"tool": name, "session_id": context.session_id, "call_id": context.call_id}
    line |= {"digest": digest, "key": context.idempotency_key, "approver": context.approver}
    diary.write(what="entry", **line)
    moments.reached("before effect")
    diary.write(what="effect", **line)
    moments.reached("after effect")
    return f"{name} did it."


@tool(requires_confirmation=True)
def shred(path: str, context: ToolContext) -> str:
    """Shred a file: for good."""
    return _run("shred", {"path": path}, context)


@tool(requires_confirmation=True, retry_safe=True)
def archive(path: str, context: ToolContext) -> str:
    """Archive a file: somebody has to agree, and twice is as good as once."""
    return _run("archive", {"path": path}, context)


@tool
def look(path: str, context: ToolContext) -> str:
    """Look at a file: harmless."""
    return _run("look", {"path": path}, context)


@tool(retry_safe=False)
def send(path: str, context: ToolContext) -> str:
    """Send a file: nobody is asked, but twice would be once too often."""
    return _run("send", {"path": path}, context)


class _Planned:
    """Answers by what it is shown, and by nothing else: a process that starts anew gets the same answer."""

    def settings(self) -> dict[str, Any]:
        return {"model_id": "planned"}

    def respond(self, request: ModelRequest) -> ModelReply:
        turns = sum(isinstance(item, AssistantItem) for item in request.history)
        first = request.history[0]
        assert isinstance(first, UserItem)
        moments.reached("before model")
        diary.write(what="model", turn=turns, plan=first.texts[0])
        moments.reached("after model")
        plan = _PLANS[first.texts[0]]
        usage = Usage(input_tokens=1, output_tokens=1)
        if turns >= len(plan):
            message: dict[str, Any] = {"role": "assistant", "content": [{"text": DONE}]}
            return ModelReply(message=message, text=DONE, stop_reason="end_turn", usage=usage)
        calls = tuple(
            RequestedCall(f"toolu_{turns}_{index}", name, {"path": f"{index}.txt"})
            for index, name in enumerate(plan[turns])
        )
        content = [{"toolUse": {"toolUseId": c.tool_call_id, "name": c.name, "input": c.arguments}} for c in calls]
        message = {"role": "assistant", "content": content}
        return ModelReply(message=message, text="", stop_reason="tool_use", calls=calls, usage=usage)


agent = Agent(name="workbench", model=_Planned(), tools=(shred, archive, look, send))
