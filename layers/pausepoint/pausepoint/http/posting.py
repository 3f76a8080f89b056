"""What a posted form does: record a decision or an answer, or, writing nothing, show what a change would run."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pausepoint.domain.calls import CallStatus
from pausepoint.errors import ConfigurationError, Conflict, InvalidInput
from pausepoint.http.edit_page import confirm_page
from pausepoint.http.edits import Edited, EditRefused, edit_form, edited, read_arguments_field, read_edit
from pausepoint.http.large import check_typed
from pausepoint.http.page import approval_page
from pausepoint.runtime.codes import check_code, needs_code
from pausepoint.runtime.decisions import (
    BY_LINK,
    Recorded,
    check_answer,
    check_decision,
    check_open,
    check_resolution,
    check_word,
    make_decision,
    make_resolution,
    record_decision,
    record_resolution,
)

if TYPE_CHECKING:
    from datetime import datetime

    from pausepoint.domain.calls import PendingToolCall
    from pausepoint.domain.session import SessionSpec
    from pausepoint.http.forms import DecisionForm
    from pausepoint.runtime.context import Services


def record(services: Services, call: PendingToolCall, form: DecisionForm) -> Recorded:
    """Record what was decided, answered, or said of a call in doubt.

    What can be seen to be wrong costs no write (R10); changed arguments cost one read more, of the tool's schema.
    """
    _check_fields(form)
    match form.decision:
        case "approved" | "rejected" | "answered" as verdict:
            check_word(call, verdict)
            changed = _changed(services, call, form)
            if verdict == "approved" and call.status is CallStatus.PENDING:
                runs = changed or call
                check_typed(runs.arguments, runs.digest, form.word)
            decision = make_decision(
                services,
                call,
                verdict,
                reason=form.reason,
                by=BY_LINK,
                verified="link",
                digest_shown=form.digest,
                edited=(changed.arguments, changed.digest) if changed else None,
                answer=_answer(call, form),
            )
            check_decision(call, decision)
            if verdict == "approved" and call.status is CallStatus.PENDING and needs_code(services, call):
                check_code(services, call, form.code, token=form.token)
            return record_decision(services, call, decision, token=form.token)
        case "happened" | "did_not_happen" | "run_again" as answer:
            resolution = make_resolution(services, answer, reason=form.reason, by=BY_LINK, verified="link")
            check_resolution(call, resolution)
            return record_resolution(services, call, resolution, token=form.token)
        case step:
            raise AssertionError(f"{step} records nothing")


def change(
    services: Services, call: PendingToolCall, form: DecisionForm, *, action: str, now: datetime
) -> tuple[int, str]:
    """Return status and page of what writes nothing: a change is looked at (`edit`), or made again (`change`)."""
    check_open(services, call, digest_shown=form.digest)
    status = 200
    try:
        if form.decision == "edit":
            different = _different(services, call, form)
            asks = needs_code(services, call)
            page = confirm_page(call, different, token=form.token, action=action, now=now, needs_code=asks)
            return status, page
        again = edit_form(call, values=read_arguments_field(call, form.arguments))
    except EditRefused as refused:
        status, again = 400, edit_form(call, typed=form.typed, problems=refused.problems)
    asks = needs_code(services, call)
    return status, approval_page(call, token=form.token, action=action, now=now, needs_code=asks, edit=again)


def _different(services: Services, call: PendingToolCall, form: DecisionForm) -> Edited:
    values = read_edit(call, form.typed)
    changed = edited(call, _spec(services, call), values)
    if changed.arguments == call.arguments:
        raise EditRefused({"": "are what was asked for: nothing is changed"})
    return changed


def _check_fields(form: DecisionForm) -> None:
    if form.decision != "answered" and (form.answer is not None or form.choice is not None):
        raise InvalidInput("Only a question has an answer.", field="answer")
    if form.decision != "approved" and form.arguments is not None:
        raise InvalidInput("Only an approval can change arguments.", field="arguments")


def _changed(services: Services, call: PendingToolCall, form: DecisionForm) -> Edited | None:
    """Return what runs instead: looked at anew, since what comes from a form is anybody's."""
    if form.arguments is None:
        return None
    values = read_arguments_field(call, form.arguments)
    if form.arguments == call.arguments:
        return None
    changed = edited(call, _spec(services, call), values)
    if changed.arguments != form.arguments:
        raise InvalidInput("The field arguments is not what the page put there.", field="arguments")
    return changed


def _answer(call: PendingToolCall, form: DecisionForm) -> str | None:
    if form.decision != "answered":
        return None
    if form.choice is None:
        return check_answer(call, form.answer)
    choices = call.question.choices if call.question else ()
    if form.answer is not None or form.choice >= len(choices):
        raise InvalidInput("There is no such choice.", field="choice")
    return check_answer(call, choices[form.choice])


def _spec(services: Services, call: PendingToolCall) -> SessionSpec:
    try:
        return services.store.spec(call.session_id)
    except ConfigurationError as error:  # it is in the bucket, into which the page has no look
        raise Conflict(
            "The rules of this agent's tools are too large to be read on this page. "
            "Approve or reject the call as it is, or change its arguments through the API."
        ) from error
