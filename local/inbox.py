"""Sends what the topic publishes to the mailbox, and finds approval links in it."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING
from urllib.request import urlopen

from local.errors import LocalStackError
from local.processes import wait_for

if TYPE_CHECKING:
    from mypy_boto3_sns import SNSClient


# What template.yaml has mailed to the approver.
FOR_PEOPLE = ("requested", "reminded", "in_doubt", "expired")


def subscribe(sns: SNSClient, topic_arn: str, mailbox_url: str) -> None:
    """Subscribe the mailbox to what the topic has for people, in place of a mailbox that was there on another port.

    Raises:
        LocalStackError: the mailbox did not confirm the subscription.
    """
    endpoint = f"{mailbox_url}/sns"
    policy = json.dumps({"event": FOR_PEOPLE})
    for subscription in _http_subscriptions(sns, topic_arn):
        if subscription["Endpoint"] == endpoint and _is_confirmed(subscription):
            arn = subscription["SubscriptionArn"]
            sns.set_subscription_attributes(SubscriptionArn=arn, AttributeName="FilterPolicy", AttributeValue=policy)
            return
        if _is_confirmed(subscription):
            sns.unsubscribe(SubscriptionArn=subscription["SubscriptionArn"])
    sns.subscribe(TopicArn=topic_arn, Protocol="http", Endpoint=endpoint, Attributes={"FilterPolicy": policy})
    if not wait_for(
        lambda: any(
            subscription["Endpoint"] == endpoint and _is_confirmed(subscription)
            for subscription in _http_subscriptions(sns, topic_arn)
        ),
        seconds=15,
    ):
        raise LocalStackError("The mailbox did not confirm its subscription to the topic.")


def find_link(mailbox_url: str, session_id: str) -> str | None:
    """Return the newest approval link of the session that the mailbox has, if any."""
    with urlopen(f"{mailbox_url}/messages.json", timeout=5) as response:  # noqa: S310 - our own
        messages = json.load(response)
    pattern = re.compile(rf"https?://\S+/approvals/{re.escape(session_id)}/\S+")
    for message in reversed(messages):
        if match := pattern.search(message["body"]):
            return match.group()
    return None


def _http_subscriptions(sns: SNSClient, topic_arn: str) -> list[dict[str, str]]:
    subscriptions = sns.list_subscriptions_by_topic(TopicArn=topic_arn)["Subscriptions"]
    return [dict(found) for found in subscriptions if found["Protocol"] == "http"]  # type: ignore[arg-type]


def _is_confirmed(subscription: dict[str, str]) -> bool:
    return subscription["SubscriptionArn"].startswith("arn:")
