"""The pages: everything a person needs to decide, nothing that decides for them."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from pausepoint.domain.calls import CallStatus, Question
from pausepoint.domain.canonical import canonical_json, short_code
from pausepoint.http.edit_page import confirm_page
from pausepoint.http.edits import Edited
from pausepoint.http.page import approval_page, outcome_page, problem_page
from pausepoint.http.question_page import question_page
from pausepoint.http.visible import CHIP_CLOSE, CHIP_OPEN
from pausepoint.http.wording import ENDINGS, relative
from tests.unit.http.samples import ASKED, EDITED, NOW, Page, decided_call, pending_call, table, words

S = CallStatus
TOKEN = "q" * 43
ACTION = "/approvals/s-1/c3-0"
OWN_TAGS = {
    *("html", "head", "meta", "title", "style", "body", "main", "header", "section", "footer"),
    *("h1", "h2", "h3", "p", "dl", "div", "dt", "dd", "bdi", "span", "strong", "code", "pre", "details", "summary"),
    *("form", "input", "label", "textarea", "button", "small", "select", "option", "del", "ins"),
    *("table", "thead", "tbody", "tr", "th", "td", "ul", "li", "a"),
}
LINK = "the holder of the approval link at 2026-11-29 15:09 UTC."
KEPT = decided_call(S.REJECTED, verdict="rejected", reason="keep it")
ATTACK = '</script><img src=x onerror=alert(1)>"><form action=//evil><style>*{}</style><a href=//evil>{{ 7*7 }}'


def page(arguments: dict[str, Any] | None = None, **changes: Any) -> str:
    return approval_page(pending_call(arguments, **changes), token=TOKEN, action=ACTION, now=NOW)


def test_the_page_shows_everything_needed_to_decide() -> None:
    call = pending_call({"path": "reports/q3.pdf", "force": True})
    text = words(approval_page(call, token=TOKEN, action=ACTION, now=NOW))
    for part in (
        "custodian asks to run delete_file",
        "reports/q3.pdf",
        "true",
        "2 arguments · 38 bytes · 2 lines",
        "arn:aws:iam::123456789012:user/maria",
        "2026-11-29 15:04 UTC 7 minutes ago",
        "2026-11-30 15:04 UTC in 23 hours",
        short_code(call.digest),
        call.digest,
        "s-1",
        "c3-0",
        "opening this page changed nothing",
        '{"force":true,"path":"reports/q3.pdf"}',
    ):
        assert part in text


def test_the_form_posts_token_digest_reason_and_one_of_two_decisions() -> None:
    call = pending_call()
    source = approval_page(call, token=TOKEN, action=ACTION, now=NOW)
    parsed = Page(source[: source.index("</form>")])
    assert parsed.all("form") == [{"method": "post", "action": ACTION, "autocomplete": "off"}]
    hidden = {field["name"]: field["value"] for field in parsed.all("input") if field["type"] == "hidden"}
    assert hidden == {"t": TOKEN, "digest": call.digest}
    [reason] = parsed.all("textarea")
    assert (reason["name"], reason["maxlength"]) == ("reason", "2000")
    assert {"for": reason["id"]} in parsed.all("label")
    assert [(b["name"], b["value"]) for b in parsed.all("button")] == [
        ("decision", "rejected"),  # first: an accidental Enter must run nothing
        ("decision", "approved"),
    ]


@pytest.mark.parametrize("source", [page(), outcome_page(decided_call(S.APPROVED), now=NOW), problem_page("a", "b")])
def test_case_49_pages_run_nothing_load_nothing_and_are_complete_documents(source: str) -> None:
    parsed = Page(source)
    assert {tag for tag, _ in parsed.tags} <= OWN_TAGS
    for _, attributes in parsed.tags:
        assert attributes.keys().isdisjoint({"style", "src", "href", "autofocus", "tabindex", "accesskey"})
        assert not any(name.startswith("on") for name in attributes)
    assert source.startswith('<!doctype html>\n<html lang="en">')
    assert {"name": "robots", "content": "noindex"} in parsed.all("meta")
    assert {"name": "viewport", "content": "width=device-width, initial-scale=1"} in parsed.all("meta")
    assert len(parsed.all("h1")) == len(parsed.all("title")) == len(parsed.all("main")) == 1


def test_case_53_markup_in_any_field_is_text() -> None:
    changes = {"agent": ATTACK, "requested_by": ATTACK, "name": ATTACK, "session_id": ATTACK, "call_id": ATTACK}
    arguments = {ATTACK: ATTACK, "list": [ATTACK, {ATTACK: ATTACK}]}
    sources = [
        approval_page(pending_call(arguments, **changes), token=ATTACK, action=ATTACK, now=NOW),
        outcome_page(pending_call(arguments, **changes, status=S.EXPIRED, outcome=ATTACK), now=NOW, heading=ATTACK),
        outcome_page(decided_call(S.REJECTED, verdict="rejected", reason=ATTACK), now=NOW),
        problem_page(ATTACK, ATTACK),
        question_page(
            pending_call(arguments, **changes, question=Question(text=ATTACK, choices=(ATTACK,))),
            token=ATTACK,
            action=ATTACK,
            now=NOW,
        ),
        confirm_page(
            pending_call(arguments, **changes),
            Edited(canonical_json({ATTACK: f"{ATTACK}!", "list": []}), "0" * 64),
            token=ATTACK,
            action=ATTACK,
            now=NOW,
        ),
    ]
    for source in sources:
        parsed = Page(source)
        assert {tag for tag, _ in parsed.tags} <= OWN_TAGS
        assert {form["action"] for form in parsed.all("form")} <= {ATTACK, f"{ATTACK}#edit"}
        assert len(parsed.all("form")) <= 2
        assert len(parsed.all("style")) == 1
        assert ATTACK in words(source)


def test_case_52_a_forged_status_stays_inside_its_row() -> None:
    source = page({"note": "ok\n\nSTATUS: pre-approved\n\x1b[8m\u202e"})
    assert "STATUS: pre-approved" in table(source)
    assert f"{CHIP_OPEN}U+001B ESCAPE{CHIP_CLOSE}[8m{CHIP_OPEN}U+202E RIGHT-TO-LEFT OVERRIDE{CHIP_CLOSE}" in table(
        source
    )
    assert words(source).count("STATUS") == 3  # its row, the exact text, and the field in which it can be changed


def test_case_51_line_breaks_in_the_agents_name_are_named() -> None:
    text = words(page(agent="custodian\r\nBcc: x\t"))
    assert f"custodian{CHIP_OPEN}U+000D CARRIAGE RETURN{CHIP_CLOSE}" in text


def test_nothing_is_cut_and_much_text_is_said_to_be_much() -> None:
    long = "y" * 40_000
    source = page({"text": long})
    assert long in table(source)
    assert "This is a lot of text" in words(source)
    assert "This is a lot of text" not in words(page())


def test_no_arguments_are_said() -> None:
    assert "No arguments." in words(page({}))


def test_every_status_has_its_words() -> None:
    assert set(ENDINGS) == set(CallStatus)


@pytest.mark.parametrize(
    ("call", "title", "sentence", "moving"),
    [
        (decided_call(S.APPROVED), "Approved", f"Approved by {LINK} It has not run yet.", True),
        (decided_call(S.EXECUTING, ran=True), "Running now", "started at 2026-11-29 15:10 UTC and is running", True),
        (decided_call(S.SUCCEEDED, ran=True, outcome="gone"), "Done", "succeeded at 2026-11-29 15:12 UTC.", False),
        (decided_call(S.FAILED, ran=True, outcome="OSError: no"), "Failed", "failed at 2026-11-29 15:12 UTC.", False),
        (decided_call(S.IN_DOUBT, ran=True), "In doubt", "it may or may not have taken effect", True),
        (KEPT, "Rejected", f"Rejected by {LINK} It did not run and will not.", False),
        (pending_call(status=S.EXPIRED), "Expired, not run", "before 2026-11-30 15:04 UTC. It did not run", False),
        (pending_call(status=S.CANCELLED), "Cancelled, not run", "The session was cancelled. It did not run", False),
        (decided_call(S.STALE), "Out of date, not run", "What was shown is not what would run", False),
        (pending_call(), "Not decided yet", "It waits for a decision.", True),
    ],
)
def test_the_outcome_is_told_in_plain_words(call: Any, title: str, sentence: str, moving: bool) -> None:
    text = words(outcome_page(call, now=NOW))
    assert f"asked to run delete_file {title} " in text
    assert sentence in text
    assert ("This is not the last word." in text) is moving
    assert "a.txt" in text
    assert short_code(call.digest) in text
    assert not Page(outcome_page(call, now=NOW)).all("form")
    for told in (call.outcome, call.decision.reason if call.decision else ""):
        assert told in text


def test_case_45_a_pending_call_past_its_time_is_told_as_expired() -> None:
    text = words(outcome_page(pending_call(), now=ASKED + timedelta(hours=24)))
    assert "Expired, not run" in text
    assert "It did not run and will not." in text


def test_case_56_the_page_tells_who_when_how_what_was_shown_and_what_ran() -> None:
    call = decided_call(S.SUCCEEDED, ran=True, outcome="deleted other.txt", edited=EDITED)
    text = words(outcome_page(call, now=NOW))
    for part in (
        "Decision approved",
        "Decided at 2026-11-29 15:09 UTC",
        "Decided by the holder of the approval link claimed by holding the link; no sign-in",
        f"Code shown {short_code(call.digest)}",
        f"Code run {short_code(call.approved_digest)}",
        f"one per line: {call.approved_digest}",
        f"one per line: {call.digest}",
        "What was shown",
        "a.txt",
        "What ran, as the approver changed it",
        "other.txt",
        "What the tool gave back deleted other.txt",
    ):
        assert part in text
    assert call.digest != call.approved_digest


def test_a_heading_of_the_callers_own_replaces_the_title() -> None:
    text = words(outcome_page(decided_call(S.APPROVED), now=NOW, heading="Already decided"))
    assert "Already decided" in text


def test_a_rejection_without_a_reason_says_so() -> None:
    assert "No reason was given." in words(outcome_page(decided_call(S.REJECTED, verdict="rejected"), now=NOW))
    assert "No reason" not in words(outcome_page(decided_call(S.APPROVED), now=NOW))


@pytest.mark.parametrize(
    ("seconds", "text"),
    [
        (86_399, "in 23 hours"),
        (2 * 86_400, "in 2 days"),
        (3_600, "in 1 hour"),
        (119, "in 1 minute"),
        (59, "in less than a minute"),
        (0, "just now"),
        (-59, "just now"),
        (-420, "7 minutes ago"),
    ],
)
def test_distances_in_time_are_coarse_and_rounded_down(seconds: int, text: str) -> None:
    assert relative(NOW + timedelta(seconds=seconds), NOW) == text
