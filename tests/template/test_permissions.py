"""R62: one role for each function, and nothing in it that is not listed here."""

from __future__ import annotations

import string
from typing import Any

import pytest

from tests.template.reading import grants, resources, short

FOUNDATION_MODEL = "arn:${AWS::Partition}:bedrock:* | AWS::Region::foundation-model/${ModelId}"
PROFILE = (
    "arn:${AWS::Partition}:bedrock:${AWS::Region}:${AWS::AccountId}:inference-profile/${InferenceProfile}.${ModelId}"
)


def _logs(group: str) -> set[tuple[str, str]]:
    return {("logs:CreateLogStream", f"{group}.Arn"), ("logs:PutLogEvents", f"{group}.Arn")}


TRACING = {("xray:PutTraceSegments", "*"), ("xray:PutTelemetryRecords", "*")}
RUNNER = {
    *(
        (f"dynamodb:{name}", "Table.Arn")
        for name in ("GetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem")
    ),
    ("bedrock:InvokeModel", FOUNDATION_MODEL),
    ("bedrock:InvokeModel", f"{PROFILE} | AWS::NoValue"),
    ("sns:Publish", "Topic"),
    ("sqs:SendMessage", "Queue.Arn"),
}
OVERFLOW = {("s3:GetObject", "${OverflowBucket.Arn}/*"), ("s3:PutObject", "${OverflowBucket.Arn}/*")}
RUNNER |= OVERFLOW
CUSTODIAN = {
    ("s3:ListBucket", "FilesBucket.Arn"),
    ("s3:GetObject", "${FilesBucket.Arn}/*"),
    ("s3:PutObject", "${FilesBucket.Arn}/*"),
    ("s3:DeleteObject", "${FilesBucket.Arn}/*"),
}
ALLOWED = {
    "StartRole": RUNNER | CUSTODIAN | TRACING | _logs("StartLogs"),
    "ResumeRole": RUNNER
    | CUSTODIAN
    | TRACING
    | _logs("ResumeLogs")
    | {(f"sqs:{name}", "Queue.Arn") for name in ("ReceiveMessage", "DeleteMessage", "GetQueueAttributes")},
    "ApprovalsRole": TRACING
    | _logs("ApprovalsLogs")
    | {
        ("dynamodb:GetItem", "Table.Arn"),
        ("dynamodb:UpdateItem", "Table.Arn"),
        ("sqs:SendMessage", "Queue.Arn"),
        ("secretsmanager:GetSecretValue", "OneTimeCodeSecret.Id"),
    },
    "SessionsRole": TRACING
    | _logs("SessionsLogs")
    | {
        *(
            (f"dynamodb:{name}", "Table.Arn")
            for name in ("GetItem", "BatchGetItem", "Query", "PutItem", "UpdateItem", "ConditionCheckItem")
        ),
        ("dynamodb:Query", "${Table.Arn}/index/due"),
        ("dynamodb:Query", "${Table.Arn}/index/sessions"),
    }
    | OVERFLOW,
    "SweepRole": TRACING
    | _logs("SweepLogs")
    | {
        *((f"dynamodb:{name}", "Table.Arn") for name in ("GetItem", "Query", "PutItem", "UpdateItem")),
        ("dynamodb:Query", "${Table.Arn}/index/due"),
        ("sns:Publish", "Topic"),
        ("sqs:SendMessage", "Queue.Arn"),
    }
    | OVERFLOW,
    "AnnounceRole": TRACING
    | _logs("AnnounceLogs")
    | {
        *(
            (f"dynamodb:{name}", "Table.StreamArn")
            for name in ("DescribeStream", "GetRecords", "GetShardIterator", "ListStreams")
        ),
        ("sns:Publish", "Topic"),
        ("sqs:SendMessage", "UndeliveredQueue.Arn"),
    },
    "WebhookRole": TRACING
    | _logs("WebhookLogs")
    | {("secretsmanager:GetSecretValue", "WebhookSecret.Id"), ("lambda:InvokeFunction", "UndeliveredFunction.Arn")},
    "UndeliveredRole": TRACING | _logs("UndeliveredLogs") | {("sqs:SendMessage", "UndeliveredQueue.Arn")},
}


SCHEDULE = "SweepFunctionEveryMinuteRole"
"""SAM's own, for the schedule of the sweeper."""


def test_every_function_has_a_role_of_its_own(template: dict[str, Any]) -> None:
    roles = [short(function["Role"]) for function in resources(template, "AWS::Lambda::Function").values()]
    assert sorted(roles) == sorted({f"{role}.Arn" for role in ALLOWED})
    assert set(resources(template, "AWS::IAM::Role")) == {*ALLOWED, SCHEDULE}


@pytest.mark.parametrize("role", sorted(ALLOWED))
def test_a_role_allows_what_is_listed_and_nothing_else(template: dict[str, Any], role: str) -> None:
    assert grants(template, role) == ALLOWED[role]


@pytest.mark.parametrize("role", sorted(ALLOWED))
def test_a_role_is_for_lambda_only(template: dict[str, Any], role: str) -> None:
    trust = resources(template, "AWS::IAM::Role")[role]["AssumeRolePolicyDocument"]
    assert [statement["Principal"] for statement in trust["Statement"]] == [{"Service": "lambda.amazonaws.com"}]


def test_no_action_is_a_wildcard(template: dict[str, Any]) -> None:
    actions = {action for role in ALLOWED for action, _ in grants(template, role)}
    assert not {action for action in actions if "*" in action}


def test_the_public_page_can_neither_run_tools_nor_call_models_nor_list_sessions(template: dict[str, Any]) -> None:
    actions = {action for action, _ in grants(template, "ApprovalsRole")}
    services = {action.partition(":")[0] for action in actions}
    assert services == {"dynamodb", "logs", "secretsmanager", "sqs", "xray"}
    assert not actions & {"dynamodb:Query", "dynamodb:Scan", "dynamodb:BatchGetItem", "dynamodb:PutItem"}


def test_the_public_page_has_no_tools_and_is_told_of_no_agent(template: dict[str, Any]) -> None:
    function = resources(template, "AWS::Lambda::Function")["ApprovalsFunction"]
    [layer] = function["Layers"]
    assert short(layer).startswith("PausepointLayer")
    assert set(function["Environment"]["Variables"]) == {
        "BASE_URL",
        "CODE_SECRET_ARN",
        "LOG_LEVEL",
        "POWERTOOLS_METRICS_NAMESPACE",
        "POWERTOOLS_SERVICE_NAME",
        "QUEUE_URL",
        "TABLE_NAME",
        "TIME_ZONE",
    }


def test_the_sweeper_can_neither_run_tools_nor_call_models(template: dict[str, Any]) -> None:
    function = resources(template, "AWS::Lambda::Function")["SweepFunction"]
    assert [short(layer).startswith("PausepointLayer") for layer in function["Layers"]] == [True]
    services = {action.partition(":")[0] for action, _ in grants(template, "SweepRole")}
    assert services == {"dynamodb", "logs", "s3", "sns", "sqs", "xray"}


def test_who_sends_webhooks_sees_neither_the_table_nor_a_model(template: dict[str, Any]) -> None:
    for role in ("WebhookRole", "UndeliveredRole"):
        services = {action.partition(":")[0] for action, _ in grants(template, role)}
        assert services <= {"lambda", "logs", "secretsmanager", "sqs", "xray"}


def test_who_announces_cannot_change_a_session(template: dict[str, Any]) -> None:
    table = {action for action, resource in grants(template, "AnnounceRole") if resource == "Table.Arn"}
    assert table == set()


def test_only_the_topic_may_start_the_function_that_sends_webhooks(template: dict[str, Any]) -> None:
    permissions = [
        each
        for each in resources(template, "AWS::Lambda::Permission").values()
        if short(each["FunctionName"]) == "WebhookFunction"
    ]
    assert [(each["Principal"], short(each["SourceArn"])) for each in permissions] == [("sns.amazonaws.com", "Topic")]


def test_only_who_is_told_of_the_overflow_bucket_may_use_it(template: dict[str, Any]) -> None:
    functions = resources(template, "AWS::Lambda::Function").values()
    told = {short(each["Role"]) for each in functions if "OVERFLOW_BUCKET" in each["Environment"]["Variables"]}
    assert told == {f"{role}.Arn" for role in ALLOWED if grants(template, role) & OVERFLOW}
    assert "ApprovalsRole.Arn" not in told


def test_only_the_schedule_may_start_a_round_and_it_starts_nothing_else(template: dict[str, Any]) -> None:
    assert grants(template, SCHEDULE) == {("lambda:InvokeFunction", "SweepFunction.Arn")}
    trust = resources(template, "AWS::IAM::Role")[SCHEDULE]["AssumeRolePolicyDocument"]
    assert [statement["Principal"] for statement in trust["Statement"]] == [{"Service": ["scheduler.amazonaws.com"]}]


def test_r3_who_can_read_the_secret_of_the_codes_is_the_page_alone_and_only_where_there_are_codes(
    template: dict[str, Any],
) -> None:
    readers = {role for role in ALLOWED if any("OneTimeCodeSecret" in place for _, place in grants(template, role))}
    assert readers == {"ApprovalsRole"}
    [choice] = [
        policy for policy in resources(template, "AWS::IAM::Role")["ApprovalsRole"]["Policies"] if "Fn::If" in policy
    ]
    assert (choice["Fn::If"][0], choice["Fn::If"][2]) == ("UsesOneTimeCodes", {"Ref": "AWS::NoValue"})
    assert template["Resources"]["OneTimeCodeSecret"]["Condition"] == "UsesOneTimeCodes"
    assert template["Parameters"]["OneTimeCodes"]["Default"] == "false"


def test_r3_the_secret_of_the_codes_is_made_of_base32s_letters(template: dict[str, Any]) -> None:
    made = resources(template, "AWS::SecretsManager::Secret")["OneTimeCodeSecret"]["GenerateSecretString"]
    assert made["PasswordLength"] * 5 >= 160  # bits: what RFC 4226 recommends
    assert (made["ExcludeLowercase"], made["ExcludePunctuation"], made["RequireEachIncludedType"]) == (
        True,
        True,
        False,
    )
    everything = {*string.ascii_letters, *string.digits, *string.punctuation}
    assert everything - {*made["ExcludeCharacters"]} == {*"ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"}
