"""What folds from the log: history, counts, output."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from pausepoint.domain.calls import CallStatus
from pausepoint.domain.events import Event, LogEntry, SessionFailed, Usage, load_event
from pausepoint.domain.fields import Malformed
from pausepoint.domain.history import AssistantItem, UserItem
from pausepoint.domain.session import SessionHead, SessionStatus
from tests.support.clock import START
from tests.support.sessions import (
    DIGEST,
    decision_recorded,
    message,
    plain_call,
    record,
    result,
    session_of,
    tool_call,
    turn,
)


def test_history_is_what_was_said_in_order() -> None:
    answer = turn(text="Done.")
    assert session_of(message("One"), answer, message("Two")).history() == (
        UserItem(texts=("One",)),
        AssistantItem(answer.message),
        UserItem(texts=("Two",)),
    )


def test_results_stand_in_the_order_of_the_calls_not_of_their_ends() -> None:
    calls = [plain_call(f"c2-{index}") for index in range(3)]
    session = session_of(message(), turn(*calls), result("c2-2"), result("c2-0"), result("c2-1"))
    item = session.history()[-1]
    assert isinstance(item, UserItem)
    assert [call.call_id for call, _ in item.results] == ["c2-0", "c2-1", "c2-2"]


def test_case_26_results_come_first_in_the_message_that_follows_their_turn() -> None:
    """Also when somebody spoke before the results were in: a provider refuses anything else for ever."""
    session = session_of(message(), turn(plain_call("c2-0")), message("Hurry"), result("c2-0"))
    item = session.history()[-1]
    assert isinstance(item, UserItem)
    assert ([call.call_id for call, _ in item.results], item.texts) == (["c2-0"], ("Hurry",))


def test_messages_without_an_answer_between_them_become_one() -> None:
    failed = SessionFailed(at=START, code="model-failed", message="no")
    assert session_of(message("One"), failed, message("Two")).history() == (UserItem(texts=("One", "Two")),)


def test_what_only_people_need_is_not_sent_to_the_model() -> None:
    call = tool_call()
    session = session_of(message(), turn(call), decision_recorded("approved"), result("c2-0"))
    assert len(session.history()) == 3


turns = st.lists(st.integers(0, 3), min_size=1, max_size=5)


@given(turns, st.randoms(use_true_random=False))
def test_i6_every_call_has_exactly_one_result_in_the_message_after_its_turn(shape: list[int], order: Any) -> None:
    events: list[Event] = [message()]
    for calls in shape:
        emitted = [plain_call(f"c{len(events) + 1}-{index}") for index in range(calls)]
        events.append(turn(*emitted, text="" if emitted else "Done."))
        ends = [result(call.call_id) for call in emitted]
        order.shuffle(ends)
        events += ends
        if not emitted:
            events.append(message("More"))
    history = session_of(*events).history()
    kinds = [type(item) for item in history]
    assert kinds == [UserItem if index % 2 == 0 else AssistantItem for index in range(len(history))]
    for position, item in enumerate(history[:-1]):
        following = history[position + 1]
        if isinstance(item, AssistantItem):
            wanted = [block["toolUse"]["toolUseId"] for block in item.message["content"] if "toolUse" in block]
            assert isinstance(following, UserItem)
            assert [call.tool_call_id for call, _ in following.results] == wanted


def test_counts_fold_from_the_log() -> None:
    session = session_of(
        message(), turn(tool_call("c2-0"), plain_call("c2-1")), result("c2-0"), result("c2-1"), turn(text="Done.")
    )
    assert (session.model_calls, session.tool_calls) == (2, 2)
    assert session.usage == Usage(input_tokens=14, output_tokens=6)
    assert session.output == "Done."
    assert session.next_seq == 6
    assert session.open_calls == ()


def test_rejections_in_a_row_end_with_an_approval() -> None:
    rejected, approved = decision_recorded("rejected"), decision_recorded("approved")
    assert session_of(message()).consecutive_rejections == 0
    assert session_of(message(), rejected, approved, rejected, rejected).consecutive_rejections == 2
    assert session_of(message(), rejected, approved).consecutive_rejections == 0


def test_r30_rejections_are_counted_per_digest() -> None:
    other = decision_recorded("rejected", digest="other")
    session = session_of(message(), decision_recorded("rejected"), other, decision_recorded("approved"))
    assert session.rejections_of(DIGEST) == 1


def test_the_failure_shows_only_while_the_session_stands_failed() -> None:
    failed = SessionFailed(at=START, code="model-failed", message="no")
    assert session_of(message(), failed, status=SessionStatus.FAILED).failure == failed
    assert session_of(message(), failed, message("Again"), status=SessionStatus.RUNNING).failure is None


def test_i6_a_session_folds_what_is_written_after_it() -> None:
    session = session_of(message())
    grown = session.after(LogEntry(first=2, events=(turn(tool_call()),)), calls=[record()])
    assert (session.next_seq, grown.next_seq) == (2, 3)
    assert grown.after(None, calls=[record(status=CallStatus.APPROVED)]).calls["c2-0"].status == "approved"
    assert grown.calls["c2-0"].status == "pending"


def test_an_entry_knows_the_number_that_follows_it() -> None:
    assert LogEntry(first=4, events=(message(), turn(text="Hi"))).next == 6


def test_case_47_a_document_of_another_version_is_refused_not_misread() -> None:
    head = session_of(message()).head.dump()
    with pytest.raises(Malformed, match="SessionHead: 'second_lease' is not known"):
        SessionHead.load({**head, "second_lease": None})
    with pytest.raises(Malformed, match="the type 'thought' is not known"):
        load_event({"type": "thought", "at": START, "text": "hm"})
    with pytest.raises(Malformed, match=r"SessionHead\.status: 'dreaming' is not"):
        SessionHead.load({**head, "status": "dreaming"})
