"""What the functions send to AWS: a test can count it, and make it fail."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Final
from unittest.mock import patch

from botocore.awsrequest import AWSResponse
from botocore.compat import HTTPHeaders
from moto.core.botocore_stubber import BotocoreStubber

READS: Final = frozenset({"GetItem", "Query", "BatchGetItem", "Scan", "TransactGetItems"})
ANY: Final = "*"
THROTTLED: Final = "ThrottlingException"
_BODY: Final = {
    False: '{{"__type": "com.amazonaws#{code}", "message": "made to fail"}}',
    True: "<ErrorResponse><Error><Code>{code}</Code><Message>made to fail</Message></Error></ErrorResponse>",
}
"""By whether the service speaks XML, as SNS does."""


class _Raw(io.BytesIO):
    def stream(self, **_: Any) -> Iterator[bytes]:
        yield self.read()


class Wire:
    """Between the functions' clients and AWS.

    Attributes:
        sent: each request as `service.Operation`, repetitions included.
        sizes: the bytes of each request's body.
    """

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.sizes: list[int] = []
        self._faults: dict[str, tuple[str, int, int]] = {}

    def fail(self, operation: str, code: str = THROTTLED, *, status: int = 400, times: int = 10**6) -> None:
        """Let an operation (`dynamodb.Query`, or `dynamodb.*` for all) fail so many times."""
        self._faults[operation] = (code, status, times)

    def heal(self) -> None:
        self._faults.clear()

    @property
    def reads(self) -> list[str]:
        return [name for name in self.sent if name.split(".")[1] in READS]

    @property
    def writes(self) -> list[str]:
        return [name for name in self.sent if name.split(".")[1] not in READS]

    def answer(self, request: Any, event_name: str) -> AWSResponse | None:
        """Answer in AWS's place, or return None to let the request through."""
        _, service, operation = event_name.split(".")
        self.sent.append(f"{service}.{operation}")
        self.sizes.append(len(request.body or b""))
        for name in (f"{service}.{operation}", f"{service}.{ANY}"):
            code, status, times = self._faults.get(name, ("", 0, 0))
            if times > 0:
                self._faults[name] = (code, status, times - 1)
                headers = HTTPHeaders.from_dict({"x-amzn-query-error": f"{code};Sender"})
                return AWSResponse(
                    request.url, status, headers, _Raw(_BODY[service == "sns"].format(code=code).encode())
                )
        return None


@contextmanager
def on_the_wire(access_key: str) -> Iterator[Wire]:
    """Stand between moto and the clients that sign with this key."""
    wire = Wire()
    through = BotocoreStubber.__call__

    def answered(self: BotocoreStubber, event_name: str, request: Any, **rest: Any) -> Any:
        mine = f"Credential={access_key}/".encode() in request.headers["Authorization"]
        answer = wire.answer(request, event_name) if mine else None
        return answer or through(self, event_name, request, **rest)

    with patch.object(BotocoreStubber, "__call__", answered):
        yield wire
