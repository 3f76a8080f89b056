"""The functions behind a loopback port, and a real Chromium before it: with script off, and one that scans."""

from __future__ import annotations

import time
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import parse_qsl, urlsplit

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

from pausepoint.bootstrap import application
from tests.support.chromium import chromium, requested, wait_until_left
from tests.support.clerk import desk
from tests.support.cut_off import put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import Link, request
from tests.support.pages import Asked, Sent, Server, served

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = pytest.mark.browser
EVENTS = {"GET": "approval-page", "HEAD": "approval-probe", "POST": "approval-decision"}


@pytest.fixture
def server(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> Iterator[Server]:
    """The page's function on a port, as the gateway puts it on the web."""

    def answer(asked: Asked) -> Sent:
        target = urlsplit(asked.target)
        query = dict(parse_qsl(target.query, keep_blank_values=True))
        event = request(EVENTS[asked.method], path=target.path, query=query, headers=asked.headers)
        event["headers"] = dict(asked.headers)
        event["body"], event["isBase64Encoded"] = asked.body.decode(), False
        sent = deployment.send("approvals", event)
        return Sent(sent.status, sent.headers, sent.text)

    with served(answer) as running:
        monkeypatch.setenv("BASE_URL", running.url)
        application.cache_clear()
        yield running


@pytest.fixture(scope="module")
def without_script(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("profile"), script=False) as driver:
        yield driver


def opened(browser: webdriver.Chrome, server: Server, link: Link) -> str:
    address = f"{server.url}{link.path}?t={link.token}"
    browser.get(address)
    return address


def click(browser: webdriver.Chrome, decision: str) -> None:
    button = browser.find_element(By.CSS_SELECTOR, f"button[value={decision}]")
    button.click()
    wait_until_left(browser, button)


def heading(browser: webdriver.Chrome) -> str:
    return browser.find_element(By.TAG_NAME, "h1").text


def test_script_is_off_in_this_browser(without_script: webdriver.Chrome) -> None:
    without_script.get("data:text/html,<title>still</title><script>document.title = 'moved'</script>")
    assert without_script.title == "still"


def test_r4_approving_works_with_script_off_and_the_page_goes_on_by_itself(
    deployment: Deployment, server: Server, without_script: webdriver.Chrome
) -> None:
    link = deployment.paused(SHRED, "It is gone.")
    opened(without_script, server, link)
    click(without_script, "approved")
    assert heading(without_script) == "Approved"
    assert deployment.status(link) == "approved"

    deployment.deliver()
    WebDriverWait(without_script, 60).until(expected_conditions.title_contains("Done"))

    address = without_script.current_url
    assert "?v=" in address
    assert link.token not in address
    assert "What the tool gave back" in without_script.find_element(By.TAG_NAME, "main").text
    assert desk.entered == [("shred", {"path": "a.txt", "copies": 1})]
    assert [asked.method for asked in server.requests if asked.method != "GET"] == ["POST"]  # and never once more


def test_r4_rejecting_with_a_reason_works_with_script_off_and_by_keyboard(
    deployment: Deployment, server: Server, without_script: webdriver.Chrome
) -> None:
    link = deployment.paused(SHRED, "Then not.")
    opened(without_script, server, link)
    reason = without_script.find_element(By.NAME, "reason")
    reason.send_keys("Not <b>now</b>\nMaybe later.")
    reason.send_keys(Keys.TAB)
    focused = without_script.switch_to.active_element
    focused.send_keys(Keys.ENTER)
    wait_until_left(without_script, focused)
    assert heading(without_script) == "Rejected"
    assert deployment.status(link) == "rejected"
    assert "Not <b>now</b>" in without_script.find_element(By.TAG_NAME, "main").text
    assert desk.entered == []


def test_r26_the_word_is_asked_for_by_the_browser_and_a_rejection_goes_without(
    deployment: Deployment, server: Server, without_script: webdriver.Chrome
) -> None:
    first, second = (deployment.paused([("shred", {"path": "x" * 33_000})], "Done.") for _ in range(2))
    opened(without_script, server, first)
    word = without_script.find_element(By.CSS_SELECTOR, "code.word").text
    without_script.find_element(By.CSS_SELECTOR, "button[value=approved]").click()
    assert [asked.method for asked in server.requests] == ["GET"]  # the browser asks for the word first
    field = without_script.find_element(By.NAME, "word")
    field.send_keys(word.lower(), Keys.ENTER)  # which is no slip that rejects
    assert deployment.status(first) == "pending"
    click(without_script, "approved")
    assert deployment.status(first) == "approved"

    opened(without_script, server, second)
    click(without_script, "rejected")
    assert deployment.status(second) == "rejected"


def test_case_49_i8_a_headless_browser_that_stays_for_ten_seconds_changes_nothing(
    deployment: Deployment, server: Server, tmp_path: Path
) -> None:
    pending = deployment.paused()
    doubtful = put_in_doubt(deployment)
    deployment.wakeups()
    before = deployment.table()
    with chromium(tmp_path) as scanner:
        addresses = [opened(scanner, server, pending)]
        scanner.switch_to.new_window("tab")
        addresses.append(opened(scanner, server, doubtful))
        time.sleep(10)  # a scanner lingers: the pages must have nothing that acts by itself
        assert set(requested(scanner)) <= {*addresses, f"{server.url}/favicon.ico"}
    assert {asked.method for asked in server.requests} == {"GET"}
    assert len([asked for asked in server.requests if "favicon" not in asked.target]) == 2
    assert deployment.table() == before
    assert deployment.wakeups() == []
    assert deployment.post(pending).status == 200
