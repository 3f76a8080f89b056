"""Times as people read them: UTC always, and their own time where the deployment knows it."""

from __future__ import annotations

from datetime import timedelta
from zoneinfo import ZoneInfo

import pytest

from pausepoint.domain.calls import CallStatus
from pausepoint.errors import ConfigurationError
from pausepoint.http.page import approval_page, outcome_page
from pausepoint.http.wording import local, when
from pausepoint.settings import Settings
from tests.unit.http.samples import ASKED, NOW, decided_call, pending_call, words


@pytest.mark.parametrize(
    ("zone", "text"),
    [
        ("Europe/Berlin", "16:04 Europe/Berlin"),
        ("America/New_York", "10:04 America/New_York"),
        ("Asia/Kolkata", "20:34 Asia/Kolkata"),
        ("Pacific/Auckland", "2026-11-30 04:04 Pacific/Auckland"),
    ],
)
def test_a_moment_is_told_in_the_readers_zone_too(zone: str, text: str) -> None:
    now = NOW.astimezone(ZoneInfo(zone))
    assert local(ASKED, now) == text
    assert when(ASKED, now) == f"2026-11-29 15:04 UTC ({text})"
    asks = words(approval_page(pending_call(), token="t", action="/", now=now))
    assert f"2026-11-29 15:04 UTC {text} · 7 minutes ago" in asks
    assert zone in words(outcome_page(decided_call(CallStatus.APPROVED), now=now))


def test_summer_time_is_that_of_the_moment_not_of_now() -> None:
    now = NOW.astimezone(ZoneInfo("Europe/Berlin"))
    assert local(ASKED - timedelta(days=120), now) == "17:04 Europe/Berlin"


def test_utc_is_not_told_twice() -> None:
    assert local(ASKED, NOW) == ""
    assert when(ASKED, NOW) == "2026-11-29 15:04 UTC"


def test_the_zone_is_a_setting_that_is_utc_by_default() -> None:
    assert str(Settings.from_environment({"TABLE_NAME": "t"}).zone) == "UTC"
    zone = Settings.from_environment({"TABLE_NAME": "t", "TIME_ZONE": "Europe/Berlin"}).zone
    assert str(zone) == "Europe/Berlin"


@pytest.mark.parametrize("name", ["", "Europe/Atlantis", "../etc/passwd", "/usr/share/zoneinfo/UTC", "Europe", "CET\0"])
def test_what_is_no_zone_is_refused_by_the_name_of_its_variable(name: str) -> None:
    with pytest.raises(ConfigurationError, match="TIME_ZONE"):
        Settings.from_environment({"TABLE_NAME": "t", "TIME_ZONE": name})
