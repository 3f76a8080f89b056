"""The page that asks a person a question."""

from __future__ import annotations

from typing import TYPE_CHECKING

from pausepoint.http.parts import identity_facts, request_facts, shown_arguments
from pausepoint.http.presenting import model_words
from pausepoint.http.templating import render
from pausepoint.http.visible import flat, visible
from pausepoint.http.wording import relative, when
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS

if TYPE_CHECKING:
    from datetime import datetime

    from pausepoint.domain.calls import PendingToolCall


def question_page(call: PendingToolCall, *, token: str, action: str, now: datetime) -> str:
    """Return the page that shows a question and takes the answer.

    Args:
        call: a pending call that asks a question.
        token: the link's secret; the form sends it back.
        action: the address that the form posts to, without the token.
        now: for the distance to the expiry only.
    """
    assert call.question is not None
    text = call.question.text
    return render(
        "question.html",
        title=f"{flat(visible(call.agent))} has a question",
        tool=visible(call.name),
        agent=visible(call.agent),
        question=visible(text) if text else None,
        choices=[visible(choice) for choice in call.question.choices],
        shown=shown_arguments("Exactly what is asked", call.arguments, call.digest, call.presentation.highlight),
        said=model_words(call),
        facts_shown=request_facts(call, now),
        identity=identity_facts(call),
        expires=when(call.expires_at, now),
        expires_in=relative(call.expires_at, now),
        token=token,
        action=action,
        digest=call.digest,
        max_answer=MAX_REASON_CHARACTERS,
    )
