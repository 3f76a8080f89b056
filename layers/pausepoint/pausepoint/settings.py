"""The settings of a deployed function, from its environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import UTC, timedelta, tzinfo

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from pausepoint.errors import ConfigurationError


class Settings(BaseModel):
    """What template.yaml tells the functions. Each function is told only what it needs.

    Attributes:
        agent: where the agent is, as `module:attribute`.
        base_url: the API's public address; empty: taken from the gateway's context.
        require_signed_caller: refuse requests on signed routes that carry no caller. Only the local
            stack, which nobody signs for, turns it off.
        time_zone: where the people who are asked live, by its IANA name; their page shows its times beside UTC.
    """

    model_config = ConfigDict(frozen=True, extra="ignore")

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

    @field_validator("time_zone")
    @classmethod
    def _is_a_zone(cls, name: str) -> str:
        _zone(name)
        return name

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the settings. Raises ConfigurationError that names the variable."""
        try:
            return cls.model_validate(dict(environment))
        except ValidationError as error:
            names = ", ".join(str(problem["loc"][0]) for problem in error.errors())
            raise ConfigurationError(f"These variables are missing or wrong: {names}.") from error

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
