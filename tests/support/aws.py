"""AWS for tests: moto made atomic, and the table as template.yaml describes it."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any
from unittest.mock import patch

import boto3
import yaml
from moto import mock_aws
from moto.core.botocore_stubber import BotocoreStubber

from pausepoint.adapters import aws

if TYPE_CHECKING:
    import pytest

REGION = "eu-central-1"
ROOT = Path(__file__).parents[2]


class _Loader(yaml.SafeLoader):
    """Reads CloudFormation's short forms (!Ref and the like) as their bare values."""


def _short_form(loader: yaml.SafeLoader, _: str, node: yaml.Node) -> Any:
    if isinstance(node, yaml.ScalarNode):
        return loader.construct_scalar(node)
    if isinstance(node, yaml.SequenceNode):
        return loader.construct_sequence(node)
    assert isinstance(node, yaml.MappingNode)
    return loader.construct_mapping(node)


_Loader.add_multi_constructor("!", _short_form)


@cache
def template() -> dict[str, Any]:
    """Return template.yaml."""
    loaded: dict[str, Any] = yaml.load((ROOT / "template.yaml").read_text(encoding="utf-8"), _Loader)
    return loaded


def create_table(client: Any, name: str) -> None:
    """Make the table that the template describes: the one definition there is."""
    client.create_table(TableName=name, **_table())


@cache
def _table() -> dict[str, Any]:
    (properties,) = (
        resource["Properties"]
        for resource in template()["Resources"].values()
        if resource["Type"] == "AWS::DynamoDB::Table"
    )
    parts = ("AttributeDefinitions", "KeySchema", "GlobalSecondaryIndexes", "BillingMode")
    return {part: properties[part] for part in parts}


@contextmanager
def locked_moto() -> Iterator[None]:
    """Mock AWS with moto, one request at a time: by itself moto is not atomic under threads."""
    lock = threading.RLock()
    original = BotocoreStubber.__call__

    def one_at_a_time(self: BotocoreStubber, *args: Any, **kwargs: Any) -> Any:
        with lock:
            return original(self, *args, **kwargs)

    with patch.object(BotocoreStubber, "__call__", one_at_a_time), mock_aws():
        yield


def use_session(patch: pytest.MonkeyPatch, session: boto3.Session) -> None:
    """Have the library's clients, and those that tools make by boto3, come from this session."""
    patch.setattr(boto3, "DEFAULT_SESSION", session)
    patch.setattr(aws, "session", lambda: session._session)


def client(service: str, **options: Any) -> Any:
    """Return a boto3 client that never leaves this machine."""
    return boto3.client(  # type: ignore[call-overload]
        service, region_name=REGION, aws_access_key_id="test", aws_secret_access_key="test", **options
    )
