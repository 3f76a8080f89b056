"""Sends webhooks, signed as Standard Webhooks says (https://www.standardwebhooks.com)."""

from __future__ import annotations

import ssl
from collections.abc import Callable
from functools import cached_property
from http import HTTPStatus
from typing import Final

from standardwebhooks import Webhook
from urllib3 import HTTPConnectionPool, HTTPSConnectionPool, Timeout
from urllib3.exceptions import ConnectTimeoutError, HTTPError, NewConnectionError

from pausepoint.adapters.addresses import Endpoint, checked_addresses
from pausepoint.adapters.signing import SigningSecrets
from pausepoint.errors import PausepointError, Unavailable
from pausepoint.runtime.ports import Clock

_TIMEOUT: Final = Timeout(connect=3, read=10)
"""In seconds. A receiver should answer first and work afterwards."""


class Gone(PausepointError):
    """The receiver wants nothing any more (410)."""

    code = "webhook-gone"


class WebhookSender:
    """Posts messages to one endpoint.

    Args:
        addresses: looks the endpoint up and checks where it leads. Its answer is where the connection goes: a name
            that leads elsewhere a moment later changes nothing. The certificate is still held against the name.
        tls: whom to trust; the system's authorities otherwise.
    """

    def __init__(
        self,
        place: Endpoint,
        secrets: SigningSecrets,
        clock: Clock,
        *,
        addresses: Callable[[Endpoint], list[str]] = checked_addresses,
        tls: ssl.SSLContext | None = None,
    ) -> None:
        self._place = place
        self._secrets = secrets
        self._clock = clock
        self._addresses = addresses
        if tls is not None:
            vars(self)["_tls"] = tls

    def deliver(self, message_id: str, body: str) -> None:
        """Post a message once.

        Raises:
            Unavailable: it was not taken: no answer, or one that is not 2xx. Sending it again may help.
            Gone: the receiver says that it wants no more.
        """
        headers = self._headers(message_id, body)
        status = self._post(body.encode("utf-8"), headers)
        if status == HTTPStatus.GONE:
            raise Gone(f"{self._place.host} answered 410: it wants no webhooks any more.")
        if status // 100 != 2:  # noqa: PLR2004 - HTTP's successes; a redirect is not followed
            raise Unavailable(f"{self._place.host} answered {status}, not 2xx.")

    def _headers(self, message_id: str, body: str) -> dict[str, str]:
        now = self._clock.now()
        signatures = [Webhook(secret).sign(message_id, now, body) for secret in self._secrets.usable()]
        return {
            "host": self._place.authority,
            "content-type": "application/json",
            "user-agent": "Pausepoint",
            "webhook-id": message_id,
            "webhook-timestamp": str(int(now.timestamp())),
            "webhook-signature": " ".join(signatures),
        }

    def _post(self, body: bytes, headers: dict[str, str]) -> int:
        for address in self._addresses(self._place):
            with self._pool(address) as pool:
                try:
                    answer = pool.urlopen(
                        *("POST", self._place.target, body, headers),
                        redirect=False,
                        retries=False,
                        assert_same_host=False,
                        preload_content=False,  # what the receiver says beside its status is of no use
                    )
                except (NewConnectionError, ConnectTimeoutError):
                    continue  # it may have an address that can be reached from here
                except HTTPError as error:
                    # Not the error's text: it may repeat the address, which may be a secret.
                    raise Unavailable(f"{self._place.host} did not answer ({type(error).__name__}).") from None
                answer.close()
                return answer.status
        raise Unavailable(f"{self._place.host} cannot be reached.")

    def _pool(self, address: str) -> HTTPConnectionPool:
        if self._place.scheme == "http":
            return HTTPConnectionPool(address, self._place.port, timeout=_TIMEOUT)
        return HTTPSConnectionPool(
            address,
            self._place.port,
            timeout=_TIMEOUT,
            ssl_context=self._tls,
            server_hostname=self._place.host,
        )

    @cached_property
    def _tls(self) -> ssl.SSLContext:
        return ssl.create_default_context()
