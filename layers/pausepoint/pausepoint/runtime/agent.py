"""The agent: instructions, a model and tools, with `run()` and `resume()`."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from datetime import timedelta
from functools import cached_property
from typing import Final, Literal

from pausepoint.domain.calls import WAITING
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.events import LogEntry, UserMessage
from pausepoint.domain.limits import Limits
from pausepoint.domain.session import WAKEABLE, Lease, Session, SessionHead, SessionSpec, SessionStatus
from pausepoint.domain.tools import Tool
from pausepoint.domain.values import dump_json
from pausepoint.errors import (
    CallsPending,
    ConfigurationError,
    IdempotencyMismatch,
    InvalidInput,
    LostRace,
    SessionBusy,
    SessionEnded,
)
from pausepoint.runtime.context import ExecutionContext, Services
from pausepoint.runtime.decisions import DecisionRequest
from pausepoint.runtime.four_eyes import refuse_own_requests
from pausepoint.runtime.memory import InMemoryNotifier, InMemoryQueue, InMemoryStore
from pausepoint.runtime.ports import ChatModel
from pausepoint.runtime.requested_decisions import record_all
from pausepoint.runtime.result import AgentResult
from pausepoint.runtime.runner import Runner
from pausepoint.runtime.system import SystemClock, new_id, new_token

LEASE_MARGIN: Final = timedelta(seconds=10)
"""A lease outlives its invocation by so much, so that two runners seldom meet."""
MAX_MESSAGE_BYTES: Final = 256 * 1024

_ADDRESSABLE: Final = frozenset(SessionStatus) - {SessionStatus.CANCELLED}


class Agent:
    """An LLM agent that can be stopped at a tool and carried on in another process.

    Args:
        name: shown to approvers.
        instructions: the system text.
        model: where the turns come from.
        tools: what the model may call; names must differ.
        ordered: a call of a turn waits for all earlier calls of its turn.
        parallel: so many calls of a turn run at the same time, each in a thread, where nobody is asked about them and
            they may run again (`retry_safe`). 1, the default, runs one after the other: tools share clients and state.
        limits: the budgets of one session.
        approval_time: how long a person may take to decide.
        reminder: after how long a person who has not decided is told once more.
        session_time: how long a session is kept.
        allow_self_approval: whether callers whose identity is verified may approve what they asked for themselves.
        services: where sessions live and notices go; in memory when none are given.

    Raises:
        ConfigurationError: two tools share a name, or `parallel` is less than 1.
    """

    def __init__(
        self,
        *,
        name: str,
        model: ChatModel,
        instructions: str = "",
        tools: Sequence[Tool] = (),
        ordered: bool = False,
        parallel: int = 1,
        limits: Limits | None = None,
        approval_time: timedelta = timedelta(hours=24),
        reminder: timedelta | None = None,
        session_time: timedelta = timedelta(days=30),
        allow_self_approval: bool = True,
        services: Services | None = None,
    ) -> None:
        for what, given in (("name", name), ("instructions", instructions)):
            if not isinstance(given, str):
                raise ConfigurationError(f"An agent's {what} is text, and not a {type(given).__name__}.")
        self.name = name
        self.instructions = instructions
        self.model = model
        self.tools = {tool.name: tool for tool in tools}
        if len(self.tools) != len(tools):
            raise ConfigurationError(f"Agent {name!r}: two tools have the same name.")
        if type(parallel) is not int or parallel < 1:
            raise ConfigurationError(f"Agent {name!r}: parallel is {parallel!r}; it is a whole number, at least 1.")
        self.ordered = ordered
        self.parallel = parallel
        self.limits = limits or Limits()
        self.approval_time = approval_time
        self.reminder = reminder
        self.session_time = session_time
        self.allow_self_approval = allow_self_approval
        self._given_services = services

    def bind(
        self,
        services: Services,
        *,
        approval_time: timedelta,
        reminder: timedelta | None = None,
        session_time: timedelta,
        allow_self_approval: bool = True,
    ) -> Agent:
        """Return the same agent on other services; the times, and who may approve, are the deployment's."""
        return Agent(
            name=self.name,
            model=self.model,
            instructions=self.instructions,
            tools=tuple(self.tools.values()),
            ordered=self.ordered,
            parallel=self.parallel,
            limits=self.limits,
            approval_time=approval_time,
            reminder=reminder,
            session_time=session_time,
            allow_self_approval=allow_self_approval,
            services=services,
        )

    @cached_property
    def services(self) -> Services:
        """The world this agent talks to."""
        return self._given_services or in_memory_services()

    def run(
        self,
        message: str,
        *,
        session_id: str | None = None,
        context: ExecutionContext | None = None,
        idempotency_key: str | None = None,
    ) -> AgentResult:
        """Say something to the agent, in a new session or in one that rests, and run until it pauses or ends.

        Args:
            message: at most 256 KiB of text.
            session_id: of the session to continue; a new one is started without it.
            context: the invocation; unlimited when there is none.
            idempotency_key: the same key and message give the same session (new sessions only).

        Raises:
            InvalidInput: the message is empty or too large.
            NotFound: there is no such session.
            CallsPending: the session waits for decisions.
            SessionBusy: the session is running. SessionEnded: it was cancelled.
            IdempotencyMismatch: the key was used with another message.
        """
        check_message(message)
        context = context or ExecutionContext.unlimited(self.services)
        if session_id is None:
            return self._start(message, context, idempotency_key)
        return self._continue(message, context, session_id)

    def resume(
        self,
        session_id: str,
        decisions: Sequence[DecisionRequest] = (),
        *,
        context: ExecutionContext | None = None,
        signed: bool = False,
    ) -> AgentResult:
        """Record decisions, if there are any, and carry the session on as far as it goes.

        All decisions are looked at before the first is recorded. If another runner is at the session, it
        takes them into account, and what is returned is how the session stands now.

        Args:
            signed: whether the context's caller was authenticated by its AWS signature.

        Raises:
            InvalidInput: a call is unknown or named twice, or edited arguments do not fit; `field` names it.
            NotFound: there is no such session.
            AlreadyDecided: another verdict stands. CallExpired: the time to decide is over.
            OwnRequest: the caller asked for what they would approve, and the deployment wants somebody else.
        """
        context = context or ExecutionContext.unlimited(self.services)
        if decisions:
            session = self.services.store.load(session_id)
            verified: Literal["aws-signature", "caller"] = "aws-signature" if signed else "caller"
            if signed and not self.allow_self_approval:
                refuse_own_requests(session, decisions, by=context.caller)
            record_all(self.services, self.tools, session, decisions, by=context.caller, verified=verified)
        lease = self._lease(context)
        try:
            self.services.store.lease(session_id, lease, now=self.services.clock.now(), statuses=WAKEABLE)
        except SessionBusy:
            return AgentResult(self.services.store.load(session_id))
        return AgentResult(self._runner(self.services.store.load(session_id), lease, context).advance())

    def _start(self, message: str, context: ExecutionContext, idempotency_key: str | None) -> AgentResult:
        now = self.services.clock.now()
        lease = self._lease(context)
        session_id = self.services.new_id()
        if idempotency_key is not None:
            # A caller that repeats itself arrives at the session it made before.
            session_id = sha256_hex(f"{context.caller}\n{idempotency_key}")[:26]
        head = SessionHead(
            session_id=session_id,
            status=SessionStatus.RUNNING,
            agent=self.name,
            owner=context.caller,
            base_url=context.base_url,
            lease=lease,
            limits=self.limits,
            created_at=now,
            updated_at=now,
            expires=int((now + self.session_time).timestamp()),
            request_hash=sha256_hex(message),
        )
        spec = SessionSpec(
            system=self.instructions,
            tools=tuple(tool.spec for tool in self.tools.values()),
            model=self.model.settings(),
            ordered=self.ordered,
        )
        entry = LogEntry(first=1, events=(UserMessage(at=now, by=context.caller, text=message),))
        session = Session(head=head, spec=spec, events=entry.events)
        try:
            self.services.store.create(session)
        except LostRace:
            return self._repeated(head, context)
        return AgentResult(self._runner(session, lease, context).advance())

    def _repeated(self, wanted: SessionHead, context: ExecutionContext) -> AgentResult:
        """Answer a request that was made before: carry on if it was cut off, else say how it stands."""
        stored = self.services.store.head(wanted.session_id)
        if (stored.request_hash, stored.agent) != (wanted.request_hash, wanted.agent):
            raise IdempotencyMismatch("This Idempotency-Key was used before with another request.")
        if stored.status is SessionStatus.RUNNING:
            return self.resume(stored.session_id, context=context)
        return AgentResult(self.services.store.load(stored.session_id))

    def _continue(self, message: str, context: ExecutionContext, session_id: str) -> AgentResult:
        store, clock = self.services.store, self.services.clock
        _check_addressable(store.load(session_id))
        lease = self._lease(context)
        busy = SessionBusy("The session is running. Wait until it rests, then send the message.")
        try:
            store.lease(session_id, lease, now=clock.now(), statuses=_ADDRESSABLE)
        except SessionBusy:
            _check_addressable(store.load(session_id))
            raise busy from None
        # Look again: between the first look and the lease the session may have moved.
        session = store.load(session_id)
        runner = self._runner(session, lease, context)
        try:
            _check_addressable(session)
            runner.say(UserMessage(at=clock.now(), by=context.caller, text=message))
        except (CallsPending, LostRace) as error:
            self.resume(session_id, context=context)  # gives the lease back, at the place where the session rests
            raise error if isinstance(error, CallsPending) else busy from None
        return AgentResult(runner.advance())

    def _runner(self, session: Session, lease: Lease, context: ExecutionContext) -> Runner:
        return Runner(
            session,
            lease,
            model=self.model,
            tools=self.tools,
            services=self.services,
            context=context,
            approval_time=self.approval_time,
            reminder=self.reminder,
            parallel=self.parallel,
        )

    def _lease(self, context: ExecutionContext) -> Lease:
        return Lease(id=context.id, until=context.ends_at + LEASE_MARGIN)


def in_memory_services() -> Services:
    """Return services that keep everything in this process."""
    return Services(
        store=InMemoryStore(),
        notifier=InMemoryNotifier(),
        queue=InMemoryQueue(),
        clock=SystemClock(),
        new_id=new_id,
        new_token=new_token,
        logger=logging.getLogger("pausepoint"),
    )


def check_message(message: str) -> None:
    """Raise InvalidInput unless the message is text that can be kept and sent to a model."""
    if not message.strip():
        raise InvalidInput("The message is empty.", field="message")
    try:
        message.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidInput("The message contains half of a surrogate pair.", field="message") from None
    size = len(dump_json(message).encode("utf-8"))  # as it will be stored, escapes included
    if size > MAX_MESSAGE_BYTES:
        raise InvalidInput(f"The message has {size} bytes; at most {MAX_MESSAGE_BYTES} are allowed.", field="message")


def _check_addressable(session: Session) -> None:
    if session.head.status is SessionStatus.CANCELLED:
        raise SessionEnded("The session was cancelled. Start a new one.")
    waiting = [call for call in session.calls.values() if call.status in WAITING]
    if waiting:
        raise CallsPending(waiting)
