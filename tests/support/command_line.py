"""The command line as a test runs it: with the real handlers or a script of answers behind it, and a person's input."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import parse_qsl, urlsplit

from pausepoint_cli.app import run
from pausepoint_cli.world import World
from tests.support.gateway import DOMAIN, request
from tests.support.sigv4 import signature_fits

if TYPE_CHECKING:
    from tests.support.deployment import Deployment

API: Final = f"https://{DOMAIN}"
ACCESS_KEY: Final = "AKIACOMMANDLINE00001"
SECRET_KEY: Final = "canary/of/the/command/lines/secret/key"
NOW: Final = datetime(2026, 11, 29, 16, 30, tzinfo=UTC)


@dataclass(frozen=True)
class Received:
    """An answer as the command line reads it."""

    status_code: int
    content: bytes
    headers: Mapping[str, str] = field(default_factory=dict)


def received(status: int, body: Any, **headers: str) -> Received:
    named = {name.replace("_", "-"): value for name, value in headers.items()}
    return Received(status, body if isinstance(body, bytes) else json.dumps(body).encode(), named)


class Terminal(io.StringIO):
    """A text stream that says it is a terminal."""

    def isatty(self) -> bool:
        return True


@dataclass(frozen=True)
class Ran:
    """How a command ended, and what it said."""

    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        """The one document on stdout."""
        return json.loads(self.out)

    @property
    def lines(self) -> list[Any]:
        """The documents on stdout, one on each line."""
        return [json.loads(line) for line in self.out.splitlines()]


@dataclass
class CommandLine:
    """Runs commands against whatever answers requests; what they wait for happens in `meanwhile`."""

    send: Callable[[Any], Received]
    folder: Path
    environ: dict[str, str] = field(default_factory=lambda: {"PAUSEPOINT_API": API})
    now: Callable[[], datetime] = lambda: NOW
    meanwhile: Callable[[], object] = lambda: None
    editor: Callable[[str], str] = lambda text: text
    slept: list[float] = field(default_factory=list)
    connected: list[tuple[str, str | None]] = field(default_factory=list)

    def __call__(self, *words: str, typed: str | None = None, terminal: bool = False) -> Ran:
        """Run one command. With `typed` somebody sits there and types that; stdout may be a terminal too."""
        out, err = (Terminal() if terminal else io.StringIO() for _ in range(2))
        stdin = io.StringIO() if typed is None else Terminal(typed)
        world = World(
            environ=self.environ,
            folder=self.folder,
            stdin=stdin,
            stdout=out,
            stderr=err,
            now=self.now,
            sleep=self._sleep,
            connect=self._connect,
            edit=self.editor,
        )
        return Ran(run(words, world), out.getvalue(), err.getvalue())

    def _sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.meanwhile()

    def _connect(self, url: str, ca_bundle: str | None) -> Callable[[Any], Any]:
        self.connected.append((url, ca_bundle))
        return self.send


class Script:
    """Answers requests from a list, and keeps what was asked."""

    def __init__(self, answers: Iterable[Received | Exception]) -> None:
        self._answers = iter(answers)
        self.requests: list[Any] = []

    def __call__(self, prepared: Any) -> Received:
        self.requests.append(prepared)
        answer = next(self._answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    @property
    def asked(self) -> list[str]:
        """The requests as `GET /path?query`."""
        return [f"{each.method} {each.url.removeprefix(API)}" for each in self.requests]

    def body(self, index: int = -1) -> Any:
        return json.loads(self.requests[index].body)


_ROUTES: Final = {
    ("POST", "sessions"): ("start", "start"),
    ("POST", "messages"): ("start", "message"),
    ("POST", "resume"): ("resume", "resume"),
    ("POST", "cancel"): ("sessions", "cancel"),
    ("GET", "sessions"): ("sessions", "sessions"),
    ("GET", "events"): ("sessions", "session-events"),
    ("GET", "approvals"): ("sessions", "approvals"),
}


class Handlers:
    """The gateway with the real functions behind it: checks the signature, and routes."""

    def __init__(self, deployment: Deployment) -> None:
        self._deployment = deployment
        self.bodies: list[Any] = []

    def __call__(self, prepared: Any) -> Received:
        body = prepared.body or b""
        headers = {
            name: value.decode() if isinstance(value, bytes) else value for name, value in prepared.headers.items()
        }
        if not signature_fits(prepared.method, prepared.url, headers, body, secret=SECRET_KEY):
            return received(403, {"message": "Forbidden"})
        parts = urlsplit(prepared.url)
        path = parts.path.strip("/").split("/")
        function, event = _ROUTES.get((prepared.method, path[-1]), ("sessions", "session"))
        asked = request(
            event,
            path[1] if len(path) > 1 else None,
            body=body.decode() or None,
            query=dict(parse_qsl(parts.query)),
            headers={name.lower(): value for name, value in headers.items()},
        )
        if body:
            self.bodies.append(json.loads(body))
        answer = self._deployment.send(function, asked)
        return Received(answer.status, answer.text.encode(), answer.headers)
