"""The Bedrock stand-in as the real client of boto3 sees it."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any

import boto3
import pytest
from botocore.config import Config
from botocore.exceptions import ClientError

from local.loopback import LoopbackServer
from local.model import ModelStandIn
from local.model_reasoning import BETA
from tests.unit.local.conversations import MODEL, TOOLS, result, user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from mypy_boto3_bedrock_runtime import BedrockRuntimeClient

pytestmark = pytest.mark.enable_socket

PROFILE = "arn:aws:bedrock:eu-central-1:123456789012:inference-profile/eu.anthropic.claude-test-v1:0"


@pytest.fixture
def server() -> Iterator[LoopbackServer]:
    with LoopbackServer(0, ModelStandIn()) as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        yield server
        server.shutdown()
        thread.join()


@pytest.fixture
def client(server: LoopbackServer, monkeypatch: pytest.MonkeyPatch) -> Iterator[BedrockRuntimeClient]:
    monkeypatch.setenv("AWS_ENDPOINT_URL_BEDROCK_RUNTIME", server.url)
    client = boto3.client(
        "bedrock-runtime",
        region_name="eu-central-1",
        aws_access_key_id="test",
        aws_secret_access_key="test",
        config=Config(retries={"total_max_attempts": 1}),
    )
    yield client
    client.close()


def stand_in(server: LoopbackServer) -> ModelStandIn:
    assert isinstance(server.application, ModelStandIn)
    return server.application


def converse(client: BedrockRuntimeClient, *messages: Any, **more: Any) -> Any:
    fields = {"system": [{"text": "Be kind."}], "modelId": MODEL, **more}
    return client.converse(
        messages=list(messages),
        inferenceConfig={"maxTokens": 100},
        toolConfig={"tools": TOOLS},  # type: ignore[typeddict-item]
        **fields,
    )


def test_a_whole_conversation(client: BedrockRuntimeClient) -> None:
    opening = user("delete a.txt and b.txt")
    first = converse(client, opening, modelId=PROFILE)
    calls = [b["toolUse"] for b in first["output"]["message"]["content"] if "toolUse" in b]
    results = user(
        result(calls[0]["toolUseId"], "gone", "success"),
        result(calls[1]["toolUseId"], "Rejected: keep it", "error"),
    )
    last = converse(client, opening, first["output"]["message"], results, modelId=PROFILE)

    assert first["stopReason"] == "tool_use"
    assert [(call["name"], call["input"]["path"]) for call in calls] == [
        ("delete_file", "a.txt"),
        ("delete_file", "b.txt"),
    ]
    assert last["stopReason"] == "end_turn"
    assert "Rejected: keep it" in last["output"]["message"]["content"][0]["text"]
    assert set(first["usage"]) >= {"inputTokens", "outputTokens", "totalTokens"}
    assert first["metrics"]["latencyMs"] > 0


def test_the_model_id_arrives_as_it_was_sent(client: BedrockRuntimeClient, server: LoopbackServer) -> None:
    converse(client, user("list"), modelId=PROFILE)

    call = stand_in(server)._calls[-1]
    assert (call["model_id"], call["status"]) == (PROFILE, 200)


def test_a_refused_history_is_a_validation_exception(client: BedrockRuntimeClient) -> None:
    first = converse(client, user("list"))["output"]["message"]

    with pytest.raises(client.exceptions.ValidationException, match="Expected toolResult blocks"):
        converse(client, user("list"), first, user("never mind"))


def test_a_scripted_error_has_its_own_type(client: BedrockRuntimeClient, server: LoopbackServer) -> None:
    error = {"status": 503, "type": "ServiceUnavailableException", "message": "later"}
    stand_in(server).scripts.add({"contains": "", "turns": [{"error": error}]})

    with pytest.raises(client.exceptions.ServiceUnavailableException, match="later"):
        converse(client, user("list"))
    assert converse(client, user("list"))["stopReason"] == "tool_use"


@pytest.mark.parametrize("kind", ["text", "signature-only", "redacted"])
def test_reasoning_goes_through_the_client_and_back(
    client: BedrockRuntimeClient, server: LoopbackServer, kind: str
) -> None:
    call = {"name": "read_file", "input": {"path": "a", "n": [1.0, 2, 1e-7]}, "id": "toolu_1"}
    stand_in(server).scripts.add({"contains": "", "turns": [{"reasoning": kind, "text": "ok", "calls": [call]}]})
    opening = user("read a")
    turn = converse(client, opening)["output"]["message"]
    history = (opening, turn, user(result("toolu_1")))

    assert "SDK_UNKNOWN_MEMBER" not in turn["content"][0]["reasoningContent"]
    assert converse(client, *history)["stopReason"] == "end_turn"
    with pytest.raises(ClientError, match="bound to a different conversation"):
        converse(client, *history, system=[{"text": "Be terse."}])
    drop = {
        "thinking": {
            "type": "adaptive",
            "block_binding": {"prefix_mismatch_behavior": "drop_block"},
        },
        "anthropic_beta": [BETA],
    }
    cured = converse(client, *history, system=[{"text": "Be terse."}], additionalModelRequestFields=drop)
    assert cured["stopReason"] == "end_turn"
