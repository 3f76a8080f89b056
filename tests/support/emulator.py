"""A MiniStack of the tests' own, on loopback."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from local.emulator import start_emulator
from local.ports import ADDRESS, choose_ports


@contextmanager
def ministack(state: Path) -> Iterator[str]:
    """Run MiniStack with its files in `state` (a directory), and yield its address."""
    port = choose_ports(state / "ports.json")["aws"]
    program = start_emulator(state, port, function_environment={}, enforce_iam=False)
    try:
        url = f"http://{ADDRESS}:{port}"
        program.wait_until_healthy(f"{url}/_ministack/health")
        yield url
    finally:
        program.stop()
