"""The HTTP API as the commands use it: one request and its answer, repeated where that is safe."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final
from urllib.parse import quote, urlencode

from pausepoint_cli.exits import CommandError, Exit, exit_of

if TYPE_CHECKING:
    from botocore.awsrequest import AWSRequest, AWSResponse

    from pausepoint_cli.where import Target
    from pausepoint_cli.world import World

ATTEMPTS: Final = 4
MAX_PAUSE: Final = 20.0
"""Seconds between two attempts, whatever Retry-After says."""
_TRANSIENT: Final = frozenset(
    {
        HTTPStatus.TOO_MANY_REQUESTS,
        HTTPStatus.BAD_GATEWAY,
        HTTPStatus.SERVICE_UNAVAILABLE,
        HTTPStatus.GATEWAY_TIMEOUT,
    }
)

Json = dict[str, Any]


class Refusal(CommandError):
    """The API refused a request. `problem` is its `application/problem+json`, or what it sent instead."""

    def __init__(self, status: int, problem: Json) -> None:
        self.status, self.problem = status, problem
        detail = str(problem.get("detail") or _said_by_the_gateway(status, problem.get("message")))
        told = f" ({problem['field']})" if "field" in problem else ""
        super().__init__(exit_of(status), detail + told)


@dataclass
class Api:
    """Sends requests. What is `repeatable` does the same however often it arrives, and is sent again when it must."""

    target: Target
    world: World
    _send: Any = field(default=None, init=False)

    def get(self, path: str, **query: object) -> Json:
        """Return what a path answers; a parameter of None is left out.

        Raises:
            Refusal: the API refused it. CommandError: it cannot be reached, or it is not our API.
        """
        asked = {name: str(value) for name, value in query.items() if value is not None}
        return self._request("GET", path + (f"?{urlencode(asked, quote_via=quote)}" if asked else ""))

    def pages(self, path: str, name: str, *, start: str | None = None, **query: object) -> Iterator[Json]:
        """Return the members of a list, page after page, from the place `start`."""
        following: object = start
        while True:
            page = self.get(path, next=following, **query)
            yield from page[name]
            following = page.get("next")
            if following is None:
                return

    def post(self, path: str, body: object = None, *, repeatable: bool, **headers: str) -> Json:
        """Post JSON and return the answer; raises like `get`."""
        return self._request("POST", path, body, headers, repeatable=repeatable)

    def _request(
        self, method: str, path: str, body: object = None, headers: Mapping[str, str] | None = None, *,
        repeatable: bool = True,
    ) -> Json:  # fmt: skip
        from botocore.exceptions import ConnectionError, HTTPClientError  # noqa: A004, PLC0415 - `--help` needs none

        for attempt in range(1, ATTEMPTS + 1):
            last = attempt == ATTEMPTS or not repeatable
            try:
                answer = self._once(method, path, body, headers or {})
            except (ConnectionError, HTTPClientError) as error:
                if last:
                    raise self._unreachable(error, repeatable=repeatable) from None
                self.world.sleep(_pause(attempt, None))
                continue
            if answer.status_code in _TRANSIENT and not last:
                self.world.sleep(_pause(attempt, answer.headers.get("Retry-After")))
                continue
            return _read(answer)
        raise AssertionError("the last attempt returns or raises")

    def _once(self, method: str, path: str, body: object, headers: Mapping[str, str]) -> AWSResponse:
        from botocore.awsrequest import AWSRequest  # noqa: PLC0415

        if self._send is None:
            self._send = self.world.connect(self.target.url, self.target.ca_bundle)
        data = None if body is None else json.dumps(body).encode("ascii")
        named = {"Accept": "application/json", "User-Agent": "pausepoint-cli", **headers}
        if data is not None:
            named["Content-Type"] = "application/json"
        request: AWSRequest = AWSRequest(method=method, url=self.target.url + path, data=data, headers=named)
        if self.target.signer is not None:
            self.target.signer.sign(request)
        answer: AWSResponse = self._send(request.prepare())
        return answer

    def _unreachable(self, error: Exception, *, repeatable: bool) -> CommandError:
        from botocore.exceptions import ConnectionError  # noqa: A004, PLC0415

        told = f"{self.target.url} cannot be reached, or did not answer: {error}"
        if not repeatable and not isinstance(error, ConnectionError):
            told += " It may have arrived all the same: look (`pausepoint list`) before you send it again."
        return CommandError(Exit.UNAVAILABLE, told)


def segment(text: str) -> str:
    """Return an id as one part of a path, whatever it contains."""
    return quote(text, safe="") if text.strip(".") else "-"  # dots alone would lead elsewhere


def _said_by_the_gateway(status: int, message: object) -> str:
    """Tell what an answer means that is none of Pausepoint's own problems."""
    told = f"The API answered {status}" + (f" ({message})." if message else ".")
    match status:
        case HTTPStatus.UNAUTHORIZED | HTTPStatus.FORBIDDEN:
            return f"{told} Are these the right credentials, and may they call it (execute-api:Invoke)?"
        case HTTPStatus.NOT_FOUND:
            return f"{told} Is this the address of a Pausepoint API?"
        case _:
            return told


def _pause(attempt: int, retry_after: str | None) -> float:
    wanted = float(retry_after) if retry_after and retry_after.isdecimal() else 0.5 * 2**attempt
    return min(max(wanted, 0.5), MAX_PAUSE)


def _read(answer: AWSResponse) -> Json:
    try:
        body = json.loads(answer.content)
    except (ValueError, RecursionError):
        body = None
    if answer.status_code in (HTTPStatus.OK, HTTPStatus.ACCEPTED):
        if isinstance(body, dict):
            return body
        raise CommandError(Exit.ERROR, "What answers there is not a Pausepoint API: its answer is no JSON object.")
    if HTTPStatus.MULTIPLE_CHOICES <= answer.status_code < HTTPStatus.BAD_REQUEST:
        raise CommandError(Exit.USAGE, "The API is somewhere else (it redirects): give its own address.")
    raise Refusal(answer.status_code, body if isinstance(body, dict) else {})
