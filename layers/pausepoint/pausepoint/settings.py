"""The settings of a deployed function, from its environment variables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import MISSING, dataclass, field, fields
from datetime import UTC, timedelta, tzinfo
from typing import Any, Self

from pausepoint.errors import ConfigurationError


def _text(value: str) -> str:
    return value


def _some_text(value: str) -> str:
    if not value:
        raise ValueError("empty")
    return value


def _truth(value: str) -> bool:
    return {"true": True, "false": False}[value.lower()]


def _at_least(least: int) -> Callable[[str], int]:
    def number(value: str) -> int:
        if int(value) < least:
            raise ValueError("too small")
        return int(value)

    return number


def _zone(name: str) -> tzinfo:
    if name == "UTC":
        return UTC
    from zoneinfo import ZoneInfo  # noqa: PLC0415 - most functions are told no zone

    return ZoneInfo(name)


def _zone_name(value: str) -> str:
    _zone(value)
    return value


def _setting(read: Callable[[str], Any], default: Any = MISSING) -> Any:
    """Return a field that is read from the variable of its name. Reading raises LookupError, ValueError or OSError."""
    return field(default=default, metadata={"read": read})


class _FromEnvironment:
    @classmethod
    def from_environment(cls, environment: Mapping[str, str]) -> Self:
        """Read the settings. Raises ConfigurationError that names the variables."""
        given: dict[str, Any] = {}
        wrong: list[str] = []
        for each in fields(cls):  # type: ignore[arg-type] # the classes below are dataclasses
            variable = each.name.upper()
            try:
                if variable in environment or each.default is MISSING:
                    given[each.name] = each.metadata["read"](environment[variable])
            except (LookupError, ValueError, OSError):
                wrong.append(variable)
        if wrong:
            raise ConfigurationError(f"These variables are missing or wrong: {', '.join(wrong)}.")
        return cls(**given)


@dataclass(frozen=True, kw_only=True)
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

    table_name: str = _setting(_some_text)
    topic_arn: str = _setting(_text, "")
    queue_url: str = _setting(_text, "")
    overflow_bucket: str = _setting(_text, "")
    agent: str = _setting(_text, "")
    base_url: str = _setting(_text, "")
    approval_seconds: int = _setting(_at_least(60), 24 * 3600)
    session_seconds: int = _setting(_at_least(60), 30 * 24 * 3600)
    reminder_seconds: int = _setting(_at_least(0), 0)
    require_signed_caller: bool = _setting(_truth, default=True)
    time_zone: str = _setting(_zone_name, "UTC")
    allow_self_approval: bool = _setting(_truth, default=True)
    code_secret_arn: str = _setting(_text, "")

    def __post_init__(self) -> None:
        if not (self.allow_self_approval or self.require_signed_caller):
            raise ConfigurationError("ALLOW_SELF_APPROVAL=false needs REQUIRE_SIGNED_CALLER=true.")

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


@dataclass(frozen=True, kw_only=True)
class WebhookSettings(_FromEnvironment):
    """What template.yaml tells the function that sends webhooks.

    Attributes:
        webhook_secret_arn: the secret that they are signed with.
        webhook_loopback: plain http to this computer is allowed. Only the local stack, whose receiver has no
            certificate, turns it on.
    """

    webhook_url: str = _setting(_some_text)
    webhook_secret_arn: str = _setting(_some_text)
    webhook_loopback: bool = _setting(_truth, default=False)


@dataclass(frozen=True, kw_only=True)
class DeadLetterSettings(_FromEnvironment):
    """What template.yaml tells the function that puts webhooks aside."""

    queue_url: str = _setting(_some_text)
