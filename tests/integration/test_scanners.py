"""Whatever scanners, prefetchers and previewers send to a link, the table stays as it was and the link stays good."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

import pytest

from tests.support.cut_off import put_in_doubt
from tests.support.deployment import Deployment
from tests.support.gateway import Answer, Link, request
from tests.support.wire import Wire

HEADERS: dict[str, Mapping[str, str]] = {
    "a range": {"range": "bytes=0-0"},
    "many ranges": {"range": "bytes=0-1,5-9,-1"},
    "a condition": {"if-none-match": "*", "if-modified-since": "Thu, 01 Jan 2026 00:00:00 GMT"},
    "Purpose": {"purpose": "prefetch"},
    "Sec-Purpose": {"sec-purpose": "prefetch"},
    "prerender": {"sec-purpose": "prefetch;prerender", "sec-fetch-mode": "navigate", "sec-fetch-dest": "document"},
    "X-Moz": {"x-moz": "prefetch"},
    "X-Purpose": {"x-purpose": "preview"},
    "a preload": {"sec-fetch-mode": "no-cors", "sec-fetch-dest": "empty", "sec-fetch-site": "cross-site"},
    "a frame": {"sec-fetch-dest": "iframe", "sec-fetch-site": "cross-site"},
    "a service worker": {"service-worker": "script", "sec-fetch-dest": "serviceworker"},
    "another method": {"x-http-method-override": "POST", "x-http-method": "POST", "x-method-override": "POST"},
    "an upgrade": {"connection": "upgrade", "upgrade": "h2c"},
    "nothing that says who": {"user-agent": "", "accept": "*/*"},
    "SafeLinks": {"user-agent": "Mozilla/5.0 (Windows NT 10.0; Win64; x64) SafeLinks", "x-originating-ip": "192.0.2.1"},
    "Proofpoint": {"user-agent": "Mozilla/5.0 (compatible; proofpoint-urldefense)"},
    "Mimecast": {"user-agent": "MimecastLinkInspect/1.0"},
    "Barracuda": {"user-agent": "Barracuda Sentinel (EE)"},
    "Slack": {"user-agent": "Slackbot-LinkExpanding 1.0 (+https://api.slack.com/robots)", "range": "bytes=0-32768"},
    "WhatsApp": {"user-agent": "WhatsApp/2.23.20.0"},
    "Facebook": {"user-agent": "facebookexternalhit/1.1", "range": "bytes=0-524287"},
    "Google": {"user-agent": "Mozilla/5.0 (compatible; Google-Safety; +http://www.google.com/bot.html)"},
    "a headless browser": {"user-agent": "Mozilla/5.0 HeadlessChrome/130.0", "sec-fetch-site": "none"},
}
QUERIES: dict[str, Mapping[str, str]] = {
    "a decision": {"decision": "approved", "reason": "scanned"},
    "the whole form": {"decision": "approved", "digest": "0" * 64},
    "a method": {"_method": "POST"},
    "a campaign": {"utm_source": "mail", "fbclid": "x"},
    "a view beside it": {"v": "A" * 43, "n": "0"},
}


def with_headers(headers: Mapping[str, str], *, probe: bool) -> Callable[[Deployment, Link], Answer]:
    return lambda deployment, link: deployment.show(link, probe=probe, headers=headers)


def with_query(query: Mapping[str, str]) -> Callable[[Deployment, Link], Answer]:
    def ask(deployment: Deployment, link: Link) -> Answer:
        return deployment.send("approvals", request("approval-page", path=link.path, query={"t": link.token, **query}))

    return ask


SCANS = {
    **{f"GET with {what}": with_headers(headers, probe=False) for what, headers in HEADERS.items()},
    **{f"HEAD with {what}": with_headers(headers, probe=True) for what, headers in HEADERS.items()},
    **{f"GET with {what} in the query": with_query(query) for what, query in QUERIES.items()},
}


def checked(deployment: Deployment, wire: Wire, link: Link, ask: Callable[[Deployment, Link], Answer]) -> None:
    before = deployment.table()
    wire.sent.clear()
    answers = [ask(deployment, link) for _ in range(5)]
    assert [answer.status for answer in answers] == [200] * 5
    assert wire.sent == ["dynamodb.GetItem"] * 5
    assert deployment.table() == before  # row by row, byte by byte
    assert deployment.wakeups() == []
    assert deployment.notices() == []


@pytest.mark.parametrize("what", SCANS)
def test_case_49_i8_r4_five_visits_of_a_scanner_leave_a_pending_call_as_it_was(
    undisturbed: Deployment, wire: Wire, what: str
) -> None:
    checked(undisturbed, wire, undisturbed.standing(), SCANS[what])
    assert undisturbed.status(undisturbed.standing()) == "pending"


@pytest.mark.parametrize("what", ["GET with prerender", "HEAD with Slack", "GET with the whole form in the query"])
def test_case_49_a_scanner_leaves_a_call_in_doubt_and_a_decided_one_as_they_were(
    deployment: Deployment, wire: Wire, what: str
) -> None:
    checked(deployment, wire, put_in_doubt(deployment), SCANS[what])
    decided = deployment.paused()
    deployment.post(decided)
    deployment.wakeups()
    checked(deployment, wire, decided, SCANS[what])


def test_case_49_after_all_of_them_the_link_still_decides(deployment: Deployment) -> None:
    link = deployment.paused()
    for ask in SCANS.values():
        ask(deployment, link)
    assert deployment.post(link).status == 200
    assert deployment.status(link) == "approved"


def test_case_49_a_scanner_that_strips_the_secret_finds_nothing(undisturbed: Deployment, wire: Wire) -> None:
    link = undisturbed.standing()
    before = undisturbed.table()
    answer = undisturbed.show(replace(link, token=""))
    assert answer.status == 404
    assert undisturbed.table() == before
