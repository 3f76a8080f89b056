"""Builds the real template for this computer: the layers for the interpreter that MiniStack runs on."""

from __future__ import annotations

import hashlib
import os
import platform
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path

from local.errors import LocalStackError
from local.processes import call

REPOSITORY = Path(__file__).resolve().parent.parent
SAM = REPOSITORY / ".venv-sam" / "bin" / "sam"
UV = REPOSITORY / ".tools" / "bin" / "uv"
PYTHON_VERSION = f"{sys.version_info.major}.{sys.version_info.minor}"

# What Lambda runs on, by the name that the template gives a processor.
LINUX_PLATFORMS = {"arm64": "aarch64-manylinux_2_28", "x86_64": "x86_64-manylinux_2_28"}

_SOURCES = ("template.yaml", "functions", "layers")


def runtime_parameters() -> dict[str, str]:
    """Return the parameters of the template that say what the layers are built for."""
    machine = platform.machine().lower()
    architecture = "arm64" if machine in {"arm64", "aarch64"} else "x86_64"
    return {"Runtime": f"python{PYTHON_VERSION}", "Architecture": architecture}


def sam_environment(extra: Mapping[str, str] | None = None) -> dict[str, str]:
    """Return an environment for SAM in which nothing leads to a real AWS account."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("AWS_")}
    return {
        **inherited,
        "AWS_CONFIG_FILE": os.devnull,
        "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        "SAM_CLI_TELEMETRY": "0",
        **(extra or {}),
    }


def build(directory: Path, *, target: str = "") -> str:
    """Run ``sam build`` into ``directory`` unless what is there is up to date.

    Args:
        directory: Where the build and its log go.
        target: The platform that the layers are for, as uv names it; empty is this computer.

    Returns:
        A digest of everything that went into it.

    Raises:
        LocalStackError: SAM is not there, or it failed.
    """
    for tool in (SAM, UV):
        if not tool.exists():
            raise LocalStackError(f"{tool} is missing; `make run` installs it.")
    digest = _digest(target)
    stamp = directory / "digest"
    output = directory / "build"
    if stamp.exists() and stamp.read_text() == digest and (output / "template.yaml").exists():
        return digest
    directory.mkdir(parents=True, exist_ok=True)
    stamp.unlink(missing_ok=True)
    call(
        [
            *(str(SAM), "build", "--config-env", "local"),
            *("--template", str(REPOSITORY / "template.yaml"), "--build-dir", str(output)),
        ],
        env=sam_environment({"UV": str(UV), "LAYER_PYTHON": PYTHON_VERSION, "LAYER_PLATFORM": target}),
        log=directory / "build.log",
        cwd=directory,
        failure="sam build failed",
    )
    stamp.write_text(digest)
    return digest


def _digest(target: str) -> str:
    digest = hashlib.sha256(f"{sys.version} {platform.platform()} {target}".encode())
    for path in _sources():
        digest.update(f"{path.relative_to(REPOSITORY)} {path.stat().st_size}\n".encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def _sources() -> Iterator[Path]:
    for source in _SOURCES:
        path = REPOSITORY / source
        if path.is_file():
            yield path
        else:
            yield from sorted(file for file in path.rglob("*") if file.is_file() and "__pycache__" not in file.parts)
