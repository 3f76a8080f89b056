"""Turns that a test lays down for a session, instead of the rules."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from local.model_turns import ConverseError, Json, Reasoning, ToolCall, Turn, first_text

_TURN_KEYS = frozenset({"text", "calls", "reasoning", "stop_reason", "error", "times", "delay_seconds"})
_ERROR_KEYS = frozenset({"status", "type", "message", "times"})
_CALL_KEYS = frozenset({"name", "input", "id"})
_REASONING: dict[Any, Reasoning | None] = {
    None: None,
    False: None,
    True: "text",
    "text": "text",
    "signature-only": "signature-only",
    "redacted": "redacted",
}
_MAX_DELAY_SECONDS = 900


class ScriptError(Exception):
    """A script is not in the form that is asked for; says why."""


@dataclass(frozen=True)
class Failure:
    """An error that is given ``times`` times before the next turn."""

    error: ConverseError
    times: int
    delay_seconds: float


@dataclass
class _Script:
    contains: str
    turns: list[Turn | Failure]
    # How often each error was given, by place in the script and by session.
    given: dict[tuple[int, str], int] = field(default_factory=dict)


class Scripts:
    """All scripts that are in force; the newest that fits a session is followed."""

    def __init__(self) -> None:
        self._scripts: list[_Script] = []
        self._lock = threading.Lock()

    def add(self, document: Any) -> int:
        """Add one script, or a list of scripts, and return how many were added.

        Raises:
            ScriptError: with a sentence about what is wrong. Nothing was added then.
        """
        documents = document if isinstance(document, list) else [document]
        scripts = [_read_script(each) for each in documents]
        with self._lock:
            self._scripts.extend(scripts)
        return len(scripts)

    def clear(self) -> None:
        """Forget all scripts."""
        with self._lock:
            self._scripts.clear()

    def next(self, request: Json) -> Turn | Failure | None:
        """Return what the script says for a valid request, None when the rules are to answer.

        The place in the script is the number of assistant turns in the history, so a repeated
        request gets the same turn again.
        """
        session = first_text(request)
        answered = sum(message["role"] == "assistant" for message in request["messages"])
        with self._lock:
            script = next((s for s in reversed(self._scripts) if s.contains in session), None)
            return _step(script, session, answered) if script else None


def _step(script: _Script, session: str, answered: int) -> Turn | Failure | None:
    passed = 0
    for place, step in enumerate(script.turns):
        if isinstance(step, Turn):
            if passed == answered:
                return step
            passed += 1
        elif passed == answered and script.given.get((place, session), 0) < step.times:
            script.given[place, session] = script.given.get((place, session), 0) + 1
            return step
    return None


def _read_script(document: Any) -> _Script:
    _require_keys(document, frozenset({"contains", "turns"}), "A script")
    contains, turns = document.get("contains"), document.get("turns")
    if not isinstance(contains, str) or not isinstance(turns, list):
        raise ScriptError("A script needs contains (a text) and turns (a list).")
    return _Script(contains, [_read_turn(turn) for turn in turns])


def _read_turn(document: Any) -> Turn | Failure:
    _require_keys(document, _TURN_KEYS, "A turn")
    delay = document.get("delay_seconds", 0)
    if not isinstance(delay, int | float) or not 0 <= delay <= _MAX_DELAY_SECONDS:
        raise ScriptError(f"delay_seconds must be a number from 0 to {_MAX_DELAY_SECONDS}.")
    if "error" in document:
        return _read_failure(document, delay)
    reasoning = document.get("reasoning")
    if not isinstance(reasoning, bool | str | None) or reasoning not in _REASONING:
        raise ScriptError('reasoning must be true, "signature-only" or "redacted".')
    text, calls = document.get("text"), document.get("calls") or []
    if not isinstance(text, str | None) or not isinstance(calls, list):
        raise ScriptError("text must be a text, calls a list.")
    return Turn(
        text=text,
        calls=tuple(_read_call(call) for call in calls),
        reasoning=_REASONING[reasoning],
        stop_reason=document.get("stop_reason"),
        delay_seconds=delay,
    )


def _read_failure(document: Json, delay: float) -> Failure:
    error = document["error"]
    _require_keys(error, _ERROR_KEYS, "An error")
    if document.keys() - {"error", "times", "delay_seconds"}:
        raise ScriptError("A turn is either an error or an answer.")
    times = document.get("times", error.get("times", 1))
    status = error.get("status", 500)
    if not isinstance(times, int) or not isinstance(status, int) or not 400 <= status <= 599:  # noqa: PLR2004
        raise ScriptError("An error's status must be from 400 to 599, its times a whole number.")
    kind = str(error.get("type", "InternalServerException"))
    message = str(error.get("message", "Scripted error."))
    return Failure(ConverseError(status, kind, message), times, delay)


def _read_call(document: Any) -> ToolCall:
    _require_keys(document, _CALL_KEYS, "A call")
    if "name" not in document:
        raise ScriptError("A call needs a name.")
    return ToolCall(document["name"], document.get("input", {}), document.get("id"))


def _require_keys(document: Any, allowed: frozenset[str], what: str) -> None:
    if not isinstance(document, dict):
        raise ScriptError(f"{what} must be an object.")
    unknown = sorted(document.keys() - allowed)
    if unknown:
        raise ScriptError(f"{what} has unknown keys: {', '.join(unknown)}.")
