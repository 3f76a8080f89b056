"""MiniStack as the local stack runs it: what it knows outlives a stop, and a change of its port."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.emulator import CREDENTIALS, REGION, start_emulator
from local.ports import ADDRESS, choose_ports

pytestmark = pytest.mark.emulator


@contextmanager
def _queues(state: Path, port: int) -> Iterator[Any]:
    program = start_emulator(state, port, function_environment={}, enforce_iam=False)
    try:
        url = f"http://{ADDRESS}:{port}"
        program.wait_until_healthy(f"{url}/_ministack/health")
        yield boto3.client(
            "sqs",
            endpoint_url=url,
            region_name=REGION,
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        )
    finally:
        program.stop()


def test_queues_outlive_a_stop_and_a_change_of_port(tmp_path: Path) -> None:
    ports = choose_ports(tmp_path / "ports.json")
    for state_port in (ports["aws"], ports["api"]):
        with _queues(tmp_path, state_port) as sqs:
            url = sqs.create_queue(QueueName="work")["QueueUrl"]
            sqs.send_message(QueueUrl=url, MessageBody=str(state_port))
            assert [found for found in sqs.list_queues()["QueueUrls"] if str(state_port) not in found] == []
    bodies = set()
    with _queues(tmp_path, ports["api"]) as sqs:
        for _ in range(4):
            received = sqs.receive_message(QueueUrl=url, MaxNumberOfMessages=10).get("Messages", [])
            bodies |= {message["Body"] for message in received}
    assert bodies == {str(ports["aws"]), str(ports["api"])}
