"""Calling what may take too long, without waiting for it longer than there is time."""

from __future__ import annotations

import contextvars
import threading
from collections.abc import Callable
from typing import Generic, TypeVar

from pausepoint.errors import ToolCutOff

Result = TypeVar("Result")


class _Outcome(Generic[Result]):
    value: Result
    error: BaseException | None = None


def call_within(seconds: float, function: Callable[[], Result]) -> Result:
    """Return what a function returns, or raise what it raises.

    It runs in a thread of its own: Python cannot stop a function from outside. One that takes longer goes
    on until it ends or its process does, and what it returns is not heard any more.

    Raises:
        ToolCutOff: it did not come back within that many seconds.
    """
    outcome: _Outcome[Result] = _Outcome()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.value = context.run(function)
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            outcome.error = error

    thread = threading.Thread(target=run, name="tool", daemon=True)
    thread.start()
    thread.join(max(0.0, seconds))
    if thread.is_alive():
        raise ToolCutOff(f"The tool did not come back within {seconds:.0f} seconds.")
    if outcome.error is not None:
        raise outcome.error
    return outcome.value
