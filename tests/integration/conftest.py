"""A deployment on moto for each test, what it sends to AWS, and all that it says."""

from __future__ import annotations

import io
import logging
from collections.abc import Iterator
from types import ModuleType, SimpleNamespace

import boto3
import pytest
from botocore.config import Config

from pausepoint import telemetry
from pausepoint.bootstrap import application
from tests.support.aws import REGION, client, locked_moto, use_session
from tests.support.clerk import desk
from tests.support.deployment import TABLE, Deployment
from tests.support.functions import load_functions
from tests.support.said import ACCESS_KEY, SECRET_KEY, Said
from tests.support.wire import Wire, on_the_wire

MOTO = Config(account_id_endpoint_mode="disabled")  # moto does not know the account's own addresses
SERVICES = ("dynamodb", "dynamodbstreams", "s3", "sns", "sqs")
ENVIRONMENT = {
    "AWS_DEFAULT_REGION": REGION,
    "TABLE_NAME": TABLE,
    "AGENT": "tests.support.clerk:agent",
    "MODEL_ID": "scripted",
    "BASE_URL": "",
    "APPROVAL_SECONDS": "86400",
    "SESSION_SECONDS": "2592000",
    "REMINDER_SECONDS": "0",
    "REQUIRE_SIGNED_CALLER": "true",
    "LOG_LEVEL": "INFO",
    "POWERTOOLS_SERVICE_NAME": "pausepoint",
    "POWERTOOLS_METRICS_NAMESPACE": "Pausepoint",
}


@pytest.fixture(scope="session")
def functions() -> dict[str, ModuleType]:
    telemetry.logger()  # made here, so that it does not hold on to the captured output of one test
    return load_functions()


@pytest.fixture(scope="session")
def aws_session() -> boto3.Session:
    # One for all tests: it keeps the descriptions of the services, which take longer to read than a test runs.
    return boto3.Session(region_name=REGION, aws_access_key_id=ACCESS_KEY, aws_secret_access_key=SECRET_KEY)


@pytest.fixture(scope="module")
def deployed(functions: dict[str, ModuleType], aws_session: boto3.Session) -> Iterator[Deployment]:
    with locked_moto(), pytest.MonkeyPatch.context() as patch:
        use_session(patch, aws_session)
        yield Deployment(functions, {service: client(service, config=MOTO) for service in SERVICES})


@pytest.fixture
def undisturbed(
    deployed: Deployment, aws_session: boto3.Session, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Deployment]:
    """The deployment as the test before left it: for tests of what must change nothing."""
    use_session(monkeypatch, aws_session)
    for name, value in ENVIRONMENT.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setenv("TOPIC_ARN", deployed.topic_arn)
    monkeypatch.setenv("QUEUE_URL", deployed.queue_url)
    monkeypatch.setenv("OVERFLOW_BUCKET", deployed.bucket)
    desk.clear()
    application.cache_clear()
    yield deployed
    application.cache_clear()


@pytest.fixture
def deployment(undisturbed: Deployment) -> Deployment:
    """A deployment that nobody has used yet."""
    undisturbed.empty()
    return undisturbed


@pytest.fixture
def wire(undisturbed: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Wire]:
    monkeypatch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))  # between repetitions
    with on_the_wire(ACCESS_KEY) as wire:
        yield wire


@pytest.fixture
def said(deployment: Deployment, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[Said]:
    lines, records = io.StringIO(), io.StringIO()
    monkeypatch.setattr(telemetry.logger().registered_handler, "stream", lines)
    root, everything = logging.getLogger(), logging.StreamHandler(records)
    level = root.level
    root.addHandler(everything)
    yield Said(lines, records, capsys)
    root.setLevel(level)
    root.removeHandler(everything)
