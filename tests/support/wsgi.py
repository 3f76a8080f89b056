"""The API as a WSGI application: what API Gateway does between a socket and the functions."""

from __future__ import annotations

import base64
import json
import re
from collections.abc import Callable, Iterable
from typing import Any
from urllib.parse import parse_qsl

from tests.support.deployment import Deployment
from tests.support.gateway import CALLER, DOMAIN
from tools.openapi_routes import Route

_PUBLIC = "/approvals/"
_NOT_OURS = frozenset({"HTTP_HOST", "HTTP_CONNECTION"})


class Gateway:
    """Brings requests to the functions that have a route for them.

    Attributes:
        deployment: whose functions these are; to be set before the first request.
    """

    deployment: Deployment

    def __init__(self, routes: Iterable[Route]) -> None:
        self._routes = [
            (route, re.compile(re.sub(r"{(\w+)}", r"(?P<\1>[^/]+)", route.path), re.DOTALL)) for route in routes
        ]

    def __call__(self, environ: dict[str, Any], start_response: Callable[..., Any]) -> list[bytes]:
        method, path = environ["REQUEST_METHOD"], environ["PATH_INFO"].encode("latin-1").decode("utf-8", "replace")
        for route, pattern in self._routes:
            found = pattern.fullmatch(path)
            if found is not None and route.method == method:
                if not route.path.startswith(_PUBLIC) and not environ.get("HTTP_AUTHORIZATION"):
                    return _refused(start_response, "403 Forbidden")
                answer = self.deployment.send(route.function, _event(environ, route, path, found.groupdict()))
                start_response(f"{answer.status} X", list(answer.headers.items()))
                return [b"" if method == "HEAD" else answer.text.encode()]
        return _refused(start_response, "404 Not Found")


def _refused(start_response: Callable[..., Any], status: str) -> list[bytes]:
    start_response(status, [("Content-Type", "application/json")])
    return [json.dumps({"message": status[4:]}).encode()]


def _event(environ: dict[str, Any], route: Route, path: str, parameters: dict[str, str]) -> dict[str, Any]:
    raw = environ["wsgi.input"].read(int(environ.get("CONTENT_LENGTH") or 0))
    query: dict[str, str] = {}
    for name, value in parse_qsl(environ["QUERY_STRING"], keep_blank_values=True):
        query[name] = f"{query[name]},{value}" if name in query else value
    headers = {
        name.removeprefix("HTTP_").replace("_", "-").lower(): value
        for name, value in environ.items()
        if (name.startswith("HTTP_") and name not in _NOT_OURS) or name in ("CONTENT_TYPE", "CONTENT_LENGTH")
    }
    return {
        "version": "2.0",
        "routeKey": route.key,
        "rawPath": path,
        "rawQueryString": environ["QUERY_STRING"],
        "headers": headers,
        **({"queryStringParameters": query} if query else {}),
        **({"pathParameters": parameters} if parameters else {}),
        "requestContext": {
            "accountId": "123456789012",
            "apiId": "id",
            "authorizer": {"iam": {"accountId": "123456789012", "userArn": CALLER}},
            "domainName": DOMAIN,
            "http": {"method": route.method, "path": path, "protocol": "HTTP/1.1", "sourceIp": "192.0.2.1"},
            "requestId": "id",
            "routeKey": route.key,
            "stage": "$default",
        },
        **({"body": base64.b64encode(raw).decode("ascii")} if raw else {}),
        "isBase64Encoded": bool(raw),
    }
