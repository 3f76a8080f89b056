"""The page that asks what became of a call: what it shows, and what it must not claim."""

from __future__ import annotations

import pytest

from pausepoint.domain.calls import Answer, CallStatus, PendingToolCall, Resolution
from pausepoint.domain.canonical import short_code
from pausepoint.http.page import doubt_page, outcome_page
from tests.unit.http.samples import EDITED, NOW, Page, decided_call, pending_call, words

TOKEN = "t" * 43
RAN = decided_call(CallStatus.IN_DOUBT, ran=True)


def page_of(call: PendingToolCall) -> str:
    return doubt_page(call, token=TOKEN, action="/approvals/s/c", now=NOW)


def test_it_asks_with_three_buttons_of_which_running_again_is_the_last() -> None:
    page = Page(page_of(RAN))
    buttons = [button["value"] for button in page.all("button")]
    assert buttons == ["happened", "did_not_happen", "run_again"]
    hidden = {field["name"]: field["value"] for field in page.all("input")}
    assert hidden == {"t": TOKEN, "digest": RAN.digest}
    assert not any("autofocus" in attributes for attributes in (*page.all("button"), *page.all("textarea")))


def test_it_tells_when_it_started_and_that_nobody_knows() -> None:
    text = words(page_of(RAN))
    assert "It started at 2026-11-29 15:10 UTC" in text
    assert "it may or may not have taken effect" in text
    assert "Nothing runs again unless you ask for it." in text


def test_it_names_no_time_that_would_press_and_no_digest_but_of_what_ran() -> None:
    call = decided_call(CallStatus.IN_DOUBT, ran=True, edited=EDITED)
    text = words(page_of(call))
    assert "Decide before" not in text
    assert f"{short_code(call.approved_digest)} of exactly what was run" in text
    assert "What was run, as the approver changed it" in text
    assert "other.txt" in text
    assert "a.txt" not in text.replace("other.txt", "")


def test_a_call_that_nobody_had_to_approve_is_not_said_to_be_approved() -> None:
    call = pending_call(status=CallStatus.IN_DOUBT, gated=False, execution=RAN.execution)
    assert "pprov" not in words(page_of(call)).replace("asks for a new approval first", "")


def test_case_53_markup_in_arguments_and_names_is_text() -> None:
    hostile = pending_call({"<b>": "</script><img src=x onerror=alert(1)>"}, status=CallStatus.IN_DOUBT, agent="<i>")
    page = Page(page_of(hostile))
    assert page.all("img") == page.all("script") == page.all("i") == page.all("b") == []


@pytest.mark.parametrize(
    ("answer", "status", "said"),
    [
        ("happened", CallStatus.SUCCEEDED, "It did happen."),
        ("did_not_happen", CallStatus.FAILED, "It did not happen, and is not run again."),
        ("run_again", CallStatus.FAILED, "It is asked for again, as another call with a link of its own."),
    ],
)
def test_afterwards_the_page_tells_what_was_said_by_whom_and_when(
    answer: Answer, status: CallStatus, said: str
) -> None:
    resolution = Resolution(answer=answer, by="maria", at=NOW, verified="link", reason="I looked.")
    text = words(outcome_page(decided_call(status, ran=True, resolution=resolution), now=NOW))
    assert said in text
    assert "Note to the answer I looked." in text
    assert "Said by maria at 2026-11-29 15:11 UTC." in text
