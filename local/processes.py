"""Starts, watches and stops the programs that the local stack consists of."""

from __future__ import annotations

import contextlib
import ctypes
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen

from local.errors import LocalStackError
from local.ports import ADDRESS

_PR_SET_PDEATHSIG = 1
_LIBC = ctypes.CDLL(None)


class Program:
    """One child process, in a session of its own so that a Ctrl-C reaches it through us only."""

    def __init__(self, name: str, command: Sequence[str], *, env: Mapping[str, str], log: Path) -> None:
        self.name = name
        self.log = log
        with log.open("wb") as output:
            self._process = subprocess.Popen(
                command,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                start_new_session=True,
                preexec_fn=_end_with_parent if sys.platform == "linux" else None,  # noqa: PLW1509 - takes no lock
            )

    @property
    def running(self) -> bool:
        """Whether the process still lives."""
        return self._process.poll() is None

    def wait_until_healthy(self, url: str, *, seconds: float = 30) -> None:
        """Return once ``url`` answers 200.

        Raises:
            LocalStackError: the process ended, or it took longer than that.
        """
        self._wait(lambda: _answers(url), seconds)

    def wait_until_listening(self, port: int, *, seconds: float = 30) -> None:
        """Return once somebody takes connections at ``port``.

        Raises:
            LocalStackError: the process ended, or it took longer than that.
        """
        self._wait(lambda: _listens(port), seconds)

    def check(self) -> None:
        """Raise LocalStackError if the process has ended."""
        if not self.running:
            raise LocalStackError(f"{self.name} has stopped; see {self.log}.")

    def _wait(self, condition: Callable[[], bool], seconds: float) -> None:
        if not wait_for(lambda: not self.running or condition(), seconds=seconds):
            raise LocalStackError(f"{self.name} did not start in {seconds:.0f} s; see {self.log}.")
        self.check()

    def stop(self, *, seconds: float = 20) -> None:
        """Ask the process to end, wait for it, and kill it only if it does not."""
        if self.running:
            self._process.terminate()
            try:
                self._process.wait(seconds)
            except subprocess.TimeoutExpired:
                self._process.kill()
                self._process.wait()
        # Lambda workers and the like that the program did not take down with it.
        with contextlib.suppress(ProcessLookupError, PermissionError):
            os.killpg(self._process.pid, signal.SIGKILL)


def call(command: Sequence[str], *, env: Mapping[str, str], log: Path, cwd: Path, failure: str) -> None:
    """Run a program to its end.

    Raises:
        LocalStackError: it failed; the message is ``failure`` with where to read more.
    """
    with log.open("wb") as output:
        process = subprocess.Popen(
            command,
            env=dict(env),
            cwd=cwd,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            status = process.wait()
        except BaseException:
            with contextlib.suppress(ProcessLookupError):
                os.killpg(process.pid, signal.SIGKILL)
            process.wait()
            raise
    if status != 0:
        raise LocalStackError(f"{failure}; see {log}:\n{_tail(log)}")


def wait_for(condition: Callable[[], object], *, seconds: float, pause: float = 0.1) -> bool:
    """Try ``condition`` until it holds or the time is over; say which."""
    deadline = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > deadline:
            return False
        time.sleep(pause)
    return True


def _end_with_parent() -> None:
    """Have the kernel send SIGTERM to this process when its parent is gone, be it by `kill -9`."""
    _LIBC.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _answers(url: str) -> bool:
    try:
        with urlopen(url, timeout=2) as response:  # noqa: S310 - an address of our own
            return bool(response.status == 200)  # noqa: PLR2004 - HTTP's OK
    except (URLError, OSError):
        return False


def _listens(port: int) -> bool:
    with socket.socket() as client:
        client.settimeout(2)
        return client.connect_ex((ADDRESS, port)) == 0


def _tail(log: Path, lines: int = 12) -> str:
    return "\n".join(f"  {line}" for line in log.read_text(errors="replace").splitlines()[-lines:])
