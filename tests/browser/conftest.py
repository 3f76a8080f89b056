"""One Chromium for each file of tests, and the gallery's pages on a loopback port."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

import pytest

from tests.browser.shots import answer
from tests.support.chromium import chromium
from tests.support.pages import Server, served

if TYPE_CHECKING:
    from selenium import webdriver


@pytest.fixture(scope="module")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[webdriver.Chrome]:
    with chromium(tmp_path_factory.mktemp("profile")) as driver:
        yield driver


@pytest.fixture
def gallery() -> Iterator[Server]:
    with served(answer) as server:
        yield server
