"""AWS credentials, and the signature (SigV4) that the API asks for."""

from __future__ import annotations

from typing import TYPE_CHECKING, Final

from pausepoint_cli.exits import CommandError, Exit

if TYPE_CHECKING:
    from botocore.awsrequest import AWSRequest
    from botocore.session import Session

SERVICE: Final = "execute-api"
_NO_CREDENTIALS: Final = "There are no AWS credentials: sign in (`aws sso login`), or say --profile."


def aws_session(profile: str | None) -> Session:
    """Return a session as the AWS command line would make it.

    Raises:
        CommandError: there is no such profile.
    """
    import botocore.session  # noqa: PLC0415 - takes a while, and the local stack does not need it
    from botocore.exceptions import BotoCoreError  # noqa: PLC0415

    session = botocore.session.Session(profile=profile)
    try:
        session.get_scoped_config()
    except BotoCoreError as error:
        raise CommandError(Exit.USAGE, f"The AWS configuration cannot be used: {error}.") from None
    return session


class Signer:
    """Signs requests to an API in a region."""

    def __init__(self, session: Session, region: str) -> None:
        self._session, self._region = session, region

    def sign(self, request: AWSRequest) -> None:
        """Put the signature on a request; it is good for some minutes.

        Raises:
            CommandError: there are no credentials, or they cannot be refreshed.
        """
        from botocore.auth import SigV4Auth  # noqa: PLC0415
        from botocore.exceptions import BotoCoreError  # noqa: PLC0415

        try:
            credentials = self._session.get_credentials()
            frozen = credentials.get_frozen_credentials() if credentials else None
        except BotoCoreError as error:
            raise CommandError(Exit.NOT_ALLOWED, f"The AWS credentials cannot be used: {error}.") from None
        if frozen is None or not frozen.access_key:
            raise CommandError(Exit.NOT_ALLOWED, _NO_CREDENTIALS)
        SigV4Auth(frozen, SERVICE, self._region).add_auth(request)
