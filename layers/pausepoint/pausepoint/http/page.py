"""The pages that people see: what would run and the form, what became of it, and what is wrong."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pausepoint.http.edits import edit_form
from pausepoint.http.parts import (
    decision_facts,
    identity_facts,
    request_facts,
    shown_answer,
    shown_arguments,
)
from pausepoint.http.presenting import model_words, stakes
from pausepoint.http.templating import render
from pausepoint.http.visible import flat, visible
from pausepoint.http.wording import ending, relative, sentences, when
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS

if TYPE_CHECKING:
    from datetime import datetime

    from pausepoint.domain.calls import PendingToolCall
    from pausepoint.http.edits import EditForm
    from pausepoint.http.progress import Look


def approval_page(
    call: PendingToolCall,
    *,
    token: str,
    action: str,
    now: datetime,
    needs_code: bool = False,
    edit: EditForm | None = None,
) -> str:
    """Return the page that shows what would run and asks for a decision.

    Args:
        call: a pending call.
        token: the link's secret; the form sends it back.
        action: the address that the form posts to, without the token.
        now: for distances in time only; its time zone is the reader's.
        needs_code: approving takes a one-time code.
        edit: the form in which the arguments are changed, if somebody has begun to.
    """
    return render(
        "approval.html",
        title=f"Approve {flat(visible(call.name))}?",
        tool=visible(call.name),
        agent=visible(call.agent),
        stakes=stakes(call),
        shown=shown_arguments("Arguments", call.arguments, call.digest, call.presentation.highlight, asks_word=True),
        said=model_words(call),
        facts_shown=request_facts(call, now),
        identity=identity_facts(call),
        expires=when(call.expires_at, now),
        expires_in=relative(call.expires_at, now),
        edit=edit or edit_form(call),
        token=token,
        action=action,
        digest=call.digest,
        max_reason=MAX_REASON_CHARACTERS,
        needs_code=needs_code,
    )


def doubt_page(call: PendingToolCall, *, token: str, action: str, now: datetime) -> str:
    """Return the page that asks what became of a call that was cut off. Arguments as for `approval_page`."""
    ran = call.approved_arguments
    return render(
        "doubt.html",
        title=f"Did {flat(visible(call.name))} happen?",
        tool=visible(call.name),
        agent=visible(call.agent),
        words=sentences(call, now),
        shown=shown_arguments(
            "What was run" if ran == call.arguments else "What was run, as the approver changed it",
            ran,
            call.approved_digest,
            call.presentation.highlight,
        ),
        decision_facts=decision_facts(call, now),
        facts_shown=request_facts(call, now),
        identity=identity_facts(call),
        token=token,
        action=action,
        digest=call.approved_digest,
        max_reason=MAX_REASON_CHARACTERS,
    )


def outcome_page(call: PendingToolCall, *, now: datetime, heading: str | None = None, look: Look | None = None) -> str:
    """Return the page that tells what became of a call, with what was shown and what ran.

    Args:
        call: any call that is not open to a decision any more.
        now: tells whether a pending call is overdue; distances in time; its time zone is the reader's.
        heading: replaces the title that the status has, e.g. "Already decided".
        look: how the page goes on, where what it tells is not the last word.
    """
    told = ending(call, now)
    decision = call.decision
    edited = decision is not None and decision.arguments is not None
    first = call.presentation.highlight
    shown = [shown_arguments("What was shown" if edited else "Arguments", call.arguments, call.digest, first)]
    if edited:
        verb = "What ran" if call.execution else "What may run"
        heading_edited = f"{verb}, as the approver changed it"
        shown.append(shown_arguments(heading_edited, call.approved_arguments, call.approved_digest, first))
    return render(
        "outcome.html",
        title=f"{heading or told.title}: {flat(visible(call.name))}",
        heading=visible(heading or told.title),
        asked="asked to run" if call.question is None else "asked by",
        tool=visible(call.name),
        agent=visible(call.agent),
        ending=told,
        words=sentences(call, now),
        look=look,
        answer=shown_answer(decision.answer) if decision and decision.answer is not None else None,
        text=visible(call.outcome) if call.outcome else None,
        reason=visible(decision.reason) if decision and decision.reason else None,
        note=visible(call.resolution.reason) if call.resolution and call.resolution.reason else None,
        shown=shown,
        decision_facts=decision_facts(call, now),
        facts_shown=request_facts(call, now),
        identity=identity_facts(call),
    )


def problem_page(title: str, text: str) -> str:
    """Return a page for what cannot be shown or done: 400, 404, 410 and the like."""
    return render("problem.html", title=title, heading=visible(title), text=visible(text))
