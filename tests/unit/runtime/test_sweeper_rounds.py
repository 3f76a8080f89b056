"""A round of the sweeper as a whole: bounded, fair, harmless beside others, and not stopped by one bad row."""

from __future__ import annotations

from datetime import timedelta
from itertools import pairwise
from typing import Any

import pytest

from pausepoint import tool
from pausepoint.errors import LostRace, NotFound, Unavailable, UnsupportedVersion
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.ports import DueRow, ModelReply, ModelRequest
from pausepoint.runtime.sweeping import BATCH, MAX_STALLS, Sweeper
from tests.support.agents import Killed, die
from tests.support.recovery import DELETE, Recovery
from tests.support.tools import Files


def waiting(count: int) -> tuple[Recovery, list[str]]:
    """Return so many sessions whose decided call nobody has acted on, a second apart, oldest first."""
    world = Recovery([[DELETE]] * count, Files().all)
    ids = []
    for _ in range(count):
        ids.append(world.worker.run("Go").session_id)
        world.press(ids[-1], "c2-0", "approved")
        world.clock.advance(seconds=1)
    world.queue.woken.clear()
    return world, ids


def test_a_round_does_a_batch_the_longest_overdue_first() -> None:
    world, ids = waiting(BATCH + 20)
    world.clock.advance(minutes=2)
    assert world.sweep() == {"Woken": BATCH}
    assert world.queue.woken == ids[:BATCH]


def test_thousands_of_due_rows_starve_none_of_them() -> None:
    """Nobody acts on the wake-ups: those that were looked after go to the back, and each has its turn."""
    world, ids = waiting(12 * BATCH)
    world.clock.advance(minutes=1)
    rounds = 0
    seen: list[str] = []
    while set(seen) != set(ids):
        rounds += 1
        world.sweep()
        seen += world.queue.woken
        world.queue.woken.clear()
        assert rounds <= 12
    assert seen == ids


def test_a_round_starts_nothing_when_its_time_is_over_and_the_next_one_goes_on() -> None:
    world, ids = waiting(5)
    world.clock.advance(minutes=2)

    class Slow:
        def wake(self, session_id: str) -> None:
            world.queue.wake(session_id)
            world.clock.advance(seconds=10)

    services = world.services.__class__(**{**vars(world.services), "queue": Slow()})
    swept = Sweeper(services).sweep(until=world.clock.now() + timedelta(seconds=25))
    assert swept.counts == {"Woken": 3, "LeftForNextRound": 1}
    assert world.sweep() == {"Woken": 2}
    assert world.queue.woken == ids


@pytest.mark.parametrize("moment", ["expire", "doubt", "add_link", "postpone", "mark_notified"])
@pytest.mark.parametrize("when", ["before", "after"])
def test_several_sweepers_at_once_are_harmless(when: str, moment: str) -> None:
    """The second does its whole round in the middle of the first one's."""
    for prepare in (_expired, _unnotified, _cut_off, _handed_over):
        world, session_id = prepare()
        getattr(world.store, when)(moment, lambda world=world: world.sweep())
        world.pass_time(90)
        session = world.session(session_id)
        assert session.head.status in ("completed", "paused")
        links = [notice.body for notice in world.mailbox.sent]
        assert len(set(links)) == len(links) <= 2
        for notice in world.mailbox.sent:  # every link that was sent opens its call
            world.token(notice.session_id, notice.call_id)
            assert len(session.calls[notice.call_id].token_hashes) >= 1
        assert len(session.results) <= 1


def _expired() -> tuple[Recovery, str]:
    world = Recovery([[DELETE], "Done."], Files().all, approval_time=timedelta(minutes=1))
    return world, world.started()


def _unnotified() -> tuple[Recovery, str]:
    world = Recovery([[DELETE], "Done."], Files().all)
    world.mailbox.failures = 1
    return world, world.started()


def _cut_off() -> tuple[Recovery, str]:
    world = Recovery([[DELETE], "Done."], Files().all)
    session_id = world.started()
    world.press(session_id, "c2-0", "approved")
    world.store.after("claim", die)
    world.deliver()
    return world, session_id


def _handed_over() -> tuple[Recovery, str]:
    world = Recovery(["Done."], [])
    world.queue.failures = 1
    return world, world.worker.run("Go", context=world.invocation(60, hand_over=0)).session_id


@pytest.mark.parametrize("moment", ["postpone", "expire"])
@pytest.mark.parametrize("error", [Unavailable("no answer"), LostRace("moved"), NotFound("gone")])
def test_one_row_that_cannot_be_helped_does_not_stand_in_the_way(moment: str, error: Exception) -> None:
    world, ids = waiting(2)
    (first, second) = ids

    def fail() -> None:
        raise error

    world.store.before("postpone", fail)
    world.clock.advance(minutes=2)
    world.sweep()
    assert world.queue.woken == [first, second]


class Unreadable:
    """A store of which some calls cannot be read (and, if `stuck`, not postponed either)."""

    def __init__(self, world: Recovery, error: Exception, bad: set[str], *, stuck: bool = False) -> None:
        self.world, self.error, self.bad, self.stuck = world, error, bad, stuck

    def postpone(self, row: DueRow, **how: Any) -> None:
        if self.stuck and row.session_id in self.bad:
            raise self.error
        self.world.store.postpone(row, **how)

    def __getattr__(self, name: str) -> object:
        return getattr(self.world.store, name)

    def call(self, session_id: str, call_id: str) -> object:
        if session_id in self.bad:
            raise self.error
        return self.world.store.call(session_id, call_id)


@pytest.mark.parametrize("error", [UnsupportedVersion("newer"), Unavailable("no answer"), ValueError("not a call")])
def test_rows_that_cannot_be_read_go_to_the_back(error: Exception) -> None:
    world, ids = waiting(BATCH + 3)
    world.clock.advance(minutes=2)
    store = Unreadable(world, error, bad=set(ids[:BATCH]))
    sweeper = Sweeper(world.services.__class__(**{**vars(world.services), "store": store}))
    until = world.clock.now() + timedelta(seconds=50)
    assert sweeper.sweep(until=until).counts == {"NotSwept": BATCH, "Woken": 3}
    assert world.queue.woken == ids[BATCH:]
    assert sweeper.sweep(until=until).counts == {}


def test_case_47_rows_of_a_newer_version_cannot_be_postponed_and_hide_nothing_behind_them() -> None:
    world, ids = waiting(2 * BATCH + 3)
    world.clock.advance(minutes=2)
    store = Unreadable(world, UnsupportedVersion("newer"), bad=set(ids[: 2 * BATCH]), stuck=True)
    sweeper = Sweeper(world.services.__class__(**{**vars(world.services), "store": store}))
    assert sweeper.sweep(until=world.clock.now() + timedelta(seconds=50)).counts == {"NotSwept": 2 * BATCH, "Woken": 3}
    assert world.queue.woken == ids[2 * BATCH :]


def test_a_row_is_looked_after_less_and_less_often() -> None:
    world, (session_id,) = waiting(1)
    moments = []
    for minute in range(6 * 60):
        world.clock.advance(minutes=1)
        if world.sweep():
            moments.append(minute)
            assert world.queue.woken.pop() == session_id
    pauses = [later - earlier for earlier, later in pairwise(moments)]
    assert pauses[:6] == sorted(pauses[:6])
    assert pauses[0] <= 3
    assert all(60 <= pause <= 62 for pause in pauses[6:])
    assert len(moments) < 15


class Deadly(ScriptedModel):
    """Kills every process that asks it, until it is cured."""

    ill = True

    def respond(self, request: ModelRequest) -> ModelReply:
        if self.ill:
            self.requests.append(request)
            raise Killed
        return super().respond(request)


def test_r51_a_session_that_always_stalls_ends_failed_and_a_message_continues_it() -> None:
    world = Recovery([], [])
    world.model = Deadly(["Better now."] * 40)
    session_id = world.started("Hello")
    counts = world.pass_time(24 * 60)
    session = world.session(session_id)
    assert counts == {"Woken": MAX_STALLS, "Failed": 1}
    assert (session.head.status, len(world.model.requests)) == ("failed", MAX_STALLS + 1)
    assert session.failure is not None
    assert session.failure.code == "stalled"
    assert str(MAX_STALLS) in session.failure.message
    assert world.pass_time(60) == {}
    world.model.ill = False
    assert world.worker.run("Again?", session_id=session_id).output == "Better now."


def test_r51_a_session_that_gets_further_between_its_stalls_does_not_fail() -> None:
    world = Recovery([[("read", {"path": str(number)})] for number in range(3 * MAX_STALLS)], Files().all)
    world.store.after("commit", die)
    session_id = world.started()
    for _ in range(2 * MAX_STALLS):
        world.store.after("commit", die)
        world.clock.advance(minutes=3)
        world.sweep()
        world.deliver()
    session = world.session(session_id)
    assert (session.head.status, session.head.stalls) == ("running", 1)
    assert session.model_calls == 2 * MAX_STALLS + 1


def test_r51_calls_of_a_session_that_fails_so_are_closed_and_told() -> None:
    """One call waits for a person, the other takes every process down."""
    files = Files()

    @tool
    def explode() -> None:
        """Take the process down."""
        raise Killed

    world = Recovery([[DELETE, ("explode", {})], "I see."], [*files.all, explode])
    session_id = world.started()
    world.pass_time(12 * 60)
    session = world.session(session_id)
    assert (session.head.status, session.calls["c2-0"].status) == ("failed", "cancelled")
    world.tools = files.all  # the tool was taken away
    again = world.worker.run("Go on", session_id=session_id)
    assert (again.status, again.output) == ("completed", "I see.")
    assert again.session.results["c2-0"].text == "Not run: the request was cancelled."
