"""Who takes part in a schedule: programs over the product's public doors, their tools and their model."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from typing import Any, Final, cast, get_args

from pausepoint import Tool, ToolContext
from pausepoint.domain.calls import Answer, PendingToolCall, Verdict
from pausepoint.domain.canonical import call_digest, canonical_json, sha256_hex
from pausepoint.domain.events import Usage
from pausepoint.domain.history import AssistantItem
from pausepoint.domain.limits import Limits
from pausepoint.errors import AlreadyDecided, CallExpired, NotFound, PausepointError
from pausepoint.runtime.agent import Agent
from pausepoint.runtime.cancelling import cancel
from pausepoint.runtime.context import ExecutionContext, Services
from pausepoint.runtime.decisions import (
    BY_LINK,
    DecisionRequest,
    Recorded,
    check_answer,
    check_decision,
    check_resolution,
    make_decision,
    make_resolution,
    needs_wake,
    record_decision,
    record_resolution,
    wake,
)
from pausepoint.runtime.ports import ModelReply, ModelRequest, RequestedCall
from pausepoint.runtime.sweeping import Sweeper
from tests.faults.scripts import Program, Script, current
from tests.faults.soundness import said

START: Final = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
INVOCATION: Final = timedelta(seconds=60)
APPROVAL_TIME: Final = timedelta(hours=24)
KEY: Final = "key"
SESSION_ID: Final = sha256_hex(f"jo\n{KEY}")[:26]
Asked = Sequence[tuple[str, Mapping[str, Any]]]
Turn = Callable[[str], Asked]
"""The calls of a turn, by who asks the model: another runner may get another answer."""


def _tool(name: str, **declared: Any) -> Tool:
    def body(path: str, context: ToolContext) -> str:
        """Do it."""
        digest = call_digest(name, canonical_json({"path": path}))
        world = current()
        world.call("tool", "enter", name, context.call_id, context.idempotency_key, digest)
        return str(world.call("tool", "leave", name))

    return Tool(body, name=name, **declared)


def _look(arguments: Mapping[str, Any], context: ToolContext) -> bool | str | None:
    return cast("bool | None", current().call("tool", "reconcile", context.idempotency_key))


TOOLS: Final = {
    found.name: found
    for found in (
        _tool("delete", requires_confirmation=True),
        _tool("put", requires_confirmation=True, retry_safe=True),
        _tool("check", requires_confirmation=True, reconcile=_look),
        _tool("send", retry_safe=False),
        _tool("read"),
        _tool("ask", question=True),
    )
}


class Model:
    """Answers as its script says, by how many turns the history has; who asks may make a difference."""

    def __init__(self, turns: Sequence[Turn]) -> None:
        self._turns = turns

    def settings(self) -> dict[str, Any]:
        return {"model_id": "played"}

    def respond(self, request: ModelRequest) -> ModelReply:
        number = sum(isinstance(item, AssistantItem) for item in request.history)
        world = current()
        world.call("model", "ask", number)
        asked = self._turns[number](world.actor) if number < len(self._turns) else ()
        calls = tuple(RequestedCall(f"t{number}{index}", *each) for index, each in enumerate(asked))
        message = {"role": "assistant", "content": [{"text": str(number)}]}
        stop_reason = "tool_use" if calls else "end_turn"
        return ModelReply(message=message, text="done", stop_reason=stop_reason, calls=calls, usage=Usage())


def agent(services: Services, turns: Sequence[Turn], *, ordered: bool = False) -> Agent:
    """Return the agent under test, with no more model calls than it needs."""
    return Agent(
        name="clerk",
        model=Model(turns),
        tools=list(TOOLS.values()),
        ordered=ordered,
        limits=Limits(model_calls=len(turns) + 1),
        approval_time=APPROVAL_TIME,
        services=services,
    )


def invocation(services: Services) -> ExecutionContext:
    """Return what a Lambda function has."""
    ends_at = services.clock.now() + INVOCATION
    hand_over_at = services.clock.now() + INVOCATION * 3 / 4
    return ExecutionContext(id=services.new_id(), ends_at=ends_at, hand_over_at=hand_over_at, caller="jo")


def start(turns: Sequence[Turn], **options: Any) -> Program:
    """Start the session, or repeat the request that started it."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        services = script.services()
        with suppress(PausepointError):
            agent(services, turns, **options).run("go", context=invocation(services), idempotency_key=KEY)
        return ()

    return program


def say(turns: Sequence[Turn]) -> Program:
    """Send another message to the session."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        services = script.services()
        with suppress(PausepointError):
            agent(services, turns).run("more", context=invocation(services), session_id=SESSION_ID)
        return ()

    return program


def deliver(turns: Sequence[Turn], **options: Any) -> Program:
    """Handle one message of the work queue, whether there is one or an old one comes twice."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        services = script.services()
        script.call("queue", "receive")
        try:
            agent(services, turns, **options).resume(SESSION_ID, context=invocation(services))
        except NotFound:
            return ()
        except PausepointError:
            return (("again",),)
        return ()

    return program


def sweep() -> Program:
    """Do one round of the sweeper."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        services = script.services()
        with suppress(PausepointError):
            Sweeper(services).sweep(until=services.clock.now() + INVOCATION)
        return ()

    return program


def post(services: Services, call: PendingToolCall, word: str, *, token: str | None) -> str:
    """Post what the page's form posts, and return what stands then, as the person is told: nothing if nobody said.

    Args:
        word: a verdict, an answer about a doubt, or `answered:` and what is answered to a question.
    """
    try:
        recorded = _recorded(services, call, word, token)
    except AlreadyDecided as error:
        return _standing(error.call, word)
    except CallExpired:
        return "expired"
    if needs_wake(recorded.call):
        wake(services, call.session_id)
    return word


def _recorded(services: Services, call: PendingToolCall, word: str, token: str | None) -> Recorded:
    verdict, _, answer = word.partition(":")
    if verdict in get_args(Verdict):
        decision = make_decision(
            services,
            call,
            cast("Verdict", verdict),
            reason="",
            by=BY_LINK,
            verified="link",
            digest_shown=call.digest,
            answer=check_answer(call, answer) if verdict == "answered" else None,
        )
        check_decision(call, decision)
        return record_decision(services, call, decision, token=token)
    resolution = make_resolution(services, cast("Answer", word), reason="", by=BY_LINK, verified="link")
    check_resolution(call, resolution)
    return record_resolution(services, call, resolution, token=token)


def _standing(call: PendingToolCall, word: str) -> str:
    if word in get_args(Answer) and call.resolution is not None:
        return call.resolution.answer
    return said(call.decision) if call.decision and word.partition(":")[0] in get_args(Verdict) else ""


def person(word: str, call_id: str) -> Program:
    """Open the link of the first message about a call, and post a word."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        services = script.services()
        token = script.call("mailbox", "read", call_id, word in get_args(Answer))
        try:
            call = services.store.call(SESSION_ID, call_id)
            told = post(services, call, word, token=token)
        except PausepointError:
            return ()
        page = ("page", call_id, call.digest)
        return (("told", call_id, told), page) if told else (page,)

    return program


def caller(turns: Sequence[Turn], word: str, call_id: str) -> Program:
    """Decide through the API, and carry the session on in the same invocation."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        services = script.services()
        verdict, _, answer = word.partition(":")
        request = DecisionRequest(call_id=call_id, decision=cast("Any", verdict), answer=answer or None)
        with suppress(PausepointError):
            agent(services, turns).resume(SESSION_ID, [request], context=invocation(services))
        return ()

    return program


def canceller() -> Program:
    """Cancel the session."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        with suppress(PausepointError):
            cancel(script.services(), SESSION_ID, by="jo")
        return ()

    return program


def intruder(call_id: str) -> Program:
    """Alter a stored call's arguments behind everybody's back."""

    def program(script: Script) -> tuple[tuple[str, ...], ...]:
        script.call("intruder", "alter", call_id)
        return ()

    return program
