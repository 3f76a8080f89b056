"""The settings of a deployed function, from its environment variables."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import timedelta
from typing import Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from pydantic_core import PydanticCustomError

from pausepoint.errors import ConfigurationError


class Settings(BaseModel):
    """What template.yaml tells the functions. Each function is told only what it needs.

    Attributes:
        agent: where the agent is, as `module:attribute`.
        base_url: the API's public address; empty: taken from the gateway's context.
        require_signed_caller: refuse requests on signed routes that carry no caller. Only the local
            stack, which nobody signs for, turns it off.
        allow_self_approval: whether signed-in callers may approve what they asked for themselves.
        code_secret_arn: the secret of the one-time codes that approving a risky call by a link takes; empty:
            it takes none.
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
    allow_self_approval: bool = Field(alias="ALLOW_SELF_APPROVAL", default=True)
    code_secret_arn: str = Field(alias="CODE_SECRET_ARN", default="")

    @model_validator(mode="after")
    def _rule_can_be_kept(self) -> Self:
        if not (self.allow_self_approval or self.require_signed_caller):
            raise PydanticCustomError("unsigned", "ALLOW_SELF_APPROVAL=false needs REQUIRE_SIGNED_CALLER=true")
        return self

    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Settings:
        """Read the settings. Raises ConfigurationError that names the variable."""
        try:
            return cls.model_validate(dict(environment))
        except ValidationError as error:
            names = ", ".join(str((*problem["loc"], problem["msg"])[0]) for problem in error.errors())
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
    def session_time(self) -> timedelta:
        """How long the table keeps a session."""
        return timedelta(seconds=self.session_seconds)
