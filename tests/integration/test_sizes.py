"""Case 35: results and conversations of any size reach the table; what is too large is refused before it runs."""

from __future__ import annotations

import base64
import random
from typing import Any

import pytest

from pausepoint import Agent, tool
from pausepoint.bootstrap import application
from pausepoint.domain.history import UserItem
from pausepoint.domain.limits import Limits
from pausepoint.domain.results import MAX_RESULT_BYTES
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import Killed
from tests.support.clerk import desk
from tests.support.cut_off import make_old
from tests.support.deployment import SHRED, Deployment
from tests.support.wire import Wire

KB = 1024


def noise(size: int) -> str:
    """Return text that hardly gets smaller by compression."""
    return base64.b64encode(random.Random(35).randbytes(size)).decode("ascii")[:size]


def result_seen() -> str:
    """Return the result that the model was sent last."""
    last = desk.asked[-1].history[-1]
    assert isinstance(last, UserItem)
    ((_, result),) = last.results
    return result.text


def entries(deployment: Deployment, session_id: str) -> list[set[str]]:
    """Return how each entry of the log keeps its body."""
    rows = [row for row in deployment.table() if row["pk"]["S"] == session_id and row["sk"]["S"].startswith("EV#")]
    return [{name for name in row if name.startswith("body")} for row in rows]


@pytest.mark.parametrize(
    "text", [noise(500 * KB), "ab" * 250 * KB, "\N{SNOWMAN}" * 170 * KB], ids=["noise", "ab", "snow"]
)
def test_case_35_a_result_of_500_kb_is_stored_and_read_whole(deployment: Deployment, text: str) -> None:
    link = deployment.paused()
    deployment.post(link)
    desk.result = text
    deployment.deliver()
    session = deployment.session(link.session_id)
    assert (session["status"], len(desk.entered), result_seen()) == ("completed", 1, text)
    assert deployment.events(link.session_id)[4]["text"] == text
    kept = entries(deployment, link.session_id)
    assert ({"body_key"} in kept) == (text == noise(500 * KB))


@pytest.mark.parametrize("over", [0, 1])
def test_case_35_multi_byte_text_at_the_limit_is_whole_or_cut_between_characters(
    deployment: Deployment, over: int
) -> None:
    whole = "é" * ((MAX_RESULT_BYTES - 2) // 2)  # two bytes each, and the quotes
    link = deployment.paused()
    deployment.post(link)
    desk.result = whole + "é" * over
    deployment.deliver()
    assert deployment.session(link.session_id)["status"] == "completed"
    if over:
        assert result_seen().endswith(f"of {len(whole) + 1} characters)")
        assert result_seen().startswith("é" * 1000)
    else:
        assert result_seen() == whole


def test_case_35_a_bucket_that_does_not_answer_after_the_effect_loses_no_result_to_silence(
    deployment: Deployment, wire: Wire
) -> None:
    """The effect has happened and its result cannot be kept: the call is in doubt, and is not run again."""
    link = deployment.paused()
    deployment.post(link)
    desk.result = noise(500 * KB)
    wire.fail("s3.PutObject", "SlowDown", status=503)
    (message,) = deployment.wakeups()
    assert deployment.work(message["Body"]) == ["message-0"]
    wire.heal()
    assert (deployment.status(link), len(desk.entered)) == ("executing", 1)
    assert deployment.work(message["Body"]) == []
    assert len(desk.entered) == 1


def test_case_35_a_message_over_the_limit_is_refused_before_anything_is_stored(deployment: Deployment) -> None:
    answer = deployment.start("\N{SNOWMAN}" * (256 * KB // 3 + 1))
    assert answer.status in (400, 413)
    assert deployment.table() == []


def test_case_35_arguments_over_the_limit_are_refused_before_anybody_is_asked(deployment: Deployment) -> None:
    desk.script([("shred", {"path": "é" * (32 * KB)})], "Too long, then.")
    answer = deployment.start()
    assert (answer.json["status"], deployment.links(), desk.entered) == ("completed", [], [])
    assert "at most 65536 are allowed" in result_seen()


def test_case_35_the_largest_arguments_can_be_edited_cut_off_and_asked_for_again(deployment: Deployment) -> None:
    """All of it stands in one row: what the model asked for, and what was approved instead."""
    asked, edited = noise(64 * KB - 100), noise(64 * KB - 101)
    link = deployment.paused([("shred", {"path": asked})], "Done.")
    decision = {"call_id": link.call_id, "decision": "approved", "arguments": {"path": edited}, "reason": "é" * 2000}
    desk.result = Killed()
    with pytest.raises(Killed):
        deployment.resume(link.session_id, decision)
    desk.result = "done"
    make_old(deployment, link.session_id)
    deployment.sweep()
    deployment.deliver()
    (doubtful,) = deployment.links()
    assert deployment.post(doubtful, decision="run_again").status == 200
    deployment.deliver()
    (again,) = deployment.links()
    assert deployment.post(again, word=deployment.show(again).word).status == 200
    deployment.deliver()
    assert [arguments["path"] == edited for _, arguments in desk.entered] == [True, True]
    assert deployment.session(link.session_id)["status"] == "completed"
    assert result_seen().startswith("The approver changed the arguments from ")


@pytest.mark.parametrize("turns", [300])
def test_case_35_a_session_of_300_turns_is_stored_and_read_back(undisturbed: Deployment, turns: int) -> None:
    undisturbed.empty()
    seen: list[int] = []

    @tool
    def count(number: int) -> str:
        """Count."""
        seen.append(number)
        return f"{number}: " + "\N{SNOWMAN}" * 2000

    script: list[Any] = [[("count", {"number": number})] for number in range(turns)]
    model = ScriptedModel([*script, SHRED, "Done."])
    limits = Limits(model_calls=turns + 2, tool_calls=turns + 2)
    services = application().services
    agent = Agent(name="counter", model=model, tools=[count], services=services, limits=limits)
    session = services.store.load(agent.run("Count").session_id)
    assert (session.head.status, seen, len(session.results)) == ("completed", list(range(turns)), turns + 1)
    assert len(model.requests[-1].history) == 2 * (turns + 1) + 1
    assert session.results["c2-0"].text.startswith("0: ")
    stored = sum(len(repr(row)) for row in undisturbed.table())
    assert stored < turns * 8 * KB  # what each step writes is that step, not the conversation again
