"""start, message, list, approvals, show, watch and cancel, on the real handlers."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from pausepoint.models.scripted import Turn
from tests.support.clerk import desk
from tests.support.command_line import CommandLine, Handlers
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER


def test_start_says_what_waits_and_which_command_decides(pausepoint: CommandLine) -> None:
    desk.script(SHRED, "It is gone.")
    ran = pausepoint("start", "shred a.txt")
    assert (ran.code, ran.err) == (0, "")
    (session_id,) = {word for word in ran.out.split() if len(word) == 26}
    assert f"Session {session_id} is paused\n" in ran.out
    assert '{"copies": 1, "path": "a.txt"}' in ran.out
    assert f"pausepoint approve {session_id} c2-0" in ran.out
    assert "expires in 23 hours" in ran.out


def test_json_is_the_apis_own_body_and_nothing_else(pausepoint: CommandLine, deployment: Deployment) -> None:
    desk.script(SHRED, "It is gone.")
    started = pausepoint("start", "shred a.txt", "--json")
    body = started.json
    assert (started.code, started.err) == (0, "")
    assert body == deployment.session(body["session_id"])

    listed = pausepoint("list", "--json").json
    assert listed == deployment.listed("sessions").json
    waiting = pausepoint("approvals", "--json").json
    assert [call["call_id"] for call in waiting["approvals"]] == ["c2-0"]
    shown = pausepoint("show", body["session_id"], "--json").json
    assert shown.pop("events") == deployment.events(body["session_id"])
    assert shown == body


def test_json_drives_no_terminal_whatever_is_in_it(pausepoint: CommandLine, deployment: Deployment) -> None:
    text = "\x1b[2J\x9b31m\u202e \N{PARTY POPPER}"
    desk.script(text)
    session_id = pausepoint("start", text, "--json").json["session_id"]
    for words in (["show", session_id], ["watch", session_id]):
        out = pausepoint(*words, "--json").out
        assert out.isascii()
        assert "\x1b" not in out
    assert pausepoint("show", session_id, "--json").json["events"] == deployment.events(session_id)


@pytest.mark.parametrize(
    ("turns", "code", "word"),
    [(["Hello."], 0, "completed"), ([SHRED], 8, "paused"), ([], 7, "failed")],
)
def test_wait_tells_by_the_exit_code_how_a_session_rests(
    pausepoint: CommandLine, turns: list[Turn], code: int, word: str
) -> None:
    desk.script(*turns)
    ran = pausepoint("start", "shred a.txt", "--wait", "--async")
    assert ran.code == code
    assert f" is {word}\n" in ran.out
    assert pausepoint.slept  # it was running at first


def test_without_wait_the_exit_code_says_only_that_it_was_taken(pausepoint: CommandLine) -> None:
    assert pausepoint("start", "shred a.txt").code == 0  # the script has no turns: it failed
    ran = pausepoint("start", "shred b.txt", "--async")
    assert ran.code == 0
    assert " is running\n" in ran.out
    assert "pausepoint watch " in ran.out


def test_a_session_that_failed_says_why(pausepoint: CommandLine) -> None:
    out = pausepoint("start", "shred a.txt").out  # the script has no turns
    assert "It failed: model-failed\n" in out
    assert "│ The script has no more turns." in out


def test_waiting_ends_when_its_time_is_over(pausepoint: CommandLine) -> None:
    pausepoint.meanwhile = lambda: None  # nobody works
    ran = pausepoint("start", "shred a.txt", "--async", "--wait", "--timeout", "0")
    assert ran.code == 10
    assert "still running" in ran.err


def test_case_43_the_same_idempotency_key_starts_one_session(pausepoint: CommandLine, deployment: Deployment) -> None:
    desk.script("Hello.")
    first, again = (pausepoint("start", "hello", "--idempotency-key", "k1", "--json") for _ in range(2))
    assert first.json["session_id"] == again.json["session_id"]
    other = pausepoint("start", "something else", "--idempotency-key", "k1")
    assert other.code == 4
    assert "Idempotency-Key" in other.err
    assert len(deployment.listed("sessions").json["sessions"]) == 1


def test_two_starts_without_a_key_are_two_sessions(pausepoint: CommandLine, deployment: Deployment) -> None:
    desk.script("Hello.", "Hello again.")
    for _ in range(2):
        assert pausepoint("start", "hello").code == 0
    assert len(deployment.listed("sessions").json["sessions"]) == 2


def test_a_message_goes_on_and_case_26_a_paused_session_refuses_it(pausepoint: CommandLine) -> None:
    desk.script("Hello.", SHRED)
    session_id = pausepoint("start", "hello", "--json").json["session_id"]
    said = pausepoint("message", session_id, "shred a.txt")
    assert said.code == 0
    assert " is paused\n" in said.out
    refused = pausepoint("message", session_id, "and b.txt")
    assert (refused.code, refused.out) == (4, "")
    assert "c4-0 (shred, pending)" in refused.err


def test_a_list_takes_as_many_pages_as_it_needs(pausepoint: CommandLine) -> None:
    desk.script(*["Hello."] * 5)
    for _ in range(5):
        pausepoint("start", "hello")
    assert len(pausepoint("list", "--limit", "3", "--json").json["sessions"]) == 3
    some = pausepoint("list", "--limit", "3")
    assert some.out.count("completed") == 3
    assert "There are more" in some.out
    everything = pausepoint("list", "--all", "--json").json
    assert (len(everything["sessions"]), everything["next"]) == (5, None)
    assert pausepoint("list", "--status", "paused").out == "There are none.\n"


def test_case_57_approvals_lists_what_waits_with_age_and_expiry(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    assert pausepoint("approvals").out == "Nothing waits for a decision.\n"
    first, second = deployment.paused(), deployment.paused()
    out = pausepoint("approvals").out
    assert first.session_id in out
    assert second.session_id in out
    assert out.count("asked for just now by " + CALLER) == 2
    assert out.count("expires in 23 hours") == 2
    assert out.count("medium risk") == 2


def test_case_56_show_tells_who_decided_what_when_and_how_that_was_verified(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    desk.result = "three pages\nshredded"
    link = deployment.paused()
    deployment.post(link, reason="checked")
    deployment.deliver()
    out = pausepoint("show", link.session_id).out
    order = [
        f"Session {link.session_id} · completed · agent clerk",
        f"{CALLER} says",
        "│ shred a.txt",
        "the agent asks for a tool",
        "c2-0 shred with\n",
        '"path": "a.txt"',
        "approved c2-0 shred by the holder of the approval link (claimed: by holding the link)",
        "the reason\n",
        "│ checked",
        "started c2-0 shred, ended 20",
        "result of c2-0 shred",
        "│ three pages⏎",
        "│ shredded",
        "the agent says",
        "│ It is gone.",
    ]
    places = [out.find(text) for text in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)


def test_case_56_a_signed_decision_is_shown_as_verified(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused(SHRED, "Then not.")
    assert pausepoint("reject", link.session_id, "--reason", "still needed").code == 0
    out = pausepoint("show", link.session_id).out
    assert f"rejected c2-0 shred by {CALLER} (verified: by an AWS signature)" in out
    assert "│ still needed" in out
    assert "not run: c2-0 shred" in out


def test_watch_shows_events_as_they_come_and_ends_at_rest(pausepoint: CommandLine, deployment: Deployment) -> None:
    desk.script([("look", {"path": "a.txt"})], SHRED, "It is gone.")
    session_id = pausepoint("start", "shred a.txt", "--async", "--json").json["session_id"]
    ran = pausepoint("watch", session_id)
    assert ran.code == 8
    assert ran.out.count(" says\n") == 1
    assert "c2-0 look with" in ran.out
    assert "pausepoint approve" in ran.out

    lines = pausepoint("watch", session_id, "--json").lines
    assert lines[:-1] == deployment.events(session_id)
    assert lines[-1] == deployment.session(session_id)


def test_watch_until_the_end_goes_on_while_a_person_decides(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    turns: Iterator[Callable[[], object]] = iter([list, lambda: deployment.post(link), deployment.deliver])

    def meanwhile() -> None:
        next(turns)()

    pausepoint.meanwhile = meanwhile
    ran = pausepoint("watch", link.session_id, "--until-end")
    assert ran.code == 0
    assert ran.out.count("approved c2-0 shred") == 1
    assert f"{link.session_id} is completed\n" in ran.out
    assert pausepoint.slept[:2] == sorted(pausepoint.slept[:2])


def test_case_48_cancel_asks_first_and_ends_a_session_for_good(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    for typed in ("", "n\n", "no\n", "yess\n", "\n"):
        ran = pausepoint("cancel", link.session_id, typed=typed)
        assert ran.code == 9
    assert pausepoint("cancel", link.session_id).code == 2  # nobody is there to ask
    assert deployment.session(link.session_id)["status"] == "paused"

    assert pausepoint("cancel", link.session_id, typed="y\n").code == 0
    assert deployment.session(link.session_id)["status"] == "cancelled"
    assert pausepoint("cancel", link.session_id, "--yes").code == 0  # twice is harmless
    assert pausepoint("approve", link.session_id, "c2-0", "--yes").code == 4
    assert pausepoint("watch", link.session_id).code == 7
    assert f"the session was cancelled by {CALLER}" in pausepoint("show", link.session_id).out


@pytest.mark.parametrize("command", ["show", "watch", "approve", "cancel"])
@pytest.mark.parametrize("session_id", ["k7mq2vdyxa4ntwb3hzr5cfej6p", "../approvals", "a b\x1b[31m", "..", "-"])
def test_a_session_that_is_not_there_is_not_found(pausepoint: CommandLine, command: str, session_id: str) -> None:
    words = [command, "--yes"] if command in ("approve", "cancel") else [command]
    ran = pausepoint(*words, "--", session_id)
    assert (ran.code, ran.out) == (3, "")
    assert "there is no" in ran.err.lower()


def test_what_another_key_signed_is_not_allowed(
    pausepoint: CommandLine, handlers: Handlers, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("AWS_SECRET_ACCESS_KEY", "another")
    ran = pausepoint("approvals")
    assert (ran.code, ran.out, handlers.bodies) == (5, "", [])
    assert ran.err.startswith("Error: The API answered 403 (Forbidden). Are these the right credentials")
