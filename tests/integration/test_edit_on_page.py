"""Approving with other arguments on the page: looked at first, then approved; checked without a right to run tools."""

from __future__ import annotations

import html
import re
from typing import Any

import pytest

from pausepoint.domain.canonical import call_digest
from tests.support.clerk import desk
from tests.support.deployment import Deployment
from tests.support.gateway import Answer, Link
from tests.support.wire import Wire

LABEL = [("label", {"text": " fragile ", "weight": "2"})]
ASKED = '{"text":"fragile","urgent":false,"weight":2.0}'
TYPED = {"argument.text": "fragile", "argument.urgent": "false", "argument.weight": "2.0"}


def edit(deployment: Deployment, link: Link, **changes: str) -> Answer:
    """Post the fields of the arguments, some of them changed."""
    typed = TYPED | {f"argument.{name}": text for name, text in changes.items()}
    return deployment.post_fields(link, {"decision": "edit", **typed})


def hidden(page: str) -> dict[str, str]:
    """Return the hidden fields of a page's only form."""
    found = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', page)
    assert page.count("<form") == 1
    return {name: html.unescape(value) for name, value in found}


def confirm(deployment: Deployment, link: Link, page: str, **changes: str) -> Answer:
    """Press the button of the page that shows a change."""
    return deployment.post_fields(link, hidden(page) | changes)


def test_case_08_the_fields_show_what_will_run(deployment: Deployment) -> None:
    link = deployment.paused(LABEL)
    (call,) = deployment.session(link.session_id)["pending_calls"]
    assert call["arguments"] == {"text": "fragile", "urgent": False, "weight": 2.0}
    page = deployment.show(link).page
    assert re.search(r'name="argument.text"[^>]*>\nfragile</textarea>', page)
    assert re.search(r'name="argument.weight" value="2.0"', page)
    assert "<option selected>false</option>" in page


def test_case_29_an_edit_is_shown_then_approved_then_run_and_the_model_reads_what_was_changed(
    deployment: Deployment, wire: Wire
) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    before = deployment.table()
    wire.sent.clear()

    looked = edit(deployment, link, text="heavy\r\nload", weight="30", urgent="true")

    assert (looked.status, wire.sent) == (200, ["dynamodb.GetItem", "dynamodb.GetItem"])
    assert deployment.table() == before
    new = '{"text":"heavy\\nload","urgent":true,"weight":30.0}'
    assert hidden(looked.page) == {"t": link.token, "digest": call_digest("label", ASKED), "arguments": new}

    assert confirm(deployment, link, looked.page, reason="It weighs more.").status == 200
    deployment.deliver()

    assert desk.entered == [("label", {"text": "heavy\nload", "weight": 30.0, "urgent": True})]
    (result,) = (text for _, text in desk.asked[1].history[-1].results)  # type: ignore[union-attr]
    assert f"The approver changed the arguments from {ASKED} to {new}" in result.text
    decision, execution = (
        next(event for event in deployment.events(link.session_id) if event["type"] == kind)
        for kind in ("decision", "execution")
    )
    assert (decision["digest_shown"], decision["arguments_approved"]) == (call_digest("label", ASKED), new)
    assert execution["digest_run"] == call_digest("label", new)
    assert decision["reason"] == "It weighs more."


def test_case_56_the_page_shows_what_was_asked_and_what_ran(deployment: Deployment) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    confirm(deployment, link, edit(deployment, link, weight="30").page)
    deployment.deliver()
    page = deployment.show(link).page
    assert "What was shown" in page
    assert "What ran, as the approver changed it" in page
    assert "30.0" in page


@pytest.mark.parametrize(
    ("changes", "why"),
    [
        ({"weight": "much"}, "must be a number, such as 12 or 12.5"),
        ({"weight": ""}, "must be a number, such as 12 or 12.5"),
        ({"urgent": "perhaps"}, "must be true or false"),
        ({"text": "a\x00b"}, "contains control characters"),
        ({"text": "x" * 65_000}, None),
        ({}, "The arguments are what was asked for: nothing is changed"),
    ],
    ids=str,
)
def test_case_05_a_wrong_edit_says_so_beside_its_field_and_keeps_what_was_typed(
    undisturbed: Deployment, wire: Wire, changes: dict[str, str], why: str | None
) -> None:
    link = undisturbed.paused(LABEL)
    before = undisturbed.table()
    wire.sent.clear()

    answer = edit(undisturbed, link, **changes)

    assert answer.status == (200 if why is None else 400)
    assert why is None or why in html.unescape(re.sub("<[^>]*>", "", answer.page))
    for text in changes.values():
        assert text in html.unescape(answer.page) or text == "perhaps"  # a list of two cannot hold a third
    assert ('<details id="edit" open>' in answer.page) == (why is not None)
    assert wire.writes == []
    assert undisturbed.table() == before


def test_r10_what_can_be_seen_without_the_schema_costs_one_read(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused(LABEL)
    wire.sent.clear()
    assert edit(deployment, link, weight="much").status == 400
    assert wire.sent == ["dynamodb.GetItem"]


def test_case_05_what_the_schema_refuses_is_refused(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused([("file_under", {"labels": {"a": "b"}})])
    answer = deployment.post_fields(link, {"decision": "edit", "argument.labels": '{"a": 1}'})
    assert answer.status == 400
    assert "a: must be text" in answer.page
    assert "{&#34;a&#34;: 1}" in answer.page
    assert deployment.status(link) == "pending"


@pytest.mark.parametrize(
    "arguments",
    [
        '{"text":"x","urgent":false,"weight":"2"}',
        '{"text":"x","urgent":false,"weight":2}',
        '{"text":null,"urgent":false,"weight":2.0}',
    ],
)
def test_case_05_case_11_what_comes_to_be_confirmed_is_looked_at_again(deployment: Deployment, arguments: str) -> None:
    link = deployment.paused(LABEL)
    answer = deployment.post(link, arguments=arguments)
    assert answer.status == 400
    assert deployment.status(link) == "pending"


def test_confirming_what_was_asked_is_an_ordinary_approval(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    assert deployment.post(link, arguments=ASKED).status == 200
    assert "arguments" not in deployment.call(link)["decision"]["M"]


def test_a_change_can_be_changed_again(deployment: Deployment) -> None:
    link = deployment.paused(LABEL)
    looked = edit(deployment, link, text="heavy", weight="30").page
    before = deployment.table()

    again = deployment.post_fields(link, hidden(looked) | {"decision": "change"})

    assert again.status == 200
    assert re.search(r'name="argument.text"[^>]*>\nheavy</textarea>', again.page)
    assert 'name="argument.weight" value="30.0"' in again.page
    assert '<details id="edit" open>' in again.page
    assert deployment.table() == before


@pytest.mark.parametrize("step", ["edit", "change"])
def test_r20_an_edit_of_something_else_than_was_shown_is_none(deployment: Deployment, step: str) -> None:
    link = deployment.paused(LABEL)
    fields = TYPED if step == "edit" else {"arguments": ASKED}
    answer = deployment.post_fields(link, {"decision": step, "digest": "0" * 64, **fields})
    assert answer.status == 409
    assert "The call is not the one that was shown." in answer.page


@pytest.mark.parametrize("token", ["", "x" * 43, "short"])
def test_case_54_r1_an_edit_without_the_links_secret_finds_nothing(
    deployment: Deployment, wire: Wire, token: str
) -> None:
    link = deployment.paused(LABEL)
    wire.sent.clear()
    answer = deployment.post_fields(link, TYPED | {"decision": "edit", "t": token})
    assert answer.status == 404
    assert len(wire.sent) <= 2  # the second of them is the test's own look at the digest


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
def test_r2_a_call_that_was_decided_cannot_be_edited(deployment: Deployment, verdict: str) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    looked = edit(deployment, link, weight="30").page
    deployment.post(link, decision=verdict)
    before = deployment.table()

    for answer in (
        edit(deployment, link, weight="40"),
        confirm(deployment, link, looked),
        deployment.post_fields(link, hidden(looked) | {"decision": "change"}),
    ):
        assert answer.status == 409
        assert "This was decided before" in answer.page
    assert deployment.table() == before


def test_r2_the_same_change_again_is_already_there_and_another_one_is_refused(deployment: Deployment) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    first, other = (edit(deployment, link, weight=weight).page for weight in ("30", "40"))
    assert confirm(deployment, link, first).status == 200
    assert "Already approved" in confirm(deployment, link, first).page
    assert confirm(deployment, link, other).status == 409
    assert deployment.post(link).status == 409


def test_case_45_r3_an_expired_call_cannot_be_edited(deployment: Deployment) -> None:
    link = deployment.paused(LABEL)
    looked = edit(deployment, link, weight="30").page
    deployment.expire(link)
    assert edit(deployment, link, weight="30").status == 410
    assert confirm(deployment, link, looked).status == 410


def test_r6_an_edit_comes_from_the_page_itself(deployment: Deployment) -> None:
    link = deployment.paused(LABEL)
    answer = deployment.post(link, headers={"sec-fetch-site": "cross-site"}, decision="edit")
    assert answer.status == 400
    assert "This form was sent from another site." in answer.page


def test_what_only_the_tool_itself_knows_is_found_before_it_is_entered_and_said_truly(deployment: Deployment) -> None:
    """The tool strips its text; its schema does not say so."""
    link = deployment.paused(LABEL, "Then not.")
    confirm(deployment, link, edit(deployment, link, text="fragile ").page)
    deployment.deliver()

    assert desk.entered == []
    assert deployment.status(link) == "stale"
    (result,) = (text for _, text in desk.asked[1].history[-1].results)  # type: ignore[union-attr]
    assert result.text == (
        "Not run: the arguments as the approver changed them do not fit the tool 'label'. "
        "The tool would run other arguments than those that were approved."
    )
    page = deployment.show(link).page
    assert "do not fit the tool" in page
    assert "What was shown is not what would run; the note says why." in page


def test_case_46_a_tool_that_is_not_the_sessions_any_more_cannot_be_edited_on_the_page(deployment: Deployment) -> None:
    link = deployment.paused(LABEL)
    deployment.change(link, schema_hash="0" * 64)
    answer = edit(deployment, link, weight="30")
    assert answer.status == 409
    assert "or change its arguments through the API" in answer.page


def test_r62_rules_in_the_bucket_are_out_of_the_pages_reach_and_it_says_so(deployment: Deployment) -> None:
    link = deployment.paused(LABEL)
    spec = deployment.row(link.session_id, "SPEC")
    moved = {name: value for name, value in spec.items() if not name.startswith("body")}
    deployment._dynamodb.put_item(TableName="sessions", Item=moved | {"body_key": {"S": "somewhere"}})
    answer = edit(deployment, link, weight="30")
    assert answer.status == 409
    assert "too large to be read on this page" in answer.page


def test_r9_a_call_with_large_arguments_can_be_edited_too(deployment: Deployment) -> None:
    text = "\N{PARTY POPPER}" * 15_000
    link = deployment.paused([("label", {"text": text, "weight": 1})], "Labelled.")
    looked = edit(deployment, link, text=text + "!", weight="1.0")
    assert looked.status == 200
    assert "(field: word)" in confirm(deployment, link, looked.page).page
    assert confirm(deployment, link, looked.page, word=looked.word).status == 200
    deployment.deliver()
    assert desk.entered == [("label", {"text": text + "!", "weight": 1.0, "urgent": False})]


def decision(link: Link, **fields: Any) -> dict[str, Any]:
    return {"call_id": link.call_id, "decision": "approved", **fields}


def test_r20_a_signed_in_caller_may_say_what_was_shown_and_it_must_be_so(deployment: Deployment) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    before = deployment.table()

    problem = deployment.resume(link.session_id, decision(link, digest="0" * 64)).problem
    assert (problem["status"], problem["type"]) == (409, "urn:pausepoint:problem:conflict")
    assert "The call is not the one that was shown." in problem["detail"]
    assert deployment.table() == before

    shown = deployment.session(link.session_id)["pending_calls"][0]["digest"]
    assert deployment.resume(link.session_id, decision(link, digest=shown)).status == 200
    event = next(event for event in deployment.events(link.session_id) if event["type"] == "decision")
    assert event["digest_shown"] == shown


def test_case_29_an_edit_through_the_api_is_told_and_shown_like_one_on_the_page(deployment: Deployment) -> None:
    link = deployment.paused(LABEL, "Labelled.")
    arguments = {"text": " heavy ", "weight": "30"}
    assert deployment.resume(link.session_id, decision(link, arguments=arguments)).status == 200
    assert desk.entered == [("label", {"text": "heavy", "weight": 30.0, "urgent": False})]
    (result,) = (text for _, text in desk.asked[1].history[-1].results)  # type: ignore[union-attr]
    assert f'from {ASKED} to {{"text":"heavy","urgent":false,"weight":30.0}}' in result.text
    assert "What ran, as the approver changed it" in deployment.show(link).page
