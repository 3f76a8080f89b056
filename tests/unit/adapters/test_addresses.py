"""R60: a webhook goes to the public Internet over https, or nowhere; in the local stack to this computer too."""

from __future__ import annotations

import ipaddress
import socket

import pytest

from pausepoint.adapters.addresses import checked_addresses, endpoint, is_public, look_up
from pausepoint.errors import ConfigurationError, Unavailable

PUBLIC = ["93.184.216.34", "1.1.1.1", "8.8.8.8", "223.255.255.1", "2606:4700::1111", "2a00:1450:4001:80b::200e"]
NOT_PUBLIC = [
    *("0.0.0.0", "10.1.2.3", "100.64.0.1", "127.0.0.1", "127.1.2.3", "169.254.169.254", "172.16.0.1", "192.0.0.1"),
    *("192.0.2.1", "192.88.99.1", "192.168.1.1", "198.18.0.1", "198.51.100.1", "203.0.113.1", "224.0.0.1"),
    *("239.255.255.250", "240.0.0.1", "255.255.255.255"),
    *("::", "::1", "::ffff:127.0.0.1", "::ffff:8.8.8.8", "64:ff9b::a00:1", "64:ff9b:1::1", "100::1", "2001::1"),
    *("2001:db8::1", "2001:10::1", "2002:7f00:1::1", "2002:a00:1::1", "3fff::1", "5f00::1", "fc00::1", "fd12::1"),
    *("fe80::1", "fec0::1", "ff02::1", "4000::1"),
]


@pytest.mark.parametrize("text", PUBLIC)
def test_r60_an_address_of_a_public_computer_is_one(text: str) -> None:
    assert is_public(ipaddress.ip_address(text))


@pytest.mark.parametrize("text", NOT_PUBLIC)
def test_r60_an_address_that_leads_anywhere_else_is_not(text: str) -> None:
    assert not is_public(ipaddress.ip_address(text))


def test_r60_python_itself_would_let_some_of_them_through() -> None:
    assert [text for text in NOT_PUBLIC if ipaddress.ip_address(text).is_global]


@pytest.mark.parametrize(
    ("url", "host", "port", "target", "authority"),
    [
        ("https://hooks.example", "hooks.example", 443, "/", "hooks.example"),
        ("https://hooks.example:8443/a/b?c=d&e", "hooks.example", 8443, "/a/b?c=d&e", "hooks.example:8443"),
        ("https://HOOKS.example:443/%2e%2e/x", "hooks.example", 443, "/%2e%2e/x", "hooks.example"),
    ],
)
def test_r60_an_address_is_taken_apart(url: str, host: str, port: int, target: str, authority: str) -> None:
    place = endpoint(url, loopback=False)
    assert (place.host, place.port, place.target, place.authority) == (host, port, target, authority)


@pytest.mark.parametrize(
    "url",
    [
        *(
            "",
            "hooks.example",
            "//hooks.example/",
            "ftp://hooks.example/",
            "file:///etc/passwd",
            "https://",
            "https:///x",
        ),
        *("https://user@hooks.example/", "https://user:pw@hooks.example/", "https://hooks.example/#x"),
        *("https://hooks.example:99999/", "https://hooks.example:x/", "https://[::1]/", "https://ho oks.example/"),
        *("https://１２７.0.0.1/", "https://hooks.example/ä", "https://ex%61mple/", "https://a_b.example/"),
        *("http://hooks.example/", "http://127.0.0.1:8000/"),
    ],
)
def test_r60_what_is_no_https_address_is_refused_without_repeating_it(url: str) -> None:
    with pytest.raises(ConfigurationError) as raised:
        endpoint(url, loopback=False)
    assert "WebhookUrl" in str(raised.value)
    assert url in ("", "https://") or url not in str(raised.value)


@pytest.mark.parametrize("bad", [*NOT_PUBLIC[:6], "::1", "fe80::1%eth0"])
def test_r60_one_address_that_is_not_allowed_is_enough_to_refuse_a_name(bad: str) -> None:
    place = endpoint("https://hooks.example/", loopback=False)
    with pytest.raises(Unavailable, match=r"hooks\.example leads to"):
        checked_addresses(place, lambda *_: [PUBLIC[0], bad])


def test_r60_a_name_with_public_addresses_leads_to_them_in_their_order() -> None:
    place = endpoint("https://hooks.example/", loopback=False)
    assert checked_addresses(place, lambda *_: [PUBLIC[4], PUBLIC[0], PUBLIC[4]]) == [PUBLIC[4], PUBLIC[0]]


@pytest.mark.enable_socket  # to read numbers; nobody is asked
@pytest.mark.parametrize("host", ["127.1", "0x7f000001", "2130706433", "127.0.0.1", "017700000001"])
def test_r60_other_ways_to_write_this_computer_lead_to_it_and_are_refused(host: str) -> None:
    with pytest.raises(Unavailable, match=r"leads to 127\.0\.0\.1, where no webhook is sent"):
        checked_addresses(endpoint(f"https://{host}/", loopback=True))


@pytest.mark.enable_socket  # to read numbers; nobody is asked
def test_r60_plain_http_goes_to_this_computer_only_and_only_where_that_is_allowed() -> None:
    here = endpoint("http://127.0.0.1:8000/hook", loopback=True)
    assert checked_addresses(here) == ["127.0.0.1"]
    elsewhere = endpoint("http://hooks.example/", loopback=True)
    for address in (PUBLIC[0], "10.0.0.1", "169.254.169.254"):
        with pytest.raises(Unavailable, match="where no webhook is sent"):
            checked_addresses(elsewhere, lambda *_, found=address: [found])


def test_r60_a_name_that_leads_nowhere_is_said_so(monkeypatch: pytest.MonkeyPatch) -> None:
    def unknown(*_: object, **__: object) -> list[str]:
        raise socket.gaierror(-2, "Name or service not known")

    place = endpoint("https://hooks.example/", loopback=False)
    with pytest.raises(Unavailable, match=r"hooks\.example cannot be looked up \(gaierror\)"):
        checked_addresses(place, unknown)
    with pytest.raises(Unavailable, match="has no address"):
        checked_addresses(place, lambda *_: [])
    monkeypatch.setattr(socket, "getaddrinfo", unknown)
    with pytest.raises(OSError, match="not known"):
        look_up("hooks.example", 443)
