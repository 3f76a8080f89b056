"""Whether an invocation has the time for what comes next, or another one would have more."""

from __future__ import annotations

from datetime import datetime
from typing import TYPE_CHECKING

from pausepoint.runtime.context import STEP_SECONDS, ExecutionContext
from pausepoint.runtime.ports import Clock

if TYPE_CHECKING:
    from pausepoint.domain.tools import Tool


class Pace:
    """The time of one invocation, which begins when this is made."""

    def __init__(self, context: ExecutionContext, clock: Clock) -> None:
        self._context = context
        self._clock = clock
        self._started_at = clock.now()

    def allows(self, *tools: Tool | None) -> bool:
        """Whether another step may start here, in which these tools are entered at the same time.

        None stands for a tool that there is not. One that says that it needs more than is left goes to an invocation
        that has more.
        """
        now = self._clock.now()
        if self._context.must_hand_over(now):
            return False
        needed = [tool.timeout for tool in tools if tool is not None and tool.timeout is not None]
        fits = not needed or self._context.tool_seconds(now) >= max(needed)
        return fits or not self.longer_elsewhere(now)

    def longer_elsewhere(self, since: datetime) -> bool:
        """Whether what was begun then would have had more time in an invocation of its own, from the work queue.

        An invocation from there that did nothing else before has as much time as there ever is.
        """
        begun = (since - self._started_at).total_seconds()
        return self._context.answer_by is not None or begun > STEP_SECONDS
