"""The command line on the local stack, as a person in its folder uses it."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.e2e.stack import Stack

pytestmark = pytest.mark.e2e


class Person:
    """Somebody with a shell in a folder under the one that has the stack's `.local`."""

    def __init__(self, folder: Path, state: Path) -> None:
        self._folder = folder / "deep"
        self._folder.mkdir()
        (folder / ".local").symlink_to(state)

    def pausepoint(self, *words: str, code: int = 0) -> str:
        environ = {name: value for name, value in os.environ.items() if not name.startswith(("AWS_", "PAUSEPOINT_"))}
        done = subprocess.run(
            [sys.executable, "-m", "pausepoint_cli", *words],
            cwd=self._folder,
            env=environ,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == code, done.stdout + done.stderr
        assert done.stderr == b"" or code, done.stderr
        return done.stdout.decode()

    def json(self, *words: str, code: int = 0) -> Any:
        return json.loads(self.pausepoint(*words, "--json", code=code))


@pytest.fixture
def person(stack: Stack, tmp_path: Path) -> Person:
    return Person(tmp_path, stack.state)


def test_from_start_to_the_timeline(stack: Stack, person: Person, path: str) -> None:
    session_id = person.json("start", f"delete {path}", "--wait", code=8)["session_id"]
    assert session_id in person.pausepoint("list", "--status", "paused")
    waiting = person.json("approvals", "--all")["approvals"]
    (call,) = (each for each in waiting if each["session_id"] == session_id)
    assert person.pausepoint("approve", session_id, code=2).startswith("Would run  delete_file")
    assert path in stack.files()

    code = f"{call['digest'][:4]}-{call['digest'][4:8]}"
    out = person.pausepoint("approve", session_id, call["call_id"], "--yes", "--code", code, "--wait")
    assert f"Approved {call['call_id']} delete_file" in out
    assert path not in stack.files()
    shown = person.pausepoint("show", session_id)
    for told in (f"│ delete {path}", "approved c2-0 delete_file by", "result of c2-0 delete_file", "completed"):
        assert told in shown
    assert person.pausepoint("approve", session_id, call["call_id"], "--yes", code=4) == ""


def test_an_edit_and_a_watch_through_the_work_queue(stack: Stack, person: Person, path: str) -> None:
    other = f"other-{path}"
    stack.put_file(other)
    session_id = person.json("start", f"delete {path}", "--async")["session_id"]
    assert person.pausepoint("watch", session_id, "--timeout", "100", code=8).count(" says\n") == 1
    out = person.pausepoint("edit", session_id, "--set", f"path={other}", "--yes", "--wait", "--timeout", "100")
    assert f'"path": "{other}"' in out
    assert path in stack.files()
    assert other not in stack.files()

    again = person.json("start", f"delete {path}")["session_id"]
    assert person.json("cancel", again, "--yes")["status"] == "cancelled"
    assert person.pausepoint("approve", again, "c2-0", "--yes", code=4) == ""
    assert path in stack.files()
