"""Who may call which route, what is logged of it, and that each route has an event to replay."""

from __future__ import annotations

import json
from typing import Any

from tests.template.conftest import REPOSITORY
from tests.template.reading import resources

PAGE = "/approvals/{session_id}/{call_id}"
ROUTES = {
    "POST /sessions": "StartFunction",
    "POST /sessions/{session_id}/messages": "StartFunction",
    "POST /sessions/{session_id}/resume": "ResumeFunction",
    "POST /sessions/{session_id}/cancel": "SessionsFunction",
    "GET /sessions": "SessionsFunction",
    "GET /sessions/{session_id}": "SessionsFunction",
    "GET /sessions/{session_id}/events": "SessionsFunction",
    "GET /approvals": "SessionsFunction",
    f"GET {PAGE}": "ApprovalsFunction",
    f"HEAD {PAGE}": "ApprovalsFunction",
    f"POST {PAGE}": "ApprovalsFunction",
}


def _operations(template: dict[str, Any]) -> dict[str, Any]:
    [api] = resources(template, "AWS::ApiGatewayV2::Api").values()
    return {
        f"{method.upper()} {path}": operation
        for path, methods in api["Body"]["paths"].items()
        for method, operation in methods.items()
    }


def _stage(template: dict[str, Any]) -> Any:
    [stage] = resources(template, "AWS::ApiGatewayV2::Stage").values()
    return stage


def test_the_routes_lead_to_the_functions_that_answer_them(template: dict[str, Any]) -> None:
    found = {
        key: operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"].rpartition("${")[2].partition(".")[0]
        for key, operation in _operations(template).items()
    }
    assert found == ROUTES


def test_every_route_but_the_page_asks_for_a_signature(template: dict[str, Any]) -> None:
    unsigned = {key for key, found in _operations(template).items() if {"AWS_IAM": []} not in found.get("security", [])}
    assert unsigned == {key for key in ROUTES if key.endswith(PAGE)}


def test_the_access_log_has_the_route_and_neither_path_nor_query(template: dict[str, Any]) -> None:
    text = _stage(template)["AccessLogSettings"]["Format"]
    record = json.loads(text)
    assert record["routeKey"] == "$context.routeKey"
    for secret in ("path", "protocol", "queryString", "header", "domainName", "authorizer.", "overrideStatus"):
        assert f"$context.{secret}" not in text


def test_every_route_is_throttled(template: dict[str, Any]) -> None:
    settings = _stage(template)["DefaultRouteSettings"]
    assert set(settings) >= {"ThrottlingRateLimit", "ThrottlingBurstLimit"}


def test_no_other_site_may_read_the_answers(template: dict[str, Any]) -> None:
    [api] = resources(template, "AWS::ApiGatewayV2::Api").values()
    assert "x-amazon-apigateway-cors" not in api["Body"]
    assert "CorsConfiguration" not in api


def test_every_trigger_has_an_event(template: dict[str, Any]) -> None:
    events = [json.loads(path.read_text()) for path in (REPOSITORY / "events").glob("*.json")]
    assert {event["routeKey"] for event in events if "routeKey" in event} == set(_operations(template))
    records = [record for event in events for record in event.get("Records", [])]
    sources = {record.get("eventSource") or record["EventSource"] for record in records}
    assert sources == {"aws:sqs", "aws:dynamodb", "aws:sns"}
    assert [event["requestContext"]["condition"] for event in events if "requestPayload" in event] == [
        "RetriesExhausted"
    ]
    assert [event["detail-type"] for event in events if "detail-type" in event] == ["Scheduled Event"]
    assert len(resources(template, "AWS::Scheduler::Schedule")) == 1
