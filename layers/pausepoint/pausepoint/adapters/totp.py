"""One-time codes (RFC 6238), of a secret in AWS Secrets Manager."""

from __future__ import annotations

import hmac
from datetime import datetime
from typing import Any, Final

from botocore.exceptions import ClientError

from pausepoint.adapters.faults import AWS_FAULTS
from pausepoint.errors import ConfigurationError, Unavailable

_AROUND: Final = (0, -1, 1)
"""Steps of 30 seconds, by which a phone's clock may be wrong."""
_SETUP_ERRORS: Final = frozenset({"ResourceNotFoundException", "AccessDeniedException", "DecryptionFailure"})


class TotpCodes:
    """Compares codes with those of now. The secret is read for each: it is seldom needed, and may be changed.

    Args:
        client: a boto3 Secrets Manager client.
        secret_arn: of a secret that is a base32 text of at least 112 bits, as authenticator apps take it.
    """

    def __init__(self, client: Any, secret_arn: str) -> None:
        self._client = client
        self._secret_arn = secret_arn

    def step_of(self, code: str, now: datetime) -> int | None:
        import pyotp  # noqa: PLC0415 - only who approves a risky call pays for it

        try:
            totp = pyotp.TOTP(self._secret())
            present = totp.timecode(now)
            codes = {step: totp.generate_otp(step) for step in (present + around for around in _AROUND)}
        except ValueError:
            # Not the error's text, nor the secret's: whatever it is, it may be somebody's secret.
            raise ConfigurationError(f"{self._secret_arn} is not base32 of at least 112 bits.") from None
        return next((step for step, right in codes.items() if hmac.compare_digest(right, code)), None)

    def _secret(self) -> str:
        try:
            return str(self._client.get_secret_value(SecretId=self._secret_arn)["SecretString"]).strip()
        except AWS_FAULTS as error:
            if isinstance(error, ClientError) and error.response["Error"]["Code"] in _SETUP_ERRORS:
                raise ConfigurationError(f"The secret of the one-time codes cannot be read: {error}") from error
            raise Unavailable("The secret of the one-time codes cannot be read now.") from error
        except KeyError:
            raise ConfigurationError(f"{self._secret_arn} is not a text.") from None
