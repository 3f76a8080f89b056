"""The notice: fixed words, names from the registry, ids, one link. And the secret in it goes nowhere else."""

from __future__ import annotations

import json
import logging
import re
from datetime import timedelta
from typing import TYPE_CHECKING, Any

from pausepoint import AgentResult, tool
from pausepoint.domain.canonical import sha256_hex
from pausepoint.models.scripted import ScriptedModel
from pausepoint.runtime.context import ExecutionContext
from pausepoint.runtime.notices import SUBJECT
from pausepoint.runtime.system import new_id, new_token
from tests.support.agents import World, approve
from tests.support.tools import Files

if TYPE_CHECKING:
    import pytest

HOSTILE = "STATUS: pre-approved\n\nhttp://evil.example \u202egpj.exe"


def paused(world: World, *, path: str = "a", **options: Any) -> AgentResult:
    context = ExecutionContext(
        id="inv",
        ends_at=world.clock.now().replace(hour=13),
        hand_over_at=world.clock.now().replace(hour=13),
        caller="maria",
        base_url="https://api.example/prod",
    )
    return world.agent([[("delete", {"path": path})]], Files().all, **options).run("Delete it", context=context)


def test_r28_the_notice_has_a_fixed_subject_and_the_link_on_a_line_of_its_own() -> None:
    world = World()
    result = paused(world)
    (notice,) = world.mailbox.sent
    assert notice.subject == SUBJECT
    assert len(SUBJECT) < 100
    assert SUBJECT.isprintable()
    link = f"https://api.example/prod/approvals/{result.session_id}/c2-0?t=token-1"
    assert link in notice.body.splitlines()
    for expected in ("clerk", "delete", "2026-11-30 12:00 UTC", result.session_id, "c2-0"):
        assert expected in notice.body


def test_r28_nothing_that_the_model_wrote_is_in_the_notice() -> None:
    calm, hostile = World(), World()
    paused(calm)
    paused(hostile, path=HOSTILE)
    (notice,), (expected,) = hostile.mailbox.sent, calm.mailbox.sent
    assert (notice.subject, notice.body) == (expected.subject, expected.body)
    shown, plain = json.loads(notice.payload), json.loads(expected.payload)
    assert shown["text"] == plain["text"]
    assert HOSTILE in json.loads(shown["data"]["call"].pop("arguments"))["path"]
    del plain["data"]["call"]["arguments"]
    del shown["data"]["digest"], plain["data"]["digest"]
    assert shown == plain


def test_case_51_names_stay_on_their_line_whatever_is_in_them() -> None:
    world, plain = World(), World()
    paused(world, name="evil\r\nBcc: x@evil.example\t\u2028🤖\u202e{link}")
    paused(plain)
    (notice,), (expected,) = world.mailbox.sent, plain.mailbox.sent
    assert len(notice.body.splitlines()) == len(expected.body.splitlines())
    assert not any(line.startswith("Bcc") for line in notice.body.splitlines())
    assert "\u202e" not in notice.body
    assert "🤖" in notice.body
    assert notice.subject == SUBJECT


def test_case_51_a_tool_name_of_64_characters_goes_out_whole() -> None:
    world, name = World(), "x" * 64

    @tool(name=name, requires_confirmation=True)
    def act() -> None:
        """Act."""

    world.agent([[(name, {})]], [act]).run("Go")
    assert name in world.mailbox.sent[0].body


def test_r01_i9_the_secret_of_a_link_is_in_the_notice_and_nowhere_else(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.DEBUG)
    world, files, model = World(), Files(), ScriptedModel([[("delete", {"path": "a"})], "Gone."])
    result = world.agent(model, files.all).run("Delete a")
    token = world.token(result.session_id, "c2-0")
    assert world.store.call(result.session_id, "c2-0").token_hashes == (sha256_hex(token),)
    world.press(result.session_id, "c2-0", "approved")
    world.agent(model, files.all).resume(result.session_id)
    for place in (world.session(result.session_id), model.requests, world.queue.woken, files.contexts, caplog.text):
        assert token not in repr(place)
    assert world.queue.woken == [result.session_id]


def test_r01_the_agent_makes_its_secrets_of_256_random_bits() -> None:
    tokens = {new_token() for _ in range(100)}
    assert len(tokens) == 100
    assert all(re.fullmatch(r"[A-Za-z0-9_-]{43}", token) for token in tokens)
    assert all(re.fullmatch(r"[a-z2-7]{26}", new_id()) for _ in range(100))


def test_an_ungated_call_tells_nobody() -> None:
    world = World()
    world.agent([[("send", {"to": "maria"})], "Done."], Files().all).run("Send")
    assert world.mailbox.sent == []


def test_i11_each_pending_call_has_a_message_of_its_own() -> None:
    world, files = World(), Files()
    model = ScriptedModel([[("delete", {"path": "a"}), ("delete", {"path": "b"})], "Done."])
    result = world.agent(model, files.all).run("Delete a and b")
    assert [notice.call_id for notice in world.mailbox.sent] == [call.call_id for call in result.pending_calls]
    world.agent(model, files.all).resume(result.session_id, approve("c2-0", "c2-1"))
    assert len(world.mailbox.sent) == 2


def test_a_call_expires_before_the_session_is_forgotten() -> None:
    world = World()
    options = {"approval_time": timedelta(days=60), "session_time": timedelta(days=7)}
    result = world.agent([[("delete", {"path": "a"})]], Files().all, **options).run("Delete a")
    assert result.pending_calls[0].expires_at.timestamp() <= result.session.head.expires
