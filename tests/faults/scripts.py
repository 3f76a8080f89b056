"""Running the product's code up to its next call of the outside world, with the answers it has had so far.

The code of an actor is deterministic, so what it does next follows from the answers it got and from the
clock. There are no threads: to carry an actor on, its code runs again from its beginning, and the answers
of before are played back to it.
"""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime
from typing import Any, Final, cast

from pausepoint.errors import ToolCutOff
from pausepoint.runtime.context import Services
from pausepoint.runtime.ports import CallWithin, Clock, Notifier, Result, SessionStore, WorkQueue

SILENT: Final = logging.getLogger("pausepoint.faults")
SILENT.disabled = True

Answer = tuple[Any, datetime]
"""What a call gave back (or the exception it raised), and what the clock said when the caller heard of it."""


@dataclass(frozen=True)
class Op:
    """A call of the outside world that an actor is about to make."""

    port: str
    method: str
    args: tuple[Any, ...]
    kwargs: Mapping[str, Any]


@dataclass(frozen=True)
class Finished:
    """An actor is through; `notes` is what it wants remembered."""

    notes: tuple[tuple[str, ...], ...] = ()


class Suspend(BaseException):
    """Stops an actor's code where it asks for what nobody has answered yet. Not an error: nothing catches it."""

    def __init__(self, op: Op) -> None:
        super().__init__(op.method)
        self.op = op


def in_line(clock: Clock) -> CallWithin:
    """Run tools in their caller's thread; whether they came back in time is a matter of the played clock."""

    def call_within(seconds: float, function: Callable[[], Result]) -> Result:
        begun = clock.now()
        result = function()
        if (clock.now() - begun).total_seconds() > seconds:
            raise ToolCutOff("The tool did not come back in time.")
        return result

    return call_within


class Script:
    """The outside world of one actor, played back."""

    def __init__(self, actor: str, answers: tuple[Answer, ...]) -> None:
        self.actor = actor
        self._answers = answers
        self._next = 1
        self._clock = answers[0][1]
        self._made = 0

    def now(self) -> datetime:
        """Honour `Clock`."""
        return self._clock

    def name(self) -> str:
        """Return an id that tells who made it."""
        self._made += 1
        return f"{self.actor}.{self._made}"

    def call(self, port: str, method: str, *args: Any, **kwargs: Any) -> Any:
        """Return or raise what was answered, or stop here."""
        if self._next == len(self._answers):
            raise Suspend(Op(port, method, args, kwargs))
        answer, self._clock = self._answers[self._next]
        self._next += 1
        if isinstance(answer, BaseException):
            raise answer.with_traceback(None)
        return answer

    def services(self) -> Services:
        """Return the world as the product sees it."""
        return Services(
            store=cast("SessionStore", _Port(self, "store")),
            notifier=cast("Notifier", _Port(self, "notifier")),
            queue=cast("WorkQueue", _Port(self, "queue")),
            clock=self,
            new_id=self.name,
            new_token=self.name,
            logger=SILENT,
            call_within=in_line(self),
        )


class _Port:
    def __init__(self, script: Script, port: str) -> None:
        self._script, self._port = script, port

    def __getattr__(self, method: str) -> Callable[..., Any]:
        script, port = self._script, self._port
        return lambda *args, **kwargs: script.call(port, method, *args, **kwargs)


Program = Callable[[Script], tuple[tuple[str, ...], ...]]

_running: list[Any] = []


def current() -> Any:
    """Return the script (or world) whose code runs now: what tools and models talk to."""
    return _running[-1]


@contextmanager
def running(world: object) -> Iterator[None]:
    """Make it the current one."""
    _running.append(world)
    try:
        yield
    finally:
        _running.pop()


def run(program: Program, actor: str, answers: tuple[Answer, ...]) -> Op | Finished:
    """Return what an actor does next after it had these answers."""
    script = Script(actor, answers)
    with running(script):
        try:
            return Finished(tuple(program(script)))
        except Suspend as stopped:
            return stopped.op
