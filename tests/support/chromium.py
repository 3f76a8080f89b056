"""Debian's Chromium, without a window, driven through its devtools."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final

from selenium import webdriver
from selenium.common.exceptions import NoAlertPresentException, WebDriverException
from selenium.webdriver.common.by import By
from selenium.webdriver.support import expected_conditions
from selenium.webdriver.support.ui import WebDriverWait

if TYPE_CHECKING:
    from selenium.webdriver.remote.webelement import WebElement

_FLAGS: Final = (
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--window-size=390,844",
)
_NO_SCRIPT: Final = {"profile.managed_default_content_settings.javascript": 2}


@contextmanager
def chromium(profile: Path, *, script: bool = True) -> Iterator[webdriver.Chrome]:
    """Start a browser with a profile of its own; without `script`, as people have it who switched it off."""
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    options.set_capability("goog:loggingPrefs", {"browser": "ALL", "performance": "ALL"})
    options.add_experimental_option("perfLoggingPrefs", {"enablePage": False})
    for flag in (*_FLAGS, f"--user-data-dir={profile}"):
        options.add_argument(flag)
    if not script:
        options.add_experimental_option("prefs", _NO_SCRIPT)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        driver.get("about:blank")
        requested(driver)  # by the browser's own first tab
        yield driver
    finally:
        driver.quit()


def requested(browser: webdriver.Chrome) -> list[str]:
    """Return the addresses that pages asked for since the last look, whether they were answered or blocked."""
    log: list[dict[str, str]] = browser.get_log("performance")  # type: ignore[no-untyped-call]
    messages: list[dict[str, Any]] = [json.loads(entry["message"])["message"] for entry in log]
    return [
        message["params"]["request"]["url"] for message in messages if message["method"] == "Network.requestWillBeSent"
    ]


def wait_until_left(browser: webdriver.Chrome, element: WebElement) -> None:
    """Wait until the page with this element is gone: another stands in its place."""
    # While one page follows the other, chromedriver may know neither: "Node … does not belong to the document".
    wait = WebDriverWait(browser, 60, ignored_exceptions=[WebDriverException])
    wait.until(expected_conditions.staleness_of(element))


def text_of(browser: webdriver.Chrome) -> str:
    """Return what a page says. It may be one that looks again by itself, and go while it is read."""
    wait = WebDriverWait(browser, 60, ignored_exceptions=[WebDriverException])
    text: str = wait.until(lambda reading: reading.find_element(By.TAG_NAME, "body").text)
    return text


def dialog(browser: webdriver.Chrome) -> str | None:
    """Return the text of a dialog that a page opened, and close it; None if there is none."""
    try:
        alert = browser.switch_to.alert
        text: str = alert.text
        alert.dismiss()
    except NoAlertPresentException:
        return None
    return text


def prefer(browser: webdriver.Chrome, scheme: str) -> None:
    """Have pages see that the reader prefers `light` or `dark`."""
    features = [{"name": "prefers-color-scheme", "value": scheme}]
    browser.execute_cdp_cmd("Emulation.setEmulatedMedia", {"features": features})


def resize(browser: webdriver.Chrome, width: int, height: int) -> None:
    """Give pages a viewport of this size in CSS pixels; windows cannot be that narrow."""
    metrics = {"width": width, "height": height, "deviceScaleFactor": 1, "mobile": width < 600}
    browser.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", metrics)
