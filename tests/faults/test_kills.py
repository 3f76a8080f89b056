"""Tier 3 (R41): kill -9 before and after every call to AWS and inside the tool, for each kind of tool."""

from __future__ import annotations

import json
import os
import random
import subprocess
import sys
from collections.abc import Iterator
from typing import IO, Any, Final

import pytest

from tests.faults.deployed import ENVIRONMENT
from tests.faults.workbench import GATED, GATED_RETRY_SAFE, KINDS, UNGATED_RETRY_SAFE, UNGATED_UNSAFE
from tests.support.aws import ROOT
from tests.support.emulator import ministack

pytestmark = [pytest.mark.faults, pytest.mark.emulator]

THOROUGH: Final = bool(os.environ.get("FAULTS"))
SAMPLE: Final = 20
PAIRS: Final = 150
INSIDE: Final = ("tool1b", "tool1a", "model1b", "model1a", "model2b", "model2a")


class Killer:
    """The program that forks and kills."""

    def __init__(self, process: subprocess.Popen[str]) -> None:
        self._process = process

    def run(self, schedule: str) -> dict[str, Any]:
        requests, answers = self._process.stdin, self._process.stdout
        assert requests is not None
        assert answers is not None
        _send(requests, schedule)
        answer: dict[str, Any] = json.loads(answers.readline())
        return answer


@pytest.fixture(scope="module")
def killer(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Killer]:
    folder = tmp_path_factory.mktemp("kills")
    with ministack(folder) as url:
        environment = {**ENVIRONMENT, "PATH": os.environ["PATH"], "AWS_ENDPOINT_URL": url, "PYTHONPATH": str(ROOT)}
        process = subprocess.Popen(
            [sys.executable, "-m", "tests.faults.killing", url, str(folder)],
            env=environment,
            cwd=ROOT,
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        with process:
            try:
                yield Killer(process)
            finally:
                assert process.stdin is not None
                process.stdin.close()
                if process.wait(20) is None:
                    process.kill()


def test_r41_whenever_a_process_is_killed_the_session_comes_to_a_sound_end(
    killer: Killer, capsys: pytest.CaptureFixture[str]
) -> None:
    schedules = []
    for kind in (*KINDS, "mixed"):
        calls = killer.run(f"{kind}::")["calls"]
        assert calls >= 3
        points = [*(f"{number}{side}" for number in range(1, calls + 1) for side in "ba"), *INSIDE]
        schedules += [f"{kind}:{point}:{habits}" for point in points for habits in ("", "gl")]
    if not THOROUGH:
        in_tools = [f"{kind}:tool1{side}:" for kind in (GATED, UNGATED_UNSAFE) for side in "ba"]
        schedules = in_tools + random.Random("kills").sample(schedules, SAMPLE)
    _run(killer, schedules, capsys)


def test_r41_a_process_killed_while_it_recovers_from_a_kill_does_no_harm_either(
    killer: Killer, capsys: pytest.CaptureFixture[str]
) -> None:
    chance = random.Random("kills in pairs")
    schedules = []
    for _ in range(PAIRS if THOROUGH else 8):
        first = chance.randint(1, 14)
        points = [f"{first}{chance.choice('ab')}", f"{first + chance.randint(1, 12)}{chance.choice('ab')}"]
        if chance.random() < 0.4:
            points.append(chance.choice(INSIDE))
        habits = chance.choice(("", "g", "l", "gl", "r", "n"))
        schedules.append(f"{chance.choice((*KINDS, 'mixed', 'two', 'turns'))}:{','.join(points)}:{habits}")
    _run(killer, schedules, capsys)


@pytest.mark.parametrize("kind", [GATED, GATED_RETRY_SAFE, UNGATED_RETRY_SAFE])
def test_r51_a_tool_that_kills_its_process_every_time_ends_the_session(
    killer: Killer, capsys: pytest.CaptureFixture[str], kind: str
) -> None:
    _run(killer, [f"{kind}:tool*b:", f"{kind}:tool*a:l"], capsys)


def _run(killer: Killer, schedules: list[str], capsys: pytest.CaptureFixture[str]) -> None:
    outcomes = [killer.run(schedule) for schedule in schedules]
    bad = [outcome for outcome in outcomes if outcome["violations"]]
    with capsys.disabled():
        killed = sum(outcome["crashes"] > 0 for outcome in outcomes)
        sys.stdout.write(f"\ntier 3: schedules run: {len(outcomes)} (killed in {killed}), violations: {len(bad)}\n")
    assert not bad, "\n".join(
        f"{outcome['schedule']}: {outcome['violations']}; {' | '.join(outcome['trail'])}" for outcome in bad
    )


def _send(requests: IO[str], line: str) -> None:
    requests.write(line + "\n")
    requests.flush()
