"""The process is killed inside an approved deletion: a person is asked what became of it, and the answer counts."""

from __future__ import annotations

import re
import time
import uuid
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.by import By

from tests.e2e.slow_storage import kill_workers, slow_storage
from tests.e2e.stack import Stack, until

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = pytest.mark.e2e

PATIENCE = 150
"""Seconds: a worker's time (30), the sweeper's grace (30), and a slow machine."""


@dataclass(frozen=True)
class Doubtful:
    """A session whose call is in doubt."""

    session_id: str
    call_id: str
    path: str
    link: str

    def digest(self, stack: Stack) -> str:
        return digest_on(stack.request("GET", self.link).text)


def digest_on(page: str) -> str:
    match = re.search(r'name="digest" value="([0-9a-f]{64})"', page)
    assert match is not None, page
    return match.group(1)


def call_of(stack: Stack, session_id: str, call_id: str) -> dict[str, Any]:
    row: dict[str, Any]
    (row,) = [row for row in stack.rows(session_id) if row["sk"]["S"] == f"CALL#{call_id}"]
    return row


def worker_of(stack: Stack) -> str:
    """Return the name of the function that carries sessions on."""
    functions = stack.client("lambda").list_functions()["Functions"]
    (name,) = [function["FunctionName"] for function in functions if "ResumeFunction" in function["FunctionName"]]
    return str(name)


def killed_inside_a_deletion(stack: Stack, *, deleted: bool) -> tuple[str, str, str, str]:
    """Return session, call, file and link of an approved deletion whose process was killed -9 inside."""
    path = f"{uuid.uuid4().hex[:12]}.txt"
    stack.put_file(path)
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    session_id, call_id = paused["session_id"], call["call_id"]
    link = stack.link(session_id, call_id)
    function = worker_of(stack)
    with slow_storage(stack, function) as storage:
        storage.deletes_first = deleted
        digest = digest_on(stack.request("GET", link).text)
        assert stack.post_decision(link, digest, "approved").status == 200
        until(lambda: [held for held in storage.held if path in held], seconds=60)
        assert call_of(stack, session_id, call_id)["status"]["S"] == "executing"
        assert kill_workers(stack, function) >= 1
    return session_id, call_id, path, link


@pytest.fixture(scope="module")
def doubtful(running_stack: Stack) -> list[Doubtful]:
    """Three of them: of the first the file is gone, of the others it is still there."""
    stack = running_stack
    cut_off = [killed_inside_a_deletion(stack, deleted=number == 0) for number in range(3)]

    def asked(session_id: str, call_id: str, old: str) -> str | None:
        stack.sweep()
        link = stack.link(session_id, call_id)
        return link if link != old else None

    found = []
    for session_id, call_id, path, link in cut_off:
        new = until(partial(asked, session_id, call_id, link), seconds=PATIENCE)
        found.append(Doubtful(session_id, call_id, path, new))
    return found


def test_case_39_a_call_whose_process_was_killed_is_in_doubt_and_a_person_is_asked(
    stack: Stack, doubtful: list[Doubtful]
) -> None:
    assert [doubt.path in stack.files() for doubt in doubtful] == [False, True, True]
    for doubt in doubtful:
        session = stack.session(doubt.session_id)
        assert (session["status"], [call["status"] for call in session["pending_calls"]]) == ("paused", ["in_doubt"])
        page = stack.request("GET", doubt.link)
        assert page.status == 200
        assert doubt.path in page.text
        for word in ("happened", "did_not_happen", "run_again"):
            assert f'value="{word}"' in page.text
        mails = stack.request("GET", stack.facts["mailbox_url"] + "/messages.json").json
        about = [mail for mail in mails if doubt.link in mail["body"]]
        assert [mail["subject"] for mail in about] == ["Pausepoint: please find out whether a tool call happened"]


def test_i1_time_alone_runs_nothing_again(stack: Stack, doubtful: list[Doubtful]) -> None:
    before = [stack.rows(doubt.session_id) for doubt in doubtful]
    for _ in range(3):
        stack.sweep()
    time.sleep(2)
    assert [stack.rows(doubt.session_id) for doubt in doubtful] == before


@pytest.mark.browser
@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("width", [390, 320])
def test_the_page_fits_a_phone_and_nothing_on_it_acts_by_itself(
    stack: Stack, doubtful: list[Doubtful], browser: webdriver.Chrome, width: int, scheme: str
) -> None:
    before = stack.rows(doubtful[0].session_id)
    media = {"features": [{"name": "prefers-color-scheme", "value": scheme}]}
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", media)
    browser.set_window_size(width, 844)
    browser.get(doubtful[0].link)
    wide = "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    assert browser.execute_script(wide) == 0
    assert browser.find_elements(By.TAG_NAME, "script") == []
    buttons = browser.find_elements(By.CSS_SELECTOR, "button[name=decision]")
    assert [button.get_attribute("value") for button in buttons] == ["happened", "did_not_happen", "run_again"]
    assert all(button.size["height"] >= 44 for button in buttons)  # a thumb's width
    assert browser.switch_to.active_element.tag_name == "body"
    assert stack.rows(doubtful[0].session_id) == before


def test_it_happened(stack: Stack, doubtful: list[Doubtful]) -> None:
    doubt = doubtful[0]
    assert stack.post_decision(doubt.link, doubt.digest(stack), "happened", "It is not there any more.").status == 200
    stack.settled(doubt.session_id, "completed")
    (result,) = stack.events(doubt.session_id, "tool_result")
    assert (result["status"], result["text"].endswith("the effect did happen. Its result is lost.")) == (
        "success",
        True,
    )
    (resolved,) = stack.events(doubt.session_id, "doubt_resolved")
    assert (resolved["answer"], resolved["reason"]) == ("happened", "It is not there any more.")


def test_it_did_not_happen(stack: Stack, doubtful: list[Doubtful]) -> None:
    doubt = doubtful[1]
    assert stack.post_decision(doubt.link, doubt.digest(stack), "did_not_happen").status == 200
    stack.settled(doubt.session_id, "completed")
    (result,) = stack.events(doubt.session_id, "tool_result")
    assert (result["status"], result["text"].endswith("the effect did not happen.")) == ("error", True)
    assert doubt.path in stack.files()


def test_run_it_again_asks_for_another_approval_first(stack: Stack, doubtful: list[Doubtful]) -> None:
    doubt = doubtful[2]
    assert stack.post_decision(doubt.link, doubt.digest(stack), "run_again").status == 200

    def reissued() -> dict[str, Any] | None:
        calls = stack.session(doubt.session_id)["pending_calls"]
        return calls[0] if calls and calls[0]["status"] == "pending" else None

    call = until(reissued, seconds=60)
    assert call["call_id"] != doubt.call_id
    assert doubt.path in stack.files()
    link = stack.link(doubt.session_id, call["call_id"])
    assert stack.post_decision(link, digest_on(stack.request("GET", link).text), "approved").status == 200
    done = stack.settled(doubt.session_id, "completed")
    assert doubt.path not in stack.files()
    assert f"Deleted {doubt.path}." in done["output"]
    assert [event["call_id"] for event in stack.events(doubt.session_id, "execution")] == [
        doubt.call_id,
        call["call_id"],
    ]
