"""The words the model reads about a call that was not run, or not run as it asked."""

from __future__ import annotations

from typing import Final, assert_never

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.canonical import parse_json

_SHOWN_CHARACTERS: Final = 8000
"""Of edited arguments, so that they, the result and the decision fit into one row of DynamoDB (400 KB)."""
_HAPPENED: Final = "The process died while the tool ran. It was checked: the effect did happen. Its result is lost."
_DID_NOT_HAPPEN: Final = "The process died while the tool ran. It was checked: the effect did not happen."
_NOT_RUN: Final = {
    CallStatus.EXPIRED: "Not run: nobody decided in time, so the request expired.",
    CallStatus.CANCELLED: "Not run: the request was cancelled.",
}
_NOT_ANSWERED: Final = {
    CallStatus.EXPIRED: "Not answered: nobody answered in time, so the question expired.",
    CallStatus.CANCELLED: "Not answered: the question was cancelled.",
}
GONE: Final = "Not run: the record of this call is gone."


def refusal_text(record: PendingToolCall) -> str:
    """Say truthfully what came of a guarded call whose tool has no result of its own."""
    match record.status:
        case CallStatus.REJECTED:
            return _rejection(record.decision.reason if record.decision else "")
        case CallStatus.ANSWERED:
            return answer_text(record)
        case CallStatus.EXPIRED | CallStatus.CANCELLED:
            return (_NOT_RUN if record.question is None else _NOT_ANSWERED)[record.status]
        case CallStatus.STALE:
            return record.outcome or "Not run: the tool changed after the call was requested."
        case CallStatus.SUCCEEDED:
            return record.outcome or _HAPPENED
        case CallStatus.FAILED:
            return record.outcome or _DID_NOT_HAPPEN
        case CallStatus.PENDING | CallStatus.APPROVED | CallStatus.EXECUTING | CallStatus.IN_DOUBT:
            raise AssertionError(f"call {record.call_id} is {record.status}: it has no answer yet")
        case _:
            assert_never(record.status)


def answer_text(record: PendingToolCall) -> str:
    """Return what a person answered, verbatim: a text as it is, anything else (and a blank text) as JSON."""
    assert record.decision is not None and record.decision.answer is not None  # noqa: PT018 - one fact
    value = parse_json(record.decision.answer)
    return value if isinstance(value, str) and value.strip() else record.decision.answer


def edited_note(record: PendingToolCall) -> str:
    """Say what the approver changed, or nothing."""
    asked, ran = record.asked or record.arguments, record.approved_arguments
    if ran == asked:
        return ""
    return f"The approver changed the arguments from {_shown(asked)} to {_shown(ran)}; the changed ones were run.\n"


def _shown(arguments: str) -> str:
    if len(arguments) <= _SHOWN_CHARACTERS:
        return arguments
    return f"{arguments[:_SHOWN_CHARACTERS]}… ({len(arguments)} characters)"


def _rejection(reason: str) -> str:
    if reason.strip():
        return f"Not run: a person rejected this call. Their reason: {reason}"
    return "Not run: a person rejected this call and gave no reason. Do not repeat it unchanged."
