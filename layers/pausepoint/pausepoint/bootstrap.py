"""The composition root: builds what a function needs from its settings, when it first needs it."""

from __future__ import annotations

import importlib
import logging
import os
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any

from botocore.config import Config

from pausepoint.adapters import aws
from pausepoint.adapters.answers import require_whole_answers
from pausepoint.adapters.dynamodb.bodies import Bodies
from pausepoint.adapters.dynamodb.store import DynamoDBStore
from pausepoint.adapters.sns import SnsNotifier
from pausepoint.adapters.sqs import SqsDeadLetters, SqsWorkQueue
from pausepoint.adapters.totp import TotpCodes
from pausepoint.errors import ConfigurationError
from pausepoint.runtime.context import Services
from pausepoint.runtime.system import SystemClock, new_id, new_token
from pausepoint.settings import DeadLetterSettings, Settings, WebhookSettings

if TYPE_CHECKING:
    from pausepoint.adapters.webhooks import WebhookSender
    from pausepoint.runtime.agent import Agent

# Short timeouts and a few tries: the caller at the gateway has 30 seconds for everything.
_CLIENT_CONFIG = Config(connect_timeout=2, read_timeout=5, retries={"mode": "standard", "total_max_attempts": 4})


class Application:
    """One function's view of the deployment."""

    def __init__(self, settings: Settings) -> None:
        self.settings = settings

    @cached_property
    def services(self) -> Services:
        """The world on AWS."""
        return Services(
            store=DynamoDBStore(
                _Client("dynamodb"),
                self.settings.table_name,
                new_id,
                Bodies(_Client("s3"), self.settings.overflow_bucket),
            ),
            notifier=SnsNotifier(_Client("sns"), self.settings.topic_arn),
            queue=SqsWorkQueue(_Client("sqs"), self.settings.queue_url),
            clock=SystemClock(),
            new_id=new_id,
            new_token=new_token,
            logger=logging.getLogger("pausepoint"),
            zone=self.settings.zone,
            codes=self._codes(),
        )

    @cached_property
    def agent(self) -> Agent:
        """The deployed agent."""
        return load_agent(self.settings.agent).bind(
            self.services,
            approval_time=self.settings.approval_time,
            reminder=self.settings.reminder,
            session_time=self.settings.session_time,
            allow_self_approval=self.settings.allow_self_approval,
        )

    def _codes(self) -> TotpCodes | None:
        arn = self.settings.code_secret_arn
        return TotpCodes(_Client("secretsmanager"), arn) if arn else None


@cache
def application() -> Application:
    """Return this process's application; made at the first call."""
    return Application(Settings.from_environment(os.environ))


@cache
def webhook_sender() -> WebhookSender:
    """Return what sends webhooks; made at the first call."""
    # Here, since the page and all others do without: a person waits while they are imported.
    from pausepoint.adapters.addresses import endpoint  # noqa: PLC0415
    from pausepoint.adapters.signing import SigningSecrets  # noqa: PLC0415
    from pausepoint.adapters.webhooks import WebhookSender  # noqa: PLC0415

    settings, clock = WebhookSettings.from_environment(os.environ), SystemClock()
    place = endpoint(settings.webhook_url, loopback=settings.webhook_loopback)
    return WebhookSender(place, SigningSecrets(_Client("secretsmanager"), settings.webhook_secret_arn, clock), clock)


@cache
def dead_letters() -> SqsDeadLetters:
    """Return where webhooks are put that nobody took; made at the first call."""
    return SqsDeadLetters(_Client("sqs"), DeadLetterSettings.from_environment(os.environ).queue_url)


def load_agent(place: str) -> Agent:
    """Import the agent at `module:attribute`. Raises ConfigurationError that says what is missing."""
    # Here, since most functions run no agent.
    from pausepoint.runtime.agent import Agent  # noqa: PLC0415

    module_name, _, attribute = place.partition(":")
    if not module_name or not attribute:
        raise ConfigurationError(f"AGENT is {place!r}, and must be module:attribute, for example custodian:agent.")
    try:
        agent = getattr(importlib.import_module(module_name), attribute)
    except (ImportError, AttributeError) as error:
        raise ConfigurationError(f"The agent {place!r} cannot be imported: {error}") from error
    if not isinstance(agent, Agent):
        raise ConfigurationError(f"{place!r} is a {type(agent).__name__}, not an Agent.")
    return agent


class _Client:
    """A client that is made when it is first used: most functions use few of theirs."""

    def __init__(self, service: str) -> None:
        self._service = service

    @cached_property
    def _made(self) -> Any:
        # At DEBUG they log whole requests, answers and addresses: secrets of links, of webhooks and of chats.
        for library in ("botocore", "urllib3"):
            logging.getLogger(library).setLevel(logging.INFO)
        client = aws.session().create_client(self._service, config=_CLIENT_CONFIG)
        if self._service != "s3":  # whose bodies are streams, and check their length themselves
            require_whole_answers(client)
        return client

    def __getattr__(self, name: str) -> Any:
        return getattr(self._made, name)
