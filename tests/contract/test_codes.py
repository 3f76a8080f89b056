"""One-time codes: how many may be tried, what happens then, and that each is used once."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

import pytest

from pausepoint.domain.calls import CallStatus, PendingToolCall
from pausepoint.domain.canonical import sha256_hex
from pausepoint.domain.code_tries import MAX_ROUNDS, MAX_TRIES, code_tried
from pausepoint.errors import AlreadyDecided, LinkSpent, LostRace, NotFound
from pausepoint.runtime.ports import DueRow, SessionStore
from tests.contract.conftest import Place
from tests.contract.test_concurrency import at_once
from tests.support.stored import TOKEN_HASH, a_call, a_decision, brought, moment, paused

OTHER_HASH = sha256_hex("another token")


def tried(store: SessionStore, token_hash: str = TOKEN_HASH, *, times: int = 1) -> PendingToolCall:
    for _ in range(times):
        call = store.count_code_try("s1", "c2-0", token_hash)
    return call


def told(store: SessionStore, **changes: Any) -> PendingToolCall:
    """Store a call whose approver was told."""
    paused(store, call := a_call(**changes))
    store.mark_notified(call)
    return store.call("s1", "c2-0")


def test_r3_tries_are_counted_and_nothing_else_changes(store: SessionStore) -> None:
    call = told(store)

    for count in range(1, MAX_TRIES + 1):
        assert tried(store) == store.call("s1", "c2-0") == replace(call, code_tries=count)

    assert store.due(calls=True, before=moment(1000), limit=9) == []
    assert store.decide("s1", "c2-0", a_decision(call), token_hash=TOKEN_HASH).status == "approved"


def test_r3_the_try_after_the_last_uses_up_all_links_and_the_notice_is_due(store: SessionStore) -> None:
    before = told(store, token_hashes=(OTHER_HASH, TOKEN_HASH))
    tried(store, OTHER_HASH)

    spent = tried(store, times=MAX_TRIES)

    assert spent == store.call("s1", "c2-0")
    assert spent == code_tried(replace(before, code_tries=MAX_TRIES), token_hash=TOKEN_HASH)
    assert (spent.status, spent.token_hashes, spent.notify) == (CallStatus.PENDING, (), "due")
    assert set(spent.spent_hashes) == {OTHER_HASH, TOKEN_HASH}
    assert store.due(calls=True, before=moment(2), limit=9) == [DueRow("s1", "c2-0", moment(1))]


def test_r3_a_link_that_is_used_up_decides_nothing_and_the_new_one_does(place: Place) -> None:
    told(place.store)
    spent = tried(place.store, times=MAX_TRIES + 1)
    before = place.everything()

    with pytest.raises(LostRace):
        place.store.decide("s1", "c2-0", a_decision(spent), token_hash=TOKEN_HASH)
    with pytest.raises(LinkSpent):
        tried(place.store)
    assert place.everything() == before

    linked = place.store.add_link(spent, OTHER_HASH, reconciled=False)
    assert linked.token_hashes == (OTHER_HASH,)
    with pytest.raises(LinkSpent):
        tried(place.store)
    assert tried(place.store, OTHER_HASH).code_tries == 1
    assert place.store.decide("s1", "c2-0", a_decision(spent), token_hash=OTHER_HASH).status == "approved"


def test_r3_who_uses_links_up_for_ever_is_not_kept_supplied(store: SessionStore) -> None:
    call = told(store)
    for number in range(1, MAX_ROUNDS + 1):
        (token_hash,) = call.token_hashes
        spent = tried(store, token_hash, times=MAX_TRIES + 1)
        assert spent.spent_rounds == number
        if number < MAX_ROUNDS:
            assert spent.notify == "due"
            call = store.add_link(spent, sha256_hex(f"token {number}"), reconciled=False)
            store.mark_notified(call)

    # nobody is sent another link, not even as a reminder; it expires, or a signed-in caller decides
    assert (spent.notify, spent.reminded, spent.token_hashes) == ("sent", True, ())
    assert store.due(calls=True, before=moment(1000), limit=9) == []
    assert store.due(calls=True, before=moment(1001), limit=9) == [DueRow("s1", "c2-0", moment(1000))]
    assert store.decide("s1", "c2-0", a_decision(call), token_hash=None).status == "approved"


def test_r3_of_many_tries_at_once_no_more_than_allowed_may_be_compared(store: SessionStore) -> None:
    told(store)

    outcomes = at_once([partial(store.count_code_try, "s1", "c2-0", TOKEN_HASH)] * 12)

    compared = [each for each in outcomes if isinstance(each, PendingToolCall) and each.token_hashes]
    assert sorted(call.code_tries for call in compared) == list(range(1, MAX_TRIES + 1))
    assert store.call("s1", "c2-0").spent_rounds == 1


@pytest.mark.parametrize("token_hash", [OTHER_HASH, "", TOKEN_HASH[:-1], TOKEN_HASH.upper()])
def test_r3_a_wrong_token_counts_nothing(place: Place, token_hash: str) -> None:
    told(place.store)
    before = place.everything()

    with pytest.raises(LostRace):
        tried(place.store, token_hash)

    assert place.everything() == before


@pytest.mark.parametrize("status", [status for status in CallStatus if status not in {"pending", "answered"}])
def test_r3_nothing_is_counted_where_nobody_is_asked_any_more(place: Place, status: CallStatus) -> None:
    paused(place.store, call := a_call())
    standing = brought(place.store, call, status)
    before = place.everything()

    with pytest.raises(AlreadyDecided) as refused:
        tried(place.store)

    assert refused.value.call == standing
    assert place.everything() == before


def test_nothing_is_counted_for_a_call_that_is_not_there(store: SessionStore) -> None:
    told(store)

    for session_id, call_id in (("s1", "c9-9"), ("s9", "c2-0")):
        with pytest.raises(NotFound):
            store.count_code_try(session_id, call_id, TOKEN_HASH)


def test_i11_a_notice_whose_link_was_used_up_meanwhile_does_not_pass_for_sent(place: Place) -> None:
    call = told(place.store)
    tried(place.store, times=MAX_TRIES + 1)
    before = place.everything()

    place.store.mark_notified(call)

    assert place.everything() == before
    assert place.store.call("s1", "c2-0").notify == "due"


def test_counting_leaves_a_reminder_where_it_is(swept: Place) -> None:
    paused(swept.store, call := a_call())
    swept.store.mark_notified(call, look_again=moment(300))

    tried(swept.store)

    assert swept.store.due(calls=True, before=moment(301), limit=9) == [DueRow("s1", "c2-0", moment(300))]


def test_r3_a_code_is_used_once_and_no_earlier_one_after_it(store: SessionStore) -> None:
    for step in (5, 7):
        store.use_code(step)
        for used in (step, step - 1):
            with pytest.raises(LostRace):
                store.use_code(used)


def test_r3_of_many_that_use_a_code_at_once_one_may(store: SessionStore) -> None:
    for step in range(1, 4):
        outcomes = at_once([partial(store.use_code, step)] * 8)
        assert [type(outcome) for outcome in outcomes if outcome is not None] == [LostRace] * 7
