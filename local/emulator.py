"""Runs MiniStack on loopback, with its state kept on disk."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from pathlib import Path

from local.build import REPOSITORY
from local.errors import LocalStackError
from local.ports import ADDRESS
from local.processes import Program

REGION = "us-east-1"
# MiniStack takes these for the root of its one account, with AUTH=true as well.
CREDENTIALS = {"AWS_ACCESS_KEY_ID": "test", "AWS_SECRET_ACCESS_KEY": "test"}

_MINISTACK = REPOSITORY / ".venv-emulator" / "bin" / "ministack"
_INHERITED = ("HOME", "LANG", "LC_ALL", "PATH", "TZ")


def start_emulator(state: Path, port: int, *, function_environment: Mapping[str, str], enforce_iam: bool) -> Program:
    """Start MiniStack and return at once; its state is loaded from and saved to ``state``.

    Args:
        state: A directory.
        port: Where it listens.
        function_environment: What every Lambda function shall find in its environment, besides its
            own. MiniStack's workers inherit the emulator's environment; that is how the functions
            learn where AWS and Bedrock are, with nothing local in the template.
        enforce_iam: Whether each call needs the permission of its caller's policies.

    Raises:
        LocalStackError: MiniStack is not installed.
    """
    if not _MINISTACK.exists():
        raise LocalStackError(f"{_MINISTACK} is missing; `make run` installs it.")
    folders = {name: state / name for name in ("state", "s3", "tmp")}
    for folder in folders.values():
        folder.mkdir(parents=True, exist_ok=True)
    _follow_port(state, folders["state"], port)
    _begin_streams_anew(folders["state"])
    return Program(
        "MiniStack",
        [str(_MINISTACK)],
        env={
            **{name: os.environ[name] for name in _INHERITED if name in os.environ},
            **function_environment,
            "BIND_HOST": ADDRESS,
            "GATEWAY_PORT": str(port),
            "IOT_MTLS_ENABLED": "0",
            "PERSIST_STATE": "1",
            "STATE_DIR": str(folders["state"]),
            "S3_PERSIST": "1",
            "S3_DATA_DIR": str(folders["s3"]),
            "TMPDIR": str(folders["tmp"]),
            "AUTH": "true" if enforce_iam else "false",
            "AWS_CONFIG_FILE": os.devnull,
            "AWS_SHARED_CREDENTIALS_FILE": os.devnull,
        },
        log=state / "ministack.log",
    )


def _follow_port(state: Path, saved: Path, port: int) -> None:
    """Let what was saved under another port be found under this one.

    MiniStack knows queues by their URLs, which have its port in them; with another port it would
    come up with queues that nothing reads.
    """
    memory = state / "port"
    if memory.exists() and (old := memory.read_text()) != str(port):
        for file in saved.glob("*.json"):
            file.write_text(re.sub(rf"\blocalhost:{old}\b", f"localhost:{port}", file.read_text()))
    memory.write_text(str(port))


def _begin_streams_anew(saved: Path) -> None:
    """Let readers of tables' streams begin where the streams begin.

    MiniStack keeps how far they were, but not what they read: they would wait until as much had been written
    again.
    """
    for file in saved.glob("lambda.json"):
        document = json.loads(file.read_text())
        positions = document.get("payload", document).get("dynamodb_stream_positions")
        if positions and positions.get("data"):
            positions["data"] = {}
            file.write_text(json.dumps(document))
