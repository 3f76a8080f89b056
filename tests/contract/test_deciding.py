"""The decision: one conditional write, the first of them stands."""

from __future__ import annotations

import pytest

from pausepoint.domain.calls import CallStatus, PendingToolCall, Verdict, decided
from pausepoint.domain.canonical import call_digest
from pausepoint.errors import AlreadyDecided, CallExpired, LostRace, NotFound
from pausepoint.runtime.ports import SessionStore
from tests.contract.conftest import Place
from tests.support.stored import TOKEN_HASH, a_call, a_decision, a_question, an_execution, moment, paused

OTHER_HASH = "0" * 64


@pytest.mark.parametrize("verdict", ["approved", "rejected"])
@pytest.mark.parametrize("token_hash", [TOKEN_HASH, None], ids=["by_link", "signed_in"])
def test_a_pending_call_takes_a_decision(store: SessionStore, verdict: Verdict, token_hash: str | None) -> None:
    call = a_call()
    paused(store, call)
    decision = a_decision(call, verdict)

    standing = store.decide("s1", "c2-0", decision, token_hash=token_hash)

    assert standing == decided(call, decision, token_hash=token_hash)
    assert standing == store.call("s1", "c2-0")
    assert standing.status == verdict


@pytest.mark.parametrize("answer", ["false", "0", '""', '"eu"', '{"a":[1.0,null]}'])
@pytest.mark.parametrize("token_hash", [TOKEN_HASH, None], ids=["by_link", "signed_in"])
def test_a_pending_question_takes_an_answer_and_keeps_it(
    store: SessionStore, answer: str, token_hash: str | None
) -> None:
    call = a_question()
    paused(store, call)
    decision = a_decision(call, "answered", answer=answer)

    standing = store.decide("s1", "c2-0", decision, token_hash=token_hash)

    assert standing == decided(call, decision, token_hash=token_hash) == store.call("s1", "c2-0")
    assert (standing.status, standing.decision) == (CallStatus.ANSWERED, decision)


@pytest.mark.parametrize(
    ("call", "verdict"), [(a_question(), "approved"), (a_question(), "rejected"), (a_call(), "answered")]
)
def test_case_04_permission_for_a_question_and_an_answer_to_a_request_do_not_count(
    place: Place, call: PendingToolCall, verdict: Verdict
) -> None:
    paused(place.store, call)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.decide("s1", "c2-0", a_decision(call, verdict), token_hash=TOKEN_HASH)

    assert place.everything() == before


def test_i5_a_second_answer_learns_which_one_stands(place: Place) -> None:
    call = a_question()
    paused(place.store, call)
    standing = place.store.decide("s1", "c2-0", a_decision(call, "answered"), token_hash=None)
    before = place.everything()

    other = a_decision(call, "answered", answer='"us"', by="ann")
    with pytest.raises(AlreadyDecided) as refused:
        place.store.decide("s1", "c2-0", other, token_hash=TOKEN_HASH)

    assert refused.value.call == standing
    assert place.everything() == before


def test_a_decision_is_for_one_call_only(store: SessionStore) -> None:
    first, second = a_call("c2-0"), a_call("c2-1")
    paused(store, first, second)

    store.decide("s1", "c2-0", a_decision(first), token_hash=None)

    assert store.call("s1", "c2-1") == second


@pytest.mark.parametrize("later", ["approved", "rejected"])
@pytest.mark.parametrize("first", ["approved", "rejected"])
def test_i5_a_second_decision_of_any_kind_learns_which_one_stands(place: Place, first: Verdict, later: Verdict) -> None:
    call = a_call()
    paused(place.store, call)
    standing = place.store.decide("s1", "c2-0", a_decision(call, first), token_hash=None)
    before = place.everything()

    for at in (10, 2000):  # also after the time to decide is over
        with pytest.raises(AlreadyDecided) as refused:
            place.store.decide("s1", "c2-0", a_decision(call, later, at=at, by="ann"), token_hash=TOKEN_HASH)
        assert refused.value.call == standing

    assert place.everything() == before


def test_i5_who_was_shown_something_else_also_learns_which_decision_stands(store: SessionStore) -> None:
    call = a_call()
    paused(store, call)
    standing = store.decide("s1", "c2-0", a_decision(call), token_hash=None)

    with pytest.raises(AlreadyDecided) as refused:
        store.decide("s1", "c2-0", a_decision(call, digest_shown=OTHER_HASH), token_hash=OTHER_HASH)

    assert refused.value.call == standing


def test_r03_the_time_of_the_decision_says_whether_it_came_in_time(place: Place) -> None:
    call = a_call(expires_at=moment(1000))
    paused(place.store, call)
    before = place.everything()

    for at in (1000, 1000.000001, 5000):
        with pytest.raises(CallExpired):
            place.store.decide("s1", "c2-0", a_decision(call, at=at), token_hash=None)
    assert place.everything() == before

    place.store.decide("s1", "c2-0", a_decision(call, at=999.999999), token_hash=None)


def test_r20_a_decision_on_another_digest_does_not_count(place: Place) -> None:
    call = a_call()
    paused(place.store, call)
    before = place.everything()

    for shown in (OTHER_HASH, "", call.digest[:-1], call.digest.upper(), f" {call.digest}"):
        with pytest.raises(LostRace):
            place.store.decide("s1", "c2-0", a_decision(call, digest_shown=shown), token_hash=TOKEN_HASH)

    assert place.everything() == before


def test_case_54_a_decision_with_another_token_does_not_count(place: Place) -> None:
    call = a_call()
    paused(place.store, call, a_call("c2-1", token_hashes=(OTHER_HASH,)))
    before = place.everything()

    for token_hash in (OTHER_HASH, "", TOKEN_HASH[:-1], TOKEN_HASH.upper()):
        with pytest.raises(LostRace):
            place.store.decide("s1", "c2-0", a_decision(call), token_hash=token_hash)

    assert place.everything() == before


def test_a_call_whose_link_was_sent_again_takes_each_of_its_tokens(store: SessionStore) -> None:
    hashes = (OTHER_HASH, TOKEN_HASH)
    calls = [a_call(f"c2-{number}", token_hashes=hashes) for number in range(2)]
    paused(store, *calls)

    for call, token_hash in zip(calls, hashes, strict=True):
        assert store.decide("s1", call.call_id, a_decision(call), token_hash=token_hash).status == "approved"


def test_no_token_opens_a_call_that_has_none(place: Place) -> None:
    call = a_call(token_hashes=())
    paused(place.store, call)

    with pytest.raises(LostRace):
        place.store.decide("s1", "c2-0", a_decision(call), token_hash=TOKEN_HASH)


def test_what_nobody_asked_for_cannot_be_decided(place: Place) -> None:
    call = a_call()
    paused(place.store, call)
    before = place.everything()

    for session_id, call_id in (("s1", "c9-9"), ("s0", "c2-0"), ("s1", "")):
        with pytest.raises(NotFound):
            place.store.decide(session_id, call_id, a_decision(call), token_hash=TOKEN_HASH)

    assert place.everything() == before


def test_case_21_the_same_provider_id_in_two_sessions_is_two_calls(store: SessionStore) -> None:
    first, second = a_call(), a_call(session_id="s2")
    paused(store, first)
    paused(store, second, session_id="s2")

    store.decide("s1", "c2-0", a_decision(first), token_hash=None)

    assert store.call("s2", "c2-0") == second


def test_edited_arguments_are_what_may_run(store: SessionStore) -> None:
    call = a_call()
    paused(store, call)
    edited = '{"path":"b.txt"}'
    decision = a_decision(call, arguments=edited, digest_approved=call_digest("delete", edited))

    standing = store.decide("s1", "c2-0", decision, token_hash=None)

    assert (standing.arguments, standing.digest) == (call.arguments, call.digest)
    assert (standing.approved_arguments, standing.approved_digest) == (edited, call_digest("delete", edited))
    with pytest.raises(LostRace):
        store.claim("s1", "c2-0", an_execution(call, digest=call.digest))
    assert store.claim("s1", "c2-0", an_execution(standing)).status is CallStatus.EXECUTING


def test_case_28_a_reason_is_kept_verbatim(store: SessionStore) -> None:
    call = a_call()
    paused(store, call)
    reason = 'He said "no",\r\n\tthen left. \N{PILE OF POO}\u202e\x00\x1b[31m ' + "ä" * 1900

    store.decide("s1", "c2-0", a_decision(call, "rejected", reason=reason), token_hash=None)

    standing = store.call("s1", "c2-0").decision
    assert standing is not None
    assert standing.reason == reason


def test_i3_deciding_needs_no_lease_and_leaves_the_head_alone(store: SessionStore) -> None:
    call = a_call()
    session = paused(store, call)

    store.decide("s1", "c2-0", a_decision(call), token_hash=None)

    assert store.head("s1") == session.head
    assert store.load("s1").events == session.events
