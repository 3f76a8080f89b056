"""What a caller gets who sends something wrong, through the gateway."""

from __future__ import annotations

import json

import pytest

from tests.e2e.stack import FORM_TYPE, Stack

pytestmark = pytest.mark.e2e


@pytest.mark.parametrize(
    ("body", "status", "field"),
    [
        ("", 400, "body"),
        ("{}", 400, "message"),
        ('{"message": ""}', 400, "message"),
        ('{"message": 5}', 400, "message"),
        ('{"message": "list", "tool": "x"}', 400, "tool"),
        (json.dumps({"message": "x" * 300_000}), 413, "body"),
    ],
)
def test_a_wrong_message_is_refused_and_the_field_is_named(stack: Stack, body: str, status: int, field: str) -> None:
    answer = stack.request("POST", "/sessions", body=body)
    assert (answer.status, answer.json["field"]) == (status, field)
    assert answer.headers["content-type"] == "application/problem+json"


def test_an_unknown_session_is_not_found(stack: Stack) -> None:
    for method, place in [
        ("GET", ""),
        ("GET", "/events"),
        ("POST", "/messages"),
        ("POST", "/resume"),
        ("POST", "/cancel"),
    ]:
        body = '{"decisions": []}' if place == "/resume" else '{"message": "list"}'
        answer = stack.request(method, f"/sessions/{'a' * 26}{place}", body=body if method == "POST" else None)
        assert answer.status == 404, (method, place, answer.text)


def test_case_26_a_message_to_a_paused_session_names_the_calls(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    answer = stack.request("POST", f"/sessions/{paused['session_id']}/messages", body='{"message": "go on"}')
    assert answer.status == 409
    assert [call["call_id"] for call in answer.json["calls"]] == [paused["pending_calls"][0]["call_id"]]
    assert stack.session(paused["session_id"])["status"] == "paused"


def test_case_48_a_cancelled_session_runs_nothing_any_more(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])

    for _ in range(2):
        answer = stack.request("POST", f"/sessions/{paused['session_id']}/cancel")
        assert (answer.status, answer.json["status"]) == (200, "cancelled")

    assert stack.post_decision(link, call["digest"], "approved").status == 409
    assert path in stack.files()


def test_case_54_a_wrong_link_is_the_one_not_found(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])
    before = stack.rows(paused["session_id"])
    wrong = [link[:-1], link + "A", link[:-1] + ("A" if link[-1] != "A" else "B"), link.split("?")[0]]
    wrong.append(link.replace(paused["session_id"], "a" * 26))

    pages = {(answer.status, answer.text) for answer in (stack.request("GET", address) for address in wrong)}
    assert [status for status, _ in pages] == [404]
    posted = stack.post_decision(wrong[2], call["digest"], "approved")
    assert posted.status == 404
    assert stack.rows(paused["session_id"]) == before


def test_case_50_there_is_no_other_way_in(stack: Stack, path: str) -> None:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])
    place, _, query = link.partition("?")
    before = stack.rows(paused["session_id"])

    for method in ("PUT", "DELETE", "PATCH"):
        assert stack.request(method, link).status in (404, 405), method
    # MiniStack answers OPTIONS itself, with a 403 where no CORS is set up; API Gateway with a 404.
    assert stack.request("OPTIONS", link).status in (403, 404)
    assert stack.request("GET", f"{place}/approve?{query}").status == 404
    assert stack.request("POST", f"{place}/approve?{query}", body="decision=approved", **FORM_TYPE).status == 404
    assert stack.rows(paused["session_id"]) == before
