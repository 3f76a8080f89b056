"""Run pytest twice at once: `python -m tests.side_by_side ARGUMENTS -- ARGUMENTS`.

The first run is shown as it goes, the second when it is over. An interruption reaches both, and both clean up.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from typing import Final

_INTERRUPTED: Final = 130


def main(arguments: list[str]) -> int:
    """Return 0 if both runs do, else what the first that failed returned."""
    at = arguments.index("--")
    command = [sys.executable, "-m", "pytest"]
    apart = ["-o", "cache_dir=.cache/pytest-beside"]  # two runs must not write one cache
    with tempfile.TemporaryFile() as said:
        beside = subprocess.Popen([*command, *apart, *arguments[at + 1 :]], stdout=said, stderr=subprocess.STDOUT)
        try:
            status = subprocess.call([*command, *arguments[:at]])
        except KeyboardInterrupt:
            status = _INTERRUPTED
        other = _ended(beside)
        said.seek(0)
        sys.stdout.buffer.write(said.read())
        sys.stdout.flush()
    return status or other


def _ended(run: subprocess.Popen[bytes]) -> int:
    while True:
        try:
            return run.wait()
        except KeyboardInterrupt:
            continue


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
