"""Decides which model the local stack talks to: the stand-in, another endpoint, or Amazon Bedrock."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from local.errors import LocalStackError


@dataclass(frozen=True)
class ModelChoice:
    """Where the functions find Bedrock's Converse.

    Attributes:
        url: The endpoint; None asks for the stand-in.
        credentials: What the functions need in their environment to be let in.
        parameters: Parameters of the template that go with it.
    """

    url: str | None = None
    credentials: Mapping[str, str] = field(default_factory=dict)
    parameters: Mapping[str, str] = field(default_factory=dict)


def choose_model(environment: Mapping[str, str]) -> ModelChoice:
    """Read the choice from the environment.

    ``PAUSEPOINT_MODEL_URL`` names any endpoint that speaks Converse. ``PAUSEPOINT_MODEL=bedrock`` is
    Amazon Bedrock, entered with ``AWS_BEARER_TOKEN_BEDROCK`` or else with a short-lived token made
    from the AWS credentials of whoever starts the stack. ``MODEL_ID`` overrides the template's model.

    Raises:
        LocalStackError: no credentials, or a name that is not known.
    """
    parameters = {"ModelId": environment["MODEL_ID"]} if environment.get("MODEL_ID") else {}
    token = environment.get("AWS_BEARER_TOKEN_BEDROCK")
    credentials = {"AWS_BEARER_TOKEN_BEDROCK": token} if token else {}
    if url := environment.get("PAUSEPOINT_MODEL_URL"):
        return ModelChoice(url, credentials, parameters)
    match environment.get("PAUSEPOINT_MODEL", "stand-in"):
        case "stand-in":
            return ModelChoice(parameters=parameters)
        case "bedrock":
            region = environment.get("AWS_REGION") or environment.get("AWS_DEFAULT_REGION")
            if not region:
                raise LocalStackError("Say in AWS_REGION which region's Bedrock to use.")
            return ModelChoice(
                f"https://bedrock-runtime.{region}.amazonaws.com",
                credentials or {"AWS_BEARER_TOKEN_BEDROCK": _token(region)},
                parameters,
            )
        case other:
            raise LocalStackError(f"PAUSEPOINT_MODEL is stand-in or bedrock, not {other!r}.")


def _token(region: str) -> str:
    from aws_bedrock_token_generator import provide_token  # noqa: PLC0415 - rarely needed
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    try:
        token: str = provide_token(region=region)
    except BotoCoreError as error:
        raise LocalStackError(f"Bedrock needs AWS credentials: {error}") from None
    return token
