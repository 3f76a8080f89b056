"""Entering a tool: claim first, then run exactly the approved bytes, then record what came of it."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextvars import copy_context
from dataclasses import dataclass
from datetime import datetime

from pausepoint.domain.accounts import said_about
from pausepoint.domain.answers import GONE, edited_note, refusal_text
from pausepoint.domain.calls import (
    CallStatus,
    Execution,
    PendingToolCall,
    Resolution,
    closed,
    finished,
    model_told,
    resolved,
)
from pausepoint.domain.canonical import call_digest, parse_json
from pausepoint.domain.events import Event, ExecutionRecorded, ToolCall, ToolResult
from pausepoint.domain.results import error_text, result_text
from pausepoint.domain.tools import Tool, ToolContext
from pausepoint.errors import InvalidInput, ToolCutOff
from pausepoint.runtime.context import ExecutionContext, Services
from pausepoint.runtime.ports import FinishedCall

_OUTCOME_CHARACTERS = 1000


@dataclass(frozen=True)
class Settled:
    """A call brought to its result: what the log gets, and the record's end where the call has one.

    `finished` must be written at once, together with the events; without it they may wait for the next write.
    """

    events: tuple[Event, ...]
    finished: FinishedCall | None = None


class Executor:
    """Runs the calls of one session for one invocation."""

    def __init__(self, services: Services, tools: Mapping[str, Tool], context: ExecutionContext) -> None:
        self._services = services
        self._tools = tools
        self._context = context

    def answer(self, call: ToolCall, record: PendingToolCall | None) -> Settled:
        """Answer a call without entering its tool."""
        text = call.refusal or (refusal_text(record) if record is not None else GONE)
        succeeded = record is not None and record.status in (CallStatus.SUCCEEDED, CallStatus.ANSWERED)
        if record is not None and record.status is CallStatus.SUCCEEDED:
            text = edited_note(record) + text
        entered = record is not None and record.resolution is not None
        result = self._result(call, "success" if succeeded else "error", text, entered=entered)
        events: tuple[Event, ...] = (*said_about(record), result)
        if record is None or not call.guarded:
            return Settled(events=events)
        told = model_told(record, outcome=text[:_OUTCOME_CHARACTERS])
        held_by = record.execution.id if record.execution else None
        return Settled(events=events, finished=FinishedCall(call=told, execution_id=held_by))

    def reconcile(self, call: ToolCall, record: PendingToolCall) -> Settled | None:
        """Ask the tool itself what became of a call in doubt; None when only a person can say."""
        tool = self._tools.get(record.name)
        if tool is None or tool.schema_hash != record.schema_hash or record.execution is None:
            return None
        approver = record.decision.by if record.decision else None
        context = self._tool_context(record.session_id, record.call_id, approver=approver)
        try:
            arguments = record.approved_arguments
            seconds = self._context.tool_seconds(self._now())
            found = self._services.call_within(seconds, lambda: tool.reconcile(arguments, context))
        except (Exception, SystemExit, asyncio.CancelledError):  # it may raise anything, or never come back
            self._services.logger.exception("reconcile raised", extra={"tool": tool.name, "call_id": call.call_id})
            return None
        if found is None:
            return None
        resolution = Resolution(
            answer="did_not_happen" if found is False else "happened",
            by=f"{tool.name}'s own check",
            at=self._now(),
            verified="reconcile",
        )
        ended = resolved(record, resolution, token_hash=None)
        text = refusal_text(ended) if isinstance(found, bool) else result_text(found)
        if found is not False:
            text = edited_note(record) + text
        told = model_told(ended, outcome=text[:_OUTCOME_CHARACTERS])
        result = self._result(call, "error" if found is False else "success", text, entered=True)
        return Settled(
            events=(*said_about(told), result), finished=FinishedCall(call=told, execution_id=record.execution.id)
        )

    def enter(self, session_id: str, calls: Sequence[ToolCall]) -> list[Settled]:
        """Run calls that need no record (ungated, and safe to run again), at the same time; return them in order."""
        if len(calls) == 1:
            return [self._enter(session_id, calls[0])]
        with ThreadPoolExecutor(max_workers=len(calls)) as pool:
            running = [pool.submit(copy_context().run, self._enter, session_id, call) for call in calls]
            return [each.result() for each in running]

    def _enter(self, session_id: str, call: ToolCall) -> Settled:
        tool = self._tools.get(call.name)
        assert call.arguments is not None
        if tool is None or tool.schema_hash != call.schema_hash or not tool.means(call.arguments):
            return Settled(events=(self._result(call, "error", _changed(call.name), entered=False),))
        try:
            status, text = self._run(tool, call.arguments, self._tool_context(session_id, call.call_id, approver=None))
        except ToolCutOff as error:
            status, text = "error", str(error)
        return Settled(events=(self._result(call, status, text, entered=True),))

    def enter_guarded(self, call: ToolCall, record: PendingToolCall) -> Settled:
        """Claim an approved call, run it, and return its end.

        Raises:
            LostRace: somebody else claimed it, or it may not run.
            Unavailable: nobody knows whether the claim was written, so the tool was not entered.
            ToolCutOff: the tool was entered and did not come back in time; the call stays as it is until its
                deadline, and is then in doubt (or run again, if it is retry-safe).
        """
        tool = self._tools.get(record.name)
        arguments = record.approved_arguments
        digest = call_digest(record.name, arguments)
        if tool is None or tool.schema_hash != record.schema_hash or not tool.means(arguments):
            return self._stale(call, record, _why_not(tool, record))
        # What the log says was requested, what the record holds and what was decided on must be one thing.
        shown = record.decision.digest_shown if record.decision else record.digest
        if not call.digest == shown == call_digest(record.name, record.arguments) or digest != record.approved_digest:
            return self._stale(call, record, "Not run: the stored call was altered after it was requested.")
        execution = Execution(
            id=self._services.new_id(),
            digest=digest,
            started_at=self._services.clock.now(),
            deadline=self._context.ends_at,
        )
        claimed = self._services.store.claim(record.session_id, record.call_id, execution)
        approver = record.decision.by if record.decision else None
        status, text = self._run(
            tool, arguments, self._tool_context(record.session_id, record.call_id, approver=approver)
        )
        return self._recorded(call, claimed, execution, status, edited_note(record) + text)

    def _recorded(
        self, call: ToolCall, claimed: PendingToolCall, execution: Execution, status: str, text: str
    ) -> Settled:
        now = self._now()
        ended = CallStatus.SUCCEEDED if status == "success" else CallStatus.FAILED
        record = finished(claimed, execution.id, ended, outcome=text[:_OUTCOME_CHARACTERS], at=now)
        executed = ExecutionRecorded(
            at=execution.started_at,
            call_id=call.call_id,
            name=call.name,
            execution_id=execution.id,
            digest_run=execution.digest,
            ended_at=now,
            status=ended,
        )
        result = self._result(call, status, text, entered=True)
        return Settled(
            events=(*said_about(claimed), executed, result),
            finished=FinishedCall(call=record, execution_id=execution.id),
        )

    def _stale(self, call: ToolCall, record: PendingToolCall, why: str) -> Settled:
        self._services.logger.warning("call not run", extra={"call_id": call.call_id, "why": why})
        stale = closed(record, CallStatus.STALE, outcome=why)
        events: tuple[Event, ...] = (*said_about(record), self._result(call, "error", why, entered=False))
        return Settled(events=events, finished=FinishedCall(call=stale, execution_id=None))

    def _run(self, tool: Tool, arguments: str, context: ToolContext) -> tuple[str, str]:
        try:
            seconds = self._context.tool_seconds(self._now())
            return "success", result_text(self._services.call_within(seconds, lambda: tool.run(arguments, context)))
        except ToolCutOff:
            raise
        except (Exception, SystemExit, asyncio.CancelledError) as error:  # a tool may raise anything
            self._services.logger.exception("tool raised", extra={"tool": tool.name, "call_id": context.call_id})
            return "error", error_text(error)

    def _tool_context(self, session_id: str, call_id: str, *, approver: str | None) -> ToolContext:
        return ToolContext(
            session_id=session_id,
            call_id=call_id,
            idempotency_key=f"{session_id}:{call_id}",
            approver=approver,
            deadline=self._context.ends_at,
            logger=logging.getLogger("pausepoint.tools"),
        )

    def _result(self, call: ToolCall, status: str, text: str, *, entered: bool) -> ToolResult:
        return ToolResult(
            at=self._now(),
            call_id=call.call_id,
            name=call.name,
            status="success" if status == "success" else "error",
            text=text,
            entered=entered,
        )

    def _now(self) -> datetime:
        return self._services.clock.now()


def _why_not(tool: Tool | None, record: PendingToolCall) -> str:
    """Say why what was approved cannot run: the tool changed, or what the approver put instead never fitted it."""
    edited = record.decision is not None and record.decision.arguments is not None
    if tool is None or tool.schema_hash != record.schema_hash or not edited:
        return _changed(record.name)
    try:
        tool.arguments(parse_json(record.approved_arguments))
    except InvalidInput as error:
        why = str(error)
    else:
        why = "The tool would run other arguments than those that were approved."
    return f"Not run: the arguments as the approver changed them do not fit the tool {record.name!r}. {why}"


def _changed(name: str) -> str:
    return f"Not run: the tool {name!r} changed after the call was requested. Look at it again before you ask."
