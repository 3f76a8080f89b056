"""R65: encryption, recovery, expiry, deletion protection, and how long logs are kept."""

from __future__ import annotations

from typing import Any

import pytest

from tests.template.reading import resources, short


def _table(template: dict[str, Any]) -> Any:
    [table] = resources(template, "AWS::DynamoDB::Table").values()
    return table


def test_the_table_is_encrypted_recoverable_and_protected(template: dict[str, Any]) -> None:
    table = _table(template)
    assert table["SSESpecification"] == {"SSEEnabled": True}
    assert table["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert short(table["DeletionProtectionEnabled"]) == "DeletionProtection"
    assert template["Parameters"]["DeletionProtection"]["Default"] == "true"
    assert template["Resources"]["Table"]["UpdateReplacePolicy"] == "Retain"


def test_sessions_expire(template: dict[str, Any]) -> None:
    assert _table(template)["TimeToLiveSpecification"] == {"AttributeName": "expires", "Enabled": True}


def test_indexes_hold_keys_only(template: dict[str, Any]) -> None:
    indexes = {index["IndexName"]: index["Projection"] for index in _table(template)["GlobalSecondaryIndexes"]}
    assert indexes == {"due": {"ProjectionType": "KEYS_ONLY"}, "sessions": {"ProjectionType": "KEYS_ONLY"}}


def test_queues_and_topic_are_encrypted(template: dict[str, Any]) -> None:
    queues = resources(template, "AWS::SQS::Queue")
    assert set(queues) == {"Queue", "DeadLetterQueue", "UndeliveredQueue"}
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())
    assert all(topic["KmsMasterKeyId"] for topic in resources(template, "AWS::SNS::Topic").values())


def test_work_that_keeps_failing_is_put_aside_and_kept_longer_than_it_waited(template: dict[str, Any]) -> None:
    queues = resources(template, "AWS::SQS::Queue")
    assert short(queues["Queue"]["RedrivePolicy"]["deadLetterTargetArn"]) == "DeadLetterQueue.Arn"
    assert queues["DeadLetterQueue"]["MessageRetentionPeriod"] >= queues["Queue"]["MessageRetentionPeriod"]


def test_there_are_two_buckets(template: dict[str, Any]) -> None:
    assert set(resources(template, "AWS::S3::Bucket")) == {"FilesBucket", "OverflowBucket"}


@pytest.mark.parametrize("name", ["FilesBucket", "OverflowBucket"])
def test_the_bucket_is_encrypted_private_kept_and_takes_tls_only(template: dict[str, Any], name: str) -> None:
    bucket = resources(template, "AWS::S3::Bucket")[name]
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] in {"AES256", "aws:kms"}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    policy = resources(template, "AWS::S3::BucketPolicy")[f"{name}Policy"]
    assert short(policy["Bucket"]) == name
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}
    assert [short(each) for each in statement["Resource"]] == [f"{name}.Arn", f"${{{name}.Arn}}/*"]
    assert template["Resources"][name]["UpdateReplacePolicy"] == "Retain"
    assert template["Resources"][name]["DeletionPolicy"] == "RetainExceptOnCreate"


def test_what_rows_name_outlives_the_rows(template: dict[str, Any]) -> None:
    [rule] = resources(template, "AWS::S3::Bucket")["OverflowBucket"]["LifecycleConfiguration"]["Rules"]
    assert rule["Status"] == "Enabled"
    assert rule["ExpirationInDays"] * 24 * 3600 > template["Parameters"]["SessionSeconds"]["MaxValue"]


def test_every_function_logs_to_a_group_of_its_own_that_is_kept_for_a_while(template: dict[str, Any]) -> None:
    groups = resources(template, "AWS::Logs::LogGroup")
    functions = resources(template, "AWS::Lambda::Function")
    used = [short(function["LoggingConfig"]["LogGroup"]) for function in functions.values()]
    assert sorted([*used, "ApiLogs"]) == sorted(groups)
    assert all(short(group["RetentionInDays"]) == "LogRetentionDays" for group in groups.values())
    assert all(function["LoggingConfig"]["LogFormat"] == "JSON" for function in functions.values())
