"""When a session rests, and how seldom it is asked."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest

from pausepoint_cli.watching import FIRST_PAUSE, LONGEST_PAUSE, rests
from tests.support.command_line import NOW, CommandLine, Script, received
from tests.unit.cli.test_api import SESSION


def session(status: str, *calls: str) -> dict[str, Any]:
    pending = [
        {"call_id": f"c2-{index}", "name": "shred", "arguments": {}, "digest": "0" * 64, "status": each}
        for index, each in enumerate(calls)
    ]
    return {**SESSION, "status": status, "pending_calls": pending}


def events(*numbers: int, following: str | None = None) -> dict[str, Any]:
    said = {"type": "user_message", "at": SESSION["created_at"], "by": "ada", "text": "hello"}
    return {"events": [{"seq": number, **said} for number in numbers], "next": following}


@pytest.mark.parametrize(
    ("state", "resting"),
    [
        (session("running", "pending"), False),
        (session("paused", "pending", "in_doubt"), True),
        (session("paused", "pending", "approved"), False),
        (session("paused", "executing"), False),
        (session("paused"), False),  # decided a moment ago
        (session("completed"), True),
        (session("failed"), True),
        (session("cancelled", "pending"), True),
    ],
)
def test_a_session_rests_when_only_people_can_move_it(state: dict[str, Any], *, resting: bool) -> None:
    assert rests(state) is resting
    assert rests(state, until_end=True) is (resting and state["status"] != "paused")


def test_every_event_is_shown_once_over_pages_and_looks(tmp_path: Path) -> None:
    answers = [session("running"), events(1, 2, following="2"), events(3), session("completed"), events(4)]
    script = Script([received(200, answer) for answer in answers])
    lines = CommandLine(script, tmp_path)("watch", "s", "--json").lines
    assert [line["seq"] for line in lines[:-1]] == [1, 2, 3, 4]
    asked = [request.partition("?")[2] for request in script.asked if "/events" in request]
    assert asked == ["next=0&limit=100", "next=2&limit=100", "next=3&limit=100"]


def test_it_asks_ever_more_seldom_until_something_happens(tmp_path: Path) -> None:
    quiet: list[Any] = [session("running"), events()] * 12
    script = Script(
        [received(200, each) for each in (*quiet, session("running"), events(1), session("failed"), events())]
    )
    line = CommandLine(script, tmp_path)
    assert line("watch", "s").code == 7
    *growing, after_news = line.slept
    assert growing == sorted(growing)
    assert (growing[0], growing[-1], after_news) == (FIRST_PAUSE, LONGEST_PAUSE, FIRST_PAUSE)


def test_it_gives_up_when_its_time_is_over(tmp_path: Path) -> None:
    script = Script([received(200, each) for each in [session("running"), events()] * 50])
    line = CommandLine(script, tmp_path)
    line.now = lambda: NOW + timedelta(seconds=sum(line.slept))
    ran = line("watch", "s", "--timeout", "20")
    assert ran.code == 10
    assert "still running after 20 s" in ran.err
    assert 20 <= sum(line.slept) <= 20 + LONGEST_PAUSE


def test_a_terminal_sees_that_it_watches(tmp_path: Path) -> None:
    script = Script([received(200, each) for each in (session("completed"), events(1))])
    line = CommandLine(script, tmp_path)
    line.environ["TERM"] = "xterm"
    ran = line("watch", "s", terminal=True)
    assert ran.code == 0
    assert "watching" in ran.out
    assert "ada" in ran.out
