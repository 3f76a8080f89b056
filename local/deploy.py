"""Deploys the real template to MiniStack with the real ``sam deploy``, and does what MiniStack leaves out."""

from __future__ import annotations

import contextlib
import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import boto3
from botocore.config import Config
from botocore.exceptions import ClientError

from local.build import SAM, build, sam_environment
from local.emulator import CREDENTIALS, REGION
from local.processes import call
from local.routes import make_routes

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient

STACK_NAME = "pausepoint"
_ARTIFACTS = "pausepoint-artifacts"
# Bucket names do not resolve as subdomains of a loopback address.
PATH_STYLE = Config(s3={"addressing_style": "path"})


@dataclass(frozen=True)
class Deployment:
    """The deployed stack: the id of its API, and its outputs by name."""

    api_id: str
    outputs: Mapping[str, str]


def session() -> boto3.Session:
    """Return a boto3 session with the credentials of MiniStack's root."""
    return boto3.Session(
        aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
        aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        region_name=REGION,
    )


def deploy(state: Path, endpoint_url: str, parameters: Mapping[str, str]) -> Deployment:
    """Build the template if it has changed, deploy it if that or a parameter has, and complete it.

    Raises:
        LocalStackError: a step failed.
    """
    aws = session()
    cloudformation = aws.client("cloudformation", endpoint_url=endpoint_url)
    s3 = aws.client("s3", endpoint_url=endpoint_url, config=PATH_STYLE)
    wanted = json.dumps([build(state), dict(parameters)], sort_keys=True)
    stamp = state / "deployed"
    if not (stamp.exists() and stamp.read_text() == wanted and _is_complete(cloudformation)):
        stamp.unlink(missing_ok=True)
        s3.create_bucket(Bucket=_ARTIFACTS)
        _sam_deploy(state, endpoint_url, parameters)
        stamp.write_text(wanted)
    outputs = _outputs(cloudformation)
    # MiniStack speaks plain HTTP here: a policy that wants TLS would refuse every call to the bucket.
    for bucket in ("FilesBucket", "OverflowBucket"):
        s3.delete_bucket_policy(Bucket=outputs[bucket])
    api_id = make_routes(cloudformation, aws.client("apigatewayv2", endpoint_url=endpoint_url), STACK_NAME)
    return Deployment(api_id, outputs)


def _sam_deploy(state: Path, endpoint_url: str, parameters: Mapping[str, str]) -> None:
    call(
        [
            *(str(SAM), "deploy", "--stack-name", STACK_NAME, "--s3-bucket", _ARTIFACTS),
            *("--template-file", str(state / "build" / "template.yaml")),
            *("--config-env", "local", "--capabilities", "CAPABILITY_IAM", "--no-confirm-changeset"),
            *("--no-fail-on-empty-changeset", "--no-progressbar", "--parameter-overrides"),
            *(f"{name}={value}" for name, value in parameters.items()),
        ],
        env=sam_environment(
            {
                **CREDENTIALS,
                "AWS_DEFAULT_REGION": REGION,
                "AWS_ENDPOINT_URL": endpoint_url,
                "SAM_CLI_POLL_DELAY": "0.5",
            }
        ),
        log=state / "deploy.log",
        cwd=state,
        failure="sam deploy failed",
    )


def _is_complete(cloudformation: CloudFormationClient) -> bool:
    with contextlib.suppress(ClientError):
        stacks = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"]
        return stacks[0]["StackStatus"] in {"CREATE_COMPLETE", "UPDATE_COMPLETE"}
    return False


def _outputs(cloudformation: CloudFormationClient) -> dict[str, str]:
    [stack] = cloudformation.describe_stacks(StackName=STACK_NAME)["Stacks"]
    return {output["OutputKey"]: output["OutputValue"] for output in stack.get("Outputs", [])}
