"""Decisions: the first one stands, for exactly what was shown."""

from __future__ import annotations

from typing import Any

import pytest

from pausepoint import DecisionRequest
from pausepoint.domain.canonical import call_digest, sha256_hex
from pausepoint.errors import AlreadyDecided, CallExpired, Conflict, InvalidInput, NotFound
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.decisions import MAX_REASON_CHARACTERS
from tests.support.agents import World, approve, asked, reject, results_in
from tests.support.tools import Files

DELETE_A, DELETE_B = ("delete", {"path": "a"}), ("delete", {"path": "b"})


class Paused:
    """A session that waits for one call, or for two."""

    def __init__(self, calls: int = 1, **options: Any) -> None:
        self.world, self.files = World(), Files()
        self.model = ScriptedModel([[DELETE_A, DELETE_B][:calls], "Done."])
        self.options = options
        self.session_id = self.agent().run("Delete").session_id

    def agent(self) -> Any:
        return self.world.agent(self.model, self.files.all, **self.options)

    def resume(self, decisions: Any = ()) -> Any:
        return self.agent().resume(self.session_id, decisions)


def test_r02_the_same_verdict_again_is_already_there_and_runs_nothing_again() -> None:
    paused = Paused()
    first = paused.world.press(paused.session_id, "c2-0", "approved")
    again = paused.world.press(paused.session_id, "c2-0", "approved")
    assert (first.already, again.already) == (False, True)
    assert again.call.decision == first.call.decision
    paused.resume(approve("c2-0"))
    late = paused.world.press(paused.session_id, "c2-0", "approved")
    assert (late.already, late.call.status) == (True, "succeeded")
    paused.resume(approve("c2-0"))
    assert paused.files.entered("delete") == ["a"]
    assert asked(paused.model) == 2


@pytest.mark.parametrize(("first", "other"), [("approved", "rejected"), ("rejected", "approved")])
@pytest.mark.parametrize("acted_on", [False, True])
def test_r02_i5_another_verdict_meets_the_one_that_stands(first: Any, other: Any, acted_on: bool) -> None:
    paused = Paused()
    paused.world.press(paused.session_id, "c2-0", first)
    if acted_on:
        paused.resume()
    with pytest.raises(AlreadyDecided) as refusal:
        paused.world.press(paused.session_id, "c2-0", other)
    with pytest.raises(AlreadyDecided):
        paused.resume([DecisionRequest("c2-0", other)])
    assert refusal.value.call.decision is not None
    assert refusal.value.call.decision.verdict == first
    assert paused.files.entered("delete") == (["a"] if (first, acted_on) == ("approved", True) else [])


def test_r03_after_its_time_a_call_cannot_be_decided() -> None:
    paused = Paused()
    paused.world.clock.advance(hours=24)
    with pytest.raises(CallExpired):
        paused.world.press(paused.session_id, "c2-0", "approved")
    with pytest.raises(CallExpired):
        paused.resume(approve("c2-0"))
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"
    assert paused.files.entries == []


def test_a_decision_in_time_counts_however_late_it_is_acted_on() -> None:
    paused = Paused()
    paused.world.press(paused.session_id, "c2-0", "approved")
    paused.world.clock.advance(days=3)
    assert paused.resume().status == "completed"
    assert paused.files.entered("delete") == ["a"]


def test_r20_a_decision_on_another_digest_than_the_stored_one_is_none() -> None:
    paused = Paused()
    with pytest.raises(Conflict):
        paused.world.press(paused.session_id, "c2-0", "approved", digest="0" * 64)
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"


def test_case_54_a_link_opens_its_own_call_only() -> None:
    paused = Paused(calls=2)
    own, other = (paused.world.token(paused.session_id, call_id) for call_id in ("c2-0", "c2-1"))
    for wrong in (other, own[:-1], own + "=", own.upper(), sha256_hex(own), ""):
        with pytest.raises(NotFound):
            paused.world.press(paused.session_id, "c2-0", "approved", token=wrong)
    assert paused.world.store.call(paused.session_id, "c2-0").decision is None


def test_case_11_a_decision_brings_no_tool_and_no_arguments_of_its_own() -> None:
    """A decision has no place for a tool's name; what runs is the stored call."""
    with pytest.raises(TypeError):
        DecisionRequest("c2-0", "approved", name="read")  # type: ignore[call-arg]
    paused = Paused()
    paused.resume(approve("c2-0"))
    assert paused.files.entries == [("delete", "a")]


@pytest.mark.parametrize(
    "changes",
    [
        pytest.param({"arguments": '{"path":"b"}'}, id="arguments"),
        pytest.param(
            {"arguments": '{"path":"b"}', "digest": call_digest("delete", '{"path":"b"}')}, id="arguments and digest"
        ),
        pytest.param({"name": "read", "digest": call_digest("read", '{"path":"a"}')}, id="name and digest"),
        pytest.param({"name": "read"}, id="name"),
        pytest.param({"name": "nothing"}, id="name of no tool"),
    ],
)
@pytest.mark.parametrize("when", ["before the decision", "after the decision"])
def test_case_12_i2_a_call_that_was_altered_in_the_table_is_not_run(changes: dict[str, Any], when: str) -> None:
    paused = Paused()
    if when == "before the decision":
        paused.world.store.alter_call(paused.session_id, "c2-0", **changes)
        paused.world.press(paused.session_id, "c2-0", "approved")
    else:
        paused.world.press(paused.session_id, "c2-0", "approved")
        paused.world.store.alter_call(paused.session_id, "c2-0", **changes)
    done = paused.resume()
    assert paused.files.entries == []
    assert paused.world.store.call(paused.session_id, "c2-0").status == "stale"
    assert done.status == "completed"
    ((_, status, text),) = results_in(paused.model.requests[1])
    assert (status, text.startswith("Not run")) == ("error", True)


def test_all_decisions_are_looked_at_before_the_first_is_recorded() -> None:
    paused = Paused(calls=2)
    for wrong in (approve("c2-0", "c2-7"), approve("c2-0", "c2-0"), [*approve("c2-0"), DecisionRequest("c2-1", "no")]):  # type: ignore[arg-type]
        with pytest.raises(InvalidInput) as refusal:
            paused.resume(wrong)
        assert str(refusal.value.field).startswith("decisions.1.")
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"


def test_two_decisions_in_one_request() -> None:
    paused = Paused(calls=2)
    done = paused.resume([*approve("c2-1"), *reject("c2-0", reason="no")])
    assert done.status == "completed"
    assert paused.files.entered("delete") == ["b"]


def test_case_28_a_reason_is_kept_word_for_word_up_to_its_bound() -> None:
    reason = ('He said "no",\n\tthen 🎉 \x00 <b>{}%s\\' * 100)[:MAX_REASON_CHARACTERS]
    paused = Paused()
    paused.world.press(paused.session_id, "c2-0", "rejected", reason=reason)
    paused.resume()
    assert reason in results_in(paused.model.requests[1])[0][2]


@pytest.mark.parametrize("reason", ["x" * 5000, "x" * (MAX_REASON_CHARACTERS + 1), "\ud800"])
def test_case_28_a_reason_that_cannot_be_kept_word_for_word_is_refused(reason: str) -> None:
    paused = Paused()
    with pytest.raises(InvalidInput) as refusal:
        paused.resume(reject("c2-0", reason=reason))
    assert "reason" in str(refusal.value.field)
    assert paused.world.store.call(paused.session_id, "c2-0").status == "pending"


def test_who_decided_is_recorded_with_how_it_was_verified() -> None:
    link, signed, local = Paused(), Paused(), Paused()
    link.world.press(link.session_id, "c2-0", "approved")
    signed.agent().resume(signed.session_id, approve("c2-0"), signed=True)
    local.resume(approve("c2-0"))
    verified = []
    for paused in (link, signed, local):
        decision = paused.world.store.call(paused.session_id, "c2-0").decision
        assert decision is not None
        verified.append(decision.verified)
    assert verified == ["link", "aws-signature", "caller"]


def test_the_tool_knows_who_approved_it() -> None:
    paused = Paused()
    paused.resume(approve("c2-0"))
    (context,) = paused.files.contexts
    assert (context.session_id, context.call_id, context.approver) == (paused.session_id, "c2-0", "local")
    assert context.idempotency_key == f"{paused.session_id}:c2-0"


def test_case_56_the_log_says_who_when_how_what_was_shown_and_what_ran() -> None:
    paused = Paused()
    paused.world.clock.advance(minutes=5)
    pressed_at = paused.world.clock.now()
    paused.world.press(paused.session_id, "c2-0", "approved", reason="fine")
    paused.world.clock.advance(minutes=1)
    paused.resume()
    events = {event.type: event for event in paused.world.session(paused.session_id).events}
    decision, execution, result = (vars(events[kind]) for kind in ("decision", "execution", "tool_result"))
    digest = call_digest("delete", '{"path":"a"}')
    assert (decision["by"], decision["at"]) == ("the holder of the approval link", pressed_at)
    assert (decision["verified"], decision["reason"], decision["verdict"]) == ("link", "fine", "approved")
    assert decision["digest_shown"] == execution["digest_run"] == digest
    assert (execution["status"], execution["at"]) == ("succeeded", paused.world.clock.now())
    assert (result["call_id"], result["text"], result["entered"]) == ("c2-0", "Deleted a.", True)
