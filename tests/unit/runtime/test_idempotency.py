"""The same request again: the same session, not a second one."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pausepoint.errors import IdempotencyMismatch
from pausepoint.models.scripted import ScriptedModel
from tests.support.agents import Killed, World, asked, die
from tests.support.tools import Files

DELETE_A = ("delete", {"path": "a"})


def test_case_43_the_same_key_and_message_give_the_same_session() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    first = world.agent(model).run("Hi", idempotency_key="k1")
    second = world.agent(model).run("Hi", idempotency_key="k1")
    assert second.session_id == first.session_id
    assert (second.output, asked(model)) == ("Hello.", 1)


def test_case_43_the_same_key_with_another_message_is_refused() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    first = world.agent(model).run("Hi", idempotency_key="k1")
    with pytest.raises(IdempotencyMismatch):
        world.agent(model).run("Ho", idempotency_key="k1")
    assert world.session(first.session_id) == first.session
    assert asked(model) == 1


def test_case_43_another_key_no_key_and_another_caller_are_other_sessions() -> None:
    world = World()
    maria = world.invocation(60)
    erik = replace(world.invocation(60), caller="erik")
    ids = {
        world.agent(["Hello."]).run("Hi", idempotency_key="k1", context=maria).session_id,
        world.agent(["Hello."]).run("Hi", idempotency_key="k2", context=maria).session_id,
        world.agent(["Hello."]).run("Hi", idempotency_key="k1", context=erik).session_id,
        world.agent(["Hello."]).run("Hi", context=maria).session_id,
        world.agent(["Hello."]).run("Hi", context=maria).session_id,
    }
    assert len(ids) == 5


def test_case_42_a_start_that_is_retried_after_the_pause_sends_no_second_notice() -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A]])
    first = world.agent(model, files.all).run("Delete a", idempotency_key="k1")
    hashes = world.store.call(first.session_id, "c2-0").token_hashes
    again = world.agent(model, files.all).run("Delete a", idempotency_key="k1")
    assert (again.status, [call.call_id for call in again.pending_calls]) == ("paused", ["c2-0"])
    assert [notice.call_id for notice in world.mailbox.sent] == ["c2-0"]
    assert world.store.call(first.session_id, "c2-0").token_hashes == hashes
    assert asked(model) == 1


def test_case_42_a_start_that_is_retried_while_it_still_runs_starts_nothing() -> None:
    world, model = World(), ScriptedModel(["Hello."])
    inner: list[str] = []

    def retry() -> None:
        inner.append(world.agent(model).run("Hi", idempotency_key="k1").status)

    world.store.before("commit", retry)
    done = world.agent(model).run("Hi", idempotency_key="k1")
    assert (inner, done.status, asked(model)) == (["running"], "completed", 1)


@pytest.mark.parametrize("moment", ["after create", "before commit", "after commit"])
def test_a_start_that_was_cut_off_is_carried_on_by_its_repetition(moment: str) -> None:
    world, files, model = World(), Files(), ScriptedModel([[DELETE_A], [DELETE_A]])
    when, operation = moment.split()
    getattr(world.store, when)(operation, die)
    with pytest.raises(Killed):
        world.agent(model, files.all).run("Delete a", idempotency_key="k1", context=world.invocation(60))
    world.clock.advance(minutes=2)
    again = world.agent(model, files.all).run("Delete a", idempotency_key="k1")
    assert (again.status, [call.call_id for call in again.pending_calls]) == ("paused", ["c2-0"])
    assert len(world.store.sessions(None, limit=9, before=None)[0]) == 1
    assert asked(model) == (2 if moment == "before commit" else 1)
