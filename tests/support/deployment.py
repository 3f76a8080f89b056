"""The functions as they are deployed, on moto: a table, a topic with a subscriber, a work queue."""

from __future__ import annotations

import base64
import json
from collections.abc import Mapping, Sequence
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlencode

from pausepoint.adapters.dynamodb.compression import inflated
from pausepoint.http.headers import security_headers
from pausepoint.models.scripted import Turn
from tests.support.aws import REGION, create_table, template
from tests.support.clerk import desk
from tests.support.contract import contract
from tests.support.gateway import Answer, Context, Link, link_in, request, stored_event
from tests.support.sns_rules import faults

TABLE: Final = "sessions"
BUCKET: Final = "overflow"
SHRED: Final = [("shred", {"path": "a.txt"})]


class Deployment:
    """All functions and what they work on. Every answer is held against R7 and docs/openapi.yaml, whatever it says."""

    def __init__(self, functions: Mapping[str, ModuleType], clients: Mapping[str, Any]) -> None:
        self._functions = functions
        self._dynamodb, self._s3, self._sqs = clients["dynamodb"], clients["s3"], clients["sqs"]
        self._streams = clients["dynamodbstreams"]
        self._standing: tuple[Link, Sequence[dict[str, Any]]] | None = None
        create_table(self._dynamodb, TABLE)
        self.bucket = BUCKET
        self._s3.create_bucket(Bucket=BUCKET, CreateBucketConfiguration={"LocationConstraint": REGION})
        self.topic_arn: str = clients["sns"].create_topic(Name="approvals")["TopicArn"]
        self._inbox, self.queue_url = (self._sqs.create_queue(QueueName=name)["QueueUrl"] for name in ("inbox", "work"))
        endpoint = f"arn:aws:sqs:{REGION}:123456789012:inbox"
        clients["sns"].subscribe(TopicArn=self.topic_arn, Protocol="sqs", Endpoint=endpoint)

    def empty(self) -> None:
        """Make it as new: an empty table, nothing sent."""
        if self.table():
            self._dynamodb.delete_table(TableName=TABLE)
            create_table(self._dynamodb, TABLE)
        for queue_url in (self._inbox, self.queue_url):
            self._taken(queue_url)
        self._standing = None

    # --- Requests ---------------------------------------------------------------------------------------------------

    def send(self, function: str, event: Mapping[str, Any], *, milliseconds: int = 29_000) -> Answer:
        """Give a request to a function and return its answer."""
        raw = self._functions[function].handler(event, Context(milliseconds))
        json.dumps(raw, ensure_ascii=False).encode("utf-8")  # as Lambda's runtime does
        assert not raw["isBase64Encoded"]
        assert not raw.get("cookies")
        headers = raw["headers"]
        assert {name: headers.get(name) for name in security_headers()} == security_headers()
        assert not [name for name in headers if name.lower().startswith(("access-control-", "set-cookie"))]
        http = event["requestContext"]["http"]
        contract().check(http["method"], http["path"], raw["statusCode"], headers, raw["body"] or "")
        return Answer(raw["statusCode"], headers, raw["body"] or "")

    def start(self, message: Any = "shred a.txt", *, milliseconds: int = 29_000, **headers: str) -> Answer:
        named = {name.replace("_", "-"): value for name, value in headers.items()}
        return self.send("start", request("start", body={"message": message}, headers=named), milliseconds=milliseconds)

    def say(self, session_id: str, message: Any) -> Answer:
        return self.send("start", request("message", session_id, body={"message": message}))

    def resume(self, session_id: str, *decisions: Any, milliseconds: int = 29_000, caller: str | None = None) -> Answer:
        event = request("resume", session_id, body={"decisions": list(decisions)}, caller=caller)
        return self.send("resume", event, milliseconds=milliseconds)

    def show(self, link: Link, *, probe: bool = False, headers: Mapping[str, str | None] | None = None) -> Answer:
        """Open a link, or only probe it (HEAD)."""
        name = "approval-probe" if probe else "approval-page"
        return self.send("approvals", request(name, path=link.path, query={"t": link.token}, headers=headers))

    def form(self, link: Link) -> dict[str, str]:
        """Return what the page's form would post to approve."""
        return {"t": link.token, "digest": self.call(link)["digest"]["S"], "decision": "approved", "reason": ""}

    def post(self, link: Link, *, headers: Mapping[str, str | None] | None = None, **fields: str) -> Answer:
        """Post the page's form, with some fields or headers changed."""
        return self.post_body(link, urlencode(self.form(link) | fields), headers=headers)

    def post_fields(self, link: Link, fields: Mapping[str, str]) -> Answer:
        """Post the page's form with other fields, of any name."""
        return self.post_body(link, urlencode(self.form(link) | dict(fields)))

    def post_body(
        self, link: Link, body: str | bytes, *, headers: Mapping[str, str | None] | None = None, encoded: bool = True
    ) -> Answer:
        event = request("approval-decision", path=link.path, headers=headers)
        raw = body if isinstance(body, bytes) else body.encode()
        event["body"] = base64.b64encode(raw).decode() if encoded else raw.decode()
        event["isBase64Encoded"] = encoded
        return self.send("approvals", event)

    def session(self, session_id: str) -> dict[str, Any]:
        answer = self.send("sessions", request("session", session_id))
        assert answer.status == 200
        body: dict[str, Any] = answer.json
        return body

    def events(self, session_id: str) -> list[dict[str, Any]]:
        answer = self.send("sessions", request("session-events", session_id))
        assert answer.status == 200
        events: list[dict[str, Any]] = answer.json["events"]
        return events

    def listed(self, name: str, **query: str) -> Answer:
        """Ask for `sessions` or `approvals`."""
        return self.send("sessions", request(name, query=query))

    def cancel(self, session_id: str) -> Answer:
        return self.send("sessions", request("cancel", session_id))

    def paused(self, *turns: Turn) -> Link:
        """Start a session that pauses at one call, and return the link to it."""
        (link,) = self.paused_at(*turns or (SHRED, "It is gone."))
        return link

    def paused_at(self, *turns: Turn) -> Sequence[Link]:
        """Start a session that pauses, and return its links."""
        desk.script(*turns)
        assert self.start().json["status"] == "paused"
        return self.links()

    def standing(self) -> Link:
        """Return the link to a paused session that earlier tests may have looked at and did not change."""
        if self._standing is None or self._standing[1] != self.table():
            self.empty()
            self._standing = (self.paused(), self.table())
        return self._standing[0]

    # --- What is stored, sent and queued ----------------------------------------------------------------------------

    def table(self) -> Sequence[dict[str, Any]]:
        """Return every row as the table has it, in the order of keys."""
        items: list[dict[str, Any]] = self._dynamodb.scan(TableName=TABLE, ConsistentRead=True)["Items"]
        return sorted(items, key=lambda item: (item["pk"]["S"], item["sk"]["S"]))

    def readable(self) -> str:
        """Return everything that is stored, in the table and in the bucket, as text: nothing hides by being packed."""

        def text(value: Any) -> str:
            return inflated(bytes(value)).decode("utf-8")

        objects = self._s3.list_objects_v2(Bucket=BUCKET).get("Contents", [])
        bodies = [self._s3.get_object(Bucket=BUCKET, Key=each["Key"])["Body"].read() for each in objects]
        return json.dumps([self.table(), [text(body) for body in bodies]], default=text)

    def row(self, session_id: str, sk: str) -> dict[str, Any]:
        key = {"pk": {"S": session_id}, "sk": {"S": sk}}
        row: dict[str, Any] = self._dynamodb.get_item(TableName=TABLE, Key=key, ConsistentRead=True)["Item"]
        return row

    def call(self, link: Link) -> dict[str, Any]:
        return self.row(link.session_id, f"CALL#{link.call_id}")

    def status(self, link: Link) -> str:
        """Return where the call stands."""
        status: str = self.call(link)["status"]["S"]
        return status

    def change(self, link: Link, **values: str) -> None:
        """Change a call's row behind the product's back."""
        changed = {name: {"S": value} for name, value in values.items()}
        self._dynamodb.put_item(TableName=TABLE, Item=self.call(link) | changed)

    def forget(self, link: Link) -> None:
        """Take a call's row away, as the table does with what expires."""
        self._dynamodb.delete_item(
            TableName=TABLE, Key={"pk": {"S": link.session_id}, "sk": {"S": f"CALL#{link.call_id}"}}
        )

    def occupy(self, session_id: str) -> None:
        """Let another invocation hold the session."""
        lease = {"id": {"S": "another"}, "until": {"S": "2999-01-01T00:00:00.000000Z"}}
        self._dynamodb.put_item(TableName=TABLE, Item=self.row(session_id, "META") | {"lease": {"M": lease}})

    def expire(self, link: Link) -> None:
        """Let the time to decide be over."""
        self.change(link, expires_at="2026-01-01T00:00:00.000000Z")

    def notices(self) -> Sequence[dict[str, Any]]:
        """Return what was published since the last look, as the topic's subscriber gets it. SNS would take it."""
        notices = [json.loads(message["Body"]) for message in self._taken(self._inbox)]
        for notice in notices:
            attributes = {
                name: {"DataType": value["Type"], "StringValue": value["Value"]}
                for name, value in notice["MessageAttributes"].items()
            }
            assert faults(notice["Subject"], notice["Message"], attributes) == []
        return notices

    def links(self) -> Sequence[Link]:
        """Return the links in what was published since the last look."""
        return [link_in(notice["Message"]) for notice in self.notices()]

    def watch(self) -> None:
        """Let the table's stream begin, as the template has it."""
        stream = {"StreamEnabled": True, **template()["Resources"]["Table"]["Properties"]["StreamSpecification"]}
        self._dynamodb.update_table(TableName=TABLE, StreamSpecification=stream)

    def changes(self) -> list[dict[str, Any]]:
        """Return everything in the table's stream, as Lambda gets it."""
        (stream,) = self._streams.list_streams(TableName=TABLE)["Streams"]
        described = self._streams.describe_stream(StreamArn=stream["StreamArn"])["StreamDescription"]
        (shard,) = described["Shards"]
        start = {"ShardId": shard["ShardId"], "ShardIteratorType": "TRIM_HORIZON"}
        iterator = self._streams.get_shard_iterator(StreamArn=stream["StreamArn"], **start)["ShardIterator"]
        records: list[dict[str, Any]] = self._streams.get_records(ShardIterator=iterator)["Records"]
        for record in records:
            created = record["dynamodb"]["ApproximateCreationDateTime"]
            record["dynamodb"]["ApproximateCreationDateTime"] = created.timestamp()
        return records

    def announce(self, *records: Any) -> Sequence[str]:
        """Give the stream's reader a batch; return the places in the stream that are to come again."""
        answer = self._functions["announce"].handler({"Records": list(records)}, Context(30_000))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def hand_on(self, *notices: Mapping[str, Any]) -> None:
        """Give notices, as a subscriber gets them, to the function that sends webhooks, one by one as SNS does."""
        for notice in notices:
            event = stored_event("webhook")
            event["Records"][0]["Sns"] |= notice
            self._functions["webhook"].handler(event, Context(30_000))

    def give_up(self, notice: Mapping[str, Any], **answer: Any) -> None:
        """Tell the function for it that Lambda gave a webhook up."""
        event = stored_event("undelivered")
        event["requestPayload"]["Records"][0]["Sns"] |= notice
        event["responsePayload"] = answer or None
        self._functions["undelivered"].handler(event, Context(30_000))

    def wakeups(self) -> Sequence[dict[str, Any]]:
        """Take the messages out of the work queue."""
        return self._taken(self.queue_url)

    def work(self, *bodies: str) -> Sequence[str]:
        """Give the worker a batch; return the ids of those that are to come again: message-0, message-1, …"""
        (record,) = stored_event("work")["Records"]
        records = [{**record, "messageId": f"message-{index}", "body": body} for index, body in enumerate(bodies)]
        answer = self._functions["resume"].handler({"Records": records}, Context(120_000))
        return [failure["itemIdentifier"] for failure in answer["batchItemFailures"]]

    def sweep(self, event: Any = None, *, milliseconds: int = 55_000) -> dict[str, int]:
        """Let the sweeper do a round; return what it did, by name."""
        done = self._functions["sweep"].handler(event or stored_event("sweep"), Context(milliseconds))
        json.dumps(done)  # as Lambda's runtime does
        swept: dict[str, int] = done
        return swept

    def deliver(self) -> None:
        """Let the worker do what waits in the queue."""
        for message in self.wakeups():
            assert self.work(message["Body"]) == []

    def _taken(self, queue_url: str) -> Sequence[dict[str, Any]]:
        taken: list[dict[str, Any]] = []
        while messages := self._sqs.receive_message(
            QueueUrl=queue_url, MaxNumberOfMessages=10, MessageAttributeNames=["All"]
        ).get("Messages"):
            for message in messages:
                self._sqs.delete_message(QueueUrl=queue_url, ReceiptHandle=message["ReceiptHandle"])
            taken += messages
        return taken
