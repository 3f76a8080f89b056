"""R60 and R61 on the wire: whom a webhook reaches, what it carries, and who can be sure of it."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
import socket
import ssl
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
import trustme
from standardwebhooks import Webhook, WebhookVerificationError

from pausepoint.adapters.addresses import Endpoint, checked_addresses, endpoint
from pausepoint.adapters.signing import SigningSecrets
from pausepoint.adapters.webhooks import Gone, WebhookSender
from pausepoint.errors import Unavailable
from tests.support.clock import FakeClock
from tests.support.receivers import Got, Receiver, receiver

pytestmark = pytest.mark.enable_socket

OLD, NEW, OTHER = ("whsec_" + base64.b64encode(bytes([seed]) * 32).decode() for seed in (1, 2, 3))
BODY = json.dumps({"type": "approval.requested", "text": "schön"}, ensure_ascii=False)
PUBLIC = "93.184.216.34"


class Secrets(SigningSecrets):
    def __init__(self, *values: str) -> None:
        self._values = values

    def usable(self) -> tuple[str, ...]:
        return self._values


def sender(place: Endpoint, *secrets: str, now: datetime | None = None, **options: Any) -> WebhookSender:
    return WebhookSender(place, Secrets(*secrets or (NEW,)), FakeClock(now or datetime.now(UTC)), **options)


@pytest.fixture
def plain() -> Iterator[Receiver]:
    with receiver() as here:
        yield here


def at(here: Receiver, path: str = "/hook") -> Endpoint:
    return endpoint(f"http://127.0.0.1:{here.port}{path}", loopback=True)


def delivered(here: Receiver, *secrets: str, now: datetime | None = None) -> Got:
    sender(at(here), *secrets, now=now).deliver("msg_1", BODY)
    return here.got[-1]


# --- What it carries (R61) --------------------------------------------------------------------------------------------


def test_r61_the_library_verifies_what_was_sent(plain: Receiver) -> None:
    got = delivered(plain)

    assert (got.method, got.target) == ("POST", "/hook")
    assert Webhook(NEW).verify(got.body, got.headers) == json.loads(BODY)
    assert got.body == BODY.encode("utf-8")
    assert got.headers["content-type"] == "application/json"
    assert got.headers["webhook-id"] == "msg_1"
    assert got.headers["host"] == f"127.0.0.1:{plain.port}"


def test_r61_the_signature_is_what_the_specification_says_computed_by_hand(plain: Receiver) -> None:
    got = delivered(plain)

    signed = f"msg_1.{got.headers['webhook-timestamp']}.".encode() + got.body
    mac = hmac.new(base64.b64decode(NEW.removeprefix("whsec_")), signed, hashlib.sha256).digest()
    assert got.headers["webhook-signature"] == "v1," + base64.b64encode(mac).decode()


def test_r61_the_timestamp_is_that_of_the_attempt_in_seconds(plain: Receiver) -> None:
    moment = datetime.now(UTC).replace(microsecond=999_999)
    assert delivered(plain, now=moment).headers["webhook-timestamp"] == str(int(moment.timestamp()))


def test_r61_while_a_secret_is_replaced_receivers_of_either_are_sure(plain: Receiver) -> None:
    got = delivered(plain, NEW, OLD)

    for secret in (NEW, OLD):
        Webhook(secret).verify(got.body, got.headers)
    with pytest.raises(WebhookVerificationError):
        Webhook(OTHER).verify(got.body, got.headers)
    assert got.headers["webhook-signature"].count("v1,") == 2


@pytest.mark.parametrize(
    "change",
    [
        lambda got: replace(got, body=got.body.replace(b"requested", b"decided")),
        lambda got: replace(got, body=got.body + b" "),
        lambda got: replace(got, headers={**got.headers, "webhook-id": "msg_2"}),
        lambda got: replace(
            got, headers={**got.headers, "webhook-timestamp": str(int(got.headers["webhook-timestamp"]) + 1)}
        ),
        lambda got: replace(got, headers={**got.headers, "webhook-signature": "v1," + "A" * 43 + "="}),
        lambda got: replace(
            got, headers={name: value for name, value in got.headers.items() if "signature" not in name}
        ),
    ],
    ids=["other word", "one blank more", "other id", "other time", "other signature", "no signature"],
)
def test_r61_whatever_is_changed_on_the_way_is_noticed(plain: Receiver, change: Any) -> None:
    got = delivered(plain)
    Webhook(NEW).verify(got.body, got.headers)
    changed = change(got)
    with pytest.raises(WebhookVerificationError):
        Webhook(NEW).verify(changed.body, changed.headers)


@pytest.mark.parametrize("minutes", [-4, 4])
def test_r61_up_to_five_minutes_of_age_are_taken(plain: Receiver, minutes: int) -> None:
    got = delivered(plain, now=datetime.now(UTC) + timedelta(minutes=minutes))
    Webhook(NEW).verify(got.body, got.headers)


@pytest.mark.parametrize(("minutes", "why"), [(-6, "too old"), (6, "too new")])
def test_r61_more_than_five_minutes_are_not(plain: Receiver, minutes: int, why: str) -> None:
    got = delivered(plain, now=datetime.now(UTC) + timedelta(minutes=minutes))
    with pytest.raises(WebhookVerificationError, match=why):
        Webhook(NEW).verify(got.body, got.headers)


def test_r61_every_attempt_has_the_same_id_and_a_signature_of_its_own(plain: Receiver) -> None:
    now = datetime.now(UTC)
    first, second = delivered(plain, now=now), delivered(plain, now=now + timedelta(minutes=1))

    assert first.headers["webhook-id"] == second.headers["webhook-id"]
    assert first.headers["webhook-signature"] != second.headers["webhook-signature"]
    Webhook(NEW).verify(second.body, second.headers)


# --- What the receiver says -------------------------------------------------------------------------------------------


@pytest.mark.parametrize("status", [200, 201, 202, 204])
def test_every_2xx_is_a_success(plain: Receiver, status: int) -> None:
    plain.status = status
    delivered(plain)
    assert len(plain.got) == 1


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
def test_r60_a_redirect_is_not_followed(plain: Receiver, status: int) -> None:
    plain.status, plain.headers = status, {"Location": f"http://127.0.0.1:{plain.port}/elsewhere"}
    with pytest.raises(Unavailable, match=f"answered {status}, not 2xx"):
        delivered(plain)
    assert [got.target for got in plain.got] == ["/hook"]


@pytest.mark.parametrize("status", [400, 401, 404, 409, 429, 500, 502, 503])
def test_every_other_answer_is_a_failure_to_try_again(plain: Receiver, status: int) -> None:
    plain.status = status
    with pytest.raises(Unavailable, match=f"answered {status}, not 2xx"):
        delivered(plain)
    assert len(plain.got) == 1


def test_who_says_410_is_not_asked_again(plain: Receiver) -> None:
    plain.status = 410
    with pytest.raises(Gone, match="wants no webhooks any more"):
        delivered(plain)


def test_a_receiver_that_does_not_answer_is_given_up_after_a_while(monkeypatch: pytest.MonkeyPatch) -> None:
    from urllib3 import Timeout  # noqa: PLC0415

    monkeypatch.setattr("pausepoint.adapters.webhooks._TIMEOUT", Timeout(connect=0.2, read=0.2))
    with socket.socket() as silent:
        silent.bind(("127.0.0.1", 0))
        silent.listen()
        place = endpoint(f"http://127.0.0.1:{silent.getsockname()[1]}/secret-path", loopback=True)
        with pytest.raises(Unavailable) as raised:
            sender(place).deliver("msg_1", BODY)
    assert "did not answer (ReadTimeoutError)" in str(raised.value)
    assert "secret-path" not in str(raised.value)


def test_a_receiver_that_is_not_there_is_said_so_without_its_path(plain: Receiver) -> None:
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        place = endpoint(f"http://127.0.0.1:{closed.getsockname()[1]}/secret-path", loopback=True)
        with pytest.raises(Unavailable, match=r"^127\.0\.0\.1 cannot be reached\.$"):
            sender(place).deliver("msg_1", BODY)


def test_an_address_that_cannot_be_reached_from_here_gives_way_to_the_next(plain: Receiver) -> None:
    sender(at(plain), addresses=lambda _: ["127.255.255.254", "127.0.0.1"]).deliver("msg_1", BODY)
    assert len(plain.got) == 1


# --- Whom it reaches (R60) --------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def authority() -> trustme.CA:
    return trustme.CA()


def served(authority: trustme.CA, *names: str) -> ssl.SSLContext:
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    authority.issue_cert(*names).configure_cert(context)
    return context


def trusting(authority: trustme.CA) -> ssl.SSLContext:
    context = ssl.create_default_context()
    authority.configure_trust(context)
    return context


def https(here: Receiver) -> Endpoint:
    return endpoint(f"https://hooks.example:{here.port}/hook?a=b", loopback=False)


def test_r60_the_checked_address_is_connected_to_and_the_certificate_held_against_the_name(
    authority: trustme.CA,
) -> None:
    with receiver(served(authority, "hooks.example")) as here:
        to = sender(https(here), addresses=lambda _: ["127.0.0.1"], tls=trusting(authority))
        to.deliver("msg_1", BODY)

    (got,) = here.got
    assert got.headers["host"] == f"hooks.example:{here.port}"
    assert got.target == "/hook?a=b"
    Webhook(NEW).verify(got.body, got.headers)


@pytest.mark.parametrize("names", [("other.example",), ("127.0.0.1",)])
def test_r60_a_certificate_of_another_name_is_not_taken(authority: trustme.CA, names: tuple[str, ...]) -> None:
    with receiver(served(authority, *names)) as here:
        to = sender(https(here), addresses=lambda _: ["127.0.0.1"], tls=trusting(authority))
        with pytest.raises(Unavailable, match="SSLError"):
            to.deliver("msg_1", BODY)
    assert here.got == []


def test_r60_a_certificate_of_an_unknown_authority_is_not_taken(authority: trustme.CA) -> None:
    with receiver(served(authority, "hooks.example")) as here:
        to = sender(https(here), addresses=lambda _: ["127.0.0.1"])
        with pytest.raises(Unavailable, match="SSLError"):
            to.deliver("msg_1", BODY)
    assert here.got == []


def test_r60_a_name_that_leads_elsewhere_a_moment_later_changes_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    asked, connected = [], []

    def rebinding(host: str, _: int) -> list[str]:
        asked.append(host)
        return [PUBLIC] if len(asked) == 1 else ["127.0.0.1"]

    def connect(address: tuple[str, int], *_: Any, **__: Any) -> socket.socket:
        connected.append(address)
        raise ConnectionRefusedError

    monkeypatch.setattr("urllib3.util.connection.create_connection", connect)
    to = sender(
        endpoint("https://hooks.example/", loopback=False), addresses=lambda place: checked_addresses(place, rebinding)
    )
    with pytest.raises(Unavailable, match="cannot be reached"):
        to.deliver("msg_1", BODY)
    assert (asked, connected) == (["hooks.example"], [(PUBLIC, 443)])

    with pytest.raises(Unavailable, match=r"leads to 127\.0\.0\.1"):
        to.deliver("msg_1", BODY)
    assert connected == [(PUBLIC, 443)]


def test_r60_a_proxy_in_the_environment_is_not_used(plain: Receiver, monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "ALL_PROXY"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    assert delivered(plain).target == "/hook"
