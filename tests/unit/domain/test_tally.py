"""The fold of a log: carried on it is what it would be from the beginning."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from pausepoint.domain.events import CallReissued, Event, LogEntry, SessionCancelled
from pausepoint.domain.tally import Tally
from tests.support.clock import START
from tests.support.sessions import decision_recorded, message, plain_call, result, session_of, tool_call, turn


def reissued(call_id: str, reissued_as: str) -> CallReissued:
    return CallReissued(
        at=START, call_id=call_id, name="delete", reissued_as=reissued_as, arguments='{"path":"b"}', digest="digest-b"
    )


EVENTS: list[Event] = [
    message(),
    turn(tool_call("c2-0"), plain_call("c2-1")),
    turn(plain_call("c2-0")),
    turn(),
    result("c2-0"),
    result("c2-1"),
    result("c5-0"),
    reissued("c2-0", "c5-0"),
    reissued("c5-0", "c7-0"),
    result("c7-0"),
    decision_recorded("rejected"),
    decision_recorded("approved"),
    SessionCancelled(at=START, by="jo"),
]


@given(st.lists(st.lists(st.sampled_from(EVENTS), max_size=4), max_size=6))
def test_i6_a_fold_that_is_carried_on_is_the_fold_of_the_whole(entries: list[list[Event]]) -> None:
    session = session_of()
    for events in entries:
        session = session.after(LogEntry(first=session.next_seq, events=tuple(events)))
    assert session.tally == Tally().after(event for events in entries for event in events)
    assert session.events == tuple(event for events in entries for event in events)


def test_a_call_that_was_reissued_twice_is_open_as_it_is_now_and_answered_by_its_last() -> None:
    session = session_of(message(), turn(tool_call("c2-0"), plain_call("c2-1")), reissued("c2-0", "c5-0"))
    session = session.after(LogEntry(first=session.next_seq, events=(reissued("c5-0", "c7-0"),)))
    assert [(call.call_id, call.gated) for call in session.open_calls] == [("c7-0", True), ("c2-1", False)]
    assert session.open_calls[0].arguments == '{"path":"b"}'
    session = session.after(LogEntry(first=session.next_seq, events=(result("c7-0"),)))
    assert [call.call_id for call in session.open_calls] == ["c2-1"]
    assert session.results["c2-0"].call_id == "c7-0"


def test_a_new_turn_leaves_nothing_open_of_the_one_before() -> None:
    session = session_of(message(), turn(tool_call("c2-0")), turn(plain_call("c3-0")))
    assert [call.call_id for call in session.open_calls] == ["c3-0"]
    assert (session.model_calls, session.tool_calls) == (2, 2)
