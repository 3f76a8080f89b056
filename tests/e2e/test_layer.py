"""The layer that the functions run from: small, and made for a short cold start."""

from __future__ import annotations

from pathlib import Path
from typing import Final

import pytest

from pausepoint.http.headers import TEMPLATES
from tests.e2e.stack import Stack
from tests.support.aws import ROOT

pytestmark = pytest.mark.e2e
MOST_BYTES: Final = 30_000_000
_UNCHECKED: Final = b"\x01\0\0\0"
"""The flags of byte-code that is never compared with its source (PEP 552)."""


@pytest.fixture
def layer(stack: Stack) -> Path:
    return stack.state / "build" / "PausepointLayer" / "python"


def test_it_has_no_more_than_thirty_megabytes(layer: Path) -> None:
    sizes = [path.stat().st_size for path in layer.rglob("*") if path.is_file()]

    assert 10_000_000 < sum(sizes) <= MOST_BYTES


def test_every_module_of_ours_has_byte_code_that_is_never_checked(layer: Path) -> None:
    modules = sorted((layer / "pausepoint").rglob("*.py"))
    compiled = {path.name.partition(".")[0]: path.read_bytes() for path in (layer / "pausepoint").rglob("*.pyc")}

    assert {path.stem for path in modules} == compiled.keys()
    assert {code[4:8] for code in compiled.values()} == {_UNCHECKED}


def test_its_templates_are_compiled(layer: Path) -> None:
    compiled = list((layer / "pausepoint" / "http" / "compiled_templates").glob("*.py"))

    assert len(compiled) == len(list(TEMPLATES.glob("*.html")))


def test_botocore_knows_the_services_that_are_named_and_no_other(layer: Path) -> None:
    kept = {path.name for path in (layer / "botocore" / "data").iterdir() if path.is_dir()}

    assert kept == {*(ROOT / "layers" / "pausepoint" / "services.txt").read_text().split()}
