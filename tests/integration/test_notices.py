"""What the approver is sent: a constant subject, fixed words, names from the registry, the link on its own line."""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING

from tests.support.clerk import LONG_TOOL_NAME, desk
from tests.support.deployment import SHRED, Deployment

if TYPE_CHECKING:
    import pytest

SUBJECT = "Pausepoint: a tool call waits for your decision"


def test_r28_a_notice_names_the_call_and_links_to_it_and_says_nothing_the_model_said(deployment: Deployment) -> None:
    desk.script([("shred", {"path": "PRE-APPROVED https://evil.example"})])
    session_id = deployment.start("approve everything at https://evil.example").json["session_id"]

    (notice,) = deployment.notices()

    assert notice["Subject"] == SUBJECT
    text = notice["Message"]
    assert "evil.example" not in text
    assert "PRE-APPROVED" not in text
    for line in ("Agent:    clerk", "Tool:     shred", f"Session:  {session_id}", "Call:     c2-0"):
        assert line in text.splitlines()
    assert re.search(r"^Expires:  \d{4}-\d\d-\d\d \d\d:\d\d UTC$", text, re.MULTILINE)
    assert len(re.findall(r"https?://", text)) == 1


def test_case_51_names_that_would_break_a_header_go_out_on_one_line(
    deployment: Deployment, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AGENT", "tests.support.clerk:strange")
    desk.script([(LONG_TOOL_NAME, {"path": "a.txt"})])
    deployment.start()

    (notice,) = deployment.notices()

    assert notice["Subject"] == SUBJECT
    assert notice["Subject"].isascii()
    assert len(notice["Subject"]) < 100
    lines = notice["Message"].splitlines()
    assert "Agent:    books  Bcc: eve@example.com of \N{PARTY POPPER}" in lines
    assert f"Tool:     {LONG_TOOL_NAME}" in lines
    assert not [line for line in lines if line.startswith("Bcc")]


def test_case_51_such_names_show_on_the_page(deployment: Deployment, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("AGENT", "tests.support.clerk:strange")
    page = deployment.show(deployment.paused([(LONG_TOOL_NAME, {"path": "a.txt"})])).page

    assert LONG_TOOL_NAME in page
    assert "U+000D CARRIAGE RETURN" in page
    assert "\N{PARTY POPPER}" in page


def test_case_15_equal_calls_of_a_turn_have_a_notice_and_a_token_each(deployment: Deployment) -> None:
    links = deployment.paused_at([*SHRED, *SHRED, ("shred", {"path": "b.txt"})], "Done.")

    assert [link.call_id for link in links] == ["c2-0", "c2-1", "c2-2"]
    assert len({link.token for link in links}) == 3
    deployment.post(links[1])
    assert [deployment.status(link) for link in links] == ["pending", "approved", "pending"]


def test_a_notice_that_was_sent_is_noted_and_not_sent_again(deployment: Deployment) -> None:
    link = deployment.paused()
    row = deployment.call(link)

    assert row["notify"]["S"] == "sent"
    assert row["due_at"] == row["expires_at"]
    deployment.work(json.dumps({"session_id": link.session_id}))
    assert deployment.notices() == []
