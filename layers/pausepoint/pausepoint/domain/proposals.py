"""From what the model asked for to the calls of a stored turn: validated, gated, refused or recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from datetime import datetime
from typing import TYPE_CHECKING, Final, Protocol

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.canonical import call_digest
from pausepoint.domain.events import ToolCall
from pausepoint.domain.session import Session
from pausepoint.errors import InvalidInput

if TYPE_CHECKING:
    from pausepoint.domain.tools import Tool  # with what validation costs; the page needs none

WHOLE_TURN: Final = frozenset({"end_turn", "stop_sequence", "tool_use"})
"""The stop reasons (Bedrock Converse's words) after which a turn is whole. After any other nothing of it runs."""


MODEL_TEXT_CHARACTERS: Final = 2000
"""So much of what the model wrote beside a call is kept with it, to be shown."""


class Requested(Protocol):
    """A tool call as the model asked for it."""

    @property
    def tool_call_id(self) -> str: ...
    @property
    def name(self) -> str: ...
    @property
    def arguments(self) -> object: ...


def propose(
    session: Session, requested: Sequence[Requested], tools: Mapping[str, Tool], *, stop_reason: str
) -> tuple[ToolCall, ...]:
    """Return the calls of the turn that comes next in the log.

    Nobody is asked about, and nothing runs of, what is unknown, invalid, cut off, or over a budget: such a
    call carries a refusal for the model to read.
    """
    # The turn is the next event, and a call is named after it: the same name when a crash makes us ask again.
    seq = session.next_seq
    asked = session.tool_calls
    waiting = len(session.waiting_calls)
    proposed: list[ToolCall] = []
    for index, request in enumerate(requested):
        call = _understood(f"c{seq}-{index}", request, tools, stop_reason=stop_reason)
        if call.refusal is None:
            waiting += call.guarded
            call = _within_limits(call, session, asked=asked + index + 1, waiting=waiting)
        proposed.append(call)
    return tuple(proposed)


def record_of(
    call: ToolCall,
    session: Session,
    tool: Tool,
    *,
    model_text: str,
    now: datetime,
    expires_at: datetime,
    token_hash: str | None,
) -> PendingToolCall:
    """Return the record of a guarded call at its start: pending if a person must agree, else approved."""
    assert call.arguments is not None
    said = model_text.strip()[:MODEL_TEXT_CHARACTERS]
    return PendingToolCall(
        session_id=session.head.session_id,
        call_id=call.call_id,
        tool_call_id=call.tool_call_id,
        name=call.name,
        arguments=call.arguments,
        digest=call.digest,
        schema_hash=call.schema_hash,
        gated=call.gated,
        retry_safe=call.retry_safe,
        question=tool.question_in(call.arguments),
        presentation=replace(tool.presentation, model_text=said),
        status=CallStatus.PENDING if call.gated else CallStatus.APPROVED,
        agent=session.head.agent,
        requested_by=session.head.owner,
        requested_at=now,
        expires_at=expires_at,
        token_hashes=(token_hash,) if token_hash else (),
        notify="due" if call.gated else "none",
    )


def reissue_of(
    record: PendingToolCall, call_id: str, *, now: datetime, expires_at: datetime, token_hash: str
) -> PendingToolCall:
    """Return the call that takes the place of one in doubt: the same bytes, and nobody has approved it yet."""
    return PendingToolCall(
        session_id=record.session_id,
        call_id=call_id,
        tool_call_id=record.tool_call_id,
        name=record.name,
        arguments=record.approved_arguments,
        asked=record.asked or (record.arguments if record.approved_arguments != record.arguments else None),
        digest=record.approved_digest,
        schema_hash=record.schema_hash,
        gated=True,
        retry_safe=record.retry_safe,
        presentation=record.presentation,
        status=CallStatus.PENDING,
        agent=record.agent,
        requested_by=record.requested_by,
        requested_at=now,
        expires_at=expires_at,
        token_hashes=(token_hash,),
        notify="due",
    )


def _understood(call_id: str, request: Requested, tools: Mapping[str, Tool], *, stop_reason: str) -> ToolCall:
    call = ToolCall(call_id=call_id, tool_call_id=request.tool_call_id, name=request.name)

    def refused(why: str) -> ToolCall:
        return replace(call, refusal=why)

    if stop_reason not in WHOLE_TURN:
        return refused(f"Not run: your turn was not complete ({stop_reason}).")
    tool = tools.get(request.name)
    if tool is None:
        return refused(f"Not run: there is no tool {request.name!r}. There are: {', '.join(tools) or 'none'}.")
    try:
        arguments = tool.arguments(request.arguments)
    except InvalidInput as error:
        return refused(f"Not run. {error}")
    return replace(
        call,
        arguments=arguments,
        digest=call_digest(tool.name, arguments),
        schema_hash=tool.schema_hash,
        gated=tool.needs_confirmation(arguments),
        retry_safe=tool.retry_safe,
    )


def _within_limits(call: ToolCall, session: Session, *, asked: int, waiting: int) -> ToolCall:
    limits = session.head.limits
    refusal = None
    if asked > limits.tool_calls:
        refusal = f"Not run: this session may make {limits.tool_calls} tool calls, and they are used up."
    elif call.guarded and waiting > limits.pending_calls:
        refusal = f"Not run: at most {limits.pending_calls} such calls may wait at a time. Ask again after these."
    elif call.gated and session.rejections_of(call.digest) >= limits.same_call_rejections:
        refusal = "Not run: a person has rejected exactly this call before. Do not ask for it again."
    return call if refusal is None else replace(call, refusal=refusal)
