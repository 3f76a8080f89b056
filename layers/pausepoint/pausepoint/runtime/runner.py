"""The loop: asks `next_step`, does it, writes it down, until the session pauses, ends or has to be handed over."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime, timedelta
from typing import Final, assert_never

from pausepoint.domain.accounts import said_about
from pausepoint.domain.bounds import check_budgets, unkeepable
from pausepoint.domain.calls import CallStatus, PendingToolCall, model_told
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.events import AssistantTurn, CallReissued, Event, LogEntry, SessionFailed, ToolCall, UserMessage
from pausepoint.domain.proposals import WHOLE_TURN, propose, record_of, reissue_of
from pausepoint.domain.session import Lease, Session, SessionStatus
from pausepoint.domain.steps import (
    AwaitDecisions,
    CallModel,
    Finish,
    Readiness,
    RunCalls,
    next_step,
    readiness,
    together,
)
from pausepoint.domain.tools import Tool
from pausepoint.errors import (
    BudgetExceeded,
    LostRace,
    ModelError,
    ModelTimeout,
    PausepointError,
    ToolCutOff,
    Unavailable,
)
from pausepoint.runtime.asking import Asking
from pausepoint.runtime.context import ExecutionContext, Services
from pausepoint.runtime.decisions import wake
from pausepoint.runtime.execution import Executor, Settled
from pausepoint.runtime.pace import Pace
from pausepoint.runtime.ports import ChatModel, Commit, FinishedCall, ModelReply, ModelRequest

_RECORD_ATTEMPTS: Final = 5
_RACES: Final = 5
"""So many races a runner that holds the lease may lose (to late results) before it leaves the session to others."""


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
        reminder: timedelta | None,
        parallel: int,
    ) -> None:
        self._session = session  # everything this runner knows, written or not
        self._lease = lease
        self._unsaved: tuple[Event, ...] = ()  # its tail that is not in the log yet
        self._model = model
        self._tools = tools
        self._services = services
        self._context = context
        self._approval_time = approval_time
        self._parallel = parallel
        self._asking = Asking(services, reminder)
        self._executor = Executor(services, tools, context)
        self._leased = True
        self._races = 0
        self._pace = Pace(context, services.clock)

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
            return self._after_race()
        return self._session

    def _after_race(self) -> Session:
        """Look at what somebody else wrote; go on from there if this runner is still to go on."""
        session = self._services.store.load(self._session.head.session_id)
        self._races += 1
        lease = session.head.lease
        if lease is not None and lease.id == self._lease.id and self._races < _RACES:
            self._session, self._unsaved = session, ()
            return self.advance()
        # What was written here may be all that the other runner was waiting for: somebody has to look.
        wake(self._services, session.head.session_id)
        return session

    def say(self, message: UserMessage) -> None:
        """Put a user's message into the log. Raises LostRace if somebody else wrote first."""
        self._note(message)
        self._flush()

    def _step(self) -> None:
        match next_step(self._session, self._now()):
            case CallModel():
                self._ask_model()
            case RunCalls(calls):
                self._settle(together(self._session, calls, self._parallel))
            case AwaitDecisions(calls):
                # Whoever is inside a tool may die there: then it is the session that has to be looked after.
                elsewhere = any(self._status_of(call) is CallStatus.EXECUTING for call in calls)
                status = SessionStatus.RUNNING if elsewhere else SessionStatus.PAUSED
                self._commit(status=status, keep_lease=False)
                self._look_again(status)
            case Finish():
                self._commit(status=self._ended(), keep_lease=False)
            case step:
                assert_never(step)

    def _ask_model(self) -> None:
        if not self._pace.allows():
            self._hand_over()
            return
        request_at = self._now()
        request = ModelRequest(
            spec=self._session.spec,
            history=self._session.history(),
            timeout=self._context.seconds_left(request_at),
        )
        try:
            check_budgets(self._session, self._now())
            turn = self._turn(self._model.respond(request))
        except ModelTimeout as error:
            if self._pace.longer_elsewhere(request_at):
                self._hand_over()
            else:
                self._fail(error.code, str(error))
        except Unavailable as error:
            if self._context.retried:
                self._services.logger.warning("model not available", extra={"why": str(error)})
                self._commit(status=SessionStatus.RUNNING, keep_lease=False)
            else:
                self._fail(error.code, str(error))
        except (ModelError, BudgetExceeded) as error:
            self._fail(error.code, str(error))
        except Exception as error:  # a model is the user's own code as often as not; the session must say so
            self._services.logger.exception("model raised")
            self._fail(ModelError.code, f"The model's adapter raised {type(error).__name__}.")
        else:
            self._store_turn(turn)

    def _turn(self, reply: object) -> AssistantTurn:
        if not isinstance(reply, ModelReply):
            raise ModelError(f"The model's adapter gave a {type(reply).__name__}, and not a ModelReply.")
        return AssistantTurn(
            at=self._now(),
            message=reply.message,
            text=reply.text,
            calls=propose(self._session, reply.calls, self._tools, stop_reason=reply.stop_reason),
            stop_reason=reply.stop_reason,
            usage=reply.usage,
        )

    def _store_turn(self, turn: AssistantTurn) -> None:
        now = turn.at
        if (why := unkeepable(turn)) is not None:
            self._fail("turn-not-kept", f"The model's turn cannot be kept: {why}.")
            return
        tokens = {call.call_id: self._services.new_token() for call in turn.calls if call.guarded and call.gated}
        records = tuple(
            record_of(
                call,
                self._session,
                self._tools[call.name],
                model_text=turn.text,
                now=now,
                expires_at=min(now + self._approval_time, _end_of(self._session)),
                token_hash=sha256_hex(tokens[call.call_id]) if call.gated else None,
            )
            for call in turn.calls
            if call.guarded
        )
        self._note(turn)
        self._session = self._session.after(None, calls=records)
        match next_step(self._session, now):
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

    def _settle(self, calls: Sequence[ToolCall]) -> None:
        if not self._pace.allows(*(self._tools.get(call.name) for call in calls)):
            self._hand_over()
            return
        call = calls[0]
        record = self._session.calls.get(call.call_id)
        ready = readiness(call, record, self._now())
        if record is None or not call.guarded:
            enters, session_id = ready is Readiness.ENTER, self._session.head.session_id
            settled = self._executor.enter(session_id, calls) if enters else [self._executor.answer(call, record)]
            for each in settled:
                self._keep(each)
            return
        match ready:
            case Readiness.ANSWER:
                self._keep(self._executor.answer(call, record))
            case Readiness.ENTER:
                self._enter_guarded(call, record)
            case Readiness.RECONCILE:
                found = self._executor.reconcile(call, record)
                if found is None:
                    self._ask_about(record)
                else:
                    self._keep(found)
            case Readiness.REISSUE:
                self._reissue(record)
            case Readiness.WAIT:
                raise AssertionError(f"call {call.call_id} is not ready")

    def _enter_guarded(self, call: ToolCall, record: PendingToolCall) -> None:
        # What was not written yet must not be lost with this process while a dangerous tool runs.
        self._flush()
        try:
            self._keep(self._executor.enter_guarded(call, record))
        except ToolCutOff:
            self._services.logger.exception("tool cut off", extra={"call_id": call.call_id})
            self._session = self._services.store.load(self._session.head.session_id)

    def _keep(self, settled: Settled) -> None:
        """Write what must be written at once; what need not rides with the next write."""
        if settled.finished is None:
            self._note(*settled.events)
        else:
            self._record(settled)

    def _ask_about(self, record: PendingToolCall) -> None:
        """Nothing but a person can say what became of this call."""
        token = self._services.new_token()
        record = self._services.store.add_link(record, sha256_hex(token), reconciled=True)
        self._session = self._session.after(None, calls=[record])
        self._notify(record.call_id, token)

    def _reissue(self, record: PendingToolCall) -> None:
        """Put a call that is to run again before a person anew, as another call."""
        now = self._now()
        token = self._services.new_token()
        said = said_about(record)
        self._flush()
        call_id = f"c{self._session.next_seq + len(said)}-0"
        expires_at = min(now + self._approval_time, _end_of(self._session))
        again = reissue_of(record, call_id, now=now, expires_at=expires_at, token_hash=sha256_hex(token))
        reissued = CallReissued(
            at=now,
            call_id=record.call_id,
            name=record.name,
            reissued_as=call_id,
            arguments=again.arguments,
            digest=again.digest,
        )
        told = model_told(record, outcome=f"Asked again as {call_id}.")
        self._note(*said, reissued)
        self._session = self._session.after(None, calls=[told, again])
        held_by = record.execution.id if record.execution else None
        self._commit(records=(again,), finished=FinishedCall(call=told, execution_id=held_by))
        self._notify(call_id, token)

    def _status_of(self, call: ToolCall) -> CallStatus | None:
        record = self._session.calls.get(call.call_id)
        return record.status if record else None

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
                stands=self._session.head.status,
            )
            try:
                self._services.store.commit(commit)
            except (LostRace, Unavailable):
                if attempt == _RECORD_ATTEMPTS:
                    raise
                self._session, self._unsaved = self._services.store.load(self._session.head.session_id), ()
                if self._session.told_of(settled.finished.call.call_id):
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
            self._asking.send(self._session.head.base_url, call, token)
        except PausepointError as error:
            self._services.logger.warning(
                "notice not sent", extra={"session_id": call.session_id, "call_id": call_id, "why": str(error)}
            )

    def _look_again(self, status: SessionStatus) -> None:
        """After giving the lease back, see whether a decision came while nobody else could take it."""
        store, head = self._services.store, self._session.head
        self._session = store.load(head.session_id)
        if isinstance(next_step(self._session, self._now()), AwaitDecisions | Finish):
            return
        try:
            store.lease(head.session_id, self._lease, now=self._now(), statuses=frozenset({status}))
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
        finished: FinishedCall | None = None,
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
                finished=finished,
                status=status,
                log_at=self._session.next_seq - len(self._unsaved),
                keep_lease=keep_lease,
            )
        )
        self._unsaved = ()
        self._session = self._session.after(None, head=head)
        self._leased = keep_lease

    def _now(self) -> datetime:
        return self._services.clock.now()


def _end_of(session: Session) -> datetime:
    return datetime.fromtimestamp(session.head.expires, tz=session.head.created_at.tzinfo)
