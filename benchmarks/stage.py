"""Where the work is done: a MiniStack of its own, and processes that have the layer, or boto3 alone."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import boto3

from benchmarks.layer import ROOT, Built, built, child
from tests.support.aws import create_table
from tests.support.emulator import ministack


@dataclass(frozen=True)
class Stage:
    """The services of a deployment, and what the functions are told of them."""

    built: Built
    environment: dict[str, str]

    def ours(self, step: str, **given: Any) -> dict[str, Any]:
        """Do a step of `benchmarks.scenario` in a process of its own, and return its measurements."""
        return self.run("scenario", [self.built.library], step, **given)

    def baseline(self, step: str, **given: Any) -> dict[str, Any]:
        """Do a step of `benchmarks.single_item` in a process of its own, and return its measurements."""
        return self.run("single_item", [self.built.bare], step, **given)

    def floor(self, step: str, **given: Any) -> dict[str, Any]:
        """Do a step of `benchmarks.bare_writes` in a process of its own, and return its measurements."""
        return self.run("bare_writes", [self.built.bare], step, **given)

    def run(self, module: str, paths: list[Path], step: str, **given: Any) -> dict[str, Any]:
        """Do a step of a module of this package in a process of its own, and return its measurements."""
        code = f"from benchmarks import {module}; {module}.main()"
        told = json.dumps({"step": step, **given})
        measured: dict[str, Any] = json.loads(child(code, *paths, ROOT, environment=self.environment, given=told))
        return measured


@contextmanager
def stage() -> Iterator[Stage]:
    """Build the layers and start the services."""
    with built() as folders, TemporaryDirectory() as state, ministack(Path(state)) as endpoint:

        def client(service: str) -> Any:
            options = {"aws_access_key_id": "test", "aws_secret_access_key": "test"}
            return boto3.client(service, endpoint_url=endpoint, region_name="us-east-1", **options)  # type: ignore[call-overload]

        create_table(client("dynamodb"), "sessions")
        environment = {
            "AWS_ENDPOINT_URL": endpoint,
            "TABLE_NAME": "sessions",
            "TOPIC_ARN": client("sns").create_topic(Name="approvals")["TopicArn"],
            "QUEUE_URL": client("sqs").create_queue(QueueName="work")["QueueUrl"],
            "POWERTOOLS_METRICS_NAMESPACE": "Pausepoint",
        }
        yield Stage(folders, environment)
