"""The lists: newest first, in pages, filtered; what cannot be a limit, a status or a page is refused by name."""

from __future__ import annotations

import base64
import json
from typing import Any

import pytest

from pausepoint.bootstrap import application
from tests.support.clerk import desk
from tests.support.cut_off import put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import Link, request
from tests.support.wire import Wire

PENDING_START = {"pk": "a", "sk": "b", "due_kind": "call", "due_at": "c"}


def cursor(text: str) -> str:
    return base64.urlsafe_b64encode(text.encode()).decode()


def key(**parts: Any) -> str:
    return cursor(json.dumps({name: {"S": part} for name, part in (PENDING_START | parts).items()}))


def all_pages(deployment: Deployment, name: str, items: str, **query: str) -> list[list[str]]:
    pages, following = [], None
    while True:
        page = deployment.listed(name, **query, **({"next": following} if following else {})).json
        pages.append([item["session_id"] for item in page[items]])
        following = page["next"]
        if following is None:
            return pages


def test_sessions_are_listed_latest_first_in_pages_that_join(deployment: Deployment) -> None:
    desk.script(*["Hello."] * 5)
    started = [deployment.start("hello").json["session_id"] for _ in range(5)]

    assert all_pages(deployment, "sessions", "sessions", limit="2") == [
        started[4:2:-1],
        started[2:0:-1],
        started[:1],
    ]


def test_sessions_are_filtered_by_status_and_listed_with_their_heads(deployment: Deployment) -> None:
    paused = deployment.paused()
    desk.script("Hello.")
    completed = deployment.start("hello").json

    assert [head["session_id"] for head in deployment.listed("sessions", status="paused").json["sessions"]] == [
        paused.session_id
    ]
    (head,) = deployment.listed("sessions", status="completed").json["sessions"]
    assert head == {name: completed[name] for name in head}
    assert head.keys() == {"session_id", "status", "agent", "requested_by", "created_at", "updated_at"}
    assert deployment.listed("sessions", status="failed").json == {"sessions": [], "next": None}


def test_approvals_are_listed_in_pages_that_join(deployment: Deployment) -> None:
    waiting = [deployment.paused().session_id for _ in range(5)]

    pages = all_pages(deployment, "approvals", "approvals", limit="2")

    assert [session_id for page in pages for session_id in page] == waiting  # the first to expire comes first
    assert all(len(page) <= 2 for page in pages)


def test_decided_calls_do_not_push_waiting_ones_out_of_a_page(deployment: Deployment) -> None:
    decided = [deployment.paused() for _ in range(3)]
    waiting = deployment.paused()
    for link in decided:
        deployment.post(link)

    assert all_pages(deployment, "approvals", "approvals", limit="1") == [[waiting.session_id]]


def test_case_57_what_waits_is_filtered_by_agent_tool_risk_session_and_status(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    doubted = put_in_doubt(deployment, SHRED)
    burnt, shredded = deployment.paused_at([("burn", {"path": "a.txt"}), *SHRED])
    monkeypatch.setenv("AGENT", "tests.support.clerk:markup")
    application.cache_clear()
    marked = deployment.paused()

    def listed(**query: str) -> set[tuple[str, str]]:
        answer = deployment.listed("approvals", **query)
        assert answer.status == 200
        return {(call["session_id"], call["call_id"]) for call in answer.json["approvals"]}

    def places(*links: Link) -> set[tuple[str, str]]:
        return {(link.session_id, link.call_id) for link in links}

    assert listed() == places(doubted, burnt, shredded, marked)
    assert listed(agent="clerk") == places(doubted, burnt, shredded)
    assert listed(agent="<b>clerk</b>") == places(marked)
    assert listed(tool="burn") == listed(risk="high") == places(burnt)
    assert listed(risk="low") == listed(tool="nothing") == listed(agent="nobody") == set()
    assert listed(session=burnt.session_id) == places(burnt, shredded)
    assert listed(session="a" * 26) == set()
    assert listed(status="in_doubt") == places(doubted)
    assert listed(status="pending", tool="shred", agent="clerk") == places(shredded)
    (call,) = deployment.listed("approvals", status="in_doubt").json["approvals"]
    assert (call["status"], call["age_seconds"] >= 0, call["risk"]) == ("in_doubt", True, "medium")


def test_case_57_pages_of_a_filtered_list_join_without_a_gap(deployment: Deployment) -> None:
    links = [link for _ in range(4) for link in deployment.paused_at([("burn", {"path": "a.txt"}), *SHRED])]

    pages = all_pages(deployment, "approvals", "approvals", limit="3", risk="high")

    assert [session_id for page in pages for session_id in page] == [link.session_id for link in links[::2]]
    assert all(len(page) <= 3 for page in pages)


WRONG_FILTERS = {
    "risk": ["", "HIGH", "high,low", "extreme"],
    "status": ["", "approved", "PENDING", "pending,in_doubt", "paused"],
    "tool": ["", "a b", "x" * 65, "shred\n", "%00"],
    "session": ["", "a" * 25, "A" * 26, "../x"],
    "agent": ["", "x" * 201],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name, many in WRONG_FILTERS.items() for value in many])
def test_case_57_a_filter_that_can_fit_nothing_is_refused_by_name(
    undisturbed: Deployment, wire: Wire, name: str, value: str
) -> None:
    problem = undisturbed.listed("approvals", **{name: value}).problem

    assert (problem["status"], problem["field"]) == (400, name)
    assert problem["detail"].startswith(f"`{name}` must ")
    assert wire.sent == []


SIGNED_ROUTES = {
    "start": "start", "message": "start", "resume": "resume", "sessions": "sessions", "session": "sessions",
    "session-events": "sessions", "approvals": "sessions", "cancel": "sessions",
}  # fmt: skip


@pytest.mark.parametrize(("route", "function"), SIGNED_ROUTES.items())
def test_r9_a_query_parameter_that_a_route_does_not_know_is_refused_by_name(
    undisturbed: Deployment, wire: Wire, route: str, function: str
) -> None:
    session_id = "a" * 26 if route in ("message", "resume", "session", "session-events", "cancel") else None
    event = request(route, session_id, query={"statuss": "paused"})

    problem = undisturbed.send(function, event).problem

    assert (problem["status"], problem["field"]) == (400, "statuss")
    assert wire.sent == []


def test_r9_a_query_parameter_that_comes_twice_is_refused_by_name(undisturbed: Deployment, wire: Wire) -> None:
    event = request("approvals", query={"agent": "a,b"})
    event["rawQueryString"] = "agent=a&agent=b"

    problem = undisturbed.send("sessions", event).problem

    assert (problem["status"], problem["field"]) == (400, "agent")
    assert wire.sent == []
    event["rawQueryString"] = "agent=a%2Cb"
    assert undisturbed.send("sessions", event).status == 200


def test_a_signature_in_the_query_is_the_gateways_business(undisturbed: Deployment) -> None:
    signature = {"X-Amz-Algorithm": "AWS4-HMAC-SHA256", "X-Amz-Signature": "0" * 64, "X-Amz-Security-Token": "t"}

    assert undisturbed.listed("approvals", **signature, limit="1").status == 200


@pytest.mark.parametrize("limit", ["0", "101", "-1", "", "two", "1.5", "1e1", " 1", "+1", "٣", "9" * 50, "1,2", "1\n"])
@pytest.mark.parametrize("name", ["sessions", "approvals", "session-events"])
def test_a_limit_out_of_bounds_is_refused_by_name(undisturbed: Deployment, wire: Wire, name: str, limit: str) -> None:
    session_id = "a" * 26 if name == "session-events" else None

    problem = undisturbed.send("sessions", request(name, session_id, query={"limit": limit})).problem

    assert (problem["status"], problem["field"]) == (400, "limit")
    assert problem["detail"] == "`limit` must be a whole number from 1 to 100."
    assert wire.sent == []


@pytest.mark.parametrize("status", ["", "PAUSED", "pending", "paused,failed", "paused "])
def test_a_status_there_is_not_is_refused_with_those_there_are(undisturbed: Deployment, status: str) -> None:
    problem = undisturbed.listed("sessions", status=status).problem

    assert (problem["status"], problem["field"]) == (400, "status")
    assert problem["detail"] == "`status` must be one of running, paused, completed, failed, cancelled."


@pytest.mark.parametrize(
    "following",
    [
        "", "!!!!", "abc", "é", "AAAA", cursor("yesterday"), cursor("2026#x"), cursor("null"), cursor("[]"),
        cursor("{}"), cursor('"x"'), key(pk=1), key(pk=""), key(pk="x" * 5000), key(due_kind="session"), key(extra="x"),
        cursor(json.dumps({"pk": "a"})), "a" * 3000,
    ],
)  # fmt: skip
@pytest.mark.parametrize("name", ["sessions", "approvals"])
def test_a_page_that_the_list_never_gave_is_refused_by_name(
    undisturbed: Deployment, wire: Wire, name: str, following: str
) -> None:
    problem = undisturbed.listed(name, next=following).problem

    assert (problem["status"], problem["field"]) == (400, "next")
    assert problem["detail"] == "`next` must be one that this list has given."
    assert wire.sent == []


@pytest.mark.parametrize("following", ["-1", "", "x", "1.0", "9" * 20])
def test_a_page_of_the_log_is_a_number(undisturbed: Deployment, following: str) -> None:
    event = request("session-events", "a" * 26, query={"next": following})

    assert undisturbed.send("sessions", event).problem["field"] == "next"


def test_a_table_that_does_not_answer_on_a_later_page_is_not_taken_for_a_wrong_page(
    deployment: Deployment, wire: Wire
) -> None:
    for _ in range(3):
        deployment.paused()
    following = deployment.listed("approvals", limit="1").json["next"]
    wire.fail("dynamodb.Query")

    assert deployment.listed("approvals", limit="1", next=following).problem["status"] == 503


def test_lists_change_nothing(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused(SHRED)
    wire.sent.clear()

    for name in ("sessions", "approvals"):
        deployment.listed(name)
    deployment.session(link.session_id)
    deployment.events(link.session_id)

    assert wire.writes == []
