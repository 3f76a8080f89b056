"""R3: a one-time code on links of risky calls: asked for, counted, bounded, and nowhere written down."""

from __future__ import annotations

import json
import logging
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from urllib.parse import urlencode

import pyotp
import pytest

from pausepoint.bootstrap import application
from pausepoint.http.approvals import Post, decide
from tests.support.aws import client
from tests.support.clerk import desk
from tests.support.cut_off import age, put_in_doubt
from tests.support.deployment import Deployment
from tests.support.gateway import FORM, Answer, Link
from tests.support.said import Said
from tests.support.wire import Wire

SECRET = "JBSWY3DPEHPK3PXPJBSWY3DPEHPK3PXP"
BURN = [("burn", {"path": "a.txt"})]
WRONG_CODES = ("000000", "111111", "222222", "333333", "444444", "555555", "666666")


@pytest.fixture(autouse=True)
def codes(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    secrets = client("secretsmanager")
    arn = secrets.create_secret(Name="codes", SecretString=SECRET)["ARN"]
    monkeypatch.setenv("CODE_SECRET_ARN", arn)
    application.cache_clear()
    yield
    secrets.delete_secret(SecretId=arn, ForceDeleteWithoutRecovery=True)


def code(step: int = 0) -> str:
    """Return the code of now or, by so many steps, of then."""
    return str(pyotp.TOTP(SECRET).at(datetime.now(UTC), counter_offset=step))


def wrong(number: int) -> str:
    right = {code(step) for step in range(-2, 3)}
    return [each for each in WRONG_CODES if each not in right][number % 2]


def guess(deployment: Deployment, link: Link, times: int) -> list[Answer]:
    return [deployment.post(link, code=wrong(number)) for number in range(times)]


def test_r3_the_page_asks_for_a_code_where_the_risk_is_high_and_only_there(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    risky, usual = deployment.paused_at([*BURN, ("shred", {"path": "b.txt"})])

    page = deployment.show(risky).page

    assert 'name="code"' in page
    assert 'autocomplete="one-time-code"' in page
    assert 'inputmode="numeric"' in page
    assert 'name="code"' not in deployment.show(usual).page
    assert deployment.post(usual).status == 200  # nor does approving it take one
    monkeypatch.setenv("CODE_SECRET_ARN", "")
    application.cache_clear()
    assert 'name="code"' not in deployment.show(risky).page
    assert deployment.post(risky).status == 200


@pytest.mark.parametrize("step", [-1, 0, 1])
def test_r3_with_the_code_of_now_or_of_its_neighbours_the_call_runs(deployment: Deployment, step: int) -> None:
    link = deployment.paused(BURN, "It is gone.")

    # as authenticators show it; made anew where a step ends just now
    answers = (deployment.post(link, code=f"{made[:3]} {made[3:]}") for made in (code(step), code(step)))

    assert any(answer.status == 200 for answer in answers)
    deployment.deliver()
    assert desk.entered == [("burn", {"path": "a.txt"})]


@pytest.mark.parametrize("typed", ["", " ", "12345", "1234567", "12345a", "１２３４５６", "1" * 2000])
def test_r3_r10_what_is_no_code_is_said_so_and_costs_no_write(deployment: Deployment, wire: Wire, typed: str) -> None:
    link = deployment.paused(BURN)
    wire.sent.clear()

    answer = deployment.post(link, code=typed)

    assert (answer.status, "(field: code)" in answer.page) == (400, True)
    assert wire.sent == ["dynamodb.GetItem"]
    assert deployment.status(link) == "pending"


def test_r3_a_wrong_code_counts_says_how_many_are_left_and_runs_nothing(deployment: Deployment) -> None:
    link = deployment.paused(BURN)

    answers = guess(deployment, link, 4)

    assert [answer.status for answer in answers] == [400] * 4
    for answer, left in zip(answers, ("4 times", "3 times", "2 times", "once"), strict=True):
        assert f"The one-time code is wrong. You can try {left} more" in answer.page
    assert deployment.status(link) == "pending"
    assert deployment.post(link, code=code()).status == 200  # the fifth may be right


def test_r3_the_fifth_wrong_code_uses_the_link_up_and_the_sweeper_sends_another(deployment: Deployment) -> None:
    link = deployment.paused(BURN, "It is gone.")

    *_, fifth = guess(deployment, link, 5)
    sixth, shown = deployment.post(link, code=code()), deployment.show(link)

    for answer in (fifth, sixth, shown):
        assert answer.status == 410
        assert (
            "5 one-time codes were tried with this link, and it is used up. A new link has been asked for"
            in answer.page
        )
    assert deployment.status(link) == "pending"
    age(deployment)
    assert deployment.sweep()["Notified"] == 1
    (new,) = deployment.links()
    assert (new.call_id, new.token == link.token) == (link.call_id, False)
    assert deployment.show(link).status == 410
    assert deployment.post(new, code=code()).status == 200
    deployment.deliver()
    assert len(desk.entered) == 1
    assert deployment.show(link).status == 404


def test_r3_links_can_be_used_up_three_times_then_nobody_is_sent_another(deployment: Deployment) -> None:
    link = deployment.paused(BURN)
    for _ in range(2):
        guess(deployment, link, 5)
        age(deployment)
        deployment.sweep()
        (link,) = deployment.links()
    *_, last = guess(deployment, link, 5)

    assert "no other is sent: decide as a signed-in caller, or let it expire" in last.page
    age(deployment)
    deployment.sweep()
    assert deployment.links() == []
    assert deployment.post(link, code=code()).status == 410
    decision = {"call_id": link.call_id, "decision": "approved"}
    assert deployment.resume(link.session_id, decision).status == 200


def test_r3_a_wrong_token_counts_nothing_and_says_nothing(deployment: Deployment) -> None:
    link = deployment.paused(BURN)
    before = deployment.table()
    forged = replace(link, token=("A" if link.token[0] != "A" else "B") + link.token[1:])

    answers = [deployment.post(forged, code=each) for each in (code(), wrong(0)) * 4]

    assert {(answer.status, answer.text) for answer in answers} == {(404, answers[0].text)}
    assert deployment.table() == before


def test_r3_a_code_approves_one_call_only(deployment: Deployment) -> None:
    first, second = deployment.paused_at([*BURN, ("burn", {"path": "b.txt"})])
    made = code(1)

    assert deployment.post(first, code=made).status == 200
    again = deployment.post(second, code=made)

    assert (again.status, deployment.status(second)) == (400, "pending")
    assert "it was used before: wait for the next one" in again.page
    # somebody who presses twice is not asked for another
    assert "Already approved" in deployment.post(first, code=made).page


def test_r3_rejecting_takes_no_code_and_neither_does_the_signed_api(deployment: Deployment, wire: Wire) -> None:
    first, second = deployment.paused_at([*BURN, ("burn", {"path": "b.txt"})], "Done.")

    assert deployment.post(first, decision="rejected", code=wrong(0)).status == 200
    answer = deployment.resume(second.session_id, {"call_id": second.call_id, "decision": "approved"})

    assert answer.json["status"] == "completed"
    assert "secrets-manager.GetSecretValue" not in wire.sent


def test_r3_saying_what_became_of_a_risky_call_takes_no_code(deployment: Deployment) -> None:
    # run_again asks for another approval, which takes one
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("CODE_SECRET_ARN", "")
        application.cache_clear()
        asking = put_in_doubt(deployment, BURN, "Done.")
    application.cache_clear()
    assert 'name="code"' not in deployment.show(asking).page
    digest = deployment.call(asking)["digest"]["S"]
    assert deployment.post(asking, decision="run_again", digest=digest).status == 200
    deployment.deliver()
    (again,) = deployment.links()
    assert again.call_id != asking.call_id
    assert 'name="code"' in deployment.show(again).page
    assert deployment.post(again).status == 400


def test_r10_the_secret_is_read_only_for_a_code_given_with_the_right_link(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused(BURN)
    deployment.show(link)
    deployment.post(link, digest="0" * 64, code=code())
    assert "secrets-manager.GetSecretValue" not in wire.sent

    deployment.post(link, code=wrong(0))

    assert wire.sent.count("secrets-manager.GetSecretValue") == 1


def test_r45_a_secret_that_cannot_be_read_is_a_503_and_nothing_is_decided(deployment: Deployment, wire: Wire) -> None:
    link = deployment.paused(BURN)
    wire.fail("secrets-manager.*")

    answer = deployment.post(link, code=code())

    assert (answer.status, answer.headers["Retry-After"]) == (503, "2")
    assert deployment.status(link) == "pending"
    assert deployment.call(link)["code_tries"] == {"N": "0"}  # nobody has tried anything


def test_r3_of_many_codes_posted_at_once_no_more_than_five_count(deployment: Deployment) -> None:
    link = deployment.paused(BURN)
    services = application().services
    bodies = [urlencode({**deployment.form(link), "code": wrong(number)}).encode() for number in range(11)]

    with ThreadPoolExecutor(len(bodies)) as pool:
        posts = [Post(body, {"content-type": FORM}, link.base) for body in bodies]
        answers = list(pool.map(lambda post: decide(services, link.session_id, link.call_id, post), posts))

    assert sorted(answer.status for answer in answers) == [400] * 4 + [410] * 7
    assert deployment.call(link)["spent_rounds"] == {"N": "1"}
    assert deployment.post(link, code=code()).status == 410


@pytest.mark.parametrize("level", [logging.INFO, logging.DEBUG], ids=["INFO", "DEBUG"])
def test_r8_i9_neither_code_nor_secret_is_written_anywhere(deployment: Deployment, said: Said, level: int) -> None:
    said.at_level(level)
    link = deployment.paused(BURN, "Done.")
    typed = [wrong(0), code(-1), code(), code(1)]
    for each in typed:
        deployment.post(link, code=each)
    deployment.deliver()

    assert len(desk.entered) == 1
    places = [said.everything(), deployment.readable(), json.dumps(deployment.events(link.session_id))]
    for each in (SECRET, *(f'"{one}"' for one in typed), *(f"code={one}" for one in typed)):
        assert not [place for place in places if each in place]
