"""Tier 0: every schedule of the product's own code, with one fault anywhere, keeps the invariants."""

from __future__ import annotations

import os
import sys
from dataclasses import replace

import pytest

from tests.faults import world
from tests.faults.explorer import KINDS, MORE_KINDS, Explorer, Report, Scenario
from tests.faults.mutants import MUTANTS, Mutant
from tests.faults.scenarios import SCENARIOS

THOROUGH = os.environ.get("FAULTS") == "thorough"
BY_NAME = {scenario.name: scenario for scenario in SCENARIOS}
SAMPLE = (
    "approve or reject",
    "decide while it starts",
    "two calls",
    "cancel",
    "message",
    "altered",
    "cut off",
    "question",
)

pytestmark = pytest.mark.faults


@pytest.fixture(autouse=True)
def fresh() -> None:
    world.reset()


def bounded(scenario: Scenario, preemptions: int) -> Scenario:
    return replace(scenario, preemptions=preemptions)


def told(report: Report, capsys: pytest.CaptureFixture[str]) -> None:
    with capsys.disabled():
        sys.stdout.write(f"\n  tier 0  {report}")


@pytest.mark.parametrize("scenario", SCENARIOS, ids=lambda scenario: scenario.name)
def test_no_schedule_breaks_an_invariant(scenario: Scenario, capsys: pytest.CaptureFixture[str]) -> None:
    if not THOROUGH and scenario.name not in SAMPLE:
        pytest.skip("make faults runs it")
    preemptions = scenario.preemptions or 2
    report = Explorer(bounded(scenario, preemptions if THOROUGH else 1)).explore()

    told(report, capsys)
    assert report.found == []


@pytest.mark.skipif(not THOROUGH, reason="make faults runs it")
@pytest.mark.parametrize("name", ["decide while it starts", "approve or reject", "cut off", "cancel"])
def test_services_that_do_not_answer_break_no_invariant(name: str, capsys: pytest.CaptureFixture[str]) -> None:
    report = Explorer(bounded(BY_NAME[name], 1), kinds=MORE_KINDS - KINDS).explore()

    told(replace_name(report, f"{name}, no answer"), capsys)
    assert report.found == []


def replace_name(report: Report, name: str) -> Report:
    report.scenario = name
    return report


@pytest.mark.skipif(not THOROUGH, reason="make faults runs it")
@pytest.mark.parametrize("mutant", MUTANTS, ids=lambda mutant: mutant.name)
def test_a_mutant_dies(mutant: Mutant) -> None:
    assert killed(mutant), f"no schedule shows that there is {mutant.name}"


def killed(mutant: Mutant) -> bool:
    for name in mutant.scenarios:
        world.reset()
        with mutant.patch():
            if Explorer(bounded(BY_NAME[name], 1), enough=1, **mutant.options).explore().found:
                return True
    return False


def test_a_failing_schedule_can_be_replayed() -> None:
    mutant = next(mutant for mutant in MUTANTS if mutant.name == "claim without a condition")
    scenario = bounded(BY_NAME[mutant.scenarios[0]], 1)
    with mutant.patch():
        found = Explorer(scenario, enough=1).explore().found[0]
        _, violations = Explorer(scenario).replay(found.schedule)

    assert violations == found.violations != ()
