"""The secrets that webhooks are signed with: the current one, and the one before while it is being replaced."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from typing import Any

import pytest
from botocore.exceptions import ClientError, EndpointConnectionError

from pausepoint.adapters.signing import SigningSecrets
from pausepoint.errors import ConfigurationError, Unavailable
from tests.support.aws import client, locked_moto, template
from tests.support.clock import FakeClock

OLD, NEW = ("whsec_" + base64.b64encode(bytes([seed]) * 32).decode() for seed in (1, 2))


@pytest.fixture
def vault() -> Iterator[Any]:
    with locked_moto():
        yield client("secretsmanager")


def generated(vault: Any) -> str:
    """Make the secret as the template makes it."""
    asked = template()["Resources"]["WebhookSecret"]["Properties"]["GenerateSecretString"]
    value: str = vault.get_random_password(**asked)["RandomPassword"]
    return value


def test_r61_the_secret_that_the_template_makes_is_one_of_48_random_bytes(vault: Any) -> None:
    made = [generated(vault) for _ in range(20)]
    for value in made:
        assert value.isalnum()
        assert len(base64.b64decode(value, validate=True)) == 48
        vault.create_secret(Name=value[:8], SecretString=value)
        assert SigningSecrets(vault, value[:8], FakeClock()).usable() == (value,)
    assert len(set(made)) == 20


def test_r61_after_a_rotation_both_are_used_until_the_old_one_is_taken_away(vault: Any) -> None:
    clock = FakeClock()
    first = vault.create_secret(Name="s", SecretString=OLD)["VersionId"]
    secrets = SigningSecrets(vault, "s", clock)
    assert secrets.usable() == (OLD,)

    vault.put_secret_value(SecretId="s", SecretString=NEW)
    assert secrets.usable() == (OLD,)
    clock.advance(minutes=5)
    assert secrets.usable() == (NEW, OLD)

    vault.update_secret_version_stage(SecretId="s", VersionStage="AWSPREVIOUS", RemoveFromVersionId=first)
    clock.advance(minutes=5)
    assert secrets.usable() == (NEW,)


@pytest.mark.parametrize(
    "value", ["", "short", "not base64 at all, but long enough to be some", "whsec_", "whsec_" + "A" * 28]
)
def test_r61_what_is_no_secret_is_refused_without_being_repeated(vault: Any, value: str) -> None:
    vault.create_secret(Name="s", SecretString=value or " ")
    with pytest.raises(ConfigurationError) as raised:
        SigningSecrets(vault, "s", FakeClock()).usable()
    assert "base64 of at least 24 bytes" in str(raised.value)
    assert not value.strip() or value not in str(raised.value)


def test_a_secret_that_is_not_there_is_said_so(vault: Any) -> None:
    with pytest.raises(ConfigurationError, match="has no value"):
        SigningSecrets(vault, "nowhere", FakeClock()).usable()


@pytest.mark.parametrize(
    "error",
    [
        ClientError({"Error": {"Code": "ThrottlingException", "Message": "secret canary"}}, "GetSecretValue"),
        EndpointConnectionError(endpoint_url="https://secretsmanager"),
    ],
)
def test_a_failure_is_one_that_trying_again_may_help_and_is_not_kept(error: Exception) -> None:
    class Vault:
        answers: list[Any] = [error]  # noqa: RUF012 - one test's

        def get_secret_value(self, **request: str) -> dict[str, str]:
            if self.answers:
                raise self.answers.pop()
            if request["VersionStage"] == "AWSPREVIOUS":
                raise ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetSecretValue")
            return {"SecretString": NEW}

    secrets = SigningSecrets(Vault(), "s", FakeClock())
    with pytest.raises(Unavailable) as raised:
        secrets.usable()
    assert "canary" not in str(raised.value)
    assert secrets.usable() == (NEW,)
