"""What child processes have in common: a step's parameters on standard input, its measurements on standard output."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable
from typing import Any

from benchmarks.metering import Meter

Step = Callable[[dict[str, Any], Meter], dict[str, Any]]


def do(*steps: Step) -> None:
    """Do the step that is asked for by its name."""
    asked = json.load(sys.stdin)
    (step,) = (each for each in steps if each.__name__ == asked["step"])
    sys.stdout.write(json.dumps(step(asked, Meter())))
