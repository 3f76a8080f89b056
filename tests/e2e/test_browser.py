"""The page in a real Chromium: a person decides; a scanner that runs script changes nothing."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

from tests.e2e.stack import Stack
from tests.support.chromium import text_of, wait_until_left

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = [pytest.mark.e2e, pytest.mark.browser]


def _open_link(stack: Stack, path: str, browser: webdriver.Chrome) -> tuple[str, str]:
    paused = stack.start_session(f"delete {path}")
    (call,) = paused["pending_calls"]
    link = stack.link(paused["session_id"], call["call_id"])
    browser.get(link)
    assert path in text_of(browser)
    return paused["session_id"], link


def _click(browser: webdriver.Chrome, verdict: str) -> None:
    button = browser.find_element(By.CSS_SELECTOR, f"button[value={verdict}]")
    button.click()
    wait_until_left(browser, button)


def test_a_person_opens_the_mail_and_approves(stack: Stack, path: str, browser: webdriver.Chrome) -> None:
    paused = stack.start_session(f"delete {path}")
    link = stack.link(paused["session_id"], paused["pending_calls"][0]["call_id"])
    browser.get(stack.facts["mailbox_url"])
    browser.find_element(By.CSS_SELECTOR, f'a[href="{link}"]').click()
    WebDriverWait(browser, 30).until(expected_conditions.number_of_windows_to_be(2))
    browser.switch_to.window(browser.window_handles[-1])
    WebDriverWait(browser, 30).until(expected_conditions.presence_of_element_located((By.TAG_NAME, "form")))

    _click(browser, "approved")

    assert "approved" in text_of(browser).lower()
    stack.settled(paused["session_id"], "completed")
    assert path not in stack.files()
    browser.get(link)
    assert f"Deleted {path}." in text_of(browser)
    assert browser.find_elements(By.TAG_NAME, "form") == []


def test_a_person_rejects_with_a_reason_by_keyboard_alone(stack: Stack, path: str, browser: webdriver.Chrome) -> None:
    session_id, _ = _open_link(stack, path, browser)
    reason = browser.find_element(By.NAME, "reason")
    reason.send_keys("Not in this quarter.")
    reason.send_keys(Keys.TAB)
    focused = browser.switch_to.active_element
    assert focused.get_attribute("value") == "rejected"
    focused.send_keys(Keys.ENTER)
    wait_until_left(browser, focused)

    done = stack.settled(session_id, "completed")
    assert "Not in this quarter." in done["output"]
    assert path in stack.files()


def test_case_49_a_scanner_that_runs_script_changes_nothing(stack: Stack, path: str, browser: webdriver.Chrome) -> None:
    session_id, link = _open_link(stack, path, browser)
    before = stack.rows(session_id)
    time.sleep(10)  # a scanner lingers; the page must have nothing that acts by itself
    browser.execute_script("document.body && 1")
    assert stack.request("HEAD", link).status == 200
    assert stack.rows(session_id) == before

    _click(browser, "approved")
    stack.settled(session_id, "completed")


def test_the_page_fits_a_narrow_phone_and_has_no_script(stack: Stack, path: str, browser: webdriver.Chrome) -> None:
    browser.set_window_size(320, 700)
    _open_link(stack, path, browser)
    overflow = browser.execute_script(
        "return document.documentElement.scrollWidth - document.documentElement.clientWidth"
    )
    assert overflow == 0
    assert browser.find_elements(By.TAG_NAME, "script") == []
    log: list[dict[str, str]] = browser.get_log("browser")  # type: ignore[no-untyped-call]
    blocked = [entry for entry in log if "Content Security Policy" in entry["message"]]
    assert blocked == []
