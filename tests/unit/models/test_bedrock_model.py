"""Asking Converse: what is tried again, what is not, and never longer than there is time."""

from __future__ import annotations

import time
from types import SimpleNamespace
from typing import Any

import pytest
from botocore.exceptions import (
    ConnectTimeoutError,
    EndpointConnectionError,
    NoCredentialsError,
    ParamValidationError,
    ReadTimeoutError,
)

from pausepoint.adapters import aws
from pausepoint.errors import ConfigurationError, ModelError, ModelTimeout, Unavailable
from pausepoint.models.bedrock import BedrockModel
from tests.unit.models.converse import CLAUDE, HELLO, FakeBedrock, failure, request

BOUND = failure("ValidationException", "messages.1: thinking block is bound to a different conversation prefix")
UNREACHABLE = EndpointConnectionError(endpoint_url="https://bedrock.example")


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Let no test wait; the pauses that were meant are kept."""
    pauses: list[float] = []
    monkeypatch.setattr(time, "sleep", pauses.append)
    return pauses


def model(client: Any, **options: Any) -> BedrockModel:
    return BedrockModel(CLAUDE, client=client, **options)


def test_the_answer_is_the_models_turn() -> None:
    client = FakeBedrock(HELLO)
    reply = model(client).respond(request())
    assert (reply.text, reply.stop_reason) == ("Hello.", "end_turn")
    assert client.requests[0]["modelId"] == CLAUDE


@pytest.mark.parametrize(
    "code",
    [
        "ThrottlingException",
        "ServiceUnavailableException",
        "InternalServerException",
        "ModelNotReadyException",
        "ModelTimeoutException",
    ],
)
def test_throttling_and_faults_on_their_side_are_tried_again(code: str, slept: list[float]) -> None:
    client = FakeBedrock(failure(code), failure(code), HELLO)
    assert model(client).respond(request()).text == "Hello."
    assert len(client.requests) == 3
    assert client.requests[0] == client.requests[2]
    assert slept == sorted(slept)
    assert all(slept)


@pytest.mark.parametrize("error", [failure("ThrottlingException"), UNREACHABLE])
def test_r45_what_never_gets_better_is_unavailable_after_a_few_tries(error: Exception) -> None:
    client = FakeBedrock(*[error] * 9)
    with pytest.raises(Unavailable):
        model(client).respond(request())
    assert len(client.requests) == 4


@pytest.mark.parametrize(
    "error",
    [
        failure("ValidationException"),
        failure("AccessDeniedException"),
        failure("ResourceNotFoundException"),
        failure("ModelErrorException"),
        failure("SomethingNew"),
        ParamValidationError(report="Unknown parameter in messages"),
        NoCredentialsError(),
    ],
)
def test_what_trying_again_does_not_cure_is_not_tried_again(error: Exception, slept: list[float]) -> None:
    client = FakeBedrock(error, HELLO)
    with pytest.raises(ModelError) as refusal:
        model(client).respond(request())
    assert not isinstance(refusal.value, ModelTimeout)
    assert (len(client.requests), slept) == (1, [])


@pytest.mark.parametrize("kind", [ReadTimeoutError, ConnectTimeoutError])
def test_an_answer_that_does_not_come_in_time_is_a_timeout(kind: Any) -> None:
    client = FakeBedrock(kind(endpoint_url="https://bedrock.example"), HELLO)
    with pytest.raises(ModelTimeout):
        model(client).respond(request())
    assert len(client.requests) == 1


@pytest.mark.parametrize("timeout", [-1, 0, 1.9])
def test_without_time_nobody_is_asked(timeout: float) -> None:
    client = FakeBedrock(HELLO)
    with pytest.raises(ModelTimeout):
        model(client).respond(request(timeout))
    assert client.requests == []


def test_trying_again_ends_with_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    now = [0.0]
    monkeypatch.setattr(time, "monotonic", lambda: now[0])
    monkeypatch.setattr(time, "sleep", lambda seconds: now.__setitem__(0, now[0] + seconds))
    client = FakeBedrock(*[failure("ThrottlingException")] * 9)
    with pytest.raises(ModelTimeout):
        model(client).respond(request(2.5))
    assert now[0] <= 0.5


class TestDroppedThoughts:
    """Thinking that is bound to another prefix: let go of once, and said in the log."""

    def test_the_request_is_repeated_once_with_drop_block(self, caplog: pytest.LogCaptureFixture) -> None:
        client = FakeBedrock(BOUND, HELLO)
        assert model(client).respond(request()).text == "Hello."
        first, second = client.requests
        assert "additionalModelRequestFields" not in first
        added = second.pop("additionalModelRequestFields")
        assert added["thinking"]["block_binding"] == {"prefix_mismatch_behavior": "drop_block"}
        assert second == first
        assert "dropped" in caplog.text

    def test_if_that_does_not_help_the_session_fails(self) -> None:
        client = FakeBedrock(BOUND, BOUND, HELLO)
        with pytest.raises(ModelError):
            model(client).respond(request())
        assert len(client.requests) == 2

    def test_the_second_request_may_be_throttled_like_the_first(self) -> None:
        client = FakeBedrock(BOUND, failure("ThrottlingException"), HELLO)
        assert model(client).respond(request()).text == "Hello."

    def test_what_the_agent_set_itself_is_kept(self) -> None:
        client = FakeBedrock(BOUND, HELLO)
        own = {"anthropic_beta": ["mine"], "thinking": {"type": "enabled", "budget_tokens": 2048}, "top_k": 5}
        model(client).respond(request(additional=own))
        added = client.requests[1]["additionalModelRequestFields"]
        assert added["top_k"] == 5
        assert "mine" in added["anthropic_beta"]
        assert len(added["anthropic_beta"]) == 2
        assert {"type": "enabled", "budget_tokens": 2048}.items() <= added["thinking"].items()
        assert client.requests[0]["additionalModelRequestFields"] == own


class TestSettings:
    """What a session must remember."""

    def test_max_tokens_is_always_sent(self) -> None:
        assert BedrockModel(CLAUDE).settings()["inference"] == {"maxTokens": 4096}
        assert BedrockModel(CLAUDE, max_tokens=100, temperature=0.5).settings()["inference"] == {
            "maxTokens": 100,
            "temperature": 0.5,
        }

    def test_the_model_is_named_by_the_deployment_unless_the_agent_names_it(
        self, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setenv("MODEL_ID", "from the environment")
        assert BedrockModel().settings()["model_id"] == "from the environment"
        assert BedrockModel(CLAUDE).settings()["model_id"] == CLAUDE

    def test_without_a_model_the_message_says_what_to_do(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("MODEL_ID", raising=False)
        with pytest.raises(ConfigurationError, match="MODEL_ID"):
            BedrockModel().settings()

    def test_the_session_asks_as_it_started_whatever_is_deployed_now(self) -> None:
        client = FakeBedrock(HELLO)
        BedrockModel("another.model", max_tokens=1, client=client).respond(request())
        assert client.requests[0]["modelId"] == CLAUDE
        assert client.requests[0]["inferenceConfig"] == {"maxTokens": 4096}


@pytest.mark.parametrize(("timeout", "longest"), [(900, 898), (27, 25), (9, 7), (3.5, 1.5)])
def test_a_client_of_its_own_waits_no_longer_than_there_is_time(
    timeout: float, longest: float, monkeypatch: pytest.MonkeyPatch
) -> None:
    configured = []

    def make(service: str, *, config: Any) -> FakeBedrock:
        configured.append((service, config.read_timeout, config.retries))
        return FakeBedrock(HELLO, HELLO)

    monkeypatch.setattr(aws, "session", lambda: SimpleNamespace(create_client=make))
    asking = BedrockModel(CLAUDE)
    asking.respond(request(timeout))
    asking.respond(request(timeout))
    ((service, read_timeout, retries),) = configured
    assert service == "bedrock-runtime"
    assert 1 <= read_timeout <= longest
    assert retries == {"total_max_attempts": 1}
