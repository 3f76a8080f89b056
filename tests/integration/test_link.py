"""The approval link: opening it changes nothing, whoever opens it, and only the right token opens anything."""

from __future__ import annotations

import re
from dataclasses import replace
from urllib.parse import urlencode

import pytest

from tests.support.clerk import desk
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import DOMAIN, Link, request
from tests.support.wire import Wire

SCANNER = {
    "user-agent": "Mozilla/5.0 (compatible; SafeLinks/1.0; +http://scanner.example)",
    "purpose": "prefetch",
    "sec-purpose": "prefetch;prerender",
    "x-moz": "prefetch",
    "sec-fetch-site": "cross-site",
    "sec-fetch-mode": "navigate",
    "accept": "*/*",
}


@pytest.mark.parametrize("probe", [False, True], ids=["GET", "HEAD"])
def test_case_49_i8_a_scanner_opens_the_link_twice_and_the_table_stays_byte_equal(
    deployment: Deployment, wire: Wire, *, probe: bool
) -> None:
    link = deployment.paused()
    before = deployment.table()
    wire.sent.clear()

    answers = [deployment.show(link, probe=probe, headers=SCANNER) for _ in range(2)]

    assert [answer.status for answer in answers] == [200, 200]
    assert wire.writes == []
    assert deployment.table() == before
    assert deployment.post(link).status == 200  # the token is still good


def test_r4_the_page_has_a_form_to_decide_and_one_to_edit_and_no_script(undisturbed: Deployment) -> None:
    page = undisturbed.show(undisturbed.standing()).page

    assert page.count("<form") == 2
    assert re.findall(r"<(?:script|iframe|object|embed|img|link|base|meta http-equiv)\b", page) == []
    assert re.findall(r"\son[a-z]+=|javascript:|formaction|autofocus", page) == []


def test_r11_addresses_come_from_the_gateway_not_from_a_header(deployment: Deployment) -> None:
    forged = {"host": "evil.example", "x-forwarded-host": "evil.example", "forwarded": "host=evil.example"}
    desk.script(SHRED)
    deployment.send("start", request("start", headers=forged))
    (link,) = deployment.links()
    page = deployment.show(link, headers=forged).page

    assert link.base == f"https://{DOMAIN}"
    assert f'action="https://{DOMAIN}{link.path}"' in page
    assert "evil.example" not in page


def test_r11_a_parameter_gives_the_public_address(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BASE_URL", "https://approve.example.com/team/")
    link = deployment.paused()

    assert link.base == "https://approve.example.com/team"
    assert f'action="https://approve.example.com/team{link.path}"' in deployment.show(link).page


def test_r1_a_token_has_256_random_bits_and_only_its_hash_is_stored(deployment: Deployment) -> None:
    first, second = deployment.paused(), deployment.paused()

    assert re.fullmatch(r"[A-Za-z0-9_-]{43}", first.token)
    assert first.token != second.token
    assert first.token not in str(deployment.table())


def wrong_links(link: Link, other: Link) -> dict[str, Link]:
    token, last = link.token, link.token[-1]
    alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_"
    return {
        "of another call": replace(link, token=other.token),
        "one bit off": replace(link, token=token[:-1] + alphabet[alphabet.index(last) ^ 4]),
        "same bytes, other padding bits": replace(link, token=token[:-1] + alphabet[alphabet.index(last) ^ 1]),
        "truncated": replace(link, token=token[:-1]),
        "other case": replace(link, token=token.swapcase()),
        "padded": replace(link, token=token + "="),
        "blank after it": replace(link, token=token + " "),
        "line feed after it": replace(link, token=token + "\n"),
        "twice": replace(link, token=f"{token},{token}"),
        "none": replace(link, token=""),
        "NUL": replace(link, token="\0" * 43),
        "not ASCII": replace(link, token="é" * 43),
        "its hash": replace(link, token="0" * 64),
        "unknown session": replace(link, session_id="a" * 26),
        "unknown call": replace(link, call_id="c9-9"),
        "call of another session": replace(link, session_id=other.session_id),
        "odd session": replace(link, session_id="%00"),
        "session of another row": replace(link, call_id="META"),
        "endless session": replace(link, session_id="a" * 5000),
        "quoted session": replace(link, session_id='a"b'),
    }


WELL_FORMED = {
    "of another call",
    "one bit off",
    "same bytes, other padding bits",
    "other case",
    "unknown session",
    "unknown call",
    "call of another session",
}
WRONG = list(wrong_links(Link("s", "c", "a" * 43, ""), Link("s", "c", "b" * 43, "")))


@pytest.mark.parametrize("how", WRONG)
def test_case_54_r1_whatever_is_wrong_with_a_link_the_answer_is_one_identical_404(
    deployment: Deployment, wire: Wire, how: str
) -> None:
    link, other = deployment.paused(), deployment.paused()
    wrong = wrong_links(link, other)[how]
    reference = deployment.show(replace(link, token="A" * 43))
    form = deployment.form(link) | {"t": wrong.token}
    before = deployment.table()
    wire.sent.clear()

    shown = deployment.show(wrong)
    posted = deployment.post_body(wrong, urlencode(form))

    assert reference.status == 404
    assert "This link does not lead to anything to decide." in reference.page
    assert shown == posted == reference  # status, headers and body, byte by byte
    assert wire.writes == []
    # One for each of the two requests, and none for what cannot be a link of ours.
    assert len(wire.reads) == (2 if how in WELL_FORMED else 0)
    assert deployment.table() == before


@pytest.mark.parametrize("method", ["PUT", "DELETE", "PATCH", "OPTIONS", "TRACE", "APPROVE"])
def test_case_50_unknown_methods_are_404_and_change_nothing(undisturbed: Deployment, method: str) -> None:
    link = undisturbed.standing()
    before = undisturbed.table()

    answer = undisturbed.send(
        "approvals", request("approval-decision", path=link.path, method=method, query={"t": link.token})
    )

    assert answer.status == 404
    assert undisturbed.table() == before


@pytest.mark.parametrize("verb", ["approve", "reject", "approved", "?decision=approved", "/"])
def test_case_50_there_are_no_verbs_in_paths(undisturbed: Deployment, verb: str) -> None:
    link = undisturbed.standing()
    before = undisturbed.table()

    answer = undisturbed.send(
        "approvals", request("approval-page", path=f"{link.path}/{verb}", query={"t": link.token})
    )

    assert answer.status == 404
    assert undisturbed.table() == before


def test_an_open_link_with_a_decision_in_its_query_decides_nothing(undisturbed: Deployment) -> None:
    link = undisturbed.standing()
    query = undisturbed.form(link)

    undisturbed.send("approvals", request("approval-page", path=link.path, query=query))

    assert undisturbed.status(link) == "pending"
