"""Many at once, in threads: one decision stands, the tool runs at most once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from threading import Barrier
from typing import Any

import pytest

from pausepoint.errors import AlreadyDecided, PausepointError, SessionBusy
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import World, asked
from tests.support.tools import Files

DELETE_A = ("delete", {"path": "a"})


def at_once(jobs: list[Any]) -> list[Any]:
    """Run all jobs at the same moment and return what each gave, its exception included."""
    start = Barrier(len(jobs))

    def run(job: Any) -> Any:
        start.wait()
        try:
            return job()
        except PausepointError as error:
            return error

    with ThreadPoolExecutor(len(jobs)) as pool:
        return list(pool.map(run, jobs))


@pytest.mark.parametrize("round_", range(10))
@pytest.mark.parametrize("verdicts", [["approved", "rejected"], ["approved"] * 16, ["approved", "rejected"] * 8])
def test_case_37_of_many_decisions_one_stands_and_the_others_see_it(verdicts: list[Any], round_: int) -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], "Done."])
    session_id = world.agent(model, files.all).run("Delete a").session_id

    def click(verdict: Any) -> Any:
        def job() -> Any:
            recorded = world.press(session_id, "c2-0", verdict)
            world.agent(model, files.all).resume(session_id)
            return recorded

        return job

    answers = at_once([click(verdict) for verdict in verdicts])
    world.agent(model, files.all).resume(session_id)
    decision = world.store.call(session_id, "c2-0").decision
    assert decision is not None
    for verdict, answer in zip(verdicts, answers, strict=True):
        if verdict == decision.verdict:
            assert answer.call.decision == decision
        else:
            assert isinstance(answer, AlreadyDecided)
            assert answer.call.decision == decision
    assert sum(not isinstance(answer, Exception) and not answer.already for answer in answers) == 1
    assert files.entered("delete") == (["a"] if decision.verdict == "approved" else [])
    assert asked(model) == 2
    assert world.session(session_id).head.status == "completed"


def test_case_43_many_starts_with_one_key_are_one_session() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]] * 8)
    results = at_once([lambda: world.agent(model, files.all).run("Delete a", idempotency_key="k")] * 8)
    assert len({result.session_id for result in results}) == 1
    assert asked(model) == 1
    assert len(world.mailbox.sent) == 1


def test_of_many_messages_to_a_session_at_rest_each_is_taken_or_refused() -> None:
    world, model = World(), ScriptedModel(["Hello."] * 9)
    session_id = world.agent(model).run("Hi").session_id
    results = at_once(
        [
            lambda number=number: world.agent(model).run(f"Message {number}", session_id=session_id)
            for number in range(8)
        ]
    )
    taken = [result for result in results if not isinstance(result, Exception)]
    assert taken
    assert all(isinstance(result, SessionBusy) for result in results if isinstance(result, Exception))
    session = world.session(session_id)
    assert [event.type for event in session.events].count("user_message") == 1 + len(taken)
    assert session.head.status == "completed"
    assert len(session.events) == 2 * (1 + len(taken))
