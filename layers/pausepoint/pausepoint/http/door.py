"""What every function behind the API has in common: routing, errors, headers, logs, and who asks."""

from __future__ import annotations

import base64
import json
from collections.abc import Callable
from http import HTTPStatus
from typing import TYPE_CHECKING, Any, Final

from aws_lambda_powertools.event_handler import APIGatewayHttpResolver, Response
from aws_lambda_powertools.utilities.typing import LambdaContext

from pausepoint.bootstrap import Application
from pausepoint.errors import InvalidInput, PausepointError, Unauthenticated
from pausepoint.http.headers import security_headers
from pausepoint.http.problems import INTERNAL_PROBLEM, Problem, plain_problem, problem_of
from pausepoint.telemetry import flush_metrics, logger

if TYPE_CHECKING:
    from aws_lambda_powertools.event_handler.exceptions import NotFoundError
    from aws_lambda_powertools.utilities.data_classes import APIGatewayProxyEventV2

_UNSIGNED: Final = "unsigned caller"

Handler = Callable[[dict[str, Any], LambdaContext], dict[str, Any]]


def open_api() -> APIGatewayHttpResolver:
    """Return a resolver that answers every error as a problem."""
    api = APIGatewayHttpResolver()

    def ours(error: PausepointError) -> Response[str]:
        problem = problem_of(error)
        if problem.status >= HTTPStatus.INTERNAL_SERVER_ERROR:
            logger().exception("request failed")
        return problem_response(problem)

    def unforeseen(_: Exception) -> Response[str]:
        logger().exception("request failed")
        return problem_response(INTERNAL_PROBLEM)

    @api.not_found
    def no_route(_: NotFoundError) -> Response[str]:
        return problem_response(plain_problem(404, "no-route", "Not found", "No such route."))

    api.exception_handler(PausepointError)(ours)
    api.exception_handler(Exception)(unforeseen)
    return api


def handler(api: APIGatewayHttpResolver) -> Handler:
    """Return the Lambda handler for an API: resolves, and puts the security headers on every answer."""

    def handle(event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        logger().set_correlation_id(event.get("requestContext", {}).get("requestId"))
        try:
            answer = api.resolve(event, context)
        finally:
            flush_metrics()
        answer["headers"] = {**answer.get("headers", {}), **security_headers()}
        return answer

    return handle


def json_response(status: int, body: object, **headers: str) -> Response[str]:
    """Return a JSON answer."""
    text = json.dumps(body, ensure_ascii=False)
    return Response(status, content_type="application/json", body=text, headers=dict(headers))


def problem_response(problem: Problem) -> Response[str]:
    """Return a problem as an answer."""
    headers = {"Retry-After": str(problem.retry_after)} if problem.retry_after else {}
    text = json.dumps(problem.body, ensure_ascii=False)
    return Response(problem.status, "application/problem+json", text, headers=dict(headers))


def raw_body(event: APIGatewayProxyEventV2) -> bytes:
    """Return the body's bytes. Raises InvalidInput if the gateway's wrapping cannot be undone."""
    body = event.body or ""
    try:
        return base64.b64decode(body, validate=True) if event.is_base64_encoded else body.encode("utf-8")
    except ValueError as error:  # binascii.Error and UnicodeEncodeError are ValueErrors
        raise InvalidInput("The body is neither text nor base64.", field="body") from error


def caller(event: APIGatewayProxyEventV2, application: Application) -> str:
    """Return the ARN of who signed the request.

    Raises:
        Unauthenticated: nobody did. The gateway refuses that before; this guards against a gateway
            that was set up wrongly.
    """
    signer = _signer(event)
    if signer is None and application.settings.require_signed_caller:
        raise Unauthenticated("This route needs a request signed with AWS credentials (SigV4).")
    return signer or _UNSIGNED


def signed(event: APIGatewayProxyEventV2) -> bool:
    """Whether the gateway has checked an AWS signature on the request."""
    return _signer(event) is not None


def base_url(event: APIGatewayProxyEventV2, application: Application) -> str:
    """Return the API's public address: the parameter's, or the gateway's own; never a header's (R11)."""
    if application.settings.base_url:
        return application.settings.base_url.rstrip("/")
    stage = event.request_context.stage
    return f"https://{event.request_context.domain_name}" + ("" if stage == "$default" else f"/{stage}")


def _signer(event: APIGatewayProxyEventV2) -> str | None:
    authorizer = event.raw_event.get("requestContext", {}).get("authorizer") or {}
    arn = (authorizer.get("iam") or {}).get("userArn")
    return arn if isinstance(arn, str) and arn else None
