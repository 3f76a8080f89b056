"""After the decision the page goes on without script, by an address that can look and cannot decide."""

from __future__ import annotations

import re
from urllib.parse import parse_qs, urlencode

import pytest

from pausepoint.http.progress import PAUSES
from tests.support.cut_off import put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import Answer, Link, request
from tests.support.said import Said
from tests.support.wire import Wire


def looked(deployment: Deployment, link: Link, query: str, *, probe: bool = False) -> Answer:
    fields = {name: values[0] for name, values in parse_qs(query, keep_blank_values=True).items()}
    name = "approval-probe" if probe else "approval-page"
    return deployment.send("approvals", request(name, path=link.path, query=fields))


def next_of(answer: Answer) -> str:
    """Return the query of the address that a page goes on to by itself."""
    query: str
    [query] = re.findall(r"^\d+; url=\?(v=[A-Za-z0-9_-]{43}&n=\d+)$", answer.headers["Refresh"])
    return query


def test_a_posted_page_goes_on_to_an_address_without_the_links_secret(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused(SHRED, "It is gone.")
    posted = deployment.post(link)
    query = next_of(posted)
    assert link.token not in posted.page
    assert link.token not in str(posted.headers)
    wire.sent.clear()

    waits = looked(deployment, link, query)
    deployment.deliver()
    wire.sent.clear()
    done = looked(deployment, link, next_of(waits))

    assert wire.sent == ["dynamodb.GetItem"]
    assert "It has not run yet." in waits.page
    assert "What the tool gave back" in done.page
    assert "Refresh" not in done.headers
    assert "<a " not in done.page


def test_r4_looking_writes_nothing_and_shows_no_form_whatever_the_call_waits_for(
    deployment: Deployment, wire: Wire
) -> None:
    decided = deployment.paused()
    view = next_of(deployment.post(decided)).partition("&")[0]
    deployment.wakeups()
    before = deployment.table()
    wire.sent.clear()
    for probe in (False, True):
        for query in (view, f"{view}&n=0", f"{view}&n=x", f"{view}&n=99999999"):
            answer = looked(deployment, decided, query, probe=probe)
            assert answer.status == 200
            assert "<form" not in answer.page
    assert set(wire.sent) == {"dynamodb.GetItem"}
    assert deployment.table() == before


def test_a_view_cannot_decide(deployment: Deployment) -> None:
    link = deployment.paused()
    view = deployment.show(link)  # pending: there is nothing to look at yet
    assert "Refresh" not in view.headers
    form = deployment.form(link)
    posted = deployment.post(link)
    seen = parse_qs(next_of(posted))["v"][0]
    other = deployment.paused()
    for target in (link, other):
        assert deployment.post_body(target, urlencode(form | {"t": seen})).status == 404
    assert deployment.status(other) == "pending"
    assert looked(deployment, other, f"v={seen}").status == 404  # of another call
    assert looked(deployment, link, f"t={seen}").status == 404


@pytest.mark.parametrize(
    ("query", "reads"),
    [("v=", 0), ("v=" + "A" * 42, 0), ("v=%00", 0), ("v=" + "A" * 43, 1), ("v=" + "A" * 43 + "&n=0", 1), ("n=0", 0)],
)
def test_r1_a_wrong_view_is_the_same_404_as_a_wrong_secret(
    undisturbed: Deployment, wire: Wire, query: str, reads: int
) -> None:
    link = undisturbed.standing()
    reference = undisturbed.send("approvals", request("approval-page", path=link.path, query={"t": "A" * 43}))
    before = undisturbed.table()
    wire.sent.clear()
    assert looked(undisturbed, link, query) == reference
    assert (len(wire.reads), wire.writes, undisturbed.table()) == (reads, [], before)


def test_it_ends_after_a_few_looks(deployment: Deployment) -> None:
    link = deployment.paused()
    answer = deployment.post(link)
    for _ in PAUSES:
        answer = looked(deployment, link, next_of(answer))
    assert "Refresh" not in answer.headers
    assert "Look again now" in answer.page


@pytest.mark.parametrize("decision", ["approved", "rejected"])
def test_a_conflict_and_a_repetition_go_on_too(deployment: Deployment, decision: str) -> None:
    link = deployment.paused()
    deployment.post(link)
    assert next_of(deployment.post(link, decision=decision))


def test_what_waits_for_a_person_is_not_looked_at_by_itself(deployment: Deployment) -> None:
    link = put_in_doubt(deployment)
    assert "Refresh" not in deployment.show(link).headers
    rejected = deployment.paused()
    assert "Refresh" not in deployment.post(rejected, decision="rejected").headers


def test_r8_a_view_is_in_no_log(deployment: Deployment, said: Said) -> None:
    said.at_level(10)
    link = deployment.paused()
    query = next_of(deployment.post(link))
    looked(deployment, link, query)
    assert parse_qs(query)["v"][0] not in said.everything()
    assert parse_qs(query)["v"][0] not in deployment.readable()
