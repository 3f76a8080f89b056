"""Decisions that arrive together through the API: all are looked at before the first is recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Literal, cast

from pausepoint.domain.calls import Answer, Decision, PendingToolCall, Resolution, Verdict
from pausepoint.domain.canonical import call_digest
from pausepoint.domain.session import Session
from pausepoint.domain.tools import Tool
from pausepoint.errors import Conflict, InvalidInput, PausepointError
from pausepoint.runtime.context import Services
from pausepoint.runtime.decisions import (
    ANSWERS,
    OTHER_SHOWN,
    VERDICTS,
    DecisionRequest,
    check_answer,
    check_decision,
    check_reason,
    check_resolution,
    make_decision,
    make_resolution,
    record_decision,
    record_resolution,
    wake,
)


@dataclass(frozen=True)
class _Desk:
    """Looks at requests of one caller."""

    services: Services
    tools: Mapping[str, Tool]
    by: str
    verified: Literal["aws-signature", "caller"]

    def checked(self, call: PendingToolCall, request: DecisionRequest, field: str) -> Decision | Resolution:
        """Return what would be recorded, if it may be."""
        _check_shown(call, request)
        reason = check_reason(request.reason, field=f"{field}.reason")
        if request.decision in sorted(ANSWERS):  # a list: a caller's own code may put anything here, unhashable or not
            return self._answer(call, request, reason, field)
        if request.decision not in sorted(VERDICTS):  # the only words that act
            words = ", ".join(sorted(VERDICTS | ANSWERS))
            raise InvalidInput(f"A decision is one of {words}.", field=f"{field}.decision")
        decision = make_decision(
            self.services,
            call,
            cast("Verdict", request.decision),
            reason=reason,
            by=self.by,
            verified=self.verified,
            digest_shown=request.digest or call.digest,
            edited=self._edited(call, request, field),
            answer=self._answered(call, request, field),
        )
        try:
            check_decision(call, decision)
        except InvalidInput as error:
            raise InvalidInput(str(error), field=f"{field}.decision") from None
        return decision

    def _answered(self, call: PendingToolCall, request: DecisionRequest, field: str) -> str | None:
        if request.decision == "answered":
            return check_answer(call, request.answer, field=f"{field}.answer")
        if request.answer is not None:
            raise InvalidInput("Only a question has an answer.", field=f"{field}.answer")
        return None

    def _answer(self, call: PendingToolCall, request: DecisionRequest, reason: str, field: str) -> Resolution:
        if request.arguments is not None:
            raise InvalidInput("Only an approval can change arguments.", field=f"{field}.arguments")
        if request.answer is not None:
            raise InvalidInput("Only a question has an answer.", field=f"{field}.answer")
        answer = cast("Answer", request.decision)
        resolution = make_resolution(self.services, answer, reason=reason, by=self.by, verified=self.verified)
        try:
            check_resolution(call, resolution)
        except InvalidInput as error:
            raise InvalidInput(str(error), field=f"{field}.decision") from None
        return resolution

    def _edited(self, call: PendingToolCall, request: DecisionRequest, field: str) -> tuple[str, str] | None:
        if request.arguments is None:
            return None
        if request.decision != "approved":
            raise InvalidInput("Only an approval can change arguments.", field=f"{field}.arguments")
        tool = self.tools.get(call.name)
        if tool is None or tool.schema_hash != call.schema_hash:
            raise Conflict(f"The tool {call.name!r} changed after the call was requested; it can only be rejected.")
        try:
            arguments = tool.arguments(request.arguments)
        except InvalidInput as error:
            raise InvalidInput(str(error), field=f"{field}.arguments") from None
        return (arguments, call_digest(call.name, arguments)) if arguments != call.arguments else None


def record_all(
    services: Services,
    tools: Mapping[str, Tool],
    session: Session,
    requests: Sequence[DecisionRequest],
    *,
    by: str,
    verified: Literal["aws-signature", "caller"],
) -> None:
    """Record decisions on calls of one session.

    Raises:
        InvalidInput: a call is unknown or named twice, or a request does not fit; `field` names it.
        AlreadyDecided: another verdict or answer stands. CallExpired: the time to decide is over.
        Conflict: arguments are edited, and the tool has changed; or a request names a digest that is not the
            stored call's.
    """
    desk = _Desk(services, tools, by, verified)
    checked: list[tuple[PendingToolCall, Decision | Resolution]] = []
    for index, request in enumerate(requests):
        field = f"decisions.{index}"
        call = session.calls.get(request.call_id)
        if call is None:
            message = f"Session {session.head.session_id} has no call {request.call_id!r}."
            raise InvalidInput(message, field=f"{field}.call_id")
        if any(request.call_id == other.call_id for other in requests[:index]):
            raise InvalidInput(f"Call {request.call_id} is decided twice.", field=f"{field}.call_id")
        checked.append((call, desk.checked(call, request, field)))
    for call, said in checked:
        try:
            if isinstance(said, Resolution):
                record_resolution(services, call, said)
            else:
                record_decision(services, call, said)
        except PausepointError:
            wake(services, session.head.session_id)  # for those that were recorded before this one
            raise


def _check_shown(call: PendingToolCall, request: DecisionRequest) -> None:
    # Of a call in doubt its page shows what ran, which an approver may have changed.
    shown = {call.digest, call.approved_digest} if request.decision in sorted(ANSWERS) else {call.digest}
    if request.digest is not None and request.digest not in shown:
        raise Conflict(f"Call {call.call_id}: {OTHER_SHOWN}")
