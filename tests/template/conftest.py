"""The template, translated once by SAM itself, as CloudFormation will get it."""

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

REPOSITORY = Path(__file__).resolve().parents[2]
SAM_PYTHON = REPOSITORY / ".venv-sam" / "bin" / "python"


@pytest.fixture(scope="session")
def template() -> dict[str, Any]:
    if not SAM_PYTHON.exists():
        pytest.fail("The SAM environment is missing: run `make env`.")
    translated = subprocess.run(
        [SAM_PYTHON, Path(__file__).with_name("translate.py"), REPOSITORY / "template.yaml"],
        check=True,
        capture_output=True,
        text=True,
    )
    document: dict[str, Any] = json.loads(translated.stdout)
    return document
