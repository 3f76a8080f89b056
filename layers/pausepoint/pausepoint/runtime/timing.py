"""Calling what may take too long, without waiting for it longer than there is time."""

from __future__ import annotations

import contextvars
from collections.abc import Callable
from queue import Empty, SimpleQueue
from threading import Thread
from typing import Final, TypeVar

from pausepoint.errors import ToolCutOff

Result = TypeVar("Result")
_Work = Callable[[], None]

_idle: Final[list[SimpleQueue[_Work]]] = []
"""What threads wait for that have nothing to do: starting one takes longer than many a tool."""


def call_within(seconds: float, function: Callable[[], Result]) -> Result:
    """Return what a function returns, or raise what it raises.

    It runs in a thread that runs nothing else meanwhile: Python cannot stop a function from outside. One that takes
    longer goes on until it ends or its process does, and what it returns is not heard any more.

    Raises:
        ToolCutOff: it did not come back within that many seconds.
    """
    outcome: SimpleQueue[tuple[Result | None, BaseException | None]] = SimpleQueue()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            outcome.put((context.run(function), None))
        except BaseException as error:  # noqa: BLE001 - it is raised again where it is waited for
            outcome.put((None, error))

    try:
        thread = _idle.pop()
    except IndexError:
        thread = _started()
    thread.put(run)
    try:
        result, error = outcome.get(timeout=max(0.0, seconds))
    except Empty:
        raise ToolCutOff(f"The tool did not come back within {seconds:.0f} seconds.") from None
    _idle.append(thread)
    if error is not None:
        raise error
    return result  # type: ignore[return-value] # without an error there is a result


def _started() -> SimpleQueue[_Work]:
    work: SimpleQueue[_Work] = SimpleQueue()

    def run() -> None:
        while True:
            work.get()()

    # A daemon: what hangs in it must not hold the process.
    Thread(target=run, name="tool", daemon=True).start()
    return work
