"""A call whose execution was cut off: when it is in doubt, and who may say what became of it."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any, get_args

import pytest

from pausepoint.domain.calls import Answer, CallStatus, PendingToolCall, resolved
from pausepoint.domain.canonical import sha256_hex
from pausepoint.errors import AlreadyDecided, LostRace, NotFound
from pausepoint.runtime.ports import DueRow, SessionStore
from tests.contract.conftest import Place
from tests.contract.test_concurrency import at_once, rounds, the_winner
from tests.support.stored import (
    TOKEN_HASH,
    a_call,
    a_resolution,
    an_execution,
    an_ungated_call,
    brought,
    closing,
    ended,
    moment,
    paused,
    settling,
)

ANSWERS: tuple[Answer, ...] = get_args(Answer)
ENDS: dict[Answer, CallStatus] = {
    "happened": CallStatus.SUCCEEDED,
    "did_not_happen": CallStatus.FAILED,
    "run_again": CallStatus.FAILED,
}


def executing(store: SessionStore, **changes: Any) -> PendingToolCall:
    """Store a call that is executing, until 50."""
    paused(store, call := a_call(**changes))
    return brought(store, call, CallStatus.EXECUTING)


def in_doubt(store: SessionStore) -> PendingToolCall:
    return store.doubt(executing(store), now=moment(51))


def answer(store: SessionStore, word: Answer, *, by: str = "jo", token_hash: str | None = None) -> PendingToolCall:
    return store.resolve("s1", "c2-0", a_resolution(word, by=by), token_hash=token_hash)


# --- coming into doubt


def test_r49_a_call_whose_execution_is_past_its_deadline_is_in_doubt_and_asks_anew(store: SessionStore) -> None:
    paused(store, call := a_call())
    store.mark_notified(call)
    before = brought(store, store.call("s1", "c2-0"), CallStatus.EXECUTING)
    assert before.notify == "sent"

    doubted = store.doubt(before, now=moment(50.000001))

    assert doubted == store.call("s1", "c2-0")
    assert doubted == replace(before, status=CallStatus.IN_DOUBT, notify="none")
    assert store.due(calls=True, before=moment(51), limit=9) == [DueRow("s1", "c2-0", moment(50))]


def test_a_call_that_nobody_had_to_approve_can_be_in_doubt_too(store: SessionStore) -> None:
    paused(store, call := an_ungated_call())
    cut_off = store.claim("s1", "c2-0", an_execution(call))

    assert store.doubt(cut_off, now=moment(51)).status is CallStatus.IN_DOUBT


@pytest.mark.parametrize("at", [20, 49.999999, 50])
def test_r49_an_execution_that_has_its_time_is_not_doubted(place: Place, at: float) -> None:
    call = executing(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.doubt(call, now=moment(at))

    assert place.everything() == before


def test_r49_what_is_known_of_its_deadline_does_not_count_but_what_is_stored(place: Place) -> None:
    call = executing(place.store)
    known = replace(call, execution=an_execution(call, deadline=30))
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.doubt(known, now=moment(40))

    assert place.everything() == before


@pytest.mark.parametrize("known_as_retry_safe", [True, False])
def test_r49_a_retry_safe_call_is_never_in_doubt(place: Place, known_as_retry_safe: bool) -> None:
    call = executing(place.store, retry_safe=True)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.doubt(replace(call, retry_safe=known_as_retry_safe), now=moment(5000))

    assert place.everything() == before


def test_r43_only_the_execution_that_was_looked_at_is_doubted(place: Place) -> None:
    call = executing(place.store)
    known = replace(call, execution=an_execution(call, "run-0"))
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.doubt(known, now=moment(5000))

    assert place.everything() == before


def test_a_call_that_came_to_its_end_or_is_gone_is_not_doubted(place: Place) -> None:
    call = executing(place.store)
    place.store.commit(closing(place.store.load("s1"), ended(call), "run-1"))
    before = place.everything()

    for known in (call, replace(call, call_id="c9-9"), replace(call, session_id="s9")):
        with pytest.raises(LostRace):
            place.store.doubt(known, now=moment(5000))

    assert place.everything() == before


def test_r49_a_result_and_a_doubt_that_meet_end_with_the_result(store: SessionStore) -> None:
    for session_id in rounds(store, a_call()):
        call = brought(store, store.call(session_id, "c2-0"), CallStatus.EXECUTING)
        end = settling(store.head(session_id), ended(call), "run-1")

        recorded, doubted = at_once([partial(store.commit, end), partial(store.doubt, call, now=moment(51))])

        assert recorded == store.head(session_id)
        assert isinstance(doubted, LostRace) or getattr(doubted, "status", None) is CallStatus.IN_DOUBT
        standing = store.call(session_id, "c2-0")
        assert (standing.status, standing.outcome, standing.told) == (CallStatus.SUCCEEDED, "done", True)


# --- what became of it


@pytest.mark.parametrize("token_hash", [TOKEN_HASH, None], ids=["by_link", "signed_in"])
@pytest.mark.parametrize("word", ANSWERS)
def test_r49_an_answer_ends_the_doubt_and_waits_until_the_model_is_told(
    store: SessionStore, word: Answer, token_hash: str | None
) -> None:
    call = in_doubt(store)

    said = answer(store, word, token_hash=token_hash)

    assert said == store.call("s1", "c2-0") == resolved(call, a_resolution(word), token_hash=token_hash)
    assert (said.status, said.resolution, said.told) == (ENDS[word], a_resolution(word), False)
    assert store.due(calls=True, before=moment(61), limit=9) == [DueRow("s1", "c2-0", moment(60))]


@pytest.mark.parametrize("second", ANSWERS)
@pytest.mark.parametrize("first", ANSWERS)
def test_r49_the_first_answer_stands(place: Place, first: Answer, second: Answer) -> None:
    in_doubt(place.store)
    standing = answer(place.store, first)
    before = place.everything()

    with pytest.raises(AlreadyDecided) as refused:
        answer(place.store, second, by="ann", token_hash=TOKEN_HASH)

    assert refused.value.call == standing
    assert place.everything() == before


def test_r49_of_many_answers_at_once_one_stands_and_the_others_see_it(store: SessionStore) -> None:
    for session_id in rounds(store, a_call()):
        brought(store, store.call(session_id, "c2-0"), CallStatus.IN_DOUBT)
        words = [a_resolution(word, by=f"person {number}") for number, word in enumerate(ANSWERS * 3)]

        outcomes = at_once([partial(store.resolve, session_id, "c2-0", word, token_hash=None) for word in words])

        winner = the_winner(outcomes, AlreadyDecided)
        standing = store.call(session_id, "c2-0")
        assert outcomes.pop(winner) == standing
        assert standing.resolution == words[winner]
        assert [outcome.call for outcome in outcomes if isinstance(outcome, AlreadyDecided)] == [standing] * 8


def test_case_54_a_token_that_is_not_the_calls_says_nothing(place: Place) -> None:
    in_doubt(place.store)
    before = place.everything()

    for wrong in (sha256_hex("another token"), "", TOKEN_HASH[:-1]):
        with pytest.raises(LostRace):
            answer(place.store, "happened", token_hash=wrong)

    assert place.everything() == before


def test_nothing_is_said_of_a_call_that_is_not_there(store: SessionStore) -> None:
    in_doubt(store)

    for session_id, call_id in (("s1", "c9-9"), ("s9", "c2-0")):
        with pytest.raises(NotFound):
            store.resolve(session_id, call_id, a_resolution(), token_hash=None)
