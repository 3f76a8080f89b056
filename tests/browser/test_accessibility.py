"""Every page in every state: no violation that axe can find, light and dark, and it fits a narrow phone."""

from __future__ import annotations

import json
import os
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.common.keys import Keys

from tests.browser.gallery import PAGES
from tests.support.chromium import prefer, resize
from tests.support.pages import Server

if TYPE_CHECKING:
    from selenium import webdriver

AXE: Final = Path(__file__).with_name("node_modules") / "axe-core" / "axe.min.js"
RULES: Final = {"runOnly": ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"]}
UNFOLD: Final = "document.querySelectorAll('details').forEach(each => { each.open = true })"

pytestmark = pytest.mark.browser


@cache
def axe() -> str:
    if not AXE.exists() and os.environ.get("CI", "").lower() != "true":
        pytest.skip("axe-core is not installed: make test does that where there is npm")
    return AXE.read_text(encoding="utf-8")


def violations(browser: webdriver.Chrome) -> list[str]:
    """Return what axe finds wrong with the page that is open. The devtools run it: the page's policy forbids script."""
    browser.execute_script(UNFOLD)
    browser.execute_script(axe())
    found: dict[str, Any] = browser.execute_async_script(
        "const done = arguments[1]; axe.run(document, arguments[0]).then(done, error => done({error: String(error)}))",
        RULES,
    )
    assert found.get("passes"), found
    unsure = [node["html"] for each in found["incomplete"] if each["id"] == "color-contrast" for node in each["nodes"]]
    # The signs for blanks are no text to axe; they have the colour of the hints, which it does measure.
    assert [html for html in unsure if not html.startswith('<span class="mark">')] == []
    return [
        json.dumps({"rule": each["id"], "where": [node["html"] for node in each["nodes"]][:3]})
        for each in found["violations"]
    ]


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("state", PAGES)
def test_axe_finds_nothing_wrong(browser: webdriver.Chrome, gallery: Server, state: str, scheme: str) -> None:
    prefer(browser, scheme)
    resize(browser, 390, 844)
    browser.get(f"{gallery.url}/{state}")
    paper = browser.execute_script("return getComputedStyle(document.body).backgroundColor")
    assert paper == {"light": "rgb(246, 246, 244)", "dark": "rgb(19, 22, 25)"}[scheme]
    assert violations(browser) == []


def test_axe_would_find_something_wrong(browser: webdriver.Chrome, gallery: Server) -> None:
    prefer(browser, "light")
    browser.get(f"{gallery.url}/pending")
    browser.execute_script("document.querySelector('.aside').style.color = 'rgb(200, 200, 200)'")
    browser.execute_script("document.querySelector('label').remove()")
    rules = {json.loads(each)["rule"] for each in violations(browser)}
    assert {"color-contrast", "label"} <= rules


@pytest.mark.parametrize("width", [320, 390, 1100])
@pytest.mark.parametrize("state", PAGES)
def test_nothing_is_wider_than_the_screen(browser: webdriver.Chrome, gallery: Server, state: str, width: int) -> None:
    resize(browser, width, 700)
    browser.get(f"{gallery.url}/{state}")
    browser.execute_script(UNFOLD)
    assert browser.execute_script("return innerWidth") == width
    wide = browser.execute_script(
        "return [...document.querySelectorAll('body *:not(.unseen)')].filter(e => !e.closest('.unseen') && "
        "e.getBoundingClientRect().right > innerWidth + 1).map(e => e.outerHTML.slice(0, 200))"
    )
    assert wide == []
    assert browser.execute_script("return document.documentElement.scrollWidth") <= width


def test_the_keyboard_reaches_everything_in_order_and_shows_where_it_is(
    browser: webdriver.Chrome, gallery: Server
) -> None:
    browser.get(f"{gallery.url}/pending-large")
    reached = []
    for _ in range(6):
        browser.switch_to.active_element.send_keys(Keys.TAB)
        here = browser.switch_to.active_element
        outline = browser.execute_script("return getComputedStyle(arguments[0]).outlineStyle", here)
        reached.append(here.get_attribute("name") or here.tag_name)
        assert outline != "none", reached
    assert reached == ["summary", "summary", "reason", "word", "decision", "decision"]
    assert browser.switch_to.active_element.get_attribute("value") == "approved"


def test_a_long_value_is_folded_by_keyboard_and_then_says_that_nothing_of_it_is_shown(
    browser: webdriver.Chrome, gallery: Server
) -> None:
    browser.get(f"{gallery.url}/pending-long")
    summary = browser.find_element(By.CSS_SELECTOR, ".long > summary")
    assert "all of it is shown" in summary.text
    assert "059 Lorem" in browser.find_element(By.TAG_NAME, "main").text
    summary.send_keys(Keys.ENTER)
    assert "60 lines, 2,579 characters: folded, nothing of it is shown" in summary.text
    assert "Lorem" not in browser.find_element(By.CSS_SELECTOR, "dl.arguments").text
