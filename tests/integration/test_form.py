"""The posted form, read strictly: only the exact words act, and an error names the field."""

from __future__ import annotations

import json
from urllib.parse import urlencode

import pytest

from tests.support.clerk import desk
from tests.support.deployment import Deployment
from tests.support.gateway import FORM
from tests.support.wire import Wire

NOT_DECISIONS = [
    "",
    "APPROVED ",
    "approve\n",
    "Approved",
    "approve",
    "1",
    "true",
    "yes",
    "{}",
    "[]",
    "null",
    " approved",
]


@pytest.mark.parametrize("word", NOT_DECISIONS)
def test_case_03_only_the_exact_words_decide(undisturbed: Deployment, word: str) -> None:
    link = undisturbed.standing()

    answer = undisturbed.post(link, decision=word)

    assert answer.status == 400
    words = "approved, rejected, answered, happened, did_not_happen, run_again"
    assert f"The decision must be one of {words}. (field: decision)" in answer.page
    assert undisturbed.status(link) == "pending"


@pytest.mark.parametrize("word", ["happened", "did_not_happen", "run_again"])
def test_what_is_said_of_a_call_in_doubt_is_no_word_on_one_that_waits(undisturbed: Deployment, word: str) -> None:
    link = undisturbed.standing()

    answer = undisturbed.post(link, decision=word)

    assert answer.status == 400
    assert "is pending, not in doubt. (field: decision)" in answer.page
    assert undisturbed.status(link) == "pending"


def wrong_bodies(form: dict[str, str]) -> dict[str, tuple[str | bytes, str]]:
    """Return, by what is wrong: a body, and the field that the answer names."""
    good = urlencode(form)

    def without(name: str) -> str:
        return urlencode({field: value for field, value in form.items() if field != name})

    def reason(escaped: str) -> str:
        return f"{without('reason')}&reason={escaped}"

    return {
        "empty": ("", "t"),
        "decision missing": (without("decision"), "decision"),
        "digest missing": (without("digest"), "digest"),
        "token missing": (without("t"), "t"),
        "decision twice": (good + "&decision=approved", "decision"),
        "other decision too": (good + "&decision=rejected", "decision"),
        "token twice": (good + "&t=" + form["t"], "t"),
        "a tool's name": (good + "&name=look", "body"),
        "no arguments": (good + "&arguments=%7B%7D", "arguments.copies"),
        "arguments of another tool": (good + "&arguments=%7B%22labels%22%3A%7B%7D%7D", "arguments.copies"),
        "arguments and more": (
            good + "&arguments=%7B%22copies%22%3A1%2C%22name%22%3A%22look%22%2C%22path%22%3A%22b%22%7D",
            "arguments.name",
        ),
        "arguments with a refusal": (
            good.replace("approved", "rejected") + "&arguments=%7B%22copies%22%3A1%2C%22path%22%3A%22b%22%7D",
            "arguments",
        ),
        "a field of an argument": (good + "&argument.path=b", "body"),
        "an edit of another argument": (good.replace("approved", "edit") + "&argument.name=look", "argument.copies"),
        "an edit of nothing": (good.replace("approved", "edit"), "argument.copies"),
        "a change of nothing": (good.replace("approved", "change"), "arguments"),
        "an answer to a question": (good + "&answer=yes", "answer"),
        "an answer of a doubt with arguments": (
            good.replace("approved", "happened") + "&arguments=%7B%7D",
            "arguments",
        ),
        "an answer of a doubt with an answer": (good.replace("approved", "happened") + "&answer=yes", "answer"),
        "a choice": (good + "&choice=0", "answer"),
        "a choice of words": (good + "&choice=eu", "choice"),
        "answered": (good.replace("approved", "answered") + "&answer=yes", "decision"),
        "not UTF-8": (good + "&x=%ff", "body"),
        "reason not UTF-8": (reason("%ff"), "body"),
        "reason overlong": (reason("%c0%80"), "body"),
        "reason with a surrogate": (reason("%ed%a0%80"), "body"),
        "reason with NUL": (reason("a%00b"), "reason"),
        "reason with an escape": (reason("%1b%5b2J"), "reason"),
        "reason too long": (reason("x" * 2001), "reason"),
        "raw bytes": (b"\xff\xfe" + good.encode(), "body"),
        "JSON in a form": (json.dumps(form), "body"),
        "no pairs": ("approved", "body"),
        "many fields": (good + "&a=b" * 200, "body"),
    }


FORM_FIELDS = {"t": "t", "digest": "0", "decision": "approved", "reason": ""}


@pytest.mark.parametrize("what", wrong_bodies(FORM_FIELDS))
def test_case_04_case_11_case_55_r9_r10_a_wrong_form_is_refused_by_the_name_of_its_field(
    undisturbed: Deployment, wire: Wire, what: str
) -> None:
    link = undisturbed.standing()
    body, field = wrong_bodies(undisturbed.form(link))[what]
    before = undisturbed.table()
    wire.sent.clear()

    answer = undisturbed.post_body(link, body)

    assert answer.status == 400
    assert f"(field: {field})" in answer.page
    assert link.token not in answer.page
    assert wire.writes == []
    assert len(wire.reads) <= 1
    assert undisturbed.table() == before


@pytest.mark.parametrize("encoded", [True, False], ids=["base64", "plain"])
@pytest.mark.parametrize("kind", [FORM, f"{FORM}; charset=UTF-8", FORM.upper()])
def test_case_55_a_form_is_taken_in_either_encoding(deployment: Deployment, kind: str, *, encoded: bool) -> None:
    link = deployment.paused()

    answer = deployment.post_body(
        link, urlencode(deployment.form(link)), headers={"content-type": kind}, encoded=encoded
    )

    assert answer.status == 200
    assert deployment.status(link) == "approved"


@pytest.mark.parametrize("kind", [None, "", "application/json", "text/plain", "multipart/form-data; boundary=x"])
def test_case_55_another_content_type_is_refused_by_name(undisturbed: Deployment, kind: str | None) -> None:
    link = undisturbed.standing()

    answer = undisturbed.post_body(link, urlencode(undisturbed.form(link)), headers={"content-type": kind})

    assert answer.status == 400
    assert "(field: content-type)" in answer.page
    assert undisturbed.status(link) == "pending"


@pytest.mark.parametrize(
    ("begin", "size", "cap", "field"),
    [
        ("", 32_193, 32_192, "body"),
        ("decision=edits&", 32_193, 32_192, "body"),
        ("", 1024 * 1024, 32_192, "body"),
        ("decision=edit&", 228_801, 228_800, "arguments"),
        ("decision=change&", 228_801, 228_800, "arguments"),
        ("t=x&arguments=", 1024 * 1024, 228_800, "arguments"),
    ],
)
def test_r9_a_body_over_the_cap_is_refused_without_a_look_at_the_table(
    undisturbed: Deployment, wire: Wire, *, begin: str, size: int, cap: int, field: str
) -> None:
    link = undisturbed.standing()
    wire.sent.clear()

    answer = undisturbed.post_body(link, begin + "x" * (size - len(begin)))

    assert answer.status == 413
    assert f"The form has more than {cap} bytes." in answer.page
    assert f"(field: {field})" in answer.page
    assert wire.sent == []


def test_r10_a_digest_that_was_not_shown_costs_one_read_and_no_write(undisturbed: Deployment, wire: Wire) -> None:
    link = undisturbed.standing()
    form = undisturbed.form(link) | {"digest": "0" * 64}
    wire.sent.clear()

    assert undisturbed.post_body(link, urlencode(form)).status == 409
    assert wire.sent == ["dynamodb.GetItem"]


def test_case_28_a_reason_is_kept_verbatim(deployment: Deployment) -> None:
    link = deployment.paused([("shred", {"path": "a.txt"})], "Then not.")
    reason = 'He said "no";\n\n\t- \N{PARTY POPPER} <b>é</b> & more % + = ' + "\N{SNOWMAN}" * 500

    assert deployment.post(link, decision="rejected", reason=reason).status == 200
    deployment.deliver()

    (decision,) = [event for event in deployment.events(link.session_id) if event["type"] == "decision"]
    assert decision["reason"] == reason
    assert desk.asked[1].history[-1].results[0][1].text.endswith(f"Their reason: {reason}")  # type: ignore[union-attr]


REASONS = {
    "quotes": '"' * 2000,
    "line breaks": "\n" * 2000,
    "emoji": "\N{PARTY POPPER}" * 2000,
    "all of them": ('He said "no",\n\N{PARTY POPPER}' * 200)[:2000],
}


@pytest.mark.parametrize("kind", REASONS)
def test_case_28_the_longest_reason_of_any_kind_fits_the_page_and_the_api(deployment: Deployment, kind: str) -> None:
    page, api = deployment.paused_at([("shred", {"path": "a"}), ("shred", {"path": "b"})], "Then not.")
    reason = REASONS[kind]

    sent = reason.replace("\n", "\r\n")  # as browsers send it
    assert deployment.post(page, decision="rejected", reason=sent).status == 200
    assert deployment.resume(api.session_id, {"call_id": api.call_id, "decision": "rejected", "reason": reason}).status

    decisions = [event for event in deployment.events(page.session_id) if event["type"] == "decision"]
    assert [decision["reason"] for decision in decisions] == [reason, reason]


@pytest.mark.parametrize("reason", ["x" * 5000, 'He said "no",\n\N{PARTY POPPER}' * 300])
def test_case_28_a_longer_reason_is_refused_with_the_bound(undisturbed: Deployment, reason: str) -> None:
    link = undisturbed.standing()

    answer = undisturbed.post(link, decision="rejected", reason=reason)

    assert answer.status == 400
    assert f"The reason has {len(reason)} characters; at most 2000 are kept. (field: reason)" in answer.page
    assert undisturbed.status(link) == "pending"
