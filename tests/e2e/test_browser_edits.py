"""Changing what runs, and answering a question, in a real Chromium on the whole stack."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from selenium.webdriver.common.by import By

from tests.e2e.stack import Stack
from tests.support.chromium import text_of, wait_until_left

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = [pytest.mark.e2e, pytest.mark.browser]


def _open(stack: Stack, message: str, browser: webdriver.Chrome) -> str:
    paused = stack.start_session(message)
    browser.get(stack.link(paused["session_id"], paused["pending_calls"][0]["call_id"]))
    session_id: str = paused["session_id"]
    return session_id


def _press(browser: webdriver.Chrome, selector: str) -> str:
    """Press a button, and return the text of the page that comes."""
    button = browser.find_element(By.CSS_SELECTOR, selector)
    button.click()
    wait_until_left(browser, button)
    return text_of(browser)


def _type(browser: webdriver.Chrome, text: str) -> None:
    field = browser.find_element(By.NAME, "argument.path")
    field.clear()
    field.send_keys(text)


def test_case_05_case_29_a_person_has_it_run_with_another_argument(
    stack: Stack, path: str, browser: webdriver.Chrome
) -> None:
    other = f"other-{path}"
    stack.put_file(other)
    session_id = _open(stack, f"delete {path}", browser)
    before = stack.rows(session_id)
    browser.find_element(By.CSS_SELECTOR, "#edit summary").click()

    _type(browser, "")
    refused = _press(browser, "button[value=edit]")
    assert "must have at least 1 characters." in refused
    wrong = browser.find_element(By.ID, "edit-1-wrong")
    assert browser.execute_script("return arguments[0].getBoundingClientRect().top < innerHeight", wrong)

    _type(browser, other)
    shown = _press(browser, "button[value=edit]")
    assert "Nothing is decided yet." in shown
    assert browser.find_element(By.TAG_NAME, "ins").text in other
    assert stack.rows(session_id) == before

    assert "approved" in _press(browser, "button[value=approved]").lower()
    done = stack.settled(session_id, "completed")
    assert f'to {{"path":"{other}"}}' in done["output"]
    assert path in stack.files()
    assert other not in stack.files()


def test_a_person_presses_a_choice(stack: Stack, browser: webdriver.Chrome) -> None:
    session_id = _open(stack, "ask Which file may go? (a.txt, b.txt)", browser)
    assert "Which file may go?" in browser.find_element(By.TAG_NAME, "h1").text
    assert "b.txt" in _press(browser, "button[name=choice][value='1']")
    assert "ask_human: b.txt" in stack.settled(session_id, "completed")["output"]


def test_a_person_writes_an_answer(stack: Stack, browser: webdriver.Chrome) -> None:
    session_id = _open(stack, "ask Which file may go?", browser)
    browser.find_element(By.NAME, "answer").send_keys('the "second" one\nof both')
    assert "Answered" in _press(browser, "button[value=answered]")
    assert 'ask_human: the "second" one\nof both' in stack.settled(session_id, "completed")["output"]
