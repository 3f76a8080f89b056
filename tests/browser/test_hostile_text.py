"""Case 53 in a real Chromium: hostile text in every field runs nothing and asks for nothing."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import pytest

from pausepoint.domain.calls import CallStatus, Decision, Presentation, Question, Resolution
from pausepoint.domain.canonical import call_digest, canonical_json, parse_json
from pausepoint.http.edit_page import confirm_page
from pausepoint.http.edits import Edited, edit_form
from pausepoint.http.headers import security_headers
from pausepoint.http.page import approval_page, doubt_page, outcome_page, problem_page
from pausepoint.http.progress import look_again
from pausepoint.http.question_page import question_page
from tests.browser.payloads import PAYLOADS
from tests.support.chromium import dialog, requested
from tests.support.pages import PAGE_TYPE, Asked, Sent, Server, served
from tests.unit.http.samples import NOW, decided_call, pending_call

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = pytest.mark.browser


def pages(text: str) -> dict[str, str]:
    """Return every kind of page with the text in every field that is not ours."""
    arguments: dict[str, Any] = {
        text: text,
        "list": [text, {text: text}],
        "deep": {text: {text: [text, [text]]}},
        "flat": {text: text},
        "table": [{text: text[:200], "b": 1}, {"b": text[:200]}],
    }
    edited = canonical_json({text: text})
    common: dict[str, Any] = {
        "agent": text,
        "requested_by": text,
        "session_id": text,
        "call_id": text,
        "presentation": Presentation(risk="high", warning=text, highlight=(text,), model_text=text),
    }
    asks = pending_call(arguments, name=text, **common)
    doubtful = replace(decided_call(CallStatus.IN_DOUBT, ran=True, edited=edited), **common)
    decision = Decision(
        verdict="approved",
        by=text,
        at=NOW,
        verified="link",
        reason=text,
        digest_shown=asks.digest,
        digest_approved=call_digest(text, edited),
        arguments=edited,
        answer=canonical_json({text: [text]}),
    )
    resolution = Resolution(answer="happened", by=text, at=NOW, verified="link", reason=text)
    ended = replace(asks, status=CallStatus.SUCCEEDED, decision=decision, resolution=resolution, outcome=text)
    moving = replace(asks, status=CallStatus.EXECUTING, decision=decision)
    action = f"/approvals/{text}"
    names = parse_json(asks.arguments)
    again = edit_form(asks, typed=dict.fromkeys(names, text), problems=dict.fromkeys(("", *names), text))
    changed = canonical_json({**names, text: f"{text}!"})
    change = Edited(changed, call_digest(text, changed))
    question = replace(asks, question=Question(text=text, choices=(text, f"{text}!")))
    return {
        "asks": approval_page(asks, token=text, action=action, now=NOW, needs_code=True, edit=again),
        "confirms": confirm_page(asks, change, token=text, action=action, now=NOW, needs_code=True),
        "questions": question_page(question, token=text, action=action, now=NOW),
        "doubts": doubt_page(doubtful, token=text, action=action, now=NOW),
        "tells": outcome_page(ended, now=NOW, heading=text),
        "moves": outcome_page(moving, now=NOW, look=look_again(moving, text, "0", NOW)),
        "refuses": problem_page(text, text),
    }


SOURCES = [pages(text) for text in PAYLOADS]
KINDS = tuple(SOURCES[0])
FORMS = {"asks": 2, "confirms": 1, "questions": 1, "doubts": 1}
LOOK = """
const foreign = "script,img,svg,iframe,object,embed,link,base,math,video,audio,[style],[onload],[onerror],[onfocus]";
return [window.fired, document.querySelectorAll(foreign).length, document.forms.length,
        document.activeElement.tagName, document.title.endsWith("· Pausepoint")];
"""
"""What fired, what is there that is not ours, how many forms, what has the focus, and whether the title is ours."""


@pytest.fixture(params=[True, False], ids=["as served", "without the policy"])
def policy(request: pytest.FixtureRequest) -> bool:
    return bool(request.param)


@pytest.fixture
def server(policy: bool) -> Iterator[Server]:
    """The hostile pages; without the policy nothing but the escaping stands between a payload and its effect."""
    headers = {**security_headers(), "Content-Type": PAGE_TYPE}
    if not policy:
        del headers["Content-Security-Policy"]

    def answer(asked: Asked) -> Sent:
        kind, _, number = asked.target.strip("/").partition("-")
        known = kind in KINDS and number.isdigit()
        return Sent(200, headers, SOURCES[int(number)][kind]) if known else Sent(404, headers, "")

    with served(answer) as running:
        yield running


def test_the_corpus_is_large_and_has_no_text_twice() -> None:
    assert len(set(PAYLOADS)) == len(PAYLOADS) >= 60


@pytest.mark.parametrize("kind", KINDS)
def test_case_53_r25_nothing_fires_and_nothing_is_asked_for(
    browser: webdriver.Chrome, server: Server, policy: bool, kind: str
) -> None:
    # With the policy in place hardly anything could fire: a part of the corpus shows that it changes nothing.
    for number, text in list(enumerate(PAYLOADS))[:: 6 if policy else 1]:
        address = f"{server.url}/{kind}-{number}"
        browser.get(address)
        seen = browser.execute_script(LOOK)  # raises where a dialog is open
        assert seen == [None, 0, FORMS.get(kind, 0), "BODY", True], text
        assert set(requested(browser)) <= {address, f"{server.url}/favicon.ico"}, text
    asked = {asked.target for asked in server.requests}
    assert asked <= {"/favicon.ico", *(f"/{kind}-{number}" for number in range(len(PAYLOADS)))}


def test_the_watch_sees_what_fires_and_what_is_asked_for(browser: webdriver.Chrome) -> None:
    """Without escaping and policy the same corpus does both: the test above can fail."""

    def answer(asked: Asked) -> Sent:
        careless = "<!doctype html><body>" + PAYLOADS[int(asked.target[1:])] if asked.target[1:].isdigit() else ""
        return Sent(200, {"Content-Type": PAGE_TYPE}, careless)

    with served(answer) as server:
        firing, asking = 0, 0
        for number in range(40):
            requested(browser)
            browser.get(f"{server.url}/{number}")
            firing += bool(dialog(browser) or browser.execute_script("return window.fired"))
            asking += any("evil" in address for address in requested(browser))
    assert firing > 8
    assert asking > 5
