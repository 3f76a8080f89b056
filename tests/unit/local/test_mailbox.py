from __future__ import annotations

import json
import stat
from datetime import UTC, datetime, timedelta
from typing import TYPE_CHECKING, Any

import pytest

from local.loopback import Request, RequestRefusedError
from local.mailbox import Mailbox
from local.mailbox_page import with_links
from local.mailbox_store import MailStore

if TYPE_CHECKING:
    from pathlib import Path

START = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)


class FakeSubscriptions:
    def __init__(self) -> None:
        self.confirmed: list[tuple[str, str]] = []

    def confirm(self, topic_arn: str, token: str) -> None:
        self.confirmed.append((topic_arn, token))


class Clock:
    def __init__(self) -> None:
        self.time = START

    def __call__(self) -> datetime:
        self.time += timedelta(seconds=1)
        return self.time


@pytest.fixture
def state(tmp_path: Path) -> Path:
    return tmp_path / "new" / "mailbox.json"


@pytest.fixture
def subscriptions() -> FakeSubscriptions:
    return FakeSubscriptions()


@pytest.fixture
def mailbox(state: Path, subscriptions: FakeSubscriptions) -> Mailbox:
    return Mailbox(MailStore(state), subscriptions, Clock())


def post(mailbox: Mailbox, delivery: Any) -> int:
    body = delivery if isinstance(delivery, bytes) else json.dumps(delivery).encode()
    return mailbox.answer(Request("POST", "/sns", body=body)).status


def notify(mailbox: Mailbox, number: int, body: str = "text", **more: Any) -> None:
    delivery = {"Type": "Notification", "MessageId": f"m-{number}", "Message": body, **more}
    assert post(mailbox, delivery) == 200


def messages(mailbox: Mailbox) -> list[dict[str, str]]:
    found: list[dict[str, str]] = json.loads(mailbox.answer(Request("GET", "/messages.json")).body)
    return found


def html(mailbox: Mailbox) -> str:
    return mailbox.answer(Request("GET", "/")).body.decode()


def test_notifications_are_listed_newest_last(mailbox: Mailbox) -> None:
    notify(mailbox, 1, "one", Subject="First")
    notify(mailbox, 2, "two")

    assert messages(mailbox) == [
        {"subject": "First", "body": "one", "received_at": "2026-11-29T12:00:01.000+00:00"},
        {
            "subject": "AWS Notification Message",
            "body": "two",
            "received_at": "2026-11-29T12:00:02.000+00:00",
        },
    ]


def test_a_delivery_that_is_repeated_is_one_mail(mailbox: Mailbox) -> None:
    notify(mailbox, 1)
    notify(mailbox, 1)

    assert len(messages(mailbox)) == 1


def test_a_subscription_is_confirmed(mailbox: Mailbox, subscriptions: FakeSubscriptions) -> None:
    delivery = {"Type": "SubscriptionConfirmation", "TopicArn": "arn:topic", "Token": "abc"}

    assert post(mailbox, {**delivery, "SubscribeURL": "http://evil.example/"}) == 200

    assert subscriptions.confirmed == [("arn:topic", "abc")]
    assert messages(mailbox) == []


@pytest.mark.parametrize(
    "delivery",
    [
        b"",
        b"{",
        b"\xff",
        b"[" * 100_000,
        [],
        "text",
        None,
        {},
        {"Type": "Notification"},
        {"Type": "Notification", "MessageId": "m", "Message": 1},
        {"Type": "SubscriptionConfirmation", "Token": "t"},
    ],
)
def test_what_is_no_sns_delivery_is_refused(mailbox: Mailbox, delivery: Any) -> None:
    with pytest.raises(RequestRefusedError) as refused:
        post(mailbox, delivery)

    assert refused.value.status == 400
    assert messages(mailbox) == []


def test_mails_survive_a_restart_in_a_file_that_only_its_owner_reads(
    mailbox: Mailbox, state: Path, subscriptions: FakeSubscriptions
) -> None:
    notify(mailbox, 1, "über ✓")
    notify(mailbox, 2)

    restarted = Mailbox(MailStore(state), subscriptions, Clock())

    assert messages(restarted) == messages(mailbox)
    assert stat.S_IMODE(state.stat().st_mode) == 0o600
    assert [path.name for path in state.parent.iterdir()] == [state.name]


def test_a_write_that_fails_leaves_the_old_file_and_no_other(
    mailbox: Mailbox, state: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    notify(mailbox, 1)
    before = state.read_bytes()

    def fail(_: int) -> None:
        raise OSError("disk full")

    monkeypatch.setattr("local.mailbox_store.os.fsync", fail)
    with pytest.raises(OSError, match="disk full"):
        notify(mailbox, 2)

    assert state.read_bytes() == before
    assert [path.name for path in state.parent.iterdir()] == [state.name]
    assert len(messages(mailbox)) == 1


@pytest.mark.parametrize("content", ["", "{", "[]", '{"schema_version": 99, "mails": []}'])
def test_a_file_that_cannot_be_read_is_put_aside(tmp_path: Path, content: str) -> None:
    state = tmp_path / "mailbox.json"
    state.write_text(content)

    assert MailStore(state).all() == []
    assert (tmp_path / "mailbox.json.unreadable").read_text() == content


def test_only_so_many_mails_and_so_much_of_one_are_kept(mailbox: Mailbox) -> None:
    notify(mailbox, 0, "x" * 300_000, Subject="s" * 500)
    assert len(messages(mailbox)[0]["body"]) < 263_000
    assert len(messages(mailbox)[0]["subject"]) == 100

    for number in range(1, 502):
        notify(mailbox, number, str(number))

    assert [messages(mailbox)[0]["body"], messages(mailbox)[-1]["body"]] == ["2", "501"]
    assert len(messages(mailbox)) == 500


def test_the_page_shows_the_newest_first_and_says_that_nothing_was_mailed(
    mailbox: Mailbox,
) -> None:
    notify(mailbox, 1, Subject="Older")
    notify(mailbox, 2, Subject="Newer")

    page = html(mailbox)

    assert page.index("Newer") < page.index("Older")
    assert "Nothing was really mailed" in page
    assert '<meta http-equiv="refresh"' in page
    assert "29 Nov 2026, 12:00:02 UTC" in page


def test_hostile_text_stays_text(mailbox: Mailbox) -> None:
    hostile = "<img src=x onerror=alert(1)></pre><script>alert(1)</script>{mails}\"'"
    notify(mailbox, 1, hostile, Subject=hostile)

    page = html(mailbox)

    assert "<img" not in page
    assert "<script" not in page
    assert page.count("</pre>") == 1
    assert "{mails}" in page


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("go http://a.b/c?d=1&t=x_-y.", ("http://a.b/c?d=1&amp;t=x_-y", ".")),
        ("(https://a.b/c)", ("https://a.b/c", ")")),
        ('http://a.b/"onclick="alert(1)', ("http://a.b/", "&quot;onclick=&quot;alert(1)")),
        ("http://a.b/<b>", ("http://a.b/", "&lt;b&gt;")),
    ],
)
def test_an_address_becomes_a_link_and_nothing_else_does(text: str, expected: tuple[str, str]) -> None:
    address, rest = expected
    link = f'<a href="{address}" rel="noreferrer" target="_blank">{address}</a>'

    assert with_links(text).endswith(link + rest)


@pytest.mark.parametrize("text", ["javascript:alert(1)", "ftp://a.b", "data:text/html,x", "a.b/c"])
def test_other_schemes_are_no_links(text: str) -> None:
    assert "<a" not in with_links(text)


@pytest.mark.parametrize("path", ["/nothing", "/sns/x", "/messages"])
def test_another_address_is_not_found(mailbox: Mailbox, path: str) -> None:
    with pytest.raises(RequestRefusedError) as refused:
        mailbox.answer(Request("GET", path))

    assert refused.value.status == 404
