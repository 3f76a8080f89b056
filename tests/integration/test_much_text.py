"""R26: over 32 KB approving takes a word that stands where the arguments end; rejecting does not."""

from __future__ import annotations

from tests.support.deployment import Deployment
from tests.support.gateway import Link


def much(deployment: Deployment) -> tuple[Link, str]:
    link = deployment.paused([("shred", {"path": "x" * 33_000})], "Done.")
    return link, deployment.show(link).word


def test_r26_without_the_word_nothing_is_approved_and_with_it_it_is(deployment: Deployment) -> None:
    link, word = much(deployment)
    before = deployment.table()

    for answer in (
        deployment.post(link),
        deployment.post(link, word=""),
        deployment.post(link, word="READ"),
        deployment.post(link, word=word[:3]),
    ):
        assert answer.status == 400
        assert "(field: word)" in answer.page
        assert word not in answer.page
    assert deployment.table() == before

    assert deployment.post(link, word=f"{word.lower()}\r\n").status == 200
    assert deployment.status(link) == "approved"
    assert "Already approved" in deployment.post(link).page  # it is decided: there is nothing left to look at


def test_r26_rejecting_takes_no_word(deployment: Deployment) -> None:
    link, _ = much(deployment)
    assert deployment.post(link, decision="rejected").status == 200
    assert deployment.status(link) == "rejected"


def test_a_call_with_little_text_takes_any_word_and_none(deployment: Deployment) -> None:
    assert deployment.post(deployment.paused(), word="").status == 200
