"""Finds ports for the local stack, and keeps them from one start to the next so that links stay valid."""

from __future__ import annotations

import json
import secrets
import socket
from collections.abc import Mapping
from pathlib import Path

from local.errors import LocalStackError

ADDRESS = "127.0.0.1"
NAMES = ("aws", "api", "model", "mailbox")

# Below the range that systems take outgoing connections' ports from: a port that was free stays so.
_RANGE = range(20_000, 32_000)


def choose_ports(remembered_in: Path, *, aws: int | None = None) -> dict[str, int]:
    """Return a free port for each part of the stack: the one it had, where that is still free.

    Args:
        remembered_in: The file that keeps the ports.
        aws: The port that somebody asked for MiniStack.

    Raises:
        LocalStackError: the port that was asked for is taken.
    """
    if aws is not None and not _is_free(aws):
        raise LocalStackError(f"Port {aws} is taken; ask for another with PORT=… or --port.")
    wanted = _remembered(remembered_in)
    if aws is not None:
        wanted["aws"] = aws
    ports: dict[str, int] = {}
    for name in NAMES:
        port = wanted.get(name)
        if port is None or port in ports.values() or not _is_free(port):
            port = _any_free_port()
        ports[name] = port
    remembered_in.write_text(json.dumps(ports))
    return ports


def _remembered(path: Path) -> dict[str, int]:
    try:
        content = json.loads(path.read_text())
    except (OSError, ValueError):
        return {}
    if not isinstance(content, Mapping):
        return {}
    return {name: port for name, port in content.items() if isinstance(port, int)}


def _is_free(port: int) -> bool:
    with socket.socket() as candidate:
        candidate.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            candidate.bind((ADDRESS, port))
        except (OSError, OverflowError):
            return False
    return True


def _any_free_port() -> int:
    while not _is_free(port := secrets.choice(_RANGE)):
        pass
    return port
