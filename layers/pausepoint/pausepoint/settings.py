"""The settings of a deployed function, from its environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, timedelta, tzinfo
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator, model_validator
from pydantic_core import PydanticCustomError

from pausepoint.errors import ConfigurationError


class _FromEnvironment(BaseModel):
    model_config = ConfigDict(frozen=True, extra="ignore")

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the settings. Raises ConfigurationError that names the variable."""
        try:
            return cls.model_validate(dict(environment))
        except ValidationError as error:
            names = ", ".join(str((*problem["loc"], problem["msg"])[0]) for problem in error.errors())
            raise ConfigurationError(f"These variables are missing or wrong: {names}.") from error


class Settings(_FromEnvironment):
    """What template.yaml tells the functions. Each function is told only what it needs.

    Attributes:
        agent: where the agent is, as `module:attribute`.
        base_url: the API's public address; empty: taken from the gateway's context.
        require_signed_caller: refuse requests on signed routes that carry no caller. Only the local
            stack, which nobody signs for, turns it off.
        allow_self_approval: whether signed-in callers may approve what they asked for themselves.
        code_secret_arn: the secret of the one-time codes that approving a risky call by a link takes; empty:
            it takes none.
        time_zone: where the people who are asked live, by its IANA name; their page shows its times beside UTC.
    """

    table_name: str = Field(alias="TABLE_NAME", min_length=1)
    topic_arn: str = Field(alias="TOPIC_ARN", default="")
    queue_url: str = Field(alias="QUEUE_URL", default="")
    overflow_bucket: str = Field(alias="OVERFLOW_BUCKET", default="")
    agent: str = Field(alias="AGENT", default="")
    base_url: str = Field(alias="BASE_URL", default="")
    approval_seconds: int = Field(alias="APPROVAL_SECONDS", default=24 * 3600, ge=60)
    session_seconds: int = Field(alias="SESSION_SECONDS", default=30 * 24 * 3600, ge=60)
    reminder_seconds: int = Field(alias="REMINDER_SECONDS", default=0, ge=0)
    require_signed_caller: bool = Field(alias="REQUIRE_SIGNED_CALLER", default=True)
    time_zone: str = Field(alias="TIME_ZONE", default="UTC")
    allow_self_approval: bool = Field(alias="ALLOW_SELF_APPROVAL", default=True)
    code_secret_arn: str = Field(alias="CODE_SECRET_ARN", default="")

    @model_validator(mode="after")
    def _rule_can_be_kept(self) -> Self:
        if not (self.allow_self_approval or self.require_signed_caller):
            raise PydanticCustomError("unsigned", "ALLOW_SELF_APPROVAL=false needs REQUIRE_SIGNED_CALLER=true")
        return self

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        _zone(name)
        return name

    @property
    def approval_time(self) -> timedelta:
        """How long a person may take to decide."""
        return timedelta(seconds=self.approval_seconds)

    @property
    def reminder(self) -> timedelta | None:
        """After how long an approver is told once more; None: never."""
        return timedelta(seconds=self.reminder_seconds) if self.reminder_seconds else None

    @property
    def zone(self) -> tzinfo:
        """The time zone of the people who are asked."""
        return _zone(self.time_zone)

    @property
    def session_time(self) -> timedelta:
        """How long the table keeps a session."""
        return timedelta(seconds=self.session_seconds)


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo, ZoneInfoNotFoundError  # noqa: PLC0415 - most functions are told no zone

    try:
        return ZoneInfo(name)
    except (ZoneInfoNotFoundError, ValueError, OSError) as error:
        raise ValueError("not the name of a time zone") from error


class WebhookSettings(_FromEnvironment):
    """What template.yaml tells the function that sends webhooks.

    Attributes:
        secret_id: where the secret is that they are signed with.
        loopback: plain http to this computer is allowed. Only the local stack, whose receiver has no certificate,
            turns it on.
    """

    url: str = Field(alias="WEBHOOK_URL", min_length=1)
    secret_id: str = Field(alias="WEBHOOK_SECRET_ARN", min_length=1)
    loopback: bool = Field(alias="WEBHOOK_LOOPBACK", default=False)


class DeadLetterSettings(_FromEnvironment):
    """What template.yaml tells the function that puts webhooks aside."""

    queue_url: str = Field(alias="QUEUE_URL", min_length=1)
