"""One local stack for all end-to-end tests, under the functions' own IAM policies."""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.e2e.stack import Stack
from tests.support.chromium import chromium
from tests.support.receivers import free_port

if TYPE_CHECKING:
    from selenium import webdriver


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
    with chromium(tmp_path) as driver:
        yield driver
