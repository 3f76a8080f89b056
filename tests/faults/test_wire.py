"""Tier 4 (R44, R45): answers lost, garbled and cut, connections reset, services throttled and broken.

A schedule is `plan:phase:number:fault`: in the first action of that name, the request of that number; a `*` after
the fault means that request and all that follow in the action.
"""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any, Final

import boto3
import pytest

from pausepoint.bootstrap import application
from tests.faults.deployed import ENVIRONMENT, FUNCTIONS, Action, Deployed, Habits, Outcome, quiet
from tests.faults.proxy import FAULTS, PERFORMED, Proxy
from tests.faults.workbench import DONE, GATED, UNGATED_UNSAFE, plan_of
from tests.support.aws import REGION, use_session
from tests.support.emulator import ministack
from tests.support.functions import load_functions

pytestmark = [pytest.mark.faults, pytest.mark.emulator]

THOROUGH: Final = bool(os.environ.get("FAULTS"))
SAMPLE: Final = 24
PLANS: Final = (GATED, UNGATED_UNSAFE, "mixed")
FOR_EVER: Final = ("lost*", "truncated*", "throttled*")
KEY: Final = "the-same-key-each-time"
GIVEN_UP: Final = {"start": {200, 202, 503}, "post": {200, 503}, "wake": {200, 500}, "sweep": {200, 500}}
"""What may come of an action whose wire stays broken; 500 is how the queue and the timer are told of a failure."""


class Wired(Deployed):
    """A deployment whose functions reach AWS through a proxy."""

    proxy: Proxy
    phase = ""
    fault = ""
    number = 0

    def strike(self, phase: str, number: int, fault: str) -> None:
        """Say what is to happen in the first action of a name."""
        self.phase, self.number, self.fault = phase, number, fault
        self.struck, self.seen = 0, 0
        self.outcome: Outcome | None = None
        self.half_done: list[str] = []

    def executed(self, action: Action) -> Outcome | None:
        if action[0] != self.phase:
            return super().executed(action)
        self.phase = ""
        self.proxy.strike(self.fault.rstrip("*"), self.number, for_ever=self.fault.endswith("*"))
        try:
            self.outcome = Outcome(500)
            self.outcome = super().executed(action)
        finally:
            self.seen, self.struck = self.proxy.heal()
            self.half_done = self.verdicts()
        return self.outcome


@pytest.fixture(scope="module")
def wired(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Wired]:
    folder = tmp_path_factory.mktemp("wire")
    with pytest.MonkeyPatch.context() as patch, ministack(folder) as url, Proxy(url).running() as proxy, quiet():
        for name, value in {**ENVIRONMENT, "TOPIC_ARN": "", "QUEUE_URL": ""}.items():
            patch.setenv(name, value)
        session = boto3.Session(region_name=REGION)
        use_session(patch, session)
        patch.setattr("botocore.endpoint.time", SimpleNamespace(sleep=lambda _: None))  # between repetitions
        for module in ("listing", "writes"):
            patch.setattr(f"pausepoint.adapters.dynamodb.{module}.sleep", lambda _: None)
        clients: dict[str, Any] = {
            service: session.client(service, endpoint_url=url) for service in ("dynamodb", "sns", "sqs", "s3")
        }
        patch.setenv("AWS_ENDPOINT_URL", proxy.url)
        deployed = Wired(load_functions(*FUNCTIONS), clients, folder)
        deployed.proxy = proxy
        yield deployed
        application.cache_clear()


def test_r44_r45_whatever_happens_on_the_wire_the_session_comes_to_a_sound_end(
    wired: Wired, capsys: pytest.CaptureFixture[str]
) -> None:
    schedules = []
    for plan in PLANS:
        for phase in ("start", "post", "wake"):
            _run(wired, f"{plan}:{phase}:{10**6}:lost")
            numbers = range(1, wired.seen + 1)
            schedules += [f"{plan}:{phase}:{number}:{fault}" for number in numbers for fault in (*FAULTS, *FOR_EVER)]
    schedules += [f"{GATED}:sweep:{number}:{fault}" for number in range(1, 6) for fault in (*FAULTS, *FOR_EVER)]
    assert len(schedules) > 300
    if not THOROUGH:
        schedules = random.Random("wire").sample(schedules, SAMPLE)
    bad = [
        f"{schedule}: {found}; {' | '.join(wired.trail)}" for schedule in schedules if (found := _run(wired, schedule))
    ]
    with capsys.disabled():
        sys.stdout.write(f"\ntier 4: schedules run: {len(schedules)}, violations: {len(bad)}\n")
    assert not bad, "\n".join(bad)


def _run(wired: Wired, schedule: str) -> list[str]:
    plan, phase, number, fault = schedule.split(":")
    notice_is_lost = phase == "sweep"
    wired.renew()
    wired.habits = Habits()
    if notice_is_lost:
        wired.strike("start", 3, "throttled*")  # nobody is told, so that the sweeper has something to do
        assert wired.perform(("start", plan, KEY)) is not None
        assert wired.sent == []
    wired.strike(phase, int(number), fault)
    start = ("start", plan, KEY)
    for _ in range(0 if notice_is_lost else 3):
        outcome = wired.perform(start)
        if outcome is not None and outcome.status < 500:
            break  # else the caller repeats the request
    wired.settle()
    once, answers_only = not fault.endswith("*"), fault in PERFORMED or fault == "reset"
    found = wired.half_done + wired.verdicts(quiescent=True, lost_answers_only=once and answers_only)
    if once and wired.crashes:
        found.append("one fault was not made up for")
    if wired.outcome is not None and wired.outcome.status not in GIVEN_UP[phase]:
        found.append(f"{phase} answered {wired.outcome.status}")
    session = wired.session()
    if session is None or session.head.status.value != "completed" or session.output != DONE:
        found.append(f"the session is {session.head.status if session else 'not there'}")
    wanted = sum(len(turn) for turn in plan_of(plan))
    entered = sum(wired.effects().values())
    if entered != wanted if once else entered > wanted + 1:
        found.append(f"{entered} effects instead of {wanted}")
    return found
