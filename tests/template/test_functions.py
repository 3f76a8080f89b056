"""How the functions run: time, tries, tracing, and what they are told."""

from __future__ import annotations

from typing import Any

from tests.template.conftest import REPOSITORY
from tests.template.reading import resources, short

LOGGING = {"LOG_LEVEL", "POWERTOOLS_SERVICE_NAME", "POWERTOOLS_METRICS_NAMESPACE"}
RUNNER = {
    *LOGGING,
    "AGENT",
    "ALLOW_SELF_APPROVAL",
    "APPROVAL_SECONDS",
    "BASE_URL",
    "FILES_BUCKET",
    "MODEL_ID",
    "OVERFLOW_BUCKET",
    "QUEUE_URL",
    "REMINDER_SECONDS",
    "REQUIRE_SIGNED_CALLER",
    "SESSION_SECONDS",
    "TABLE_NAME",
    "TOPIC_ARN",
}
TOLD = {
    "StartFunction": RUNNER,
    "ResumeFunction": RUNNER,
    "ApprovalsFunction": {*LOGGING, "BASE_URL", "CODE_SECRET_ARN", "QUEUE_URL", "TABLE_NAME", "TIME_ZONE"},
    "SessionsFunction": {*LOGGING, "OVERFLOW_BUCKET", "REQUIRE_SIGNED_CALLER", "TABLE_NAME"},
    "AnnounceFunction": {*LOGGING, "TABLE_NAME", "TOPIC_ARN"},
    "WebhookFunction": {*LOGGING, "WEBHOOK_SECRET_ARN", "WEBHOOK_URL"},
    "UndeliveredFunction": {*LOGGING, "QUEUE_URL"},
    "SweepFunction": {*LOGGING, "OVERFLOW_BUCKET", "QUEUE_URL", "REMINDER_SECONDS", "TABLE_NAME", "TOPIC_ARN"},
}


def test_each_function_is_told_only_what_it_needs(template: dict[str, Any]) -> None:
    functions = resources(template, "AWS::Lambda::Function")
    assert {name: set(function["Environment"]["Variables"]) for name, function in functions.items()} == TOLD


def test_start_answers_before_the_gateway_gives_up(template: dict[str, Any]) -> None:
    assert resources(template, "AWS::Lambda::Function")["StartFunction"]["Timeout"] < 30


def test_a_message_stays_hidden_for_six_times_as_long_as_its_function_may_run(template: dict[str, Any]) -> None:
    assert short(resources(template, "AWS::Lambda::Function")["ResumeFunction"]["Timeout"]) == "WorkerSeconds"
    hidden = resources(template, "AWS::SQS::Queue")["Queue"]["VisibilityTimeout"]
    assert hidden >= 6 * template["Parameters"]["WorkerSeconds"]["Default"]
    # However long somebody lets it run: one at a time is enough, since a wake-up that comes twice does no harm.
    assert hidden > template["Parameters"]["WorkerSeconds"]["MaxValue"]


def test_a_round_of_the_sweeper_ends_before_the_next_one_starts(template: dict[str, Any]) -> None:
    [schedule] = resources(template, "AWS::Scheduler::Schedule").values()
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert short(schedule["Target"]["Arn"]) == "SweepFunction.Arn"
    assert schedule["Target"]["RetryPolicy"] == {"MaximumRetryAttempts": 0}
    assert resources(template, "AWS::Lambda::Function")["SweepFunction"]["Timeout"] < 60


def test_two_stacks_of_one_account_do_not_share_a_name(template: dict[str, Any]) -> None:
    [schedule] = resources(template, "AWS::Scheduler::Schedule").values()
    assert "Name" not in schedule or "${AWS::StackName}" in short(schedule["Name"])


def test_one_wake_up_at_a_time_and_a_failed_one_is_reported_by_itself(template: dict[str, Any]) -> None:
    source = resources(template, "AWS::Lambda::EventSourceMapping")["ResumeFunctionWork"]
    assert short(source["EventSourceArn"]) == "Queue.Arn"
    assert source["BatchSize"] == 1
    assert source["FunctionResponseTypes"] == ["ReportBatchItemFailures"]


def test_a_long_session_is_not_taken_for_a_runaway_loop(template: dict[str, Any]) -> None:
    assert resources(template, "AWS::Lambda::Function")["ResumeFunction"]["RecursiveLoop"] == "Allow"


def test_lambda_traces_and_no_function_needs_an_sdk_for_it(template: dict[str, Any]) -> None:
    functions = resources(template, "AWS::Lambda::Function").values()
    assert all(function["TracingConfig"] == {"Mode": "Active"} for function in functions)
    assert "aws-xray-sdk" not in (REPOSITORY / "layers/pausepoint/requirements.txt").read_text()


def test_a_template_for_aws_knows_nothing_of_this_computer() -> None:
    text = (REPOSITORY / "template.yaml").read_text()
    assert not [word for word in ("localhost", "127.0.0.1", "ENDPOINT_URL", "MiniStack") if word in text]
