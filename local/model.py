"""A stand-in for Amazon Bedrock's Converse: strict as Bedrock, answers by simple rules, no LLM."""

from __future__ import annotations

import argparse
import json
import logging
import re
import threading
import time
import uuid
from collections import deque
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import unquote

from local import model_page, model_reasoning, model_rules
from local.loopback import (
    LoopbackServer,
    Reply,
    Request,
    RequestRefusedError,
    json_reply,
    page_reply,
    serve_until_stopped,
)
from local.model_script import Failure, ScriptError, Scripts
from local.model_turns import ConverseError, Json, Turn, compose, first_text
from local.model_validation import validate

if TYPE_CHECKING:
    from collections.abc import Callable

_MAX_CALLS_KEPT = 2_000
_CONVERSE_PATH = re.compile(r"/model/(?P<model_id>[^/]+)/converse")

logger = logging.getLogger(__name__)


class ModelStandIn:
    """Answers Converse, and lets tests script it and count its calls."""

    max_body_bytes = 25 * 1024 * 1024

    def __init__(self) -> None:
        self.scripts = Scripts()
        self._calls: deque[Json] = deque(maxlen=_MAX_CALLS_KEPT)
        self._lock = threading.Lock()

    def answer(self, request: Request) -> Reply:
        """Answer one HTTP request."""
        converse = _CONVERSE_PATH.fullmatch(request.path)
        if request.method == "POST" and converse:
            return self._converse(unquote(converse["model_id"]), request)
        routes: dict[tuple[str, str], Callable[[Request], Reply]] = {
            ("GET", "/"): lambda _: page_reply(model_page.render()),
            ("GET", "/health"): lambda _: json_reply({"status": "ok", "what": model_rules.NOTE}),
            ("POST", "/script"): self._add_script,
            ("DELETE", "/script"): self._clear_scripts,
            ("GET", "/calls"): self._list_calls,
            ("DELETE", "/calls"): self._clear_calls,
        }
        return routes.get((request.method, request.path), _unknown)(request)

    def _add_script(self, request: Request) -> Reply:
        try:
            return json_reply({"scripts": self.scripts.add(request.json())})
        except ScriptError as problem:
            raise RequestRefusedError(HTTPStatus.BAD_REQUEST, str(problem)) from None

    def _clear_scripts(self, _: Request) -> Reply:
        self.scripts.clear()
        return json_reply({"scripts": 0})

    def _list_calls(self, request: Request) -> Reply:
        with self._lock:
            calls = list(self._calls)
        if "requests" in request.query:
            return json_reply(calls)
        return json_reply([{k: v for k, v in each.items() if k != "request"} for each in calls])

    def _clear_calls(self, _: Request) -> Reply:
        with self._lock:
            self._calls.clear()
        return json_reply([])

    def _converse(self, model_id: str, http: Request) -> Reply:
        delay = 0.0
        record: Json = {"model_id": model_id, "messages": 0, "first_text": "", "dropped": []}
        try:
            body = http.json()
            record |= {"request": body, **_outline(body)}
            record["dropped"] = validate(model_id, body)
            if "maxTokens" not in (body.get("inferenceConfig") or {}):
                logger.warning("A request came without inferenceConfig.maxTokens.")
            step = self.scripts.next(body) or _by_rules(body)
            delay = step.delay_seconds
            if isinstance(step, Failure):
                raise step.error
            reply = json_reply(compose(step, model_id, body), headers=_request_id())
        except RequestRefusedError as refused:
            reply = _error_reply(ConverseError(refused.status, "SerializationException", refused.message))
        except ConverseError as error:
            record["error"] = {"type": error.error_type, "message": error.message}
            reply = _error_reply(error)
        with self._lock:
            self._calls.append({**record, "status": int(reply.status)})
        time.sleep(delay)
        return reply


def _unknown(_: Request) -> Reply:
    return _error_reply(ConverseError(HTTPStatus.NOT_FOUND, "UnknownOperationException", "Unknown operation."))


def _by_rules(body: Json) -> Turn:
    turn = model_rules.answer(body)
    if not model_reasoning.wants_reasoning(body):
        return turn
    return Turn(turn.text, turn.calls, reasoning="text")


def _outline(body: Any) -> Json:
    # Read before the request is checked, so anything may be missing.
    try:
        return {"messages": len(body["messages"]), "first_text": first_text(body)}
    except (KeyError, TypeError, IndexError):
        return {}


def _error_reply(error: ConverseError) -> Reply:
    headers = {"x-amzn-ErrorType": error.error_type, **_request_id()}
    return json_reply({"message": error.message}, error.status, headers)


def _request_id() -> dict[str, str]:
    return {"x-amzn-RequestId": str(uuid.uuid4())}


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.model", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--script", type=Path, help="a JSON file as POST /script takes it")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    stand_in = ModelStandIn()
    if arguments.script:
        try:
            stand_in.scripts.add(json.loads(arguments.script.read_text(encoding="utf-8")))
        except (OSError, ValueError, ScriptError) as problem:
            parser.error(f"{arguments.script}: {problem}")
    server = LoopbackServer(arguments.port, stand_in)
    print(f"Local model (no LLM): {server.url}/", flush=True)
    serve_until_stopped(server)


if __name__ == "__main__":
    main()
