"""Bad requests of signed-in callers: a 4xx that names the field in words for its reader, and nothing changed."""

from __future__ import annotations

import json
from typing import Any

import pytest

from tests.support.clerk import desk
from tests.support.deployment import Deployment
from tests.support.gateway import Answer, request, stored_event
from tests.support.wire import Wire

KIB = 1024
TYPE = "urn:pausepoint:problem:"

BODIES: dict[str, tuple[str, int, str, str]] = {
    "empty": ("", 400, "body", "The body is empty, and must be a JSON object."),
    "blank": (" \n", 400, "body", "The body is empty, and must be a JSON object."),
    "list": ("[]", 400, "body", "The body must be a JSON object."),
    "null": ("null", 400, "body", "The body must be a JSON object."),
    "no message": ("{}", 400, "message", "`message` is missing."),
    "number": ('{"message": 1}', 400, "message", "`message` must be a string."),
    "null message": ('{"message": null}', 400, "message", "`message` must be a string."),
    "list message": ('{"message": ["a"]}', 400, "message", "`message` must be a string."),
    "object message": ('{"message": {}}', 400, "message", "`message` must be a string."),
    "empty message": ('{"message": ""}', 400, "message", "The message is empty."),
    "blank message": ('{"message": " \\n\\t"}', 400, "message", "The message is empty."),
    "surrogate": ('{"message": "\\ud800"}', 400, "message", "The message contains half of a surrogate pair."),
    "unknown field": ('{"message": "a", "agent": "b"}', 400, "agent", "`agent` is not known here."),
    "twice": (
        '{"message": "a", "message": "b"}',
        400,
        "body",
        "The body is not JSON: the key 'message' appears twice.",
    ),
    "NaN": ('{"message": NaN}', 400, "body", "The body is not JSON: NaN is not JSON."),
    "deep": ('{"message": ' + "[" * 100_000, 400, "body", "The body is nested too deeply."),
    "large": ('{"message": "' + "a" * (256 * KIB) + '"}', 413, "body", "at most 262144 are allowed."),
    "1 MB": ("x" * KIB * KIB, 413, "body", "The body has 1048576 bytes; at most 262144 are allowed."),
}


def sent(deployment: Deployment, where: str, body: str) -> Answer:
    event = request("start", body=body) if where == "start" else request("message", "a" * 26, body=body)
    event["body"] = body or None
    return deployment.send("start", event)


@pytest.mark.parametrize("what", BODIES)
@pytest.mark.parametrize("where", ["start", "message"])
def test_r9_r10_a_wrong_message_is_refused_by_the_name_of_its_field(
    undisturbed: Deployment, wire: Wire, where: str, what: str
) -> None:
    body, status, field, detail = BODIES[what]

    problem = sent(undisturbed, where, body).problem

    assert (problem["status"], problem["field"]) == (status, field)
    assert problem["detail"].endswith(detail)
    assert problem["type"] == TYPE + ("too-large" if status == 413 else "invalid-input")
    assert wire.sent == []


@pytest.mark.parametrize(("body", "encoded"), [("not base64!", True), ("/w==", True), ("\ud800", False)])
def test_r9_bytes_that_are_no_text_are_a_bad_request(undisturbed: Deployment, body: str, *, encoded: bool) -> None:
    event = request("start") | {"body": body, "isBase64Encoded": encoded}

    assert undisturbed.send("start", event).problem["field"] == "body"


WORDS = "must be 'approved', 'rejected', 'answered', 'happened', 'did_not_happen' or 'run_again'."
NOT_DECISIONS: list[Any] = ["", "APPROVED ", "approve\n", 1, True, "true", "yes", {}, ["approved"], "Approved"]
DECISIONS: dict[str, tuple[Any, str, str]] = {
    "absent": ({"call_id": "c2-0"}, "decision", "is missing."),
    "null": ({"call_id": "c2-0", "decision": None}, "decision", WORDS),
    **{json.dumps(word): ({"call_id": "c2-0", "decision": word}, "decision", WORDS) for word in NOT_DECISIONS},
    "an answer to a question": ({"call_id": "c2-0", "answer": "yes"}, "decision", "is missing."),
    "an answer to a request for permission": (
        {"call_id": "c2-0", "decision": "answered", "answer": "yes"},
        "decision",
        "Call c2-0 asks for permission: approve or reject it.",
    ),
    "permission with an answer": (
        {"call_id": "c2-0", "decision": "approved", "answer": "yes"},
        "answer",
        "Only a question has an answer.",
    ),
    "edit": ({"call_id": "c2-0", "decision": "edit", "arguments": {"path": "a"}}, "decision", WORDS),
    "digest of a number": ({"call_id": "c2-0", "decision": "approved", "digest": 1}, "digest", "must be a string."),
    "another tool": ({"call_id": "c2-0", "decision": "approved", "name": "look"}, "name", "is not known here."),
    **{
        word: ({"call_id": "c2-0", "decision": word}, "decision", "Call c2-0 is pending, not in doubt.")
        for word in ("happened", "did_not_happen", "run_again")
    },
    "no call": ({"decision": "approved"}, "call_id", "is missing."),
    "a number for a call": ({"call_id": 20, "decision": "approved"}, "call_id", "must be a string."),
    "unknown call": ({"call_id": "c9-9", "decision": "approved"}, "call_id", "has no call 'c9-9'."),
    "NUL in the call": ({"call_id": "c2-0\0", "decision": "approved"}, "call_id", "has no call 'c2-0\\x00'."),
    "reason of a number": ({"call_id": "c2-0", "decision": "rejected", "reason": 1}, "reason", "must be a string."),
    "long reason": (
        {"call_id": "c2-0", "decision": "rejected", "reason": "x" * 2001},
        "reason",
        "The reason has 2001 characters; at most 2000 are kept.",
    ),
    "list of arguments": (
        {"call_id": "c2-0", "decision": "approved", "arguments": []},
        "arguments",
        "must be an object.",
    ),
    "extra argument": (
        {"call_id": "c2-0", "decision": "approved", "arguments": {"path": "a", "force": True}},
        "arguments",
        "force: Extra inputs are not permitted.",
    ),
    "wrong argument": (
        {"call_id": "c2-0", "decision": "approved", "arguments": {"path": 1}},
        "arguments",
        "path: Input should be a valid string.",
    ),
    "edited refusal": (
        {"call_id": "c2-0", "decision": "rejected", "arguments": {"path": "a"}},
        "arguments",
        "Only an approval can change arguments.",
    ),
}


@pytest.mark.parametrize("what", DECISIONS)
def test_case_03_case_04_case_05_a_wrong_decision_is_refused_and_the_call_still_pends(
    undisturbed: Deployment, wire: Wire, what: str
) -> None:
    link = undisturbed.standing()
    decision, field, detail = DECISIONS[what]
    wire.sent.clear()

    problem = undisturbed.resume(link.session_id, decision).problem

    assert (problem["status"], problem["field"]) == (400, f"decisions.0.{field}")
    assert problem["detail"].endswith(detail)
    assert len(wire.sent) <= 1
    assert wire.writes == []
    assert undisturbed.status(link) == "pending"
    assert desk.entered == []


@pytest.mark.parametrize(
    ("body", "field"), [({}, "decisions"), ({"decisions": {}}, "decisions"), ({"decisions": ["c2-0"]}, "decisions.0")]
)
def test_a_wrong_list_of_decisions_is_refused_by_name(undisturbed: Deployment, body: Any, field: str) -> None:
    link = undisturbed.standing()

    problem = undisturbed.send("resume", request("resume", link.session_id, body=body)).problem

    assert problem["field"] == field


def test_one_wrong_decision_of_several_records_none(deployment: Deployment) -> None:
    first, second = deployment.paused_at([("shred", {"path": "a"}), ("shred", {"path": "b"})])
    good = {"call_id": first.call_id, "decision": "approved"}

    assert deployment.resume(first.session_id, good, good).problem["field"] == "decisions.1.call_id"
    wrong = {"call_id": second.call_id, "decision": "approved", "arguments": {}}
    assert deployment.resume(first.session_id, good, wrong).problem["field"] == "decisions.1.arguments"
    assert (deployment.status(first), deployment.status(second)) == ("pending", "pending")


def test_case_26_a_message_to_a_paused_session_names_the_calls_and_the_history_stays_valid(
    deployment: Deployment,
) -> None:
    link = deployment.paused()
    before = deployment.table()

    problem = deployment.say(link.session_id, "yes").problem

    assert (problem["status"], problem["type"]) == (409, TYPE + "calls-pending")
    assert problem["detail"] == "The session waits for these calls: c2-0 (shred, pending). Decide them first."
    assert [(call["call_id"], call["arguments"]) for call in problem["calls"]] == [
        ("c2-0", {"path": "a.txt", "copies": 1})
    ]
    assert deployment.table() == before
    deployment.post(link)
    deployment.deliver()
    assert deployment.session(link.session_id)["status"] == "completed"


ROUTES = [
    ("start", "message"),
    ("resume", "resume"),
    ("sessions", "session"),
    ("sessions", "session-events"),
    ("sessions", "cancel"),
]
ALL_ROUTES = [*ROUTES, ("start", "start"), ("sessions", "sessions"), ("sessions", "approvals")]


@pytest.mark.parametrize(("function", "name"), ROUTES)
def test_an_unknown_session_is_404_and_costs_one_read(
    undisturbed: Deployment, wire: Wire, function: str, name: str
) -> None:
    problem = undisturbed.send(function, request(name, "a" * 26)).problem

    assert (problem["status"], problem["type"]) == (404, TYPE + "not-found")
    assert problem["detail"] == f"There is no session '{'a' * 26}'."
    assert (len(wire.reads), wire.writes) == (1, [])


@pytest.mark.parametrize("odd", ["%00", "A" * 26, "a" * 25, "a" * 5000, "c2-0", "*", "a b"])
@pytest.mark.parametrize(("function", "name"), ROUTES)
def test_r10_an_id_that_no_session_can_have_is_404_without_a_look(
    undisturbed: Deployment, wire: Wire, function: str, name: str, odd: str
) -> None:
    assert undisturbed.send(function, request(name, odd)).problem["status"] == 404
    assert wire.sent == []


@pytest.mark.parametrize(("function", "name"), ALL_ROUTES)
def test_an_unsigned_caller_is_refused_before_anything_else(
    undisturbed: Deployment, wire: Wire, function: str, name: str
) -> None:
    session_id = "a" * 26 if "pathParameters" in stored_event(name) else None

    problem = undisturbed.send(function, request(name, session_id, signed=False, body="nonsense")).problem

    assert (problem["status"], problem["type"]) == (403, TYPE + "unauthenticated")
    assert problem["detail"] == "This route needs a request signed with AWS credentials (SigV4)."
    assert wire.sent == []


def test_an_unsigned_caller_is_taken_where_the_deployment_says_so(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("REQUIRE_SIGNED_CALLER", "false")
    desk.script("Hello.")

    answer = deployment.send("start", request("start", signed=False))

    assert (answer.status, answer.json["requested_by"]) == (200, "unsigned caller")


@pytest.mark.parametrize("function", ["start", "resume", "sessions"])
def test_an_unknown_route_is_a_404_problem(undisturbed: Deployment, function: str) -> None:
    problem = undisturbed.send(function, request("session", path="/nowhere")).problem

    assert (problem["status"], problem["type"], problem["detail"]) == (404, TYPE + "no-route", "No such route.")
