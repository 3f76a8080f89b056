"""Where a webhook may go: an address on the public Internet, over https. Nothing inside is reached through it (R60)."""

from __future__ import annotations

import ipaddress
import re
import socket
from collections.abc import Callable
from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from pausepoint.errors import ConfigurationError, Unavailable

IpAddress = ipaddress.IPv4Address | ipaddress.IPv6Address
Resolve = Callable[[str, int], list[str]]
"""Looks a name up and returns all its addresses as text, or raises OSError."""

_HOST: Final = re.compile(r"[A-Za-z0-9.-]{1,253}")
_PORTS: Final = {"https": 443, "http": 80}
# What `ipaddress.is_global` lets through, in some version of Python, and is not an address of one public computer:
# ways to reach others by (NAT64, 6to4, Teredo, the relays of 6to4), multicast, and what is only reserved.
_NOT_PUBLIC: Final = tuple(
    ipaddress.ip_network(text)
    for text in (
        *("192.0.0.0/24", "192.88.99.0/24", "224.0.0.0/3"),
        *("2001::/23", "2001:db8::/32", "2002::/16", "3fff::/20"),
    )
)
_UNICAST: Final = ipaddress.ip_network("2000::/3")
"""All of IPv6 that is given out for computers on the Internet."""


@dataclass(frozen=True)
class Endpoint:
    """A webhook's address, taken apart. `target` is its path and query, which may be a secret."""

    scheme: str
    host: str
    port: int
    target: str

    @property
    def authority(self) -> str:
        """What the Host header says."""
        return self.host if self.port == _PORTS[self.scheme] else f"{self.host}:{self.port}"


def endpoint(url: str, *, loopback: bool) -> Endpoint:
    """Take an address apart.

    Args:
        loopback: plain http is allowed too; only this computer itself is then reached by it.

    Raises:
        ConfigurationError: it is no address that a webhook may have.
    """
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError as error:
        raise ConfigurationError("WEBHOOK_URL is no address. Correct the parameter WebhookUrl.") from error
    if parts.scheme != "https" and not (parts.scheme == "http" and loopback):
        raise ConfigurationError("WEBHOOK_URL must begin with https://. Correct the parameter WebhookUrl.")
    host = parts.hostname or ""
    if not _HOST.fullmatch(host) or parts.username is not None or parts.fragment or not url.isascii():
        raise ConfigurationError(
            "WEBHOOK_URL must be https://, a host's name, and a path: no user, no password, nothing after a #, "
            "and only ASCII. Correct the parameter WebhookUrl."
        )
    target = (parts.path or "/") + (f"?{parts.query}" if parts.query else "")
    return Endpoint(parts.scheme, host, port or _PORTS[parts.scheme], target)


def look_up(host: str, port: int) -> list[str]:
    """Be a `Resolve`, by the system's resolver."""
    return [str(found[4][0]) for found in socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)]


def checked_addresses(place: Endpoint, resolve: Resolve = look_up) -> list[str]:
    """Look an endpoint up, once, and return its addresses: connect to these, and not to the name again.

    Plain http goes to this computer only, https to the public Internet only.

    Raises:
        Unavailable: the name cannot be looked up, or one of its addresses is not allowed.
    """
    try:
        found = list(dict.fromkeys(resolve(place.host, place.port)))
        addresses = [ipaddress.ip_address(text) for text in found]
    except (OSError, ValueError) as error:
        raise Unavailable(f"{place.host} cannot be looked up ({type(error).__name__}).") from None
    for address in addresses:
        allowed = address.is_loopback if place.scheme == "http" else is_public(address)
        if not allowed:
            raise Unavailable(f"{place.host} leads to {address}, where no webhook is sent.")
    if not found:
        raise Unavailable(f"{place.host} has no address.")
    return found


def is_public(address: IpAddress) -> bool:
    """Whether an address belongs to one computer on the public Internet, whatever this version of Python thinks."""
    if address.version == 6 and address not in _UNICAST:  # noqa: PLR2004 - IPv6
        return False
    others = (network for network in _NOT_PUBLIC if network.version == address.version)
    return address.is_global and not any(address in network for network in others)
