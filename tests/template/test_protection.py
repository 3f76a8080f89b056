"""R65: encryption, recovery, expiry, deletion protection, and how long logs are kept."""

from __future__ import annotations

from typing import Any

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
    assert set(queues) == {"Queue", "DeadLetterQueue"}
    assert all(queue["SqsManagedSseEnabled"] is True for queue in queues.values())
    assert all(topic["KmsMasterKeyId"] for topic in resources(template, "AWS::SNS::Topic").values())


def test_work_that_keeps_failing_is_put_aside_and_kept_longer_than_it_waited(template: dict[str, Any]) -> None:
    queues = resources(template, "AWS::SQS::Queue")
    assert short(queues["Queue"]["RedrivePolicy"]["deadLetterTargetArn"]) == "DeadLetterQueue.Arn"
    assert queues["DeadLetterQueue"]["MessageRetentionPeriod"] >= queues["Queue"]["MessageRetentionPeriod"]


def test_the_bucket_is_encrypted_private_and_takes_tls_only(template: dict[str, Any]) -> None:
    [bucket] = resources(template, "AWS::S3::Bucket").values()
    [encryption] = bucket["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert encryption["ServerSideEncryptionByDefault"]["SSEAlgorithm"] in {"AES256", "aws:kms"}
    assert len(bucket["PublicAccessBlockConfiguration"]) == 4
    assert all(bucket["PublicAccessBlockConfiguration"].values())
    [policy] = resources(template, "AWS::S3::BucketPolicy").values()
    [statement] = policy["PolicyDocument"]["Statement"]
    assert (statement["Effect"], statement["Principal"], statement["Action"]) == ("Deny", "*", "s3:*")
    assert statement["Condition"] == {"Bool": {"aws:SecureTransport": "false"}}


def test_every_function_logs_to_a_group_of_its_own_that_is_kept_for_a_while(template: dict[str, Any]) -> None:
    groups = resources(template, "AWS::Logs::LogGroup")
    functions = resources(template, "AWS::Lambda::Function")
    used = [short(function["LoggingConfig"]["LogGroup"]) for function in functions.values()]
    assert sorted([*used, "ApiLogs"]) == sorted(groups)
    assert all(short(group["RetentionInDays"]) == "LogRetentionDays" for group in groups.values())
    assert all(function["LoggingConfig"]["LogFormat"] == "JSON" for function in functions.values())
