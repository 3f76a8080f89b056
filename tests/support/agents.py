"""A world in memory for agents under test: clock, ids and tokens are known, everything sent is kept."""

from __future__ import annotations

import logging
import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from itertools import count
from typing import Any

from pausepoint import Agent, AgentResult, DecisionRequest, Tool
from pausepoint.domain.calls import Verdict
from pausepoint.domain.history import UserItem
from pausepoint.domain.session import Session
from pausepoint.errors import Unavailable
from pausepoint.models.scripted import ScriptedModel, Turn
from pausepoint.runtime.context import ExecutionContext, Services
from pausepoint.runtime.decisions import BY_LINK, Recorded, make_decision, record_decision, wake
from pausepoint.runtime.ports import ChatModel, ModelRequest, Notice
from tests.support.clock import FakeClock
from tests.support.stores import ObservedStore


class Killed(BaseException):
    """The process is gone: nothing in the product may catch this."""


def die() -> None:
    """Kill the process that a hook sits in."""
    raise Killed


@dataclass
class Mailbox:
    """Honours `Notifier`; fails as often as it is told to."""

    sent: list[Notice] = field(default_factory=list)
    failures: int = 0

    def send(self, notice: Notice) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("the topic does not answer")
        self.sent.append(notice)


@dataclass
class Queue:
    """Honours `WorkQueue`; fails as often as it is told to."""

    woken: list[str] = field(default_factory=list)
    failures: int = 0

    def wake(self, session_id: str) -> None:
        if self.failures:
            self.failures -= 1
            raise Unavailable("the queue does not answer")
        self.woken.append(session_id)


class World:
    """What outlives a process: the store, the clock, the mailbox, the queue."""

    def __init__(self) -> None:
        self.clock = FakeClock()
        self.store = ObservedStore()
        self.mailbox = Mailbox()
        self.queue = Queue()
        ids, tokens = count(1), count(1)
        self.services = Services(
            store=self.store,
            notifier=self.mailbox,
            queue=self.queue,
            clock=self.clock,
            new_id=lambda: f"id{next(ids)}",
            new_token=lambda: f"token-{next(tokens)}",
            logger=logging.getLogger("pausepoint"),
        )

    def agent(self, model: ChatModel | Sequence[Turn], tools: Sequence[Tool] = (), **options: Any) -> Agent:
        """Return an agent of a new process in this world."""
        if not hasattr(model, "respond"):
            model = ScriptedModel(model)
        return Agent(
            **{"name": "clerk", "instructions": "Be brief.", "model": model, "tools": tools}
            | {"services": self.services}
            | options
        )

    def invocation(self, seconds: float, *, hand_over: float | None = None, answer: float | None = None) -> Any:
        """Return a context that ends in so many seconds."""
        now = self.clock.now()
        return ExecutionContext(
            id=self.services.new_id(),
            ends_at=now + timedelta(seconds=seconds),
            hand_over_at=now + timedelta(seconds=seconds if hand_over is None else hand_over),
            answer_by=None if answer is None else now + timedelta(seconds=answer),
        )

    def press(
        self,
        session_id: str,
        call_id: str,
        verdict: Verdict,
        *,
        reason: str = "",
        token: str | None = None,
        digest: str | None = None,
    ) -> Recorded:
        """Do what the page behind the link does when somebody presses a button: record, and wake."""
        call = self.store.call(session_id, call_id)
        decision = make_decision(
            self.services,
            call,
            verdict,
            reason=reason,
            by=BY_LINK,
            verified="link",
            digest_shown=call.digest if digest is None else digest,
        )
        recorded = record_decision(
            self.services, call, decision, token=self.token(session_id, call_id) if token is None else token
        )
        wake(self.services, session_id)
        return recorded

    def token(self, session_id: str, call_id: str) -> str:
        """Return the secret of the latest link that was sent for a call."""
        notices = [
            notice for notice in self.mailbox.sent if (notice.session_id, notice.call_id) == (session_id, call_id)
        ]
        match = re.search(r"\?t=(\S+)", notices[-1].body)
        assert match is not None
        return match.group(1)

    def session(self, session_id: str) -> Session:
        """Return what is stored."""
        return self.store.load(session_id)


def approve(*call_ids: str) -> list[DecisionRequest]:
    """Return approvals of these calls."""
    return [DecisionRequest(call_id, "approved") for call_id in call_ids]


def reject(*call_ids: str, reason: str = "") -> list[DecisionRequest]:
    """Return rejections of these calls."""
    return [DecisionRequest(call_id, "rejected", reason) for call_id in call_ids]


def statuses(result: AgentResult) -> dict[str, str]:
    """Return the calls that have records, by id, with where they stand."""
    return {call_id: str(call.status) for call_id, call in result.session.calls.items()}


def results_in(request: ModelRequest) -> list[tuple[str, str, str]]:
    """Return the (tool_call_id, status, text) of the results in the last message that the model was sent."""
    last = request.history[-1]
    assert isinstance(last, UserItem)
    return [(call.tool_call_id, result.status, result.text) for call, result in last.results]


def asked(model: ScriptedModel) -> int:
    """Return how often the model was called."""
    return len(model.requests)
