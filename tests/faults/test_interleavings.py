"""Tier 1: chosen interleavings of the real handlers, each stopped at every one of its calls to DynamoDB."""

from __future__ import annotations

import os
import random
import sys
from collections.abc import Iterator
from typing import Any, Final

import boto3
import pytest
from moto.backends import get_backend

from pausepoint.bootstrap import application
from tests.faults.deployed import ENVIRONMENT, FUNCTIONS, Deployed, Habits, quiet
from tests.faults.interleaving import Schedule, Stage
from tests.faults.workbench import GATED, GATED_RETRY_SAFE
from tests.support.aws import REGION, client, locked_moto, use_session
from tests.support.functions import load_functions

pytestmark = pytest.mark.faults

THOROUGH: Final = bool(os.environ.get("FAULTS"))
SAMPLE: Final = 18
DEEP: Final = 300 if THOROUGH else 6
LATER: Final = ("late-wake", "~late-wake", "late-sweep", "~late-sweep")
PAIRS: Final[dict[str, dict[str, tuple[str, ...]]]] = {
    "new": {"start": ("start", "approve", "signed-approve", "cancel", "late-sweep", "~late-sweep", "late-wake")},
    "pending": {
        "approve": ("approve", "reject", "signed-approve", "expiry-sweep", "~expiry-sweep", "cancel", "wake"),
        "reject": ("approve", "signed-approve", "expiry-sweep", "cancel"),
        "signed-approve": ("reject", "cancel", "expiry-sweep", *LATER),
        "expiry-sweep": ("approve", "cancel", "wake", "sweep"),
        "cancel": ("approve", "reject", "wake", "expiry-sweep", "cancel"),
        "wake": ("approve", "cancel", "say", "expiry-sweep"),
        "say": ("approve", "cancel", "wake"),
    },
    "approved": {
        "wake": ("wake", "cancel", "say", "reject", "sweep", *LATER),
        "late-sweep": ("wake", "cancel", "sweep"),
        "cancel": ("wake", "late-sweep"),
        "say": ("wake", "cancel"),
    },
    "rejected": {"wake": ("wake", "say", "cancel", *LATER), "say": ("wake", "cancel"), "cancel": ("wake", "say")},
    "overdue": {"sweep": ("sweep", "approve", "wake", "cancel"), "approve": ("sweep", "cancel")},
    "cut": {
        "late-sweep": ("late-sweep", "late-wake", "cancel"),
        "late-wake": ("late-wake", "late-sweep", "cancel"),
        "cancel": ("late-sweep", "late-wake"),
    },
    "doubted": {
        "wake": ("late-wake", "late-sweep", "cancel"),
        "late-sweep": ("late-sweep", "wake", "cancel"),
        "cancel": ("wake", "late-sweep"),
    },
    "asked": {
        "happened": ("did_not_happen", "run_again", "cancel", "wake"),
        "run_again": ("happened", "run_again", "cancel", "late-sweep"),
        "cancel": ("run_again", "happened"),
    },
    "again": {
        "wake": ("wake", "cancel", "say", *LATER),
        "cancel": ("wake",),
        "late-sweep": ("wake",),
    },
}
"""By state: who is stopped, and who runs meanwhile."""
LATE_REPORTS: Final = (
    "approved:wake@{}>late-sweep",
    "approved:wake@{}>~late-sweep",
    "approved:wake@{}>late-sweep+wake",
    "approved:wake@{}>late-sweep+wake+happened",
    "approved:wake@{}>late-sweep+wake+did_not_happen",
    "approved:wake@{}>late-sweep+wake+did_not_happen+wake",
    "approved:wake@{}>late-sweep+wake+run_again",
    "approved:wake@{}>late-sweep+wake+run_again+wake",
    "approved:wake@{}>late-sweep+wake+run_again+wake+approve",
    "approved:wake@{}>late-sweep+wake+run_again+wake+approve+wake",
    "approved:wake@{}>late-wake!t1+late-sweep",
    "approved:wake@{}>late-wake!t2+late-sweep+wake",
    "approved:wake@{}>late-wake!t1+late-wake",
    "approved:wake@{}>cancel+late-sweep",
    "approved:wake@{}>cancel+late-sweep+late-sweep+run_again",
)
"""An execution that reports after it was given up."""


@pytest.fixture(scope="module")
def stage(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stage]:
    with pytest.MonkeyPatch.context() as patch, locked_moto(), quiet():
        for name, value in {**ENVIRONMENT, "TOPIC_ARN": "", "QUEUE_URL": ""}.items():
            patch.setenv(name, value)
        use_session(patch, boto3.Session(region_name=REGION))
        clients = {service: client(service) for service in ("dynamodb", "sns", "sqs", "s3")}
        world = Deployed(load_functions(*FUNCTIONS), clients, tmp_path_factory.mktemp("interleavings"), peek=_rows)
        stage = Stage(world, clients["dynamodb"])
        with stage.hooked():
            yield stage
        application.cache_clear()


def test_two_handlers_at_once_break_nothing(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    everything = [
        f"{state}:{mover}@{where}>{other}"
        for state, movers in PAIRS.items()
        for mover, others in movers.items()
        for where in _places(stage, state, mover)
        for other in others
    ]
    _run(stage, everything, capsys, "1 (two handlers)")


@pytest.mark.parametrize("raising", [False, True], ids=["succeeds", "fails"])
def test_what_an_execution_reports_after_it_was_given_up_counts_once_or_not_at_all(
    stage: Stage, capsys: pytest.CaptureFixture[str], *, raising: bool
) -> None:
    texts = [late.format(where) for late in LATE_REPORTS for where in ("t1", "t2", "3b", "3a", "4b")]
    texts = [text for text in texts if "t" in text.partition("@")[2][:1] or not raising]
    _run(stage, texts, capsys, "1 (late reports)", raising=raising)


def test_three_handlers_at_once_break_nothing(stage: Stage, capsys: pytest.CaptureFixture[str]) -> None:
    chance = random.Random(f"pausepoint-{DEEP}")
    texts = []
    for _ in range(DEEP):
        state = chance.choice(list(PAIRS))
        mover = chance.choice(list(PAIRS[state]))
        names = [chance.choice(PAIRS[state][chance.choice(list(PAIRS[state]))]) for _ in range(2)]
        places = [chance.choice(_places(stage, state, name) or ["1b"]) for name in (mover, names[0])]
        texts.append(f"{state}:{mover}@{places[0]}>{names[0]}@{places[1]}>{names[1]}")
    _run(stage, texts, capsys, "1 (three handlers)", all_of_them=True)


def _places(stage: Stage, state: str, mover: str) -> list[str]:
    calls = stage.calls_of(state, mover, GATED)
    places = [f"{number}{side}" for number in range(1, calls + 1) for side in "ba"]
    return [*places, "t1", "t2"] if (state, mover) == ("approved", "wake") else places


def _run(
    stage: Stage,
    texts: list[str],
    capsys: pytest.CaptureFixture[str],
    tier: str,
    *,
    raising: bool = False,
    all_of_them: bool = False,
) -> None:
    if not (THOROUGH or all_of_them):
        texts = random.Random(tier).sample(texts, min(SAMPLE, len(texts)))
    bad = []
    for number, text in enumerate(texts):
        plan = (GATED, GATED, GATED_RETRY_SAFE)[number % 3]
        habits = Habits(verdict=("approved", "rejected", "")[number // 3 % 3], again=bool(number % 2))
        found, _ = stage.run(Schedule.read(text), plan, habits, raising=raising)
        if found:
            bad.append(f"{plan} {text} {habits} raising={raising}: {found}; {' | '.join(stage.world.trail)}")
    with capsys.disabled():
        sys.stdout.write(f"\ntier {tier}: schedules run: {len(texts)}, violations: {len(bad)}\n")
    assert not bad, "\n".join(bad)


def _rows() -> list[Any]:
    table = get_backend("dynamodb")["123456789012"][REGION].tables.get(ENVIRONMENT["TABLE_NAME"])
    return [item.to_json()["Attributes"] for item in table.all_items()] if table is not None else []
