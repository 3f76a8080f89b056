"""A world in which processes die inside tools, and somebody sweeps, delivers wake-ups and answers."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

from pausepoint import Agent, AgentResult, DecisionRequest, Tool, ToolContext, tool
from pausepoint.domain.calls import Answer, PendingToolCall
from pausepoint.domain.tools import Reconcile
from pausepoint.models.scripted import ScriptedModel, Turn
from pausepoint.runtime.decisions import BY_LINK, Recorded, make_resolution, record_resolution, wake
from pausepoint.runtime.sweeping import Sweeper
from tests.support.agents import Killed, World

DELETE = ("delete", {"path": "a"})


class Fragile:
    """A `delete` in which the process dies, as often as it is told to.

    Attributes:
        entries: what its body was given, entry after entry.
        keys: the idempotency keys of these entries.
        asked: what its reconcile was given.
        meanwhile: done inside the body, before the process dies.
    """

    def __init__(
        self,
        *,
        deaths: int = 1,
        requires_confirmation: bool = True,
        retry_safe: bool | None = False,
        found: Any = None,
        description: str = "Delete a file.",
    ) -> None:
        self.entries: list[str] = []
        self.keys: list[str] = []
        self.asked: list[dict[str, Any]] = []
        self.meanwhile: Callable[[], object] | None = None
        self.deaths = deaths
        self.found = found

        def delete(path: str, context: ToolContext) -> str:
            self.entries.append(path)
            self.keys.append(context.idempotency_key)
            if self.meanwhile is not None:
                self.meanwhile()
            if self.deaths:
                self.deaths -= 1
                raise Killed
            return f"Deleted {path}."

        delete.__doc__ = description

        def reconcile(arguments: Any, _: ToolContext) -> bool | str | None:
            self.asked.append(dict(arguments))
            if isinstance(self.found, BaseException):
                raise self.found
            found: bool | str | None = self.found
            return found

        asks: Reconcile | None = reconcile if found is not None else None
        self.tool = tool(requires_confirmation=requires_confirmation, retry_safe=retry_safe, reconcile=asks)(delete)


class Recovery(World):
    """One agent, started anew for every invocation, and everybody who looks after its sessions."""

    def __init__(self, turns: Sequence[Turn], tools: Sequence[Tool], **options: Any) -> None:
        super().__init__()
        self.model = ScriptedModel(turns)
        self.tools = list(tools)
        self.options = options

    @property
    def worker(self) -> Agent:
        """The agent in a new process."""
        return self.agent(self.model, self.tools, **self.options)

    def started(self, text: str = "Go") -> str:
        """Start a session and return its id; the process may die."""
        try:
            return self.worker.run(text, context=self.invocation(60)).session_id
        except Killed:
            (head,), _ = self.store.sessions(None, limit=2, before=None)
            return head.session_id

    def resumed(self, session_id: str, decisions: Any = ()) -> AgentResult | None:
        """Carry a session on; None when the process died."""
        try:
            return self.worker.resume(session_id, decisions, context=self.invocation(60))
        except Killed:
            return None

    def deliver(self) -> None:
        """Let workers do what the queue holds."""
        while self.queue.woken:
            self.resumed(self.queue.woken.pop(0))

    def sweep(self) -> Counter[str]:
        """Do one round of the sweeper."""
        sweeper = Sweeper(self.services, reminder=self.options.get("reminder"))
        return sweeper.sweep(until=self.clock.now() + timedelta(seconds=50)).counts

    def pass_time(self, rounds: int, *, minutes: float = 1) -> Counter[str]:
        """Let time pass, with a sweep and everything it sets going every so many minutes."""
        counts: Counter[str] = Counter()
        for _ in range(rounds):
            self.clock.advance(minutes=minutes)
            counts += self.sweep()
            self.deliver()
        return counts

    def say(self, session_id: str, call_id: str, answer: Answer, *, reason: str = "") -> Recorded:
        """Do what the page of a call in doubt does when somebody presses a button."""
        call = self.store.call(session_id, call_id)
        resolution = make_resolution(self.services, answer, reason=reason, by=BY_LINK, verified="link")
        recorded = record_resolution(self.services, call, resolution, token=self.token(session_id, call_id))
        wake(self.services, session_id)
        return recorded

    def edit(self, session_id: str, call_id: str, arguments: dict[str, Any]) -> None:
        """Approve a call with other arguments, as a signed-in caller can; the process may die."""
        self.resumed(session_id, [DecisionRequest(call_id, "approved", arguments=arguments)])

    def in_doubt(self, call_id: str = "c2-0") -> str:
        """Bring the first call of a session into doubt, before a person: approved if need be, and cut off."""
        session_id = self.started()
        if self.call(session_id, call_id).status == "pending":
            self.press(session_id, call_id, "approved")
            self.deliver()
        self.pass_time(2)
        assert self.call(session_id, call_id).status == "in_doubt"
        return session_id

    def call(self, session_id: str, call_id: str = "c2-0") -> PendingToolCall:
        """Return a call as it is stored."""
        return self.store.call(session_id, call_id)

    def types(self, session_id: str) -> list[str]:
        """Return the types of a session's events."""
        return [event.type for event in self.session(session_id).events]
