"""What the command line has around it: a clock, a network, a terminal, an editor. Tests bring their own."""

from __future__ import annotations

import io
import os
import shlex
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final, TextIO

from pausepoint_cli.exits import CommandError, Exit

if TYPE_CHECKING:
    from botocore.awsrequest import AWSPreparedRequest, AWSResponse

CONNECT_SECONDS: Final = 5
READ_SECONDS: Final = 40
"""Longer than an HTTP API takes for an answer (30 s)."""

Send = Callable[["AWSPreparedRequest"], "AWSResponse"]


@dataclass(frozen=True)
class World:
    """Everything that is not the command itself.

    Attributes:
        folder: where the command was given; `.local/stack.json` is looked for here and above.
        sleep: waits so many seconds.
        connect: gives what sends a prepared request to a URL like this one.
        edit: lets the person change a text, and returns what it became.
    """

    environ: Mapping[str, str]
    folder: Path
    stdin: TextIO
    stdout: TextIO
    stderr: TextIO
    now: Callable[[], datetime]
    sleep: Callable[[float], None]
    connect: Callable[[str, str | None], Send]
    edit: Callable[[str], str]


def system_world() -> World:
    """Return the real one. Characters that the terminal's encoding lacks are written as escapes."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")
    return World(
        environ=os.environ,
        folder=Path.cwd(),
        stdin=sys.stdin,
        stdout=sys.stdout,
        stderr=sys.stderr,
        now=lambda: datetime.now(UTC),
        sleep=time.sleep,
        connect=connect,
        edit=lambda text: edit(text, os.environ),
    )


def connect(url: str, ca_bundle: str | None) -> Send:
    """Return botocore's own way to send: with the proxies of the environment, without following redirects."""
    from botocore.httpsession import URLLib3Session  # noqa: PLC0415 - `--help` does not need it
    from botocore.utils import get_environ_proxies  # noqa: PLC0415

    make: Any = URLLib3Session  # the stubs know neither of a path to certificates nor of two timeouts
    send: Send = make(
        verify=ca_bundle or True, proxies=get_environ_proxies(url), timeout=(CONNECT_SECONDS, READ_SECONDS)
    ).send
    return send


def edit(text: str, environ: Mapping[str, str]) -> str:
    """Open VISUAL, EDITOR or vi with a JSON text, and return the text afterwards.

    Raises:
        CommandError: there is no such program, or it failed.
    """
    editor = environ.get("VISUAL") or environ.get("EDITOR") or "vi"
    with tempfile.TemporaryDirectory(prefix="pausepoint-") as folder:
        path = Path(folder) / "arguments.json"
        path.write_text(text, encoding="utf-8")
        try:
            done = subprocess.run([*shlex.split(editor), str(path)], check=False)  # noqa: S603 - the person's own program
        except (OSError, ValueError) as error:
            raise CommandError(
                Exit.USAGE, f"The editor {editor!r} cannot be started ({error}); set EDITOR, or use --set."
            ) from None
        if done.returncode:
            raise CommandError(Exit.DECLINED, f"The editor {editor!r} ended with {done.returncode}; nothing was sent.")
        return path.read_text(encoding="utf-8")
