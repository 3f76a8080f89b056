"""One-time codes against the values of RFC 6238 itself, and what a wrong secret leads to."""

from __future__ import annotations

import base64
from datetime import UTC, datetime
from typing import Any

import pytest
from botocore.exceptions import ClientError, ConnectTimeoutError

from pausepoint.adapters.totp import TotpCodes
from pausepoint.errors import ConfigurationError, Unavailable

SECRET = base64.b32encode(b"12345678901234567890").decode()
ARN = "arn:aws:secretsmanager:eu-central-1:123456789012:secret:codes"
# Appendix B, SHA-1: seconds since the epoch, and the last six of its eight digits.
KNOWN = {59: "287082", 1111111109: "081804", 1111111111: "050471", 1234567890: "005924", 2000000000: "279037"}


class Secrets:
    def __init__(self, answer: Any) -> None:
        self.answer, self.asked = answer, list[str]()

    def get_secret_value(self, SecretId: str) -> dict[str, Any]:  # noqa: N803 - boto3's name
        self.asked.append(SecretId)
        if isinstance(self.answer, Exception):
            raise self.answer
        return {"SecretString": self.answer} if isinstance(self.answer, str) else self.answer


def at(seconds: float) -> datetime:
    return datetime.fromtimestamp(seconds, UTC)


def codes(answer: Any = SECRET) -> TotpCodes:
    return TotpCodes(Secrets(answer), ARN)


@pytest.mark.parametrize(("seconds", "code"), KNOWN.items())
def test_r3_codes_are_those_of_the_standard(seconds: int, code: str) -> None:
    assert codes().step_of(code, at(seconds)) == seconds // 30


@pytest.mark.parametrize(
    ("off_by", "right"), [(-61, False), (-60, False), (-30, True), (0, True), (30, True), (60, False), (90, False)]
)
def test_r3_a_clock_may_be_wrong_by_one_step(off_by: int, *, right: bool) -> None:
    start = 1111111110 // 30 * 30  # of a step
    (code,) = {code for seconds, code in KNOWN.items() if seconds // 30 * 30 == start}

    assert codes().step_of(code, at(start + off_by)) == (start // 30 if right else None)


@pytest.mark.parametrize("code", ["287083", "000000", "28708", "2870821", ""])
def test_r3_what_is_no_code_of_now_is_wrong(code: str) -> None:
    assert codes().step_of(code, at(59)) is None


def test_the_secret_is_read_for_each_code_so_that_it_can_be_changed() -> None:
    secrets = Secrets(SECRET)
    changing = TotpCodes(secrets, ARN)
    assert changing.step_of("287082", at(59)) == 1

    secrets.answer = base64.b32encode(b"another secret of 20").decode()

    assert changing.step_of("287082", at(59)) is None
    assert secrets.asked == [ARN, ARN]


@pytest.mark.parametrize("secret", ["not base32!", "", "GEZDGNBV", {"SecretBinary": b"x"}, "0189" * 8])
def test_a_secret_that_is_none_is_a_mistake_of_the_deployment_and_is_not_told(secret: Any) -> None:
    with pytest.raises(ConfigurationError) as refused:
        codes(secret).step_of("287082", at(59))

    assert ARN in str(refused.value)
    assert not isinstance(secret, str) or not secret or secret not in str(refused.value)


@pytest.mark.parametrize(
    ("error", "told"),
    [
        (ClientError({"Error": {"Code": "ThrottlingException"}}, "GetSecretValue"), Unavailable),
        (ConnectTimeoutError(endpoint_url="https://secretsmanager"), Unavailable),
        (ClientError({"Error": {"Code": "AccessDeniedException"}}, "GetSecretValue"), ConfigurationError),
        (ClientError({"Error": {"Code": "ResourceNotFoundException"}}, "GetSecretValue"), ConfigurationError),
    ],
)
def test_a_secret_that_cannot_be_read_is_told_as_what_it_is(error: Exception, told: type[Exception]) -> None:
    with pytest.raises(told):
        codes(error).step_of("287082", at(59))
