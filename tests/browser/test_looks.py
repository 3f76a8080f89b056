"""R25 on the screen: what differs in a place that is easily overlooked makes another picture."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from selenium.webdriver.common.by import By

from pausepoint.http.headers import security_headers
from pausepoint.http.page import approval_page
from tests.support.chromium import resize
from tests.support.pages import PAGE_TYPE, Asked, Sent, served
from tests.unit.http.samples import NOW, pending_call

if TYPE_CHECKING:
    from selenium import webdriver

pytestmark = pytest.mark.browser

PAIRS: list[tuple[Any, Any]] = [
    ("\u05d01", "1\u05d0"),
    ("a \u05d0 1", "a 1 \u05d0"),
    ("\u05d0, \u05d1", "\u05d1, \u05d0"),
    ("(\u05d0)", ")\u05d0("),
    ("\u0661-\u0662", "\u0662-\u0661"),
    ("\u06271\u0628", "\u06281\u0627"),
    ("a.txt", "a.txt "),
    ("a.txt", "a.txt\u200b"),
    ("a b", "a\u00a0b"),
    ("a b", "a  b"),
    ("a\nb", "a b"),
    ("a\n\nb", "a\n \nb"),
    ("e\u0301", "é"),
    ("txt.exe", "\u202eexe.txt"),
    ("x" * 60 + " y", "x" * 60 + "y"),
    ("x" * 33 + " y", "x" * 33 + "y"),
    ("x" * 35 + " y", "x" * 35 + "y"),
    ("1", 1),
    (1, 1.0),
    ("null", None),
    ("", []),
    ({"a.b": 1}, {"a": {"b": 1}}),
    (["a", "b"], ["a b"]),
    ([["a"], "b"], [["a", "b"]]),
    ([{"a": 1}, {}], [{"a": 1}, {"a": ""}]),
    ({"a": "1"}, {"a": 1}),
    ("\u200b" * 2, "\u200b" * 3),
    ("ffi", "\ufb03"),
    ("tab\tx", "tab x"),
]


@pytest.mark.parametrize("width", [320, 1100])
def test_r25_no_two_of_these_look_the_same(browser: webdriver.Chrome, width: int) -> None:
    def answer(asked: Asked) -> Sent:
        headers = {**security_headers(), "Content-Type": PAGE_TYPE}
        if not asked.target[1:].isdigit():
            return Sent(404, headers, "")
        number, which = divmod(int(asked.target[1:]), 2)
        page = approval_page(pending_call({"k": PAIRS[number][which]}), token="t", action="/", now=NOW)
        return Sent(200, headers, page)

    resize(browser, width, 800)
    with served(answer) as server:
        for number, pair in enumerate(PAIRS):
            pictures = []
            for which in (0, 1):
                browser.get(f"{server.url}/{2 * number + which}")
                pictures.append(browser.find_element(By.CSS_SELECTOR, "dl.arguments").screenshot_as_png)
            assert pictures[0] != pictures[1], pair
