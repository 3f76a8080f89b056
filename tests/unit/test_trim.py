"""Cutting botocore's data down to the services that are used."""

from __future__ import annotations

import gzip
import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Final

import pytest

from tests.support.aws import ROOT

TRIM = ROOT / "layers" / "pausepoint" / "trim.py"
SERVICES = {"ses": "email", "sqs": "sqs", "iot": "iot"}


@pytest.fixture
def packages(tmp_path: Path) -> Path:
    data = tmp_path / "cache"
    for service, prefix in SERVICES.items():
        (data / service / "2020-01-01").mkdir(parents=True)
        model = json.dumps({"metadata": {"endpointPrefix": prefix}})
        (data / service / "2020-01-01" / "service-2.json.gz").write_bytes(gzip.compress(model.encode()))
    endpoints = {"partitions": [{"partition": "aws", "services": {prefix: {} for prefix in SERVICES.values()}}]}
    (data / "endpoints.json").write_text(json.dumps(endpoints))
    (data / "_retry.json").write_text("{}")
    # As uv installs: hard links to its cache.
    shutil.copytree(data, tmp_path / "layer" / "botocore" / "data", copy_function=os.link)
    (tmp_path / "layer" / "boto3" / "data" / "iot").mkdir(parents=True)
    return tmp_path / "layer"


def trim(packages: Path, services: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([sys.executable, TRIM, packages], input=services, capture_output=True, text=True, check=False)


def left(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_only_the_services_that_are_named_stay_and_only_their_endpoints(packages: Path) -> None:
    done = trim(packages, "sqs\nses\n\n")

    data = packages / "botocore" / "data"
    assert done.returncode == 0, done.stderr
    assert left(data) == {"ses", "sqs", "endpoints.json", "_retry.json"}
    assert left(packages / "boto3" / "data") == set()
    (partition,) = json.loads((data / "endpoints.json").read_text())["partitions"]
    assert partition == {"partition": "aws", "services": {"email": {}, "sqs": {}}}


def test_what_the_files_are_links_to_is_left_alone(packages: Path) -> None:
    cache = packages.parent / "cache"
    before = {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()}
    links = (cache / "_retry.json").stat().st_nlink

    trim(packages, "sqs\n")

    assert links > 1
    assert {path: path.read_bytes() for path in cache.rglob("*") if path.is_file()} == before


def test_a_star_keeps_everything(packages: Path) -> None:
    trim(packages, "sqs\n*\n")

    assert left(packages / "botocore" / "data") == {*SERVICES, "endpoints.json", "_retry.json"}


def test_a_service_that_there_is_not_is_told_by_its_name_and_nothing_is_cut(packages: Path) -> None:
    done = trim(packages, "sqs\nsimple-mail\n")

    assert done.returncode == 1
    assert done.stderr == "services.txt: botocore knows no service simple-mail.\n"
    assert left(packages / "botocore" / "data") == {*SERVICES, "endpoints.json", "_retry.json"}


_MADE: Final = re.compile(r'(?:_Client|create_client|boto3\.client)\("([a-z0-9-]+)"')


def test_every_service_that_the_library_or_the_example_makes_a_client_of_is_kept() -> None:
    modules = [path for name in ("pausepoint", "agent") for path in (ROOT / "layers" / name).rglob("*.py")]
    made = {service for path in modules for service in _MADE.findall(path.read_text(encoding="utf-8"))}

    assert {"bedrock-runtime", "dynamodb", "sqs"} <= made
    assert made <= {*(TRIM.parent / "services.txt").read_text().split()}
