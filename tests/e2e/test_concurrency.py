"""Many clicks at the same instant, through the gateway, on real workers and a real table."""

from __future__ import annotations

from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import pytest

from tests.e2e.stack import Answer, Stack

pytestmark = pytest.mark.e2e
CLICKS = 16


def test_case_37_sixteen_approvals_at_once_run_the_tool_once(stack: Stack, path: str) -> None:
    session_id, answers = _click(stack, path, ["approved"] * CLICKS)

    assert Counter(answer.status for answer in answers) == {200: CLICKS}
    stack.settled(session_id, "completed")
    assert len(stack.events(session_id, "decision")) == 1
    assert len(stack.events(session_id, "execution")) == 1
    assert path not in stack.files()


def test_case_37_approving_against_rejecting_has_one_winner(stack: Stack, path: str) -> None:
    verdicts = ["approved", "rejected"] * (CLICKS // 2)
    session_id, answers = _click(stack, path, verdicts)

    done = stack.settled(session_id, "completed")
    (decision,) = stack.events(session_id, "decision")
    winner = decision["verdict"]
    assert {verdict for verdict, answer in zip(verdicts, answers, strict=True) if answer.status == 200} == {winner}
    assert {answer.status for verdict, answer in zip(verdicts, answers, strict=True) if verdict != winner} == {409}
    assert len(stack.events(session_id, "execution")) == (winner == "approved")
    assert (path in stack.files()) == (winner == "rejected"), done


def _click(stack: Stack, path: str, verdicts: list[str]) -> tuple[str, list[Answer]]:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])
    together = Barrier(len(verdicts))

    def click(verdict: str) -> Answer:
        together.wait()
        return stack.post_decision(link, call["digest"], verdict)

    with ThreadPoolExecutor(len(verdicts)) as pool:
        return paused["session_id"], list(pool.map(click, verdicts))
