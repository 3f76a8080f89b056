"""Questions through the deployed functions: the same pause, the same link, and the answer is data."""

from __future__ import annotations

import json
import re
from typing import Any

import pytest

from tests.support.clerk import desk
from tests.support.deployment import Deployment
from tests.support.gateway import Link
from tests.support.wire import Wire

FREE = [("ask_human", {"question": "Which shelf?"})]
CHOICES = ["upper", "lower\r\n\x1b", ""]
CHOOSING = [("ask_human", {"question": "Which shelf?", "choices": CHOICES})]


def answer(link: Link, value: Any, **fields: Any) -> dict[str, Any]:
    return {"call_id": link.call_id, "decision": "answered", "answer": value, **fields}


def read() -> tuple[str, str]:
    """Return status and text of the result that the model read."""
    ((_, result),) = desk.asked[1].history[-1].results  # type: ignore[union-attr]
    return result.status, result.text


def logged(deployment: Deployment, link: Link) -> dict[str, Any]:
    (event,) = [event for event in deployment.events(link.session_id) if event["type"] == "decision"]
    return event


TEXTS = ["upper", "", "  ", 'He said "no";\n\n\t\N{PARTY POPPER} <b>é</b> & more', "false", "0", "null"]


@pytest.mark.parametrize("text", TEXTS)
def test_an_answer_on_the_page_is_kept_word_for_word_and_read_by_the_model(deployment: Deployment, text: str) -> None:
    link = deployment.paused(FREE, "Thanks.")
    page = deployment.show(link).page
    assert 'name="answer"' in page
    assert "Which shelf?" in page

    told = deployment.post(link, decision="answered", answer=text.replace("\n", "\r\n"))
    assert (told.status, deployment.status(link)) == (200, "answered")
    assert "Answered by" in told.page
    deployment.deliver()

    assert read() == ("success", text if text.strip() else json.dumps(text))
    event = logged(deployment, link)
    assert (event["verdict"], event["verified"], json.loads(event["answer"])) == ("answered", "link", text)
    assert deployment.session(link.session_id)["status"] == "completed"
    assert desk.entered == []


@pytest.mark.parametrize("value", [False, True, 0, -0.0, 1.5, "", " ", [], {}, ["a", {"b": None}], "eu"], ids=repr)
def test_an_answer_through_the_api_is_any_json_but_null(deployment: Deployment, value: Any) -> None:
    link = deployment.paused(FREE, "Thanks.")
    done = deployment.resume(link.session_id, answer(link, value)).json
    assert done["status"] == "completed"
    text = value if isinstance(value, str) and value.strip() else json.dumps(value, separators=(",", ":"))
    assert read() == ("success", text)
    assert logged(deployment, link)["answer"] == json.dumps(value, separators=(",", ":"))


@pytest.mark.parametrize("number", range(len(CHOICES)))
def test_a_choice_is_pressed_by_its_number_and_answered_by_its_text(deployment: Deployment, number: int) -> None:
    link = deployment.paused(CHOOSING, "Thanks.")
    page = deployment.show(link).page
    assert len(re.findall(r'<button[^>]*name="choice"', page)) == len(CHOICES)

    assert deployment.post(link, decision="answered", choice=str(number)).status == 200
    deployment.deliver()

    assert json.loads(logged(deployment, link)["answer"]) == CHOICES[number]


@pytest.mark.parametrize("through", ["page", "api"])
def test_a_choice_may_be_answered_in_its_own_words(deployment: Deployment, through: str) -> None:
    link = deployment.paused(CHOOSING, "Thanks.")
    if through == "page":
        assert deployment.post(link, decision="answered", answer="upper").status == 200
    else:
        assert deployment.resume(link.session_id, answer(link, "upper")).status == 200
    assert deployment.call(link)["decision"]["M"]["answer"]["S"] == '"upper"'


@pytest.mark.parametrize(
    ("fields", "field"),
    [
        ({"answer": "middle"}, "answer"),
        ({"answer": "Upper"}, "answer"),
        ({"answer": "upper "}, "answer"),
        ({"answer": "0"}, "answer"),
        ({"choice": "3"}, "choice"),
        ({"choice": "-1"}, "choice"),
        ({"choice": ""}, "choice"),
        ({"choice": "1.0"}, "choice"),
        ({"choice": "0", "answer": "upper"}, "choice"),
        ({}, "answer"),
    ],
    ids=str,
)
def test_case_03_only_one_of_the_choices_is_an_answer(
    deployment: Deployment, wire: Wire, fields: dict[str, str], field: str
) -> None:
    link = deployment.paused(CHOOSING)
    wire.sent.clear()
    told = deployment.post_fields(link, {"decision": "answered", **fields})
    assert told.status == 400
    assert f"(field: {field})" in told.page
    assert wire.writes == []
    assert deployment.status(link) == "pending"


@pytest.mark.parametrize("value", [None, 0, False, ["upper"], {"upper": 1}, "middle"], ids=repr)
def test_case_03_only_one_of_the_choices_is_an_answer_through_the_api(deployment: Deployment, value: Any) -> None:
    link = deployment.paused(CHOOSING)
    problem = deployment.resume(link.session_id, answer(link, value)).problem
    assert (problem["status"], problem["field"]) == (400, "decisions.0.answer")
    assert deployment.status(link) == "pending"


@pytest.mark.parametrize(
    "said",
    [
        {"decision": "approved"},
        {"decision": "rejected"},
        {"decision": "approved", "answer": "upper"},
        {"decision": "approved", "arguments": "{}"},
        {"decision": "edit", "argument.question": "Which floor?"},
        {"decision": "change", "arguments": "{}"},
        {"decision": "happened"},
        {"decision": "answered", "answer": "upper", "arguments": "{}"},
    ],
    ids=str,
)
def test_case_04_permission_for_a_question_is_refused_and_it_still_waits(
    deployment: Deployment, said: dict[str, str]
) -> None:
    link = deployment.paused(FREE)
    before = deployment.table()
    told = deployment.post_fields(link, said)
    assert told.status == 400
    assert deployment.status(link) == "pending"
    assert deployment.table() == before


@pytest.mark.parametrize(
    "said",
    [
        {"decision": "approved"},
        {"decision": "rejected", "reason": "no"},
        {"decision": "approved", "answer": "upper"},
        {"decision": "approved", "arguments": {"question": "Which floor?"}},
        {"decision": "answered", "answer": "upper", "arguments": {"question": "Which floor?"}},
        {"decision": "happened"},
        {"decision": "happened", "answer": "upper"},
        {"decision": "answered"},
        {"decision": "answered", "answer": None},
    ],
    ids=str,
)
def test_case_04_permission_for_a_question_is_refused_through_the_api(
    deployment: Deployment, said: dict[str, Any]
) -> None:
    link = deployment.paused(FREE)
    problem = deployment.resume(link.session_id, {"call_id": link.call_id, **said}).problem
    assert problem["status"] == 400
    assert problem["field"].startswith("decisions.0.")
    assert deployment.status(link) == "pending"


@pytest.mark.parametrize(
    "said",
    [{"decision": "answered", "answer": "yes"}, {"decision": "answered", "choice": "0"}, {"decision": "answered"}],
    ids=str,
)
def test_case_04_an_answer_to_a_request_for_permission_is_refused_and_it_still_waits(
    deployment: Deployment, said: dict[str, str]
) -> None:
    link = deployment.paused()
    told = deployment.post_fields(link, said)
    assert told.status == 400
    assert "asks for permission: approve or reject it. (field: decision)" in told.page
    assert deployment.status(link) == "pending"


@pytest.mark.parametrize("word", ["ANSWERED", "answered ", "answer", "Answered\n", "yes", ""])
def test_case_03_only_the_exact_word_answers(deployment: Deployment, word: str) -> None:
    link = deployment.paused(FREE)
    assert deployment.post(link, decision=word, answer="upper").status == 400
    assert deployment.resume(link.session_id, answer(link, "upper", decision=word)).status == 400
    assert deployment.status(link) == "pending"


def test_case_02_an_old_link_of_an_answered_question_does_not_touch_the_next_one(deployment: Deployment) -> None:
    old = deployment.paused(FREE, FREE, "Thanks.")
    deployment.post(old, decision="answered", answer="upper")
    deployment.deliver()
    (new,) = deployment.links()

    late = deployment.post(old, decision="answered", answer="lower")

    assert late.status == 409
    assert "This was answered before" in late.page
    assert "upper" in late.page
    assert deployment.status(new) == "pending"


def test_r2_i5_the_first_answer_stands_and_the_same_again_is_already_there(deployment: Deployment) -> None:
    link = deployment.paused(FREE, "Thanks.")
    deployment.post(link, decision="answered", answer="upper")
    before = deployment.table()

    again = deployment.post(link, decision="answered", answer="upper")
    other = deployment.resume(link.session_id, answer(link, "lower"))

    assert (again.status, other.status) == (200, 409)
    assert "Already answered" in again.page
    assert other.problem["call"]["decision"]["answer"] == "upper"
    assert deployment.table() == before


def test_case_45_r3_a_question_that_expired_takes_no_answer(deployment: Deployment) -> None:
    link = deployment.paused(FREE, "Well.")
    deployment.expire(link)
    for told in (deployment.show(link), deployment.post(link, decision="answered", answer="upper")):
        assert told.status == 410
        assert "Expired, not answered" in told.page
    assert deployment.resume(link.session_id, answer(link, "upper")).problem["status"] == 410
    deployment.change(link, due_at="2026-01-01T00:00:00.000000Z")
    deployment.sweep()
    deployment.deliver()
    assert read() == ("error", "Not answered: nobody answered in time, so the question expired.")


def test_case_11_an_answer_brings_no_tool(deployment: Deployment) -> None:
    link = deployment.paused(FREE)
    assert deployment.post(link, decision="answered", answer="upper", name="shred").status == 400
    assert deployment.resume(link.session_id, answer(link, "upper", name="shred")).problem["field"] == (
        "decisions.0.name"
    )
    assert deployment.status(link) == "pending"


def test_any_tool_may_be_marked_as_one_that_asks(deployment: Deployment) -> None:
    link = deployment.paused([("pick_a_shelf", {"path": "a.txt", "choices": ["upper", "lower"]})], "Thanks.")
    page = deployment.show(link).page
    assert "pick_a_shelf" in page
    assert "a.txt" in page
    assert deployment.post(link, decision="answered", choice="1").status == 200
    deployment.deliver()
    assert read() == ("success", "lower")
    assert desk.entered == []


def test_case_53_an_answer_is_text_wherever_it_is_shown(deployment: Deployment) -> None:
    attack = '</script><img src=x onerror=alert(1)>"><form action=//evil>'
    link = deployment.paused([("ask_human", {"question": attack, "choices": [attack]})], "Thanks.")
    pages = [deployment.show(link).page, deployment.post(link, decision="answered", choice="0").page]
    deployment.deliver()
    pages.append(deployment.show(link).page)
    for page in pages:
        assert "<img" not in page
        assert page.count("<form") <= 1


def test_the_lists_say_what_is_asked(deployment: Deployment) -> None:
    link = deployment.paused([("ask_human", {"question": "Which shelf?", "choices": ["upper"]})])
    (call,) = deployment.session(link.session_id)["pending_calls"]
    assert call["question"] == {"text": "Which shelf?", "choices": ["upper"]}
