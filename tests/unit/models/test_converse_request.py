"""A session's history as Converse wants it, and Converse's answer as a turn."""

from __future__ import annotations

import copy
from typing import Any, Literal

import boto3
import pytest
from botocore.stub import Stubber

from pausepoint.domain.history import AssistantItem, UserItem
from pausepoint.models.bedrock import converse_request, reply_of
from pausepoint.runtime.ports import RequestedCall
from tests.unit.models.converse import CLAUDE, HELLO, said, spec, told

THOUGHT: list[dict[str, Any]] = [
    {"reasoningContent": {"reasoningText": {"text": "Hm.", "signature": "c2ln"}}},
    {"reasoningContent": {"reasoningText": {"text": "", "signature": "only a signature"}}},
    {"reasoningContent": {"redactedContent": b"\x00\xff"}},
    {"text": "Let me see."},
    {"toolUse": {"toolUseId": "toolu_c2-0", "name": "read", "input": {"n": 1.0}}},
]


def test_the_request_carries_what_the_session_remembers() -> None:
    request = converse_request(spec(additional={"top_k": 5}), [told("Hi")])
    assert request == {
        "modelId": CLAUDE,
        "system": [{"text": "Be brief."}],
        "messages": [{"role": "user", "content": [{"text": "Hi"}]}],
        "inferenceConfig": {"maxTokens": 4096},
        "toolConfig": {
            "tools": [
                {
                    "toolSpec": {
                        "name": "read",
                        "description": "Read a file.",
                        "inputSchema": {"json": {"type": "object", "properties": {}}},
                    }
                }
            ]
        },
        "additionalModelRequestFields": {"top_k": 5},
    }


def test_what_a_session_does_not_have_is_left_out() -> None:
    request = converse_request(spec(system="", tools=False), [told("Hi")])
    assert set(request) == {"modelId", "messages", "inferenceConfig"}


def test_case_30_the_models_own_message_is_replayed_word_for_word() -> None:
    request = converse_request(spec(), [told("Hi"), said(*THOUGHT), told(results=["c2-0"])])
    assert request["messages"][1] == {"role": "assistant", "content": THOUGHT}


def test_results_come_first_in_the_message_after_their_turn() -> None:
    request = converse_request(spec(), [told("Hi"), said(*THOUGHT), told("And?", results=["c2-0", "c2-1"])])
    kinds = [next(iter(block)) for block in request["messages"][2]["content"]]
    assert kinds == ["toolResult", "toolResult", "text"]
    assert request["messages"][2]["content"][0]["toolResult"] == {
        "toolUseId": "toolu_c2-0",
        "content": [{"text": "result of c2-0"}],
        "status": "success",
    }


@pytest.mark.parametrize(
    ("model_id", "takes_it"),
    [
        (CLAUDE, True),
        ("anthropic.claude-opus-5", True),
        ("eu.amazon.nova-pro-v1:0", True),
        ("mistral.mistral-large", False),
        ("meta.llama4", False),
    ],
)
@pytest.mark.parametrize("status", ["success", "error"])
def test_the_status_of_a_result_is_sent_only_where_the_model_takes_it(
    model_id: str, takes_it: bool, status: Literal["success", "error"]
) -> None:
    request = converse_request(spec(model_id), [told("Hi"), said(*THOUGHT), told(results=["c2-0"], status=status)])
    assert request["messages"][2]["content"][0]["toolResult"].get("status") == (status if takes_it else None)


def test_messages_of_one_side_that_follow_each_other_become_one() -> None:
    request = converse_request(spec(), [told("One"), told("Two"), said({"text": "Hi"}), told("Three", "Four")])
    assert [message["role"] for message in request["messages"]] == ["user", "assistant", "user"]
    assert request["messages"][0]["content"] == [{"text": "One"}, {"text": "Two"}]
    assert request["messages"][2]["content"] == [{"text": "Three"}, {"text": "Four"}]


def test_empty_turns_are_skipped() -> None:
    history: list[UserItem | AssistantItem] = [told("One"), said(), told("Two"), said({"text": "Hi"}), told()]
    request = converse_request(spec(), history)
    assert request["messages"] == [
        {"role": "user", "content": [{"text": "One"}, {"text": "Two"}]},
        {"role": "assistant", "content": [{"text": "Hi"}]},
    ]


def test_building_a_request_changes_nothing_of_the_history() -> None:
    history: list[UserItem | AssistantItem] = [told("One"), said({"text": "A"}), said({"text": "B"}), told("Two")]
    before = copy.deepcopy(history)
    converse_request(spec(), history)
    assert history == before


def test_boto3_accepts_the_request() -> None:
    client: Any = boto3.client(
        "bedrock-runtime", region_name="eu-central-1", aws_access_key_id="test", aws_secret_access_key="test"
    )
    request = converse_request(spec(additional={"top_k": 5}), [told("Hi"), said(*THOUGHT), told(results=["c2-0"])])
    with Stubber(client) as stub:
        stub.add_response("converse", {**HELLO, "metrics": {"latencyMs": 1}})
        client.converse(**request)


def test_an_answer_becomes_a_turn_whose_message_stays_as_it_came() -> None:
    message = {"role": "assistant", "content": [*THOUGHT, {"text": "Done?"}]}
    reply = reply_of({**HELLO, "output": {"message": message}, "stopReason": "tool_use"})
    assert reply.message == message
    assert reply.text == "Let me see.\nDone?"
    assert reply.calls == (RequestedCall("toolu_c2-0", "read", {"n": 1.0}),)
    assert reply.stop_reason == "tool_use"
    assert (reply.usage.input_tokens, reply.usage.output_tokens) == (12, 3)


def test_an_answer_may_be_empty_or_lack_parts() -> None:
    bare = {"output": {"message": {"role": "assistant", "content": []}}, "stopReason": "end_turn"}
    reply = reply_of(bare)
    assert (reply.text, reply.calls, reply.usage.total) == ("", (), 0)
    without_input = [{"toolUse": {"toolUseId": "t", "name": "now"}}]
    reply = reply_of({"output": {"message": {"content": without_input}}, "stopReason": "tool_use"})
    assert reply.calls == (RequestedCall("t", "now", {}),)
