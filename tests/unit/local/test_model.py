from __future__ import annotations

import json
from typing import Any
from urllib.parse import quote

import pytest

from local.loopback import Request, RequestRefusedError
from local.model import ModelStandIn
from local.model_rules import NOTE
from tests.unit.local.conversations import MODEL, assistant, request, result, use, user

SLOW = {"status": 503, "type": "ServiceUnavailableException", "message": "later"}


def send(stand_in: ModelStandIn, method: str, path: str, body: Any = None) -> tuple[int, Any]:
    query = {"requests": [""]} if path.endswith("?requests") else {}
    sent = b"" if body is None else json.dumps(body).encode()
    reply = stand_in.answer(Request(method, path.partition("?")[0], query, {}, sent))
    return reply.status, json.loads(reply.body)


def converse(stand_in: ModelStandIn, *messages: Any, **more: Any) -> tuple[int, Any]:
    path = f"/model/{quote(MODEL, safe='')}/converse"
    return send(stand_in, "POST", path, request(*messages, **more))


def script(stand_in: ModelStandIn, *turns: Any, contains: str = "story") -> None:
    assert send(stand_in, "POST", "/script", {"contains": contains, "turns": list(turns)})[0] == 200


def text(answer: tuple[int, Any]) -> str:
    return str(answer[1]["output"]["message"]["content"][0]["text"])


def test_an_answer_has_the_shape_of_converse() -> None:
    status, answer = converse(ModelStandIn(), user("delete a.txt"))

    content = answer["output"]["message"]["content"]
    assert status == 200
    assert answer["stopReason"] == "tool_use"
    assert content[0]["text"].endswith(NOTE)
    assert content[1]["toolUse"]["name"] == "delete_file"
    usage = answer["usage"]
    assert usage["totalTokens"] == usage["inputTokens"] + usage["outputTokens"] > 0
    assert answer["metrics"]["latencyMs"] >= 1


def test_the_ids_of_one_turn_differ_and_a_repeated_request_gets_the_same_answer() -> None:
    first = converse(ModelStandIn(), user("delete a and b"))
    again = converse(ModelStandIn(), user("delete a and b"))

    blocks = first[1]["output"]["message"]["content"]
    ids = [block["toolUse"]["toolUseId"] for block in blocks if "toolUse" in block]
    assert len(set(ids)) == 2
    assert first == again


def test_a_refused_history_gets_an_aws_error() -> None:
    reply = ModelStandIn().answer(Request("POST", "/model/m/converse", body=json.dumps(request(user(""))).encode()))

    assert reply.status == 400
    assert reply.headers["x-amzn-ErrorType"] == "ValidationException"
    assert "blank" in json.loads(reply.body)["message"]


def test_a_script_is_followed_by_the_number_of_assistant_turns_then_the_rules_answer() -> None:
    stand_in = ModelStandIn()
    script(stand_in, {"text": "one"}, {"text": "two"})
    opening = user("a story")

    assert text(converse(stand_in, opening)) == "one"
    assert text(converse(stand_in, opening)) == "one"
    assert text(converse(stand_in, opening, assistant("one"), user("more"))) == "two"
    third = converse(stand_in, opening, assistant("one"), user("x"), assistant("two"), user("hm"))
    assert text(third).endswith(NOTE)
    assert text(converse(stand_in, user("other"))).endswith(NOTE)


def test_a_scripted_error_is_given_so_often_then_the_turn_for_each_session() -> None:
    stand_in = ModelStandIn()
    script(stand_in, {"error": SLOW, "times": 2}, {"text": "one"}, {"error": SLOW})

    for opening in (user("a story"), user("another story")):
        statuses = [converse(stand_in, opening)[0] for _ in range(4)]
        assert statuses == [503, 503, 200, 200]
        after = (opening, assistant("one"), user("hm"))
        assert [converse(stand_in, *after)[0] for _ in range(2)] == [503, 200]


def test_a_scripted_turn_is_given_as_it_was_written() -> None:
    stand_in = ModelStandIn()
    calls = [{"name": "delete_file", "input": {"path": 1}, "id": "toolu_1"}, {"name": "x"}]
    script(stand_in, {"calls": calls, "stop_reason": "max_tokens", "reasoning": "redacted"})

    _, answer = converse(stand_in, user("a story"))

    reasoning, first, second = answer["output"]["message"]["content"]
    assert list(reasoning["reasoningContent"]) == ["redactedContent"]
    assert first == use("toolu_1", "delete_file", path=1)
    assert second["toolUse"]["input"] == {}
    assert answer["stopReason"] == "max_tokens"


def test_the_newest_script_that_fits_is_followed_until_scripts_are_deleted() -> None:
    stand_in = ModelStandIn()
    script(stand_in, {"text": "old"})
    script(stand_in, {"text": "new"})

    assert text(converse(stand_in, user("a story"))) == "new"
    send(stand_in, "DELETE", "/script")
    assert text(converse(stand_in, user("a story"))).endswith(NOTE)


def test_a_delay_is_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("local.model.time.sleep", waited.append)
    stand_in = ModelStandIn()
    script(stand_in, {"text": "one", "delay_seconds": 2.5})

    converse(stand_in, user("a story"))

    assert waited == [2.5]


@pytest.mark.parametrize(
    "document",
    [
        None,
        [],
        {"contains": "x"},
        {"contains": "x", "turns": [{"txt": "typo"}]},
        {"contains": "x", "turns": [{"text": 1}]},
        {"contains": "x", "turns": [{"calls": [{"input": {}}]}]},
        {"contains": "x", "turns": [{"reasoning": "loud"}]},
        {"contains": "x", "turns": [{"reasoning": []}]},
        {"contains": "x", "turns": [{"error": {"status": 200}}]},
        {"contains": "x", "turns": [{"error": SLOW, "text": "both"}]},
        {"contains": "x", "turns": [{"delay_seconds": -1}]},
    ],
)
def test_a_script_of_another_shape_is_refused_with_a_sentence(document: Any) -> None:
    stand_in = ModelStandIn()
    if document == []:
        assert send(stand_in, "POST", "/script", document) == (200, {"scripts": 0})
        return

    with pytest.raises(RequestRefusedError) as refused:
        send(stand_in, "POST", "/script", document)

    assert refused.value.status == 400
    assert refused.value.message.endswith(".")


def test_calls_are_counted_refused_ones_too_and_can_be_forgotten() -> None:
    stand_in = ModelStandIn()
    converse(stand_in, user("list"))
    converse(stand_in, user("list"), assistant(use("t")), user("no result"))

    _, calls = send(stand_in, "GET", "/calls")

    assert [(c["model_id"], c["messages"], c["first_text"], c["status"]) for c in calls] == [
        (MODEL, 1, "list", 200),
        (MODEL, 3, "list", 400),
    ]
    assert "request" not in calls[0]
    whole = send(stand_in, "GET", "/calls?requests")[1]
    assert whole[0]["request"]["messages"] == [user("list")]
    send(stand_in, "DELETE", "/calls")
    assert send(stand_in, "GET", "/calls")[1] == []


def test_a_request_that_asks_for_thinking_gets_reasoning_that_may_come_back() -> None:
    stand_in = ModelStandIn()
    thinking = {"additionalModelRequestFields": {"thinking": {"type": "enabled"}}}
    turn = converse(stand_in, user("read a"), **thinking)[1]["output"]["message"]
    tool_use_id = turn["content"][-1]["toolUse"]["toolUseId"]

    status, _ = converse(stand_in, user("read a"), turn, user(result(tool_use_id)), **thinking)

    assert "reasoningContent" in turn["content"][0]
    assert status == 200


@pytest.mark.parametrize(
    ("method", "path"),
    [("POST", "/model/m/converse-stream"), ("GET", "/model/m/converse"), ("GET", "/nothing")],
)
def test_another_operation_is_unknown(method: str, path: str) -> None:
    assert send(ModelStandIn(), method, path, {})[0] == 404


def test_a_body_that_is_no_json_is_refused_as_aws_refuses_it() -> None:
    reply = ModelStandIn().answer(Request("POST", "/model/m/converse", body=b"{"))

    assert (reply.status, reply.headers["x-amzn-ErrorType"]) == (400, "SerializationException")


def test_the_page_says_that_this_is_no_llm_and_runs_no_script() -> None:
    reply = ModelStandIn().answer(Request("GET", "/"))

    assert b"no LLM" in reply.body
    assert b"<script" not in reply.body
    assert "default-src 'none'" in reply.headers["Content-Security-Policy"]
