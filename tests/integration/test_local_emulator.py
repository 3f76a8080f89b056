"""MiniStack as the local stack runs it: what it knows outlives a stop, and a change of its port."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any

import boto3
import pytest

from local.build import runtime_parameters
from local.emulator import CREDENTIALS, REGION, start_emulator
from local.ports import ADDRESS, choose_ports
from local.processes import wait_for

pytestmark = pytest.mark.emulator


@contextmanager
def _running(state: Path, port: int, **environment: str) -> Iterator[Callable[[str], Any]]:
    """Run it; what is yielded makes clients."""
    program = start_emulator(state, port, function_environment=environment, enforce_iam=False)
    try:
        url = f"http://{ADDRESS}:{port}"
        program.wait_until_healthy(f"{url}/_ministack/health")
        session = boto3.Session(
            region_name=REGION,
            aws_access_key_id=CREDENTIALS["AWS_ACCESS_KEY_ID"],
            aws_secret_access_key=CREDENTIALS["AWS_SECRET_ACCESS_KEY"],
        )
        yield lambda service: session.client(service, endpoint_url=url)  # type: ignore[call-overload]
    finally:
        program.stop()


@contextmanager
def _queues(state: Path, port: int) -> Iterator[Any]:
    with _running(state, port) as client:
        yield client("sqs")


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


_READER = """
import os

def handler(event, context):
    with open(os.environ["SEEN"], "a") as seen:
        seen.writelines(record["dynamodb"]["Keys"]["pk"]["S"] + "\\n" for record in event["Records"])
"""


def test_who_reads_a_tables_stream_goes_on_after_a_stop(tmp_path: Path) -> None:
    seen, port = tmp_path / "seen", choose_ports(tmp_path / "ports.json")["aws"]
    for run in ("first", "second"):
        with _running(tmp_path, port, SEEN=str(seen)) as client:
            if run == "first":
                _make_reader(client)
            client("dynamodb").put_item(TableName="table", Item={"pk": {"S": run}})
            assert wait_for(partial(_has_read, client, seen, run), seconds=30)
    assert seen.read_text().split() == ["first", "second"]


def _has_read(client: Callable[[str], Any], seen: Path, line: str) -> bool:
    (mapping,) = client("lambda").list_event_source_mappings(FunctionName="reader")["EventSourceMappings"]
    noted = mapping["LastProcessingResult"].startswith("OK")  # and not only read
    return noted and seen.exists() and line in seen.read_text().split()


def _make_reader(client: Callable[[str], Any]) -> None:
    code = io.BytesIO()
    with zipfile.ZipFile(code, "w") as archive:
        archive.writestr("app.py", _READER)
    client("dynamodb").create_table(
        TableName="table",
        BillingMode="PAY_PER_REQUEST",
        AttributeDefinitions=[{"AttributeName": "pk", "AttributeType": "S"}],
        KeySchema=[{"AttributeName": "pk", "KeyType": "HASH"}],
        StreamSpecification={"StreamEnabled": True, "StreamViewType": "NEW_AND_OLD_IMAGES"},
    )
    stream = client("dynamodb").describe_table(TableName="table")["Table"]["LatestStreamArn"]
    client("lambda").create_function(
        FunctionName="reader",
        Runtime=runtime_parameters()["Runtime"],
        Role="arn:aws:iam::000000000000:role/reader",
        Handler="app.handler",
        Code={"ZipFile": code.getvalue()},
    )
    client("lambda").create_event_source_mapping(
        FunctionName="reader", EventSourceArn=stream, StartingPosition="TRIM_HORIZON"
    )
