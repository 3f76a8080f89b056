"""Who is told what: the topic's subscribers, the table's stream, webhooks only where there is an address."""

from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

from local.inbox import FOR_PEOPLE
from pausepoint.domain.calls import CallStatus
from pausepoint.runtime.notices import news_of
from tests.support.news import AT, asked_call
from tests.template.reading import resources, short

PEOPLE = ["requested", "reminded", "in_doubt", "expired"]


def test_the_local_mailbox_shows_what_is_mailed() -> None:
    assert list(FOR_PEOPLE) == PEOPLE


def _stream(template: dict[str, Any]) -> Any:
    return resources(template, "AWS::Lambda::EventSourceMapping")["AnnounceFunctionChanges"]


def test_people_are_mailed_what_is_for_people(template: dict[str, Any]) -> None:
    mail = resources(template, "AWS::SNS::Subscription")["ApproverSubscription"]
    assert (mail["Protocol"], mail["FilterPolicy"]) == ("email", {"event": PEOPLE})
    assert mail.get("FilterPolicyScope", "MessageAttributes") == "MessageAttributes"


def test_programs_get_everything(template: dict[str, Any]) -> None:
    program = resources(template, "AWS::SNS::Subscription")["WebhookFunctionNotice"]
    assert (program["Protocol"], short(program["Endpoint"])) == ("lambda", "WebhookFunction.Arn")
    assert "FilterPolicy" not in program


def test_the_stream_brings_rows_before_and_after(template: dict[str, Any]) -> None:
    [table] = resources(template, "AWS::DynamoDB::Table").values()
    assert table["StreamSpecification"] == {"StreamViewType": "NEW_AND_OLD_IMAGES"}
    assert short(_stream(template)["EventSourceArn"]) == "Table.StreamArn"


def test_only_calls_that_came_to_something_wake_the_streams_reader(template: dict[str, Any]) -> None:
    [only] = _stream(template)["FilterCriteria"]["Filters"]
    pattern = json.loads(only["Pattern"])
    call, newsworthy = asked_call(), set()
    for status in CallStatus:
        if news_of(call, replace(call, status=status), at=AT) is not None:
            newsworthy.add(str(status))

    assert pattern["eventName"] == ["MODIFY"]
    assert pattern["dynamodb"]["Keys"] == {"sk": {"S": [{"prefix": "CALL#"}]}}
    assert set(pattern["dynamodb"]["NewImage"]["status"]["S"]) == newsworthy


def test_what_cannot_be_told_does_not_hold_up_the_rest_for_ever(template: dict[str, Any]) -> None:
    source = _stream(template)
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert source["BisectBatchOnFunctionError"] is True
    assert 0 < source["MaximumRecordAgeInSeconds"] < 24 * 3600
    assert short(source["DestinationConfig"]["OnFailure"]["Destination"]) == "UndeliveredQueue.Arn"


def test_i9_a_webhook_that_is_given_up_goes_through_a_function_that_keeps_its_text_back(
    template: dict[str, Any],
) -> None:
    [config] = resources(template, "AWS::Lambda::EventInvokeConfig").values()
    assert short(config["FunctionName"]) == "WebhookFunction"
    assert config["MaximumRetryAttempts"] == 2
    assert short(config["DestinationConfig"]["OnFailure"]["Destination"]) == "UndeliveredFunction.Arn"
    functions = resources(template, "AWS::Lambda::Function")
    assert not [name for name, function in functions.items() if "DeadLetterConfig" in function]
    assert not [name for name, each in resources(template, "AWS::SNS::Subscription").items() if "RedrivePolicy" in each]


def test_without_an_address_there_is_neither_a_function_nor_a_secret(template: dict[str, Any]) -> None:
    assert template["Parameters"]["WebhookUrl"]["Default"] == ""
    conditional = {name for name, each in template["Resources"].items() if each.get("Condition") == "HasWebhook"}
    assert conditional == {
        *("WebhookFunction", "WebhookFunctionEventInvokeConfig", "WebhookFunctionNotice", "WebhookSecret"),
        *("WebhookFunctionNoticePermission", "WebhookLogs", "WebhookRole"),
        *("UndeliveredFunction", "UndeliveredLogs", "UndeliveredRole"),
    }
    assert template["Outputs"]["WebhookSecret"]["Condition"] == "HasWebhook"


def test_the_address_of_a_chat_is_a_secret_and_not_shown(template: dict[str, Any]) -> None:
    assert template["Parameters"]["WebhookUrl"]["NoEcho"] is True
