"""The receiver of docs/webhooks.md, as it stands there, against every event and everything that is not one."""

from __future__ import annotations

import base64
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
import urllib3

from pausepoint.adapters.addresses import endpoint
from pausepoint.adapters.signing import SigningSecrets
from pausepoint.adapters.webhooks import WebhookSender
from pausepoint.errors import Unavailable
from pausepoint.runtime.ports import Notice
from tests.support.clock import FakeClock
from tests.support.news import notices
from tests.support.receivers import documented_receiver, free_port

pytestmark = pytest.mark.enable_socket

OLD, NEW, OTHER = ("whsec_" + base64.b64encode(bytes([seed]) * 32).decode() for seed in (1, 2, 3))
KINDS = {"call": notices(), "question": notices(question="Which one?")}
EVENTS = [(kind, event) for kind, made in KINDS.items() for event in made]


class Secrets(SigningSecrets):
    def __init__(self, *values: str) -> None:
        self._values = values

    def usable(self) -> tuple[str, ...]:
        return self._values


@dataclass
class Running:
    """The receiver's process, where it listens, and the file that it prints to."""

    url: str
    printed: Path

    def take(self, notice: Notice, *secrets: str, age: timedelta = timedelta(0)) -> None:
        """Give it a webhook as the product sends it."""
        place = endpoint(self.url, loopback=True)
        message_id = f"msg_{notice.session_id}_{notice.call_id}_{notice.event}"
        WebhookSender(place, Secrets(*secrets), FakeClock(datetime.now(UTC) - age)).deliver(message_id, notice.payload)


@pytest.fixture(scope="module")
def running(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    port = free_port()
    with documented_receiver(tmp_path_factory.mktemp("receiver"), port, NEW) as printed:
        yield Running(f"http://127.0.0.1:{port}/", printed)


@pytest.mark.parametrize(("kind", "event"), EVENTS)
def test_r61_a_receiver_written_from_the_docs_verifies_every_event(running: Running, kind: str, event: str) -> None:
    running.take(KINDS[kind][event], NEW)

    *_, line = running.printed.read_text(encoding="utf-8").splitlines()
    message_id, kind_of_event, _ = line.split()
    assert message_id == f"msg_s1_c2-0_{event}"
    assert kind_of_event == f"approval.{event}"


def test_r61_it_is_sure_while_a_secret_is_replaced(running: Running) -> None:
    running.take(notices()["requested"], OTHER, NEW)
    running.take(notices()["requested"], NEW, OLD)


def test_r61_it_refuses_the_signature_of_another_secret(running: Running) -> None:
    with pytest.raises(Unavailable, match="answered 401"):
        running.take(notices()["requested"], OLD)


@pytest.mark.parametrize("minutes", [6, -6])
def test_r61_it_refuses_what_is_too_old_or_ahead_of_time(running: Running, minutes: int) -> None:
    with pytest.raises(Unavailable, match="answered 401"):
        running.take(notices()["requested"], NEW, age=timedelta(minutes=minutes))


@pytest.mark.parametrize(
    "headers",
    [
        {},
        {"webhook-id": "msg_1", "webhook-timestamp": "now", "webhook-signature": "v1,AAAA"},
        {"webhook-id": "msg_1", "webhook-timestamp": "1", "webhook-signature": "v1"},
    ],
    ids=["unsigned", "no time", "half a signature"],
)
def test_it_refuses_what_is_no_webhook_and_goes_on(running: Running, headers: dict[str, str]) -> None:
    with urllib3.PoolManager() as http:
        answer = http.request("POST", running.url, body=b"{}", headers=headers, retries=False)
    assert answer.status == 401
    running.take(notices()["requested"], NEW)
