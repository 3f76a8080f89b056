"""A wire between boto3 and DynamoDB that loses answers, loses requests, and brings refusals."""

from __future__ import annotations

import json
from collections import defaultdict, deque
from collections.abc import Callable, Mapping
from typing import Any

from botocore.awsrequest import AWSPreparedRequest, AWSResponse
from botocore.compat import HTTPHeaders
from botocore.exceptions import ReadTimeoutError
from moto.core.botocore_stubber import MockRawResponse

Deliver = Callable[[AWSPreparedRequest], object]
Act = Callable[[], object]
ALWAYS = 1000


def nothing() -> None:
    """Do nothing."""


class Wire:
    """Sits in one client, between its retries and the server. Operations are named as in AWS's API.

    Attributes:
        sent: the operations of all attempts, oldest first, whatever became of them.
    """

    def __init__(self, client: Any, deliver: Deliver) -> None:
        """Args: deliver: brings a request to the server, where nothing else has done so by then."""
        self.sent: list[str] = []
        self._deliver = deliver
        self._lost_answers: dict[str, deque[Act]] = defaultdict(deque)
        self._lost_requests: dict[str, deque[Act]] = defaultdict(deque)
        self._answers: dict[str, list[tuple[Callable[[Any], object], int]]] = {}
        # The more specific handler comes first: before moto, which answers in the other's place.
        client.meta.events.register_first("before-send.dynamodb", self._before)
        client.meta.events.register_last("before-send", self._after)

    def lose_answer(self, operation: str, *, then: Act = nothing) -> None:
        """Let the next such request reach the server and lose its answer; do something before it is sent again."""
        self._lost_answers[operation].append(then)

    def lose_request(self, operation: str, *, meanwhile: Act = nothing) -> None:
        """Lose the next such request on its way; do something before it is sent again."""
        self._lost_requests[operation].append(meanwhile)

    def refuse(
        self, operation: str, code: str, *, times: int = ALWAYS, details: Mapping[str, Any] | None = None
    ) -> None:
        """Answer such requests with an error, and do not let them reach the server."""
        body = {"__type": f"com.amazonaws.dynamodb.v20120810#{code}", "message": "said the test", **(details or {})}
        self.answer(operation, lambda _: body, times=times, status=400)

    def answer(self, operation: str, make: Callable[[Any], object], *, times: int = ALWAYS, status: int = 200) -> None:
        """Answer such requests with what is made of their parameters, in the server's place."""
        self._answers[operation] = [(make, status)] * times

    def _before(self, request: AWSPreparedRequest, event_name: str, **_: Any) -> AWSResponse | None:
        operation = event_name.rpartition(".")[2]
        self.sent.append(operation)
        if self._lost_requests[operation]:
            self._lost_requests[operation].popleft()()
            raise ReadTimeoutError(endpoint_url=request.url)
        if not self._answers.get(operation):
            return None
        make, status = self._answers[operation].pop()
        asked: Any = request.body
        raw: Any = MockRawResponse(json.dumps(make(json.loads(asked))))
        request.url = "https://answered.invalid/"  # which moto, who is asked too, has no answer for
        return AWSResponse(request.url, status, HTTPHeaders(), raw)

    def _after(self, request: AWSPreparedRequest, event_name: str, **_: Any) -> None:
        operation = event_name.rpartition(".")[2]
        if self._lost_answers[operation]:
            then = self._lost_answers[operation].popleft()
            self._deliver(request)
            then()
            raise ReadTimeoutError(endpoint_url=request.url)
