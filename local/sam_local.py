"""Answers the API from Docker containers, with ``sam local start-api``, instead of MiniStack's workers."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import yaml

from local.build import LINUX_PLATFORMS, SAM, build, runtime_parameters, sam_environment
from local.deploy import STACK_NAME, session
from local.emulator import CREDENTIALS, REGION
from local.errors import LocalStackError
from local.forwarder import Forwarder
from local.ports import ADDRESS
from local.processes import Program

if TYPE_CHECKING:
    from mypy_boto3_cloudformation import CloudFormationClient
    from mypy_boto3_lambda import LambdaClient

_NETWORK = "pausepoint-local"


def require_docker() -> None:
    """Raise LocalStackError unless Docker is there and runs."""
    if shutil.which("docker") is None or _docker("info") is None:
        raise LocalStackError("`make sam-local` needs a running Docker; `make run` does without.")


def start_api(
    state: Path, port: int, endpoint_url: str, environment: Mapping[str, str], resources: ExitStack
) -> Program:
    """Start ``sam local start-api`` for the stack that is deployed to MiniStack, and return at once.

    Its containers use MiniStack's table, topic, queue and bucket; the work queue stays with the
    worker that MiniStack itself runs.

    Args:
        state: The directory that keeps everything.
        port: Where the API shall answer.
        endpoint_url: MiniStack.
        environment: What the functions find in their environment besides their own.
        resources: Stops what this starts.

    Raises:
        LocalStackError: the build failed, or the containers cannot reach this computer.
    """
    aws = session()
    directory = state / "sam-local"
    build(directory, target=LINUX_PLATFORMS[runtime_parameters()["Architecture"]])
    built = directory / "build" / "template.yaml"
    template = yaml.safe_load(built.read_text())
    host = _make_network(resources)
    _tell_functions(
        template,
        aws.client("cloudformation", endpoint_url=endpoint_url),
        aws.client("lambda", endpoint_url=endpoint_url),
        {name: _seen_from_containers(value, host, resources) for name, value in environment.items()},
    )
    told = built.with_name("told.yaml")
    told.write_text(yaml.safe_dump(template))
    program = Program(
        "sam local start-api",
        [
            *(str(SAM), "local", "start-api", "--config-env", "local", "--template", str(told)),
            *("--host", ADDRESS, "--port", str(port), "--docker-network", _NETWORK),
            *("--skip-pull-image", "--warm-containers", "LAZY", "--parameter-overrides"),
            *(f"{name}={value}" for name, value in runtime_parameters().items()),
        ],
        env=sam_environment({**CREDENTIALS, "AWS_DEFAULT_REGION": REGION}),
        log=state / "sam-local.log",
    )
    resources.callback(program.stop)
    return program


def _docker(*arguments: str) -> str | None:
    """Return what a docker command prints, or None if it fails."""
    done = subprocess.run(["docker", *arguments], capture_output=True, check=False, text=True)
    return done.stdout.strip() if done.returncode == 0 else None


def _make_network(resources: ExitStack) -> str:
    """Make the containers' network, and return the address at which they see this computer."""
    if _docker("network", "create", _NETWORK) is not None:
        resources.callback(_docker, "network", "rm", _NETWORK)
    gateway = _docker("network", "inspect", _NETWORK, "--format", "{{(index .IPAM.Config 0).Gateway}}")
    if not gateway:
        raise LocalStackError("Docker does not say at which address its containers see this computer.")
    return gateway


def _seen_from_containers(value: str, host: str, resources: ExitStack) -> str:
    """Return a value in which an address on this computer's loopback is one that containers can reach."""
    address = urlsplit(value)
    if address.hostname != ADDRESS or address.port is None:
        return value
    try:
        forwarder = Forwarder((host, address.port), upstream_port=address.port, rename=True)
    except OSError as error:
        raise LocalStackError(f"Docker's containers cannot be given {value} at {host}: {error}.") from None
    resources.callback(forwarder.stop)
    forwarder.start()
    return value.replace(ADDRESS, host, 1)


def _tell_functions(
    template: dict[str, Any],
    cloudformation: CloudFormationClient,
    functions: LambdaClient,
    environment: Mapping[str, str],
) -> None:
    """Give each function the values that its copy on MiniStack has: SAM cannot look up what `!Ref Table` is there."""
    for name, resource in template["Resources"].items():
        if resource["Type"] != "AWS::Serverless::Function":
            continue
        found = cloudformation.describe_stack_resource(StackName=STACK_NAME, LogicalResourceId=name)
        physical_id = found["StackResourceDetail"]["PhysicalResourceId"]
        deployed = functions.get_function_configuration(FunctionName=physical_id)["Environment"]["Variables"]
        resource["Properties"]["Environment"] = {"Variables": {**deployed, **environment}}
