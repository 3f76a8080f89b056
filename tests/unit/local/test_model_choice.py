"""Which model the local stack talks to."""

from __future__ import annotations

import pytest

from local.errors import LocalStackError
from local.model_choice import ModelChoice, choose_model


def test_nothing_said_is_the_stand_in() -> None:
    assert choose_model({}) == ModelChoice()


def test_any_endpoint_can_be_named_and_a_key_goes_with_it() -> None:
    choice = choose_model({"PAUSEPOINT_MODEL_URL": "http://127.0.0.1:9", "AWS_BEARER_TOKEN_BEDROCK": "key"})
    assert choice.url == "http://127.0.0.1:9"
    assert choice.credentials == {"AWS_BEARER_TOKEN_BEDROCK": "key"}


def test_bedrock_is_entered_with_a_key() -> None:
    choice = choose_model(
        {"PAUSEPOINT_MODEL": "bedrock", "AWS_REGION": "eu-west-1", "AWS_BEARER_TOKEN_BEDROCK": "key", "MODEL_ID": "a.b"}
    )
    assert choice.url == "https://bedrock-runtime.eu-west-1.amazonaws.com"
    assert choice.credentials == {"AWS_BEARER_TOKEN_BEDROCK": "key"}
    assert choice.parameters == {"ModelId": "a.b"}


def test_bedrock_is_entered_with_a_token_made_from_aws_credentials(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AWS_ACCESS_KEY_ID", "AKIAIOSFODNN7EXAMPLE")
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "secret")
    choice = choose_model({"PAUSEPOINT_MODEL": "bedrock", "AWS_DEFAULT_REGION": "us-east-1"})
    assert choice.credentials["AWS_BEARER_TOKEN_BEDROCK"].startswith("bedrock-api-key-")


def test_bedrock_without_a_region_is_refused() -> None:
    with pytest.raises(LocalStackError, match="AWS_REGION"):
        choose_model({"PAUSEPOINT_MODEL": "bedrock"})


def test_a_model_that_is_not_known_is_refused_by_name() -> None:
    with pytest.raises(LocalStackError, match="'gpt'"):
        choose_model({"PAUSEPOINT_MODEL": "gpt"})
