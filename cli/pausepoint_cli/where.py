"""Finds the API, and who signs the requests to it."""

from __future__ import annotations

import ipaddress
import json
import re
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import urlsplit

from pausepoint_cli.exits import CommandError, Exit
from pausepoint_cli.signing import Signer, aws_session

if TYPE_CHECKING:
    from pausepoint_cli.world import World

LOCAL_STACK: Final = Path(".local") / "stack.json"
API_VARIABLE: Final = "PAUSEPOINT_API"
OUTPUT: Final = "ApiUrl"
"""The stack's output with the API's address; see template.yaml."""

_REGION_IN_HOST: Final = re.compile(r"\.execute-api\.([a-z0-9-]+)\.(?:vpce\.)?amazonaws\.")
_NOWHERE: Final = (
    f"Which API? Say --api URL or --stack NAME, set {API_VARIABLE}, or start the local stack with `make run` and come "
    "back to its folder."
)


@dataclass(frozen=True)
class Asked:
    """What the command line says of it."""

    api: str | None = None
    stack: str | None = None
    profile: str | None = None
    region: str | None = None


@dataclass(frozen=True)
class Target:
    """Where the API answers; `signer` is None where nothing is signed."""

    url: str
    signer: Signer | None
    ca_bundle: str | None = None


def find(asked: Asked, world: World) -> Target:
    """Return the API that is meant: `--api`, `--stack`, the environment's, or the local stack around here.

    An https address is signed for, with the credentials that the AWS command line would use. Plain http is taken for
    this machine only, and is not signed.

    Raises:
        CommandError: there is none, or it cannot be used.
    """
    if asked.api and asked.stack:
        raise CommandError(Exit.USAGE, "--api and --stack both say where the API is: give one of them.")
    if asked.stack:
        return _signed(_output(asked.stack, asked), asked, f"The stack {asked.stack!r} says")
    if asked.api:
        return _checked(asked.api, asked, "--api says")
    if from_environment := world.environ.get(API_VARIABLE):
        return _checked(from_environment, asked, f"{API_VARIABLE} says")
    for folder in (world.folder, *world.folder.parents):
        if (description := folder / LOCAL_STACK).is_file():
            return _local(description)
    raise CommandError(Exit.USAGE, _NOWHERE)


def _checked(url: str, asked: Asked, source: str) -> Target:
    if _is_local(url):
        return Target(_clean(url, source), signer=None)
    return _signed(url, asked, source)


def _signed(url: str, asked: Asked, source: str) -> Target:
    url = _clean(url, source)
    parts = urlsplit(url)
    if parts.scheme != "https":
        raise CommandError(Exit.USAGE, f"{source} {url}: plain http is for this machine only; it takes https.")
    session = aws_session(asked.profile)
    in_host = _REGION_IN_HOST.search(parts.hostname or "")
    region = in_host[1] if in_host else asked.region or session.get_config_variable("region")
    if not region:
        raise CommandError(Exit.USAGE, f"{source} {url}: say --region, which its name does not tell.")
    return Target(url, Signer(session, region), session.get_config_variable("ca_bundle"))


def _local(description: Path) -> Target:
    source = f"{description} says"
    try:
        url = json.loads(description.read_text(encoding="utf-8"))["api_url"]
    except (OSError, ValueError, KeyError, TypeError):
        raise CommandError(Exit.USAGE, f"{description} does not describe a local stack.") from None
    if not isinstance(url, str) or not _is_local(url):
        raise CommandError(Exit.USAGE, f"{source} {url!r}, which is not on this machine: say --api if you mean it.")
    return Target(_clean(url, source), signer=None)


def _output(stack: str, asked: Asked) -> str:
    """Return the API's address from the outputs of a CloudFormation stack."""
    from botocore.exceptions import BotoCoreError, ClientError  # noqa: PLC0415 - the local stack does not need it

    session = aws_session(asked.profile)
    try:
        client: Any = session.create_client("cloudformation", region_name=asked.region)
        (described,) = client.describe_stacks(StackName=stack)["Stacks"]
    except ClientError as error:
        code = error.response.get("Error", {}).get("Code")
        exit_code = Exit.USAGE if code == "ValidationError" else Exit.NOT_ALLOWED
        raise CommandError(exit_code, f"The stack {stack!r} cannot be looked up: {error}.") from None
    except BotoCoreError as error:
        raise CommandError(Exit.NOT_ALLOWED, f"The stack {stack!r} cannot be looked up: {error}.") from None
    found = [output["OutputValue"] for output in described.get("Outputs", ()) if output["OutputKey"] == OUTPUT]
    if not found:
        raise CommandError(Exit.USAGE, f"The stack {stack!r} has no output {OUTPUT}: it is not a Pausepoint.")
    url: str = found[0]
    return url


def _clean(url: str, source: str) -> str:
    try:
        parts = urlsplit(url)
        valid = bool(parts.hostname) and parts.scheme in ("http", "https") and (parts.port or 1) > 0
    except ValueError:
        valid = False
    if not valid or parts.username or parts.query or parts.fragment or re.search(r"[^!-~]", url):
        raise CommandError(Exit.USAGE, f"{source} {url!r}, which is not the address of an API.")
    return url.rstrip("/")


def _is_local(url: str) -> bool:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
    except ValueError:
        return False
    if parts.scheme != "http":
        return False
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost" or host.endswith(".localhost")
