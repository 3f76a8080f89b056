"""A process that is killed (SIGKILL) at a chosen moment, and a world that goes on without it.

This is a program of its own, so that it can fork: it reads schedules, one a line, and answers each with one line
of JSON. A schedule is `plan:moments:habits`. A moment is `7b` or `7a`, before or after the seventh call to AWS
since the session began, whichever process makes it; or `tool1b`, `tool1a`, `model1b`, `model1a`, around the first
effect or model call; `tool*b` kills whoever comes there. Several are separated by commas. Habits are letters:
`r` a person rejects, `n` nobody decides, `g` what is in doubt runs again, `l` wake-ups of the dead are lost.
"""

from __future__ import annotations

import json
import mmap
import os
import pickle
import signal
import struct
import sys
from pathlib import Path
from typing import Any, Final

import boto3
import pytest
from botocore.config import Config

from pausepoint.bootstrap import application
from tests.faults.deployed import FUNCTIONS, Action, Deployed, Habits, Outcome, quiet
from tests.faults.workbench import moments
from tests.support.aws import REGION, use_session
from tests.support.functions import load_functions

KEY: Final = "the-same-key-each-time"
_COUNTERS: Final = ("call", "tool", "model")
_NUMBER: Final = struct.Struct("q")


class Mortal(Deployed):
    """A world in which every action is a process of its own, forked from this one, which has made no request yet."""

    def arm(self, points: str) -> None:
        """Say when processes are to be killed, and begin to count."""
        self._points = set(filter(None, points.split(",")))
        self._counters = mmap.mmap(-1, _NUMBER.size * len(_COUNTERS))  # shared with the children
        self._kills = 0

    @property
    def calls(self) -> int:
        """How many calls to AWS the children have made."""
        return self._count("call", 0)

    def executed(self, action: Action) -> Outcome | None:
        reader, writer = os.pipe()
        child = os.fork()
        if child == 0:
            os.close(reader)
            self._live(action, writer)
        os.close(writer)
        with os.fdopen(reader, "rb") as answers:
            answer = answers.read()
        _, status = os.waitpid(child, 0)
        if os.WIFSIGNALED(status):
            assert os.WTERMSIG(status) == signal.SIGKILL
            return None
        outcome: Outcome = pickle.loads(answer)
        return outcome

    def _live(self, action: Action, writer: int) -> None:
        """Be the child, to the end."""
        self._armed = action[0] != "open"  # a look of the test's own
        moments.reached = self._reached
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # metrics are no answers
        try:
            outcome = self.act(action)
        except BaseException as error:  # noqa: BLE001 - nothing may leave the child but its answer
            os.write(2, f"{action}: {type(error).__name__}: {error}\n".encode())
            outcome = Outcome(500)
        os.write(writer, pickle.dumps(outcome))
        os._exit(0)

    def before_call(self, **_: Any) -> None:
        if self._armed:
            self._maybe_die(f"{self._count('call', 1)}b")

    def after_call(self, **_: Any) -> None:
        if self._armed:
            self._maybe_die(f"{self._count('call', 0)}a")

    def _reached(self, moment: str) -> None:
        when, what = moment.split(" ")
        kind = "tool" if what == "effect" else "model"
        number = self._count(kind, when == "before")
        side = when[0]
        self._maybe_die(f"{kind}{number}{side}", f"{kind}*{side}")

    def _maybe_die(self, *names: str) -> None:
        if self._points.intersection(names):
            os.kill(os.getpid(), signal.SIGKILL)

    def _count(self, name: str, step: int) -> int:
        offset = _COUNTERS.index(name) * _NUMBER.size
        (number,) = _NUMBER.unpack_from(self._counters, offset)
        _NUMBER.pack_into(self._counters, offset, number + step)
        return int(number) + step


def run(world: Mortal, schedule: str) -> dict[str, Any]:
    """Run one schedule to its end and say what came of it."""
    plan, points, letters = schedule.split(":")
    world.renew()
    verdict = "rejected" if "r" in letters else "" if "n" in letters else "approved"
    world.habits = Habits(verdict=verdict, again="g" in letters, lossy="l" in letters)
    world.arm(points)
    start = ("start", plan, KEY)
    if world.perform(start) is None and world.session() is None:
        world.perform(start)  # the caller repeats a request that was not answered
    world.settle()
    session = world.session()
    return {
        "schedule": schedule,
        "violations": world.verdicts(quiescent=True),
        "crashes": world.crashes,
        "calls": world.calls,
        "status": session.head.status if session else None,
        "trail": world.trail,
    }


def main(endpoint: str, folder: str) -> None:
    """Answer schedules until there are no more."""
    use_session(pytest.MonkeyPatch(), boto3.Session(region_name=REGION))
    config = Config(retries={"mode": "standard", "total_max_attempts": 4})
    clients = {
        service: boto3.client(service, endpoint_url=endpoint, config=config)
        for service in ("dynamodb", "sns", "sqs", "s3")
    }
    with quiet():
        world = Mortal(load_functions(*FUNCTIONS), clients, Path(folder))
        services = application().services
        _ = application().agent  # imported here, once
        for client in (services.store._client, services.notifier._client, services.queue._client):  # type: ignore[attr-defined]
            client.meta.events.register_first("before-call", world.before_call, "before")
            client.meta.events.register_last("after-call", world.after_call, "after")
        for line in sys.stdin:
            sys.stdout.write(json.dumps(run(world, line.strip())) + "\n")
            sys.stdout.flush()


if __name__ == "__main__":
    main(*sys.argv[1:])
