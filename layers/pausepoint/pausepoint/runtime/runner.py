"""The loop: asks `next_step`, does it, writes it down, until the session pauses, ends or has to be handed over."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Final, assert_never

from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.events import AssistantTurn, Event, LogEntry, SessionFailed, ToolCall, UserMessage
from pausepoint.domain.proposals import WHOLE_TURN, propose, record_of
from pausepoint.domain.session import Lease, Session, SessionStatus
from pausepoint.domain.steps import (
    AwaitDecisions,
    CallModel,
    Finish,
    Readiness,
    RunCalls,
    next_step,
    readiness,
)
from pausepoint.domain.tools import Tool
from pausepoint.domain.values import dump_json
from pausepoint.errors import BudgetExceeded, LostRace, ModelError, ModelTimeout, PausepointError, Unavailable
from pausepoint.runtime.context import ExecutionContext, Services
from pausepoint.runtime.decisions import wake
from pausepoint.runtime.execution import Executor, Settled
from pausepoint.runtime.notices import approval_notice
from pausepoint.runtime.ports import ChatModel, Commit, ModelReply, ModelRequest

_FLUSH_BYTES: Final = 64 * 1024
"""Results that ride with the next turn are written earlier when they grow past this: a row of DynamoDB
holds 400 KB, and these, one more result (100 KB) and a turn must fit."""
_TURN_BYTES: Final = 200 * 1024
_RECORD_ATTEMPTS: Final = 5


class Runner:
    """Advances one session whose lease this invocation holds."""

    def __init__(
        self,
        session: Session,
        lease: Lease,
        *,
        model: ChatModel,
        tools: Mapping[str, Tool],
        services: Services,
        context: ExecutionContext,
        approval_time: timedelta,
    ) -> None:
        self._session = session  # everything this runner knows, written or not
        self._lease = lease
        self._unsaved: tuple[Event, ...] = ()  # its tail that is not in the log yet
        self._model = model
        self._tools = tools
        self._services = services
        self._context = context
        self._approval_time = approval_time
        self._executor = Executor(services, tools, context)
        self._leased = True

    def advance(self) -> Session:
        """Go on until the session rests, and return it. The lease is given back on every way out but a crash.

        Whoever finds that somebody else wrote first stops and returns what is stored.

        Raises:
            Unavailable: the store did not answer; the lease runs out and the session is picked up again.
        """
        try:
            while self._leased:
                self._step()
        except LostRace:
            return self._services.store.load(self._session.head.session_id)
        return self._session

    def say(self, message: UserMessage) -> None:
        """Put a user's message into the log. Raises LostRace if somebody else wrote first."""
        self._note(message)
        self._flush()

    def _step(self) -> None:
        match next_step(self._session):
            case CallModel():
                self._ask_model()
            case RunCalls(calls):
                self._settle(calls[0])
            case AwaitDecisions():
                self._commit(status=SessionStatus.PAUSED, keep_lease=False)
                self._look_again()
            case Finish():
                self._commit(status=self._ended(), keep_lease=False)
            case step:
                assert_never(step)

    def _ask_model(self) -> None:
        if self._context.must_hand_over(self._now()):
            self._hand_over()
            return
        request = ModelRequest(
            spec=self._session.spec,
            history=self._session.history(),
            timeout=self._context.seconds_left(self._now()),
        )
        try:
            check_budgets(self._session, self._now())
            reply = self._model.respond(request)
        except ModelTimeout as error:
            if self._context.answer_by is not None:
                self._hand_over()  # whoever takes over has more time than a caller at the gateway
            else:
                self._fail(error.code, str(error))
        except (ModelError, BudgetExceeded, Unavailable) as error:
            self._fail(error.code, str(error))
        except Exception as error:  # a model is the user's own code as often as not; the session must say so
            self._services.logger.exception("model raised")
            self._fail(ModelError.code, f"The model's adapter raised {type(error).__name__}.")
        else:
            self._store_turn(reply)

    def _store_turn(self, reply: ModelReply) -> None:
        now = self._now()
        turn = AssistantTurn(
            at=now,
            message=reply.message,
            text=reply.text,
            calls=propose(self._session, reply.calls, self._tools, stop_reason=reply.stop_reason),
            stop_reason=reply.stop_reason,
            usage=reply.usage,
        )
        if (why := _unkeepable(turn)) is not None:
            self._fail("turn-not-kept", f"The model's turn cannot be kept: {why}.")
            return
        tokens = {call.call_id: self._services.new_token() for call in turn.calls if call.guarded and call.gated}
        records = tuple(
            record_of(
                call,
                self._session,
                now=now,
                expires_at=min(now + self._approval_time, _end_of(self._session)),
                token_hash=sha256_hex(tokens[call.call_id]) if call.gated else None,
            )
            for call in turn.calls
            if call.guarded
        )
        self._note(turn)
        self._session = self._session.after(None, calls=records)
        match next_step(self._session):
            case AwaitDecisions():
                self._commit(records=records, status=SessionStatus.PAUSED, keep_lease=False)
            case Finish() if turn.stop_reason in WHOLE_TURN:
                self._commit(status=SessionStatus.COMPLETED, keep_lease=False)
            case Finish():
                self._fail("model-stopped", f"The model stopped before its answer was complete ({turn.stop_reason}).")
            case _:
                self._commit(records=records)
        for record in records:
            if record.call_id in tokens:
                self._notify(record.call_id, tokens[record.call_id])

    def _settle(self, call: ToolCall) -> None:
        if self._context.must_hand_over(self._now()):
            self._hand_over()
            return
        record = self._session.calls.get(call.call_id)
        if readiness(call, record) is Readiness.ANSWER:
            settled = self._executor.answer(call, record)
        elif record is not None and call.guarded:
            # What was not written yet must not be lost with this process while a dangerous tool runs.
            self._flush()
            settled = self._executor.enter_guarded(call, record)
        else:
            settled = self._executor.enter(self._session.head.session_id, call)
        if settled.finished is None:
            self._note(*settled.events)
            if sum(map(_size, self._unsaved)) > _FLUSH_BYTES:
                self._flush()
        else:
            self._record(settled)

    def _record(self, settled: Settled) -> None:
        """Write the end of a guarded call. It has happened: if the log went on, follow it and write there.

        What cannot be written here ends in doubt, so it is tried harder than anything else.
        """
        for attempt in range(1, _RECORD_ATTEMPTS + 1):
            self._note(*settled.events)
            assert settled.finished is not None
            commit = Commit(
                head=self._session.head,
                lease_id=self._lease.id,
                at=self._now(),
                entry=self._entry(),
                finished=settled.finished,
            )
            try:
                self._services.store.commit(commit)
            except (LostRace, Unavailable):
                if attempt == _RECORD_ATTEMPTS:
                    raise
                self._session, self._unsaved = self._services.store.load(self._session.head.session_id), ()
                if settled.finished.call.call_id in self._session.results:
                    break  # it was written; only the answer was lost
            else:
                self._session = self._session.after(None, calls=[settled.finished.call])
                self._unsaved = ()
                break
        # Whoever took the session over, or ended it, meanwhile: it is not for this runner to go on.
        lease = self._session.head.lease
        self._leased = lease is not None and lease.id == self._lease.id
        if not self._leased:  # they may have paused for want of this very result
            wake(self._services, self._session.head.session_id)

    def _notify(self, call_id: str, token: str) -> None:
        """Tell the approver. A failure here loses nothing: the record says that the notice is due."""
        call = self._session.calls[call_id]
        try:
            self._services.notifier.send(approval_notice(self._session.head.base_url, call, token))
            self._services.store.mark_notified(call.session_id, call_id)
        except PausepointError as error:
            self._services.logger.warning(
                "notice not sent", extra={"session_id": call.session_id, "call_id": call_id, "why": str(error)}
            )

    def _look_again(self) -> None:
        """After giving the lease back, see whether a decision came while nobody else could take it."""
        store, head = self._services.store, self._session.head
        self._session = store.load(head.session_id)
        if isinstance(next_step(self._session), AwaitDecisions | Finish):
            return
        try:
            store.lease(head.session_id, self._lease, now=self._now(), statuses=frozenset({SessionStatus.PAUSED}))
        except PausepointError:
            return  # somebody else took it: theirs now
        self._session = store.load(head.session_id)
        self._leased = True

    def _hand_over(self) -> None:
        """Give the session to the work queue, at a step boundary, with everything written."""
        self._commit(status=SessionStatus.RUNNING, keep_lease=False)
        wake(self._services, self._session.head.session_id)

    def _fail(self, code: str, message: str) -> None:
        self._services.logger.error("session failed", extra={"code": code, "why": message})
        self._note(SessionFailed(at=self._now(), code=code, message=message))
        self._commit(status=SessionStatus.FAILED, keep_lease=False)

    def _ended(self) -> SessionStatus:
        last = self._session.events[-1]
        return SessionStatus.FAILED if isinstance(last, SessionFailed) else SessionStatus.COMPLETED

    def _note(self, *events: Event) -> None:
        self._unsaved += events
        self._session = self._session.after(LogEntry(first=self._session.next_seq, events=events))

    def _entry(self) -> LogEntry | None:
        if not self._unsaved:
            return None
        return LogEntry(first=self._session.next_seq - len(self._unsaved), events=self._unsaved)

    def _flush(self) -> None:
        if self._unsaved:
            self._commit()

    def _commit(
        self,
        *,
        records: tuple[PendingToolCall, ...] = (),
        status: SessionStatus | None = None,
        keep_lease: bool = True,
    ) -> None:
        head = self._services.store.commit(
            Commit(
                head=self._session.head,
                lease_id=self._lease.id,
                at=self._now(),
                entry=self._entry(),
                new_calls=records,
                status=status,
                keep_lease=keep_lease,
            )
        )
        self._unsaved = ()
        self._session = self._session.after(None, head=head)
        self._leased = keep_lease

    def _now(self) -> datetime:
        return self._services.clock.now()


def check_budgets(session: Session, now: datetime) -> None:
    """Raise BudgetExceeded when the session may not ask the model again."""
    limits = session.head.limits
    age = (now - session.head.created_at).total_seconds()
    used = {
        f"{limits.model_calls} model calls": session.model_calls >= limits.model_calls,
        f"{limits.tool_calls} tool calls": session.tool_calls > limits.tool_calls,
        f"{limits.tokens} tokens": session.usage.total >= limits.tokens,
        f"{limits.seconds} seconds": age >= limits.seconds,
        f"{limits.consecutive_rejections} rejections in a row": session.consecutive_rejections
        >= limits.consecutive_rejections,
    }
    for what, exceeded in used.items():
        if exceeded:
            raise BudgetExceeded(f"The session stopped: its budget of {what} is used up.")


def _unkeepable(turn: AssistantTurn) -> str | None:
    """Say why a turn cannot be stored; None when it can."""
    try:
        size = _size(turn)
    except (TypeError, ValueError, RecursionError) as error:  # not data, endless digits, endless depth
        return str(error)
    return f"it has {size} bytes, and at most {_TURN_BYTES} are kept" if size > _TURN_BYTES else None


def _size(event: Event) -> int:
    # The provider's message may hold bytes and half surrogate pairs, which pydantic's JSON does not write.
    document = event.model_dump(mode="json", exclude={"message"})
    return len(dump_json([document, getattr(event, "message", None)]).encode("utf-8"))


def _end_of(session: Session) -> datetime:
    return datetime.fromtimestamp(session.head.expires, tz=session.head.created_at.tzinfo)
