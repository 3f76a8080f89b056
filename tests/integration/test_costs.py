"""What a session costs: requests and bytes of each step, whatever came before it. docs/performance.md has the rest."""

from __future__ import annotations

import base64
import random
from collections import Counter
from typing import Any, Final

import pytest

from pausepoint.models.scripted import Turn
from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import Link
from tests.support.wire import Wire

LOOK: Final = [("look", {"path": "a.txt"})]
LENGTHS: Final = [1, 5, 40]
TO_THE_PAUSE: Final = Counter(
    {
        "dynamodb.TransactWriteItems": 2,  # the session's first rows; its pause
        "sns.Publish": 1,
        "dynamodb.UpdateItem": 1,  # the approver was told
    }
)
THE_CLICK: Final = [
    "dynamodb.GetItem",  # what can be seen to be wrong costs no write (R10)
    "dynamodb.UpdateItem",
    "sqs.SendMessage",
]
TO_THE_END: Final = Counter(
    {
        "dynamodb.UpdateItem": 2,  # the lease; the claim
        "dynamodb.Query": 1,
        "dynamodb.TransactWriteItems": 2,  # the call's end; the session's
    }
)


def paused_after(deployment: Deployment, steps: int, *, last: Turn = "It is gone.") -> Link:
    return deployment.paused(*[LOOK] * steps, SHRED, last)


def since(wire: Wire, seen: int) -> list[str]:
    return wire.sent[seen:]


@pytest.mark.parametrize("steps", LENGTHS)
def test_promise_6_a_step_is_one_write_and_a_pause_four_requests_more(
    deployment: Deployment, wire: Wire, steps: int
) -> None:
    paused_after(deployment, steps)

    assert Counter(wire.sent) == TO_THE_PAUSE + Counter({"dynamodb.PutItem": steps})


def test_promise_6_the_last_step_sends_what_the_first_sent(deployment: Deployment, wire: Wire) -> None:
    desk.result = "as long as every other result " * 30
    paused_after(deployment, 40)

    steps = [size for name, size in zip(wire.sent, wire.sizes, strict=True) if name == "dynamodb.PutItem"]

    # After the first, which carries no result yet. Ids grow by a digit, and compressed text varies a little.
    assert len(steps) == 40
    assert max(steps[1:]) - min(steps[1:]) < 60


@pytest.mark.parametrize("calls", [1, 4])
def test_calls_of_one_turn_share_its_write(deployment: Deployment, wire: Wire, calls: int) -> None:
    deployment.paused(LOOK * calls, SHRED, "It is gone.")

    assert wire.sent.count("dynamodb.PutItem") == 1


@pytest.mark.parametrize("steps", LENGTHS)
def test_a_look_at_a_link_is_one_read_however_long_the_session(deployment: Deployment, wire: Wire, steps: int) -> None:
    link = paused_after(deployment, steps)
    seen = len(wire.sent)

    deployment.show(link)

    assert since(wire, seen) == ["dynamodb.GetItem"]


@pytest.mark.parametrize("decision", ["approved", "rejected"])
@pytest.mark.parametrize("steps", LENGTHS)
def test_a_decision_is_one_read_one_write_and_one_message(
    deployment: Deployment, wire: Wire, steps: int, decision: str
) -> None:
    link = paused_after(deployment, steps)
    seen = len(wire.sent)

    deployment.post(link, decision=decision)

    assert since(wire, seen) == THE_CLICK


@pytest.mark.parametrize("steps", LENGTHS)
def test_from_the_click_to_the_end_are_eight_requests_however_long_the_session(
    deployment: Deployment, wire: Wire, steps: int
) -> None:
    link = paused_after(deployment, steps)
    seen = len(wire.sent)

    deployment.post(link)
    deployment.deliver()

    assert Counter(since(wire, seen)) == Counter(THE_CLICK) + TO_THE_END
    assert deployment.session(link.session_id)["status"] == "completed"


def test_a_longer_session_is_one_request_more_for_each_further_megabyte(deployment: Deployment, wire: Wire) -> None:
    chance = random.Random(1)
    desk.result = base64.b64encode(chance.randbytes(150_000)).decode()  # 200 KB that do not compress below 150
    link = paused_after(deployment, 10)
    seen = len(wire.sent)

    deployment.post(link)
    deployment.deliver()

    assert Counter(since(wire, seen)) == Counter(THE_CLICK) + TO_THE_END + Counter({"dynamodb.Query": 1})


def test_a_rejected_call_ends_without_a_claim(deployment: Deployment, wire: Wire) -> None:
    link = paused_after(deployment, 5)
    seen = len(wire.sent)

    deployment.post(link, decision="rejected")
    deployment.deliver()

    rejected: Counter[str] = Counter(THE_CLICK) + TO_THE_END - Counter({"dynamodb.UpdateItem": 1})
    assert Counter(since(wire, seen)) == rejected


def test_what_the_pause_and_the_click_send_does_not_grow_with_the_session(deployment: Deployment, wire: Wire) -> None:
    def sent_after(steps: int) -> dict[str, Any]:
        deployment.empty()
        seen = len(wire.sent)
        link = paused_after(deployment, steps)
        deployment.post(link)
        deployment.deliver()
        named = zip(wire.sent[seen:], wire.sizes[seen:], strict=True)
        return {name: sum(size for each, size in named if each == name) for name in {*TO_THE_PAUSE, *THE_CLICK}}

    short, long = sent_after(1), sent_after(40)

    for name, size in short.items():
        assert abs(size - long[name]) < 100, name
