from __future__ import annotations

import copy
from typing import Any

import pytest

from local.model_reasoning import BETA
from local.model_turns import ConverseError, ToolCall, Turn
from local.model_validation import validate
from tests.unit.local.conversations import (
    MODEL,
    TOOLS,
    assistant,
    request,
    result,
    tool_spec,
    turn_of,
    use,
    user,
)

BOUND_ELSEWHERE = (
    "messages.1.content.0: Invalid `signature` in `thinking` block. The block is bound to a "
    "different conversation. Remove the block, or set "
    '`thinking.block_binding.prefix_mismatch_behavior` to "drop_block".'
)
DROP = {"thinking": {"type": "adaptive", "block_binding": {"prefix_mismatch_behavior": "drop_block"}}}


def refusal(body: Any, model_id: str = MODEL) -> str:
    with pytest.raises(ConverseError) as caught:
        validate(model_id, body)
    assert (caught.value.status, caught.value.error_type) == (400, "ValidationException")
    return caught.value.message


TWO_CALLS = (user("go"), assistant(use("a"), use("b")))


@pytest.mark.parametrize(
    "messages",
    [
        [user("hello")],
        [user("hello"), assistant("hi"), user("again")],
        [*TWO_CALLS, user(result("b"), result("a", "no", "error"))],
        [*TWO_CALLS, user(result("a"), result("b"), "and now?"), assistant("ok"), user("thanks")],
        [
            user("go"),
            assistant("text", use("a")),
            user(result("a")),
            assistant(use("a")),
            user(result("a")),
        ],
        [user("hello", {"cachePoint": {"type": "default"}})],
    ],
)
def test_a_proper_history_is_accepted(messages: list[Any]) -> None:
    assert validate(MODEL, request(*messages)) == []


@pytest.mark.parametrize(
    ("messages", "message"),
    [
        ([], "must start with a user message"),
        ([assistant("hi"), user("x")], "must start with a user message"),
        ([user("a"), user("b")], "must alternate"),
        ([user("a"), assistant("b"), assistant("c"), user("d")], "must alternate"),
        ([user("a"), assistant("b")], "must end with a user message"),
        ([{"role": "system", "content": [{"text": "x"}]}], "messages.0.role"),
        (
            [*TWO_CALLS, user(result("a"))],
            "Expected toolResult blocks at messages.2.content for the following Ids: b",
        ),
        ([*TWO_CALLS, user("never mind")], "for the following Ids: a, b"),
        ([*TWO_CALLS, user(result("a"), result("x"))], "for the following Ids: b"),
        (
            [*TWO_CALLS, user(result("a"), result("b"), result("c"))],
            "exceeds the number of toolUse blocks",
        ),
        ([user("a"), assistant("b"), user(result("c"))], "exceeds the number of toolUse blocks"),
        ([user(result("c"))], "exceeds the number of toolUse blocks"),
        ([*TWO_CALLS, user(result("a"), result("b"), result("b"))], "contain duplicate Ids: b"),
        ([user("a"), assistant(use("a"), use("a")), user(result("a"))], "contain duplicate Ids: a"),
        ([*TWO_CALLS, user(result("a"), "text", result("b"))], "at the beginning of this message"),
        ([*TWO_CALLS, user("text", result("a"), result("b"))], "at the beginning of this message"),
        (
            [*TWO_CALLS, user(result("a"), result("b", ""))],
            "messages.2.content.1.toolResult.content.0 is blank",
        ),
        ([user("")], "The text field in the ContentBlock object at messages.0.content.0 is blank"),
        ([user(" \n")], "is blank"),
        ([user("a"), assistant("b", ""), user("c")], "messages.1.content.1 is blank"),
        ([user()], "The content field in the Message object at messages.0 is empty"),
        ([user("a"), assistant(), user("c")], "messages.1 is empty"),
        (
            [user("a"), assistant(use("t", "no spaces please")), user(result("t"))],
            "regular expression pattern",
        ),
        (
            [user("a"), assistant(use("t", "x" * 65)), user(result("t"))],
            "regular expression pattern",
        ),
        ([user("a"), assistant(use("t", "x\n")), user(result("t"))], "regular expression pattern"),
        (
            [user("a"), assistant(use("t t")), user(result("t t"))],
            "messages.1.content.0.toolUse.toolUseId",
        ),
        ([user(use("t"))], "can only be provided in assistant messages"),
        ([user("a"), assistant(result("t")), user("b")], "can only be provided in user messages"),
        ([user("a", {"SDK_UNKNOWN_MEMBER": {"name": "x"}})], "unknown field"),
        ([user("a", {"text": "a", "image": {}})], "exactly one field"),
    ],
)
def test_a_history_that_converse_refuses_is_refused(messages: list[Any], message: str) -> None:
    assert message in refusal(request(*messages))


@pytest.mark.parametrize("status", [None, "success", "error"])
def test_a_tool_result_without_content_is_refused(status: str | None) -> None:
    empty: dict[str, Any] = {"toolResult": {"toolUseId": "t", "content": [], "status": status}}

    message = refusal(request(user("a"), assistant(use("t")), user(empty)))

    assert message.startswith("The content field at messages.2.content.0.toolResult cannot be empty")


def test_tool_input_that_is_no_object_is_refused() -> None:
    call = {"toolUse": {"toolUseId": "t", "name": "read_file", "input": "path"}}

    assert "toolUse.input is invalid" in refusal(request(user("a"), assistant(call), user(result("t"))))


def test_tool_blocks_without_tool_config_are_refused() -> None:
    body = request(user("a"), assistant(use("t")), user(result("t")), tools=[])

    assert refusal(body).startswith("The toolConfig field must be defined")


@pytest.mark.parametrize(
    ("tools", "message"),
    [
        ([tool_spec("bad name")], "regular expression pattern"),
        ([tool_spec("a"), tool_spec("a")], "unique"),
        (
            [{"toolSpec": {"name": "a", "inputSchema": {"json": {}}}}],
            "must be one of the following: object",
        ),
    ],
)
def test_tools_that_converse_refuses_are_refused(tools: list[Any], message: str) -> None:
    assert message in refusal(request(user("a"), tools=tools))


@pytest.mark.parametrize("body", [None, [], "text", {}, {"messages": {}}, {"messages": [None]}])
def test_a_body_of_another_shape_is_refused(body: Any) -> None:
    refusal(body)


def history(reasoning: Any) -> list[dict[str, Any]]:
    turn = Turn("I look.", (ToolCall("read_file", {"path": "a", "n": 1.0}, "t"),), reasoning=reasoning)
    return [
        user("read a"),
        turn_of(turn, user("read a"), system=[{"text": "Be kind."}]),
        user(result("t")),
    ]


def body_of(messages: list[dict[str, Any]], **more: Any) -> dict[str, Any]:
    return request(*copy.deepcopy(messages), **{"system": [{"text": "Be kind."}], **more})


KINDS = pytest.mark.parametrize("reasoning", ["text", "signature-only", "redacted"])


@KINDS
def test_reasoning_that_comes_back_unchanged_is_accepted(reasoning: str) -> None:
    cached = [{"text": "Be kind."}, {"cachePoint": {"type": "default"}}]

    assert validate(MODEL, body_of(history(reasoning))) == []
    assert validate(MODEL, body_of(history(reasoning), system=cached)) == []


@KINDS
@pytest.mark.parametrize("change", ["system", "tools", "earlier message", "model"])
def test_reasoning_in_another_conversation_is_refused(reasoning: str, change: str) -> None:
    body = body_of(history(reasoning))
    if change == "system":
        body["system"][0]["text"] = "Be terse."
    elif change == "tools":
        body["toolConfig"] = {"tools": [*TOOLS[:-1], tool_spec("move_file", "source")]}
    elif change == "earlier message":
        body["messages"][0]["content"][0]["text"] = "read b"

    assert refusal(body, "other.model" if change == "model" else MODEL) == BOUND_ELSEWHERE


@KINDS
def test_drop_block_cures_a_changed_conversation_when_its_beta_is_named(reasoning: str) -> None:
    body = body_of(history(reasoning), system=[{"text": "Be terse."}])

    body["additionalModelRequestFields"] = {**DROP, "anthropic_beta": [BETA]}
    assert validate(MODEL, body) == ["messages.1.content.0"]

    body["additionalModelRequestFields"] = DROP
    assert BETA in refusal(body)

    body["additionalModelRequestFields"] = {"thinking": {"type": "adaptive"}}
    assert refusal(body) == BOUND_ELSEWHERE


@KINDS
@pytest.mark.parametrize("altered", ["text", "input", "a block less", "a block more"])
def test_a_changed_turn_is_refused_and_drop_block_does_not_cure_it(reasoning: str, altered: str) -> None:
    messages = history(reasoning)
    content = messages[1]["content"]
    if altered == "text":
        content[1]["text"] += " "
    elif altered == "input":
        content[2]["toolUse"]["input"]["n"] = 1
    elif altered == "a block less":
        del content[1]
    else:
        content.append({"text": "more"})
    drop = {**DROP, "anthropic_beta": [BETA]}

    assert "cannot be modified" in refusal(body_of(messages, additionalModelRequestFields=drop))


def test_reasoning_text_that_was_lost_or_changed_is_refused() -> None:
    messages = history("text")
    messages[1]["content"][0]["reasoningContent"]["reasoningText"]["text"] = ""

    assert "cannot be modified" in refusal(body_of(messages))


@pytest.mark.parametrize("signature", [None, "", "AAAA", "not base64 ✓"])
def test_a_signature_that_was_not_made_here_is_refused(signature: str | None) -> None:
    messages = history("text")
    messages[1]["content"][0]["reasoningContent"]["reasoningText"]["signature"] = signature

    assert refusal(body_of(messages)) == "messages.1.content.0: Invalid `signature` in `thinking` block"


def test_reasoning_may_be_left_out_unless_thinking_is_enabled_for_the_turn() -> None:
    messages = history("text")
    del messages[1]["content"][0]

    assert validate(MODEL, body_of(messages)) == []
    enabled = {"thinking": {"type": "enabled", "budget_tokens": 1024}}
    assert "Expected `thinking`" in refusal(body_of(messages, additionalModelRequestFields=enabled))
