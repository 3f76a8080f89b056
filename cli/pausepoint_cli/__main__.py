"""`python -m pausepoint_cli` is `pausepoint`."""

from __future__ import annotations

import sys

from pausepoint_cli import main

if __name__ == "__main__":
    sys.exit(main())
