"""The command line `pausepoint`: starts and watches sessions, and decides, over the HTTP API alone."""

from __future__ import annotations

import sys


def main() -> int:
    """Run the command that the command line names, and return the exit code.

    What it needs beyond the library comes by the extra `cli`, which may not be there.
    """
    try:
        from pausepoint_cli.app import run  # noqa: PLC0415 - see above
    except ModuleNotFoundError as missing:
        if missing.name not in ("rich", "typer"):
            raise
        sys.stderr.write("Error: the command line is an extra of its own: pip install 'pausepoint[cli]'.\n")
        return 1
    return run(sys.argv[1:])
