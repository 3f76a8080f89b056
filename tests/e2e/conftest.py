"""One local stack for all end-to-end tests, under the functions' own IAM policies."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path

import pytest
from selenium import webdriver

from tests.e2e.stack import Stack
from tests.support.receivers import free_port

_FLAGS = (
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


@pytest.fixture(scope="session")
def running_stack(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Stack]:
    stack = Stack(tmp_path_factory.mktemp("stack"), hook_port=free_port())
    try:
        stack.start()
        yield stack
    finally:
        assert stack.stop() == 0


@pytest.fixture
def stack(running_stack: Stack) -> Stack:
    return running_stack


@pytest.fixture
def path(stack: Stack) -> str:
    """A file of the test's own."""
    name = f"{uuid.uuid4().hex[:12]}.txt"
    stack.put_file(name)
    return name


@pytest.fixture
def browser(tmp_path: Path) -> Iterator[webdriver.Chrome]:
    options = webdriver.ChromeOptions()
    options.binary_location = "/usr/bin/chromium"
    for flag in (*_FLAGS, f"--user-data-dir={tmp_path}"):
        options.add_argument(flag)
    driver = webdriver.Chrome(options=options, service=webdriver.ChromeService("/usr/bin/chromedriver"))
    try:
        yield driver
    finally:
        driver.quit()
