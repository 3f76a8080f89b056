"""A mailbox for the local stack: shows what Amazon SNS would have mailed."""

from __future__ import annotations

import argparse
import logging
import os
from datetime import UTC, datetime
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

import boto3
from botocore.config import Config
from botocore.exceptions import BotoCoreError, ClientError

from local import mailbox_page
from local.loopback import (
    LoopbackServer,
    Reply,
    Request,
    RequestRefusedError,
    json_reply,
    page_reply,
    serve_until_stopped,
)
from local.mailbox_store import Mail, MailStore

if TYPE_CHECKING:
    from collections.abc import Callable

    from mypy_boto3_sns import SNSClient

# What SNS itself writes above a mail that was published without a subject.
DEFAULT_SUBJECT = "AWS Notification Message"

_MAX_BODY_CHARACTERS = 256 * 1024
_MAX_SUBJECT_CHARACTERS = 100

logger = logging.getLogger(__name__)


class Subscriptions(Protocol):
    """Confirms subscriptions to a topic."""

    def confirm(self, topic_arn: str, token: str) -> None:
        """Confirm one.

        Raises:
            RequestRefusedError: SNS did not accept it.
        """


class SnsSubscriptions:
    """Confirms through the API of SNS rather than by opening the URL that the message brings.

    MiniStack looks an anonymous ConfirmSubscription up in its default region, so the URL works
    there only; and a mailbox that opens any address it is sent could be led anywhere.
    """

    def __init__(self, client: SNSClient) -> None:
        self._client = client

    def confirm(self, topic_arn: str, token: str) -> None:
        """Confirm one subscription."""
        try:
            self._client.confirm_subscription(TopicArn=topic_arn, Token=token)
        except (BotoCoreError, ClientError) as problem:
            logger.warning("The subscription to %s was not confirmed: %s", topic_arn, problem)
            raise RequestRefusedError(HTTPStatus.BAD_GATEWAY, "SNS did not confirm the subscription.") from None


class Mailbox:
    """Takes SNS deliveries and shows them."""

    # JSON may write one character of a message as six, and a message has up to 256 KB.
    max_body_bytes = 2 * 1024 * 1024

    def __init__(self, store: MailStore, subscriptions: Subscriptions, now: Callable[[], datetime]) -> None:
        self._store = store
        self._subscriptions = subscriptions
        self._now = now

    def answer(self, request: Request) -> Reply:
        """Answer one HTTP request."""
        match request.method, request.path:
            case "GET", "/":
                return page_reply(mailbox_page.render(self._store.all()))
            case "GET", "/messages.json":
                return json_reply([_public(mail) for mail in self._store.all()])
            case "GET", "/health":
                return json_reply({"status": "ok"})
            case "POST", "/sns":
                self._take(request.json())
                return json_reply({})
            case _:
                raise RequestRefusedError(HTTPStatus.NOT_FOUND, "There is nothing at this address.")

    def _take(self, delivery: Any) -> None:
        match delivery:
            case {"Type": "SubscriptionConfirmation", "TopicArn": str(arn), "Token": str(token)}:
                self._subscriptions.confirm(arn, token)
                logger.info("Subscribed to %s.", arn)
            case {"Type": "Notification", "MessageId": str(message_id), "Message": str(body)}:
                self._keep(message_id, delivery.get("Subject"), body)
            case {"Type": "UnsubscribeConfirmation"}:
                pass
            case _:
                raise RequestRefusedError(
                    HTTPStatus.BAD_REQUEST,
                    "Not an SNS delivery: Type, MessageId and Message, or TopicArn and Token.",
                )

    def _keep(self, message_id: str, subject: object, body: str) -> None:
        if len(body) > _MAX_BODY_CHARACTERS:
            body = body[:_MAX_BODY_CHARACTERS] + "\n[cut: longer than SNS takes]"
        title = subject if isinstance(subject, str) and subject else DEFAULT_SUBJECT
        received_at = self._now().astimezone(UTC).isoformat(timespec="milliseconds")
        self._store.add(Mail(message_id, title[:_MAX_SUBJECT_CHARACTERS], body, received_at))


def _public(mail: Mail) -> dict[str, str]:
    return {"subject": mail.subject, "body": mail.body, "received_at": mail.received_at}


def _sns_client(endpoint_url: str, region: str) -> SNSClient:
    return boto3.client(
        "sns",
        endpoint_url=endpoint_url,
        region_name=region,
        # Only to tell the emulator the region: never a search for credentials that are real.
        aws_access_key_id=os.environ.get("AWS_ACCESS_KEY_ID", "test"),
        aws_secret_access_key=os.environ.get("AWS_SECRET_ACCESS_KEY", "test"),
        # The emulator waits five seconds for our answer and does not ask again.
        config=Config(connect_timeout=1, read_timeout=3, retries={"total_max_attempts": 2}),
    )


def main() -> None:
    """Serve until stopped."""
    parser = argparse.ArgumentParser(prog="python -m local.mailbox", description=__doc__)
    parser.add_argument("--port", type=int, required=True, help="on 127.0.0.1; 0 takes a free one")
    parser.add_argument("--endpoint-url", required=True, help="where SNS is")
    parser.add_argument("--region", required=True)
    parser.add_argument("--state", type=Path, required=True, help="the file that keeps the mails")
    arguments = parser.parse_args()
    logging.basicConfig(level=logging.INFO, format="%(levelname)s %(name)s: %(message)s")
    mailbox = Mailbox(
        MailStore(arguments.state),
        SnsSubscriptions(_sns_client(arguments.endpoint_url, arguments.region)),
        now=lambda: datetime.now(UTC),
    )
    server = LoopbackServer(arguments.port, mailbox)
    print(f"Mailbox (nothing is really mailed): {server.url}/", flush=True)
    serve_until_stopped(server)


if __name__ == "__main__":
    main()
