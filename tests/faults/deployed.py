"""A deployment under faults: the real handlers at work, everything they leave behind, and the way back to rest."""

from __future__ import annotations

import base64
import json
import logging
import os
import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import UTC, datetime, timedelta
from pathlib import Path
from types import ModuleType
from typing import Any, Final
from urllib.parse import urlencode

from aws_lambda_powertools.event_handler.api_gateway import BaseRouter

from pausepoint import telemetry
from pausepoint.adapters.dynamodb import rows
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.bootstrap import application
from pausepoint.domain.calls import PendingToolCall
from pausepoint.domain.session import Session
from tests.faults.invariants import Entry, Evidence, Sent, Told, violations
from tests.faults.workbench import GATED, GATED_RETRY_SAFE, UNGATED_UNSAFE, diary, plan_of
from tests.support.aws import REGION, create_table
from tests.support.clock import START
from tests.support.gateway import Context, Link, link_in, request

FUNCTIONS: Final = ("start", "resume", "approvals", "sessions", "sweep")
ENVIRONMENT: Final = {
    "AWS_ACCESS_KEY_ID": "test",
    "AWS_SECRET_ACCESS_KEY": "test",
    "AWS_DEFAULT_REGION": REGION,
    "TABLE_NAME": "sessions",
    "OVERFLOW_BUCKET": "overflow",
    "AGENT": "tests.faults.workbench:agent",
    "REQUIRE_SIGNED_CALLER": "true",
    "POWERTOOLS_SERVICE_NAME": "pausepoint",
    "POWERTOOLS_METRICS_NAMESPACE": "Pausepoint",
}
REQUEST_MS: Final = 29_000
WORKER_MS: Final = 120_000
VISIBILITY: Final = timedelta(seconds=960)
"""After so long the queue gives a wake-up out again whose worker did not end."""
MOST_RECEIVES: Final = 5
"""After so many a wake-up goes to the dead letters."""
_MOST_MESSAGES: Final = 10
_ROUNDS: Final = 80
_NEVER: Final = datetime.max.replace(tzinfo=UTC)
_DIGEST: Final = re.compile(r'name="digest" value="([0-9a-f]{64})"')

Action = tuple[str, ...]
"""What somebody does: its name, then the session's id, a call's id or a word, a token."""


class Died(BaseException):
    """The process ends here, as far as a process can end inside of another."""


class TickingClock:
    """Goes on by a millisecond each time somebody looks, and by more only when a test says so."""

    def __init__(self) -> None:
        self.moment = START

    def now(self) -> datetime:
        self.moment += timedelta(milliseconds=1)
        return self.moment


@dataclass(frozen=True)
class Outcome:
    """What came of an action.

    Attributes:
        status: HTTP's, or 200 and 500 for what the queue and the timer start.
        verdict: what somebody who decided may rely on.
        page: the digest on the page that was posted.
    """

    status: int
    verdict: str = ""
    page: str = ""


@dataclass(frozen=True)
class Habits:
    """What people and the queue do while a deployment settles.

    Attributes:
        verdict: on a pending call; empty: nobody decides, and it expires.
        again: of a call in doubt that did not happen, people want that it runs again.
        lossy: a wake-up whose worker died is lost.
    """

    verdict: str = "approved"
    again: bool = False
    lossy: bool = False


@contextmanager
def quiet() -> Iterator[None]:
    """Keep the functions from logging every fault that a schedule makes."""
    telemetry.logger()  # made here, so that its level is not set once more afterwards
    logger = logging.getLogger("pausepoint")
    level = logger.level
    logger.setLevel(logging.CRITICAL + 1)
    yield
    logger.setLevel(level)


class Deployed:
    """One session's world. The environment must say what `ENVIRONMENT` says.

    Args:
        clients: the test's own, which no fault touches: dynamodb, sns, sqs, s3.
        folder: for the diary.
        peek: reads the table's raw rows by a shorter way than its API.
    """

    def __init__(
        self,
        functions: Mapping[str, ModuleType],
        clients: Mapping[str, Any],
        folder: Path,
        *,
        peek: Callable[[], list[Any]] | None = None,
    ) -> None:
        self._functions = functions
        self._clients = clients
        self._diary = folder / "diary.jsonl"
        self._peek = peek or self._scanned
        self.clock = TickingClock()
        self.habits = Habits()
        topic = clients["sns"].create_topic(Name="approvals")["TopicArn"]
        self._inbox, self._queue = (clients["sqs"].create_queue(QueueName=name)["QueueUrl"] for name in ("in", "work"))
        arn = clients["sqs"].get_queue_attributes(QueueUrl=self._inbox, AttributeNames=["QueueArn"])
        clients["sns"].subscribe(TopicArn=topic, Protocol="sqs", Endpoint=arn["Attributes"]["QueueArn"])
        clients["s3"].create_bucket(
            Bucket=ENVIRONMENT["OVERFLOW_BUCKET"], CreateBucketConfiguration={"LocationConstraint": REGION}
        )
        os.environ.update(TOPIC_ARN=topic, QUEUE_URL=self._queue)
        application.cache_clear()
        app = application()
        vars(app)["services"] = replace(app.services, clock=self)  # the one thing of the functions that is not real
        diary.now = self.now
        self._bodies = Bodies(clients["s3"], ENVIRONMENT["OVERFLOW_BUCKET"])
        self._made = False
        self.renew()

    def now(self) -> datetime:
        """Be the functions' clock."""
        return self.clock.now()

    def renew(self, items: Sequence[Any] = ()) -> None:
        """Make it as new, but for these raw rows."""
        table = ENVIRONMENT["TABLE_NAME"]
        if self._made:
            self._clients["dynamodb"].delete_table(TableName=table)
            self._taken(self._inbox)
            self._taken(self._queue)
        create_table(self._clients["dynamodb"], table)
        for item in items:
            self._clients["dynamodb"].put_item(TableName=table, Item=item)
        self._made = True
        diary.open(self._diary)
        self.clock.moment = START
        self.links: dict[tuple[str, str], list[Link]] = {}
        self.sent: list[Sent] = []
        self.wakeups: list[str] = []
        self.unheard: list[str] = []
        self.receives: Counter[str] = Counter()
        self.told: list[Told] = []
        self.pages: dict[tuple[str, str], set[str]] = {}
        self.history: list[PendingToolCall] = []
        self.statuses: list[tuple[str, str]] = []
        self.faults: list[str] = []
        self.crashes = 0
        self.messages = 1
        self.trail: list[str] = []

    # --- What people, the queue and the timer do --------------------------------------------------------------------

    def act(self, action: Action) -> Outcome:
        """Do it in this process."""
        match action:
            case ("start", plan, key):
                event = request("start", body={"message": plan}, headers={"idempotency-key": key})
                return Outcome(self._invoke("start", event)["statusCode"])
            case ("say", session_id, plan):
                event = request("message", session_id, body={"message": plan})
                return Outcome(self._invoke("start", event)["statusCode"])
            case ("cancel", session_id):
                return Outcome(self._invoke("sessions", request("cancel", session_id))["statusCode"])
            case ("wake", session_id):
                record = {"messageId": "m", "body": json.dumps({"session_id": session_id})}
                answer = self._invoke("resume", {"Records": [record]}, milliseconds=WORKER_MS)
                return Outcome(500 if answer["batchItemFailures"] else 200)
            case ("sweep",):
                self._invoke("sweep", {"id": "tick"}, milliseconds=60_000)
                return Outcome(200)
            case ("decide", session_id, call_id, verdict):  # a signed-in caller
                body = {"decisions": [{"call_id": call_id, "decision": verdict}]}
                status = self._invoke("resume", request("resume", session_id, body=body))["statusCode"]
                return Outcome(status, verdict if status in (200, 202) else "")
            case ("open", session_id, call_id, token):
                return Outcome(self._page(Link(session_id, call_id, token, ""))["statusCode"])
            case ("post", session_id, call_id, token, verdict):
                return self._posted(Link(session_id, call_id, token, ""), verdict)
            case _:
                raise AssertionError(action)

    def perform(self, action: Action) -> Outcome | None:
        """Do it wherever it is to be done, and take note of what came of it; None: the process died."""
        position = len(self.trail)
        self.trail.append(action[0] if action[0] not in ("post", "decide") else f"{action[0]} {action[-1]}")
        outcome: Outcome | None
        try:
            outcome = self.executed(action)
        except Died:
            outcome = None
        except Exception as error:  # noqa: BLE001 - Lambda would call it a failed invocation
            self.trail[position] += f" {type(error).__name__}"
            outcome = Outcome(500)
        if outcome is None or outcome.status >= 400:
            self.trail[position] += f" {outcome.status}" if outcome else " killed"
        self._note(action, outcome)
        return outcome

    def executed(self, action: Action) -> Outcome | None:
        """Do it; where, is for others to say."""
        return self.act(action)

    def _note(self, action: Action, outcome: Outcome | None) -> None:
        self.clock.moment += timedelta(seconds=1)
        failed = outcome is None or outcome.status >= 500
        self.crashes += failed
        self.messages += action[0] == "say" and outcome is not None and outcome.status in (200, 202)
        if outcome is not None and outcome.verdict:
            self.told.append(Told(action[1], action[2], outcome.verdict))
        if outcome is not None and outcome.page:
            self.pages.setdefault((action[1], action[2]), set()).add(outcome.page)
        if action[0] == "wake" and failed and not self.habits.lossy:
            self.receives[action[1]] += 1
            if self.receives[action[1]] < MOST_RECEIVES:
                self.unheard.append(action[1])
        self.look()

    def _page(self, link: Link) -> Any:
        return self._invoke("approvals", request("approval-page", path=link.path, query={"t": link.token}))

    def _posted(self, link: Link, verdict: str) -> Outcome:
        page = self._page(link)
        found = _DIGEST.search(page["body"])
        if found is None:
            return Outcome(page["statusCode"])
        event = request("approval-decision", path=link.path)
        form = urlencode({"t": link.token, "digest": found[1], "decision": verdict, "reason": ""})
        event["body"] = base64.b64encode(form.encode()).decode()
        status = self._invoke("approvals", event)["statusCode"]
        return Outcome(status, verdict if status == 200 else "", found[1])

    def _invoke(self, function: str, event: dict[str, Any], *, milliseconds: int = REQUEST_MS) -> Any:
        # Lambda gives a process one event at a time; Powertools keeps it where a nested one would overwrite it.
        kept = {name: vars(BaseRouter).get(name) for name in ("current_event", "lambda_context")}
        try:
            answer = self._functions[function].handler(event, Context(milliseconds))
            if answer.get("statusCode") == 503 and not int(answer["headers"].get("Retry-After", 0)):
                self.faults.append(f"R45: {function} answers 503 without Retry-After")
            return answer
        finally:
            for name, value in kept.items():
                setattr(BaseRouter, name, value)

    # --- What is left behind ----------------------------------------------------------------------------------------

    def raw_items(self) -> list[Any]:
        """Return all rows as the table's API gives them."""
        return list(self._peek())

    def items(self) -> list[dict[str, Any]]:
        """Return all rows without type tags, in the order of their keys."""
        return sorted((rows.from_item(item) for item in self._peek()), key=lambda row: (row["pk"], row["sk"]))

    def look(self) -> None:
        """Take what was sent and queued, and note where every call stands."""
        for message in self._taken(self._inbox):
            notice = json.loads(message["Body"])
            link = link_in(notice["Message"])
            self.links.setdefault((link.session_id, link.call_id), []).append(link)
            self.sent.append(Sent(link.session_id, link.call_id, notice["Subject"]))
        self.wakeups += [json.loads(message["Body"])["session_id"] for message in self._taken(self._queue)]
        self.snapshot()

    def snapshot(self) -> None:
        """Note where every call and the session stand."""
        for row in self.items():
            if row["sk"] == rows.META:
                self.statuses.append((row["pk"], row["status"]))
            elif row["sk"].startswith("CALL#"):
                self.history.append(rows.to_call(row))

    def session(self) -> Session | None:
        """Return the one session there is."""
        found = self.items()
        assert len({row["pk"] for row in found}) <= 1
        return rows.to_session(found[0]["pk"], found, self._bodies) if found else None

    def effects(self) -> Counter[str]:
        """Return how often the world changed, by idempotency key."""
        return Counter(line["key"] for line in diary.read() if line["what"] == "effect")

    def evidence(self, **more: Any) -> Evidence:
        """Return what a schedule left behind."""
        lines = diary.read()
        entries = [_entry(line) for line in lines if line["what"] == "entry"]
        # Who declares a tool retry-safe promises that the second effect under one key is none.
        safe = {entry.idempotency_key for entry in entries if entry.retry_safe}
        asked = [line for line in lines if line["what"] == "model"]
        session = self.session()
        return Evidence(
            sessions=[session] if session else [],
            rows=self.items(),
            entries=entries,
            effects={key: 1 if key in safe else count for key, count in self.effects().items()},
            pages=self.pages,
            model_calls=len(asked),
            crashes=self.crashes,
            budget=len(plan_of(asked[0]["plan"])) + self.messages if asked else 0,
            notices=self.sent,
            told=self.told,
            history=self.history,
            statuses=self.statuses,
            secrets=[link.token for links in self.links.values() for link in links],
            now=self.clock.moment,
            **more,
        )

    def _scanned(self) -> list[Any]:
        table = ENVIRONMENT["TABLE_NAME"]
        items: list[Any] = self._clients["dynamodb"].scan(TableName=table, ConsistentRead=True)["Items"]
        return items

    def _taken(self, queue: str) -> list[dict[str, Any]]:
        taken: list[dict[str, Any]] = []
        while (
            messages := self._clients["sqs"]
            .receive_message(QueueUrl=queue, MaxNumberOfMessages=_MOST_MESSAGES)
            .get("Messages")
        ):
            entries = [
                {"Id": str(index), "ReceiptHandle": message["ReceiptHandle"]} for index, message in enumerate(messages)
            ]
            self._clients["sqs"].delete_message_batch(QueueUrl=queue, Entries=entries)
            taken += messages
            if len(messages) < _MOST_MESSAGES:
                break
        return taken

    # --- The way back to rest ---------------------------------------------------------------------------------------

    def settle(self) -> None:
        """Let the queue, the timer and people go on until nothing moves any more (I7)."""
        self.look()
        for _ in range(_ROUNDS):
            action = self._next()
            if action is None:
                return
            self.perform(action)
        left = [(row["sk"], row.get("status"), row["due_at"]) for row in self.items() if "due_at" in row]
        self.faults.append(f"I7: it does not come to rest; in the `due` index are {left}")

    def verdicts(self, **more: Any) -> list[str]:
        """Return what does not hold."""
        return self.faults + violations(self.evidence(**more))

    def _next(self) -> Action | None:
        if self.wakeups:
            return ("wake", self.wakeups.pop(0))
        session = self.session()
        if session is None:
            return None
        for call in session.calls.values():
            if (action := self._asked_of_people(call)) is not None:
                return action
        if self.unheard:  # the queue gives it out again, and the sweeper happens to be late
            self.clock.moment += VISIBILITY
            return ("wake", self.unheard.pop(0))
        due = [datetime.fromisoformat(row["due_at"]) for row in self.items() if "due_at" in row]
        soonest = min(due, default=_NEVER)
        if soonest.timestamp() >= session.head.expires:  # the table forgets the session before anything happens
            return None
        self.clock.moment = max(self.clock.moment, soonest) + timedelta(seconds=31)
        return ("sweep",)

    def _asked_of_people(self, call: PendingToolCall) -> Action | None:
        links = self.links.get((call.session_id, call.call_id), [])
        status = call.status.value
        if status not in ("pending", "in_doubt") or not links:
            return None
        verdict = self.habits.verdict
        if status == "pending" and call.overdue(self.clock.moment):
            return None
        if status == "in_doubt":
            did_not = "run_again" if self.habits.again else "did_not_happen"
            verdict = "happened" if self.effects()[f"{call.session_id}:{call.call_id}"] else did_not
        if not verdict:
            return None
        for link in links:  # those from before stay valid: whoever was sent one can use it
            opened = self.executed(("open", link.session_id, link.call_id, link.token))
            if opened is None or opened.status != 200:
                self.faults.append(f"I11: a link that was sent for {call.call_id} opens {opened}")
        return None if self.faults else ("post", call.session_id, call.call_id, links[-1].token, verdict)


def _entry(line: Mapping[str, Any]) -> Entry:
    return Entry(
        session_id=line["session_id"],
        call_id=line["call_id"],
        idempotency_key=line["key"],
        digest=line["digest"],
        retry_safe=line["tool"] not in (GATED, UNGATED_UNSAFE),
        gated=line["tool"] in (GATED, GATED_RETRY_SAFE) or line["approver"] is not None,
        at=datetime.fromisoformat(line["at"]),
    )
