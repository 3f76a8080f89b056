"""The secrets that webhooks are signed with, from AWS Secrets Manager."""

from __future__ import annotations

import base64
import binascii
from datetime import datetime, timedelta
from typing import Any, Final

from botocore.exceptions import ClientError

from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.errors import ConfigurationError, Unavailable
from pausepoint.runtime.ports import Clock

PREFIX: Final = "whsec_"
_STAGES: Final = ("AWSCURRENT", "AWSPREVIOUS")
_FEWEST_BYTES: Final = 24
_KEPT_FOR: Final = timedelta(minutes=5)


class SigningSecrets:
    """The current secret and, while one is being replaced, the one before: what is sent is signed with both.

    Secrets Manager keeps the version before as AWSPREVIOUS by itself, so a new value is all that a rotation takes.

    Args:
        client: a boto3 Secrets Manager client.
        secret_id: the secret's name or ARN. Its value is base64, with or without `whsec_` before it.
    """

    def __init__(self, client: Any, secret_id: str, clock: Clock) -> None:
        self._client = client
        self._secret_id = secret_id
        self._clock = clock
        self._kept: tuple[datetime, tuple[str, ...]] | None = None

    def usable(self) -> tuple[str, ...]:
        """Return the secrets, the current one first; asked for at most every five minutes.

        Raises:
            Unavailable: Secrets Manager did not answer.
            ConfigurationError: there is no such secret, or what is stored is none.
        """
        now = self._clock.now()
        if self._kept is None or now - self._kept[0] >= _KEPT_FOR:
            found = [self._read(stage) for stage in _STAGES]
            self._kept = (now, tuple(checked_secret(value) for value in found if value is not None))
        if not self._kept[1]:
            raise ConfigurationError("The secret of the webhook has no value.")
        return self._kept[1]

    def _read(self, stage: str) -> str | None:
        try:
            answer = self._client.get_secret_value(SecretId=self._secret_id, VersionStage=stage)
        except AWS_FAULTS as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] == "ResourceNotFoundException":
                return None
            raise Unavailable(f"Secrets Manager did not give the webhook's secret ({type(error).__name__}).") from None
        value: str = answer.get("SecretString", "")
        return value


def checked_secret(text: str) -> str:
    """Return a secret as the library of Standard Webhooks takes it. Raises ConfigurationError for what is none."""
    try:
        key = base64.b64decode(text.removeprefix(PREFIX), validate=True)
    except (binascii.Error, ValueError):
        key = b""
    if len(key) < _FEWEST_BYTES:
        raise ConfigurationError(
            f"The secret of the webhook must be base64 of at least {_FEWEST_BYTES} bytes. Put another value into it."
        )
    return text
