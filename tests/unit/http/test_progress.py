"""Going on without script: by an address that can look and cannot decide, and that comes to an end."""

from __future__ import annotations

import re
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from pausepoint.domain.calls import CallStatus as S
from pausepoint.domain.canonical import sha256_hex
from pausepoint.http.page import outcome_page
from pausepoint.http.progress import PAUSES, look_again, opens, view_of, well_formed
from tests.unit.http.samples import ASKED, NOW, Page, decided_call, pending_call, words

TOKEN, OTHER = "q" * 43, "r" * 43
LINKED: dict[str, Any] = {"token_hashes": (sha256_hex(OTHER), sha256_hex(TOKEN))}
RUNNING = decided_call(S.EXECUTING, ran=True, **LINKED)
VIEW = view_of(RUNNING, TOKEN)


def test_a_view_opens_its_own_call_and_says_nothing_of_the_secret() -> None:
    assert well_formed(VIEW)
    assert opens(RUNNING, VIEW)
    assert opens(RUNNING, view_of(RUNNING, OTHER))
    assert VIEW not in {TOKEN, *LINKED["token_hashes"]}
    assert sha256_hex(VIEW) not in LINKED["token_hashes"]  # as a link's secret it is unknown
    assert not opens(replace(RUNNING, call_id="c3-1"), VIEW)
    assert not opens(replace(RUNNING, session_id="s-2"), VIEW)
    assert not opens(replace(RUNNING, token_hashes=(sha256_hex(OTHER),)), VIEW)
    assert not opens(pending_call(), VIEW)


@pytest.mark.parametrize("view", ["", "a" * 42, "a" * 44, "a" * 42 + "=", "é" * 43, "a" * 43 + "\n"])
def test_what_cannot_be_a_view_is_not_looked_up(view: str) -> None:
    assert not well_formed(view)


def test_a_page_that_moves_by_itself_looks_less_and_less_often_and_then_stops() -> None:
    looks, seconds = "0", []
    while (look := look_again(RUNNING, VIEW, looks, NOW)) and look.seconds is not None:
        assert look.refresh == f"{look.seconds}; url={look.then}"
        seconds.append(look.seconds)
        [looks] = re.findall(rf"^\?v={VIEW}&n=(\d+)$", look.then)
    assert tuple(seconds) == PAUSES
    assert seconds == sorted(seconds)
    assert look is not None
    assert look.refresh is None


@pytest.mark.parametrize("looks", ["", "-1", "x", "1e3", "999999", "\N{ARABIC-INDIC DIGIT ONE}", "0\n"])
def test_an_odd_count_stops_it(looks: str) -> None:
    look = look_again(RUNNING, VIEW, looks, NOW)
    assert look is not None
    assert look.refresh is None


def test_what_waits_for_a_person_is_looked_at_by_hand_and_what_is_final_not_at_all() -> None:
    for waits in (pending_call(**LINKED), decided_call(S.IN_DOUBT, ran=True)):
        look = look_again(waits, VIEW, "0", NOW)
        assert look is not None
        assert look.refresh is None
    assert look_again(pending_call(), VIEW, "0", ASKED + timedelta(hours=24)) is None
    for final in (S.REJECTED, S.EXPIRED, S.CANCELLED, S.STALE, S.SUCCEEDED, S.FAILED, S.ANSWERED):
        assert look_again(pending_call(status=final), VIEW, "0", NOW) is None


def test_the_page_says_that_it_looks_again_and_how_to_stop_it() -> None:
    page = outcome_page(RUNNING, now=NOW, look=look_again(RUNNING, VIEW, "1", NOW))
    assert "looks again by itself in 3 seconds" in words(page)
    assert [link["href"] for link in Page(page).all("a")] == [f"?v={VIEW}&n=0", f"?v={VIEW}"]
    assert TOKEN not in page
    rests = outcome_page(RUNNING, now=NOW, look=look_again(RUNNING, VIEW, "", NOW))
    assert "by itself" not in words(rests)
    assert [link["href"] for link in Page(rests).all("a")] == [f"?v={VIEW}&n=0"]
    assert Page(outcome_page(decided_call(S.REJECTED), now=NOW)).all("a") == []
