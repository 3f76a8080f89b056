"""What is measured, and what it is measured beside: the layer as it is built for Lambda, and boto3 as pip leaves it."""

from __future__ import annotations

import os
import subprocess
import sys
import tomllib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Final

ROOT: Final = Path(__file__).parents[1]
_UV: Final = ROOT / ".tools" / "bin" / "uv"
_VERSION: Final = f"{sys.version_info.major}.{sys.version_info.minor}"
# Without the environment that this runs in: only what is named in PYTHONPATH is there.
_PYTHON: Final[str] = getattr(sys, "_base_executable", sys.executable)


@dataclass(frozen=True)
class Built:
    """Folders for PYTHONPATH: the two layers, and boto3 alone, all with byte-code."""

    library: Path
    agent: Path
    bare: Path


@contextmanager
def built() -> Iterator[Built]:
    """Build the layers for this interpreter and computer, and install boto3 beside them."""
    with TemporaryDirectory() as folder:
        place = Path(folder)
        for name, target in (("pausepoint", "PausepointLayer"), ("agent", "AgentLayer")):
            _run(
                *("make", "--silent", f"build-{target}"),
                folder=ROOT / "layers" / name,
                UV=str(_UV),
                ARTIFACTS_DIR=str(place / name),
                LAYER_PYTHON=_VERSION,
                LAYER_PLATFORM="",
            )
        bare = place / "boto3"
        wanted = [f"{name}=={_locked(name)}" for name in ("boto3", "botocore")]
        _run(str(_UV), "pip", "install", "--quiet", "--python", _PYTHON, "--target", str(bare), *wanted)
        _run(_PYTHON, "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(bare))
        yield Built(place / "pausepoint" / "python", place / "agent" / "python", bare)


def child(code: str, *paths: Path, environment: Mapping[str, str] | None = None, given: str = "") -> str:
    """Run code in a process of its own that has these folders only, and return what it printed."""
    done = subprocess.run(
        [_PYTHON, "-c", code],
        # As in Lambda, no byte-code is written next to what is imported.
        env={
            "PATH": os.environ["PATH"],
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONPATH": os.pathsep.join(map(str, paths)),
            "AWS_REGION": "us-east-1",
            "AWS_DEFAULT_REGION": "us-east-1",
            "AWS_ACCESS_KEY_ID": "test",
            "AWS_SECRET_ACCESS_KEY": "test",
            "AWS_EC2_METADATA_DISABLED": "true",
            **(environment or {}),
        },
        cwd=ROOT,
        input=given,
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    return str(done.stdout)


def _run(*command: str, folder: Path = ROOT, **environment: str) -> None:
    subprocess.run(command, cwd=folder, env={**os.environ, **environment}, check=True)


def _locked(name: str) -> str:
    lock = tomllib.loads((ROOT / "uv.lock").read_text(encoding="utf-8"))
    # Of several versions, the layer's is the newest: SAM and MiniStack pin older ones.
    versions: list[str] = [package["version"] for package in lock["package"] if package["name"] == name]
    return max(versions, key=lambda version: [int(part) for part in version.split(".")])
