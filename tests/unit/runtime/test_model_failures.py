"""A model that fails: the session says so, nothing is lost, another message continues it."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint.errors import ModelError, ModelTimeout, Unavailable
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import ModelReply
from tests.support.agents import World, approve, results_in
from tests.support.tools import Files

FAILURES = [
    (ModelError("refused"), "model-failed"),
    (ModelTimeout("slow"), "model-timeout"),
    (Unavailable("throttled"), "unavailable"),
    (RuntimeError("a fault in the adapter"), "model-failed"),
    (KeyError("output"), "model-failed"),
]


@pytest.mark.parametrize(("error", "code"), FAILURES)
def test_the_session_says_what_failed_and_another_message_continues_it(error: Exception, code: str) -> None:
    world, model = World(), ScriptedModel([error, "Here I am."])
    failed = world.agent(model).run("Hi")
    assert failed.status == "failed"
    assert failed.session.failure is not None
    assert failed.session.failure.code == code
    assert world.session(failed.session_id).head.lease is None
    done = world.agent(model).run("Are you there?", session_id=failed.session_id)
    assert (done.status, done.output, done.session.failure) == ("completed", "Here I am.", None)
    assert [getattr(item, "texts", None) for item in model.requests[1].history] == [("Hi", "Are you there?")]


def test_what_ran_before_the_failure_is_kept() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[("read", {"path": "c"}), ("delete", {"path": "a"})], ModelError("no"), "Done."])
    paused = world.agent(model, files.all).run("Go")
    failed = world.agent(model, files.all).resume(paused.session_id, approve("c2-1"))
    assert failed.status == "failed"
    done = world.agent(model, files.all).run("Go on", session_id=paused.session_id)
    assert done.status == "completed"
    assert files.entries == [("read", "c"), ("delete", "a")]
    assert [text for _, _, text in results_in(model.requests[2])] == ["content of c", "Deleted a."]


def test_a_failed_session_is_not_carried_on_by_a_wake_up() -> None:
    world, model = World(), ScriptedModel([ModelError("no"), "Done."])
    failed = world.agent(model).run("Hi")
    assert world.agent(model).resume(failed.session_id).status == "failed"
    assert len(model.requests) == 1


@pytest.mark.parametrize("stop_reason", ["max_tokens", "guardrail_intervened", "content_filtered", "something new"])
def test_a_turn_that_stopped_too_early_is_a_failure_and_its_text_is_kept(stop_reason: str) -> None:
    world = World()
    reply = ModelReply({"role": "assistant", "content": [{"text": "Half a sen"}]}, "Half a sen", stop_reason)
    failed = world.agent([reply]).run("Hi")
    assert (failed.status, failed.output) == ("failed", "Half a sen")
    assert failed.session.failure is not None
    assert stop_reason in failed.session.failure.message


@pytest.mark.parametrize("stop_reason", ["max_tokens", "malformed_tool_use", "something new"])
def test_calls_of_a_turn_that_is_not_whole_are_answered_and_never_asked_for(stop_reason: str) -> None:
    world, files = World(), Files()
    asking = ScriptedModel([[("delete", {"path": "a"}), ("read", {"path": "c"})]])
    whole = world.agent(asking, files.all).run("x").session.last_turn
    assert whole is not None
    calls: Any = ScriptedModel([[("delete", {"path": "a"}), ("read", {"path": "c"})]])
    reply = calls.respond(asking.requests[0])
    cut = ModelReply(reply.message, "", stop_reason, reply.calls)
    files.entries.clear()
    world.mailbox.sent.clear()
    model = ScriptedModel([cut, "Sorry."])
    done = world.agent(model, files.all).run("Delete a")
    assert (done.status, done.session.calls, files.entries, world.mailbox.sent) == ("completed", {}, [], [])
    assert [status for _, status, _ in results_in(model.requests[1])] == ["error", "error"]


def test_the_failure_of_an_adapter_does_not_show_its_secrets() -> None:
    failed = World().agent([RuntimeError("key=sk-secret")]).run("Hi")
    assert "sk-secret" not in str(failed.session.events)
