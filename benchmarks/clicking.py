"""The page's function, in a process of its own: a look, more looks, and a decision, through its Lambda handler.

Run as a child process in the layer, like benchmarks/scenario.py.
"""

from __future__ import annotations

import base64
import importlib
import io
import json
import re
import sys
import time
from contextlib import redirect_stdout
from http import HTTPStatus
from pathlib import Path
from typing import Any, Final
from urllib.parse import parse_qs, urlencode, urlsplit

from benchmarks.metering import Meter

_EVENTS: Final = Path(__file__).parents[1] / "events"


class _Context:
    aws_request_id = "benchmark"
    function_name = "approvals"
    function_version = "$LATEST"
    memory_limit_in_mb = 512
    invoked_function_arn = "arn:aws:lambda:us-east-1:123456789012:function:approvals"

    def get_remaining_time_in_millis(self) -> int:
        return 29_000


class Page:
    """The function, and a link to a call that waits."""

    def __init__(self, link: str, *, metered: bool) -> None:
        self._parts = urlsplit(link)
        self._token = parse_qs(self._parts.query)["t"][0]
        begun = time.perf_counter()
        self._handler = importlib.import_module("app").handler
        self.imported = time.perf_counter() - begun
        from pausepoint.adapters import aws  # noqa: PLC0415 - the handler's import is what is timed

        self._meter = Meter()
        if metered:
            self._meter.listen(aws.session())

    def get(self) -> tuple[dict[str, Any], str]:
        """Open the link; return what it took, and the page."""
        query = {"rawQueryString": self._parts.query, "queryStringParameters": {"t": self._token}}
        return self._sent("approval-page", query)

    def post(self, html: str) -> dict[str, Any]:
        """Approve by the form of a page; return what it took."""
        digest = re.search(r'name="digest" value="(\w+)"', html)
        assert digest is not None, html
        form = urlencode({"t": self._token, "digest": digest.group(1), "decision": "approved", "reason": ""})
        taken, html = self._sent("approval-decision", {"body": base64.b64encode(form.encode()).decode()})
        assert "Approved" in html, html
        return taken

    def _sent(self, event: str, changes: dict[str, Any]) -> tuple[dict[str, Any], str]:
        path = self._parts.path
        told = json.loads((_EVENTS / f"{event}.json").read_text(encoding="utf-8")) | changes | {"rawPath": path}
        told["requestContext"]["http"]["path"] = path
        self._meter.forget()
        begun, cpu = time.perf_counter(), time.process_time()
        answer = self._handler(told, _Context())
        taken = {"seconds": time.perf_counter() - begun, "cpu": time.process_time() - cpu}
        assert answer["statusCode"] == HTTPStatus.OK, answer
        return {**taken, **self._meter.report(), "bytes": len(answer["body"])}, answer["body"]


def main() -> None:
    """Look once, look as often again as the step says, and decide."""
    step = json.load(sys.stdin)
    with redirect_stdout(io.StringIO()):  # the function's logs and metrics
        page = Page(step["link"], metered=step["metered"])
        first, html = page.get()
        again = [page.get()[0] for _ in range(step["looks"])]
        post = page.post(html)
    sys.stdout.write(json.dumps({"imported": page.imported, "first": first, "again": again, "post": post}))


if __name__ == "__main__":
    main()
