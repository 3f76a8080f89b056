"""approve, reject, edit, answer and resolve, on the real handlers."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from pausepoint.domain.canonical import short_code
from tests.support.clerk import desk
from tests.support.command_line import CommandLine, Handlers, Received
from tests.support.cut_off import put_in_doubt
from tests.support.deployment import SHRED, Deployment
from tests.support.gateway import CALLER

TWO = [("shred", {"path": "a.txt"}), ("shred", {"path": "b.txt"})]


def test_approve_shows_exactly_what_would_run_and_asks(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    digest = deployment.call(link)["digest"]["S"]
    for typed in ("n\n", "\n", "", "yes please\n"):
        ran = pausepoint("approve", link.session_id, typed=typed)
        assert ran.code == 9
        assert "nothing was sent" in ran.err
    assert (deployment.status(link), desk.entered) == ("pending", [])

    ran = pausepoint("approve", link.session_id, typed="y\n")
    assert ran.code == 0
    assert f"Would run  shred   code {short_code(digest)}   call c2-0" in ran.out
    for line in ('  │ "path": "a.txt"\n', '  │ "copies": 1\n', "Risk       medium\n", "2 arguments · 27 bytes"):
        assert line in ran.out
    assert "Let it run? [y/N]" in ran.out
    assert "Approved c2-0 shred\n" in ran.out
    assert "│ It is gone." in ran.out
    assert desk.entered == [("shred", {"path": "a.txt", "copies": 1})]
    decision = deployment.events(link.session_id)[2]
    assert (decision["by"], decision["verified"], decision["digest_shown"]) == (CALLER, "aws-signature", digest)


def test_the_authors_warning_and_what_to_look_at_come_before_the_models_words(
    registrar: CommandLine, deployment: Deployment
) -> None:
    (link,) = deployment.paused_at([("strike_off", {"register": "births", "name": "Ada\nRisk       low"})], "Done.")
    out = registrar("approve", link.session_id, typed="n\n").out
    order = [
        "strike_off",
        "Risk       high",
        "Warning    What is struck off",
        '"name": "Ada\\n',
        '"note": ""',
        '"register"',
    ]
    places = [out.find(text) for text in order]
    assert -1 not in places, order[places.index(-1)]
    assert places == sorted(places)
    assert "Look at these first:" in out
    assert "\nRisk       low" not in out


def test_every_decision_carries_the_digest_that_was_shown(
    pausepoint: CommandLine, handlers: Handlers, deployment: Deployment
) -> None:
    for words in (["approve", "--yes"], ["reject"], ["edit", "--yes", "--set", "path=b.txt"]):
        link = deployment.paused(SHRED, "Then not.")
        assert pausepoint(*words, link.session_id).code == 0
        (decision,) = handlers.bodies[-1]["decisions"]
        assert decision["digest"] == deployment.call(link)["digest"]["S"]
    assert [body["decisions"][0]["decision"] for body in handlers.bodies] == ["approved", "rejected", "approved"]


def test_case_12_what_changed_after_it_was_shown_is_not_approved(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    link = deployment.paused()
    other = '{"copies":1,"path":"everything"}'
    send = pausepoint.send

    def changes_meanwhile(prepared: Any) -> Received:
        if prepared.method == "POST":
            deployment.change(link, arguments=other, digest="0" * 64)
        return send(prepared)

    pausepoint.send = changes_meanwhile
    ran = pausepoint("approve", link.session_id, "--yes")
    assert ran.code == 4
    assert (deployment.status(link), desk.entered) == ("pending", [])


def test_nothing_is_approved_whose_digest_is_not_that_of_what_is_shown(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    link = deployment.paused()
    deployment.change(link, arguments='{"copies":1,"path":"everything"}')
    ran = pausepoint("approve", link.session_id, "--yes")
    assert ran.code == 1
    assert "digest" in ran.err
    assert deployment.status(link) == "pending"


def test_a_code_approves_only_what_has_it(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    code = short_code(deployment.call(link)["digest"]["S"])
    refused = pausepoint("approve", link.session_id, "--yes", "--code", "0000-0000")
    assert refused.code == 4
    assert f"has the code {code}, not 0000-0000" in refused.err
    assert deployment.status(link) == "pending"
    assert pausepoint("approve", link.session_id, "--yes", "--code", code.lower()).code == 0
    assert len(desk.entered) == 1


def test_r26_a_lot_of_arguments_is_shown_whole_and_wants_the_code_typed(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    text = "".join(f"{number:06d}," for number in range(5_000))
    (link,) = deployment.paused_at([("shred", {"path": text})], "Done.")
    code = short_code(deployment.call(link)["digest"]["S"])
    for typed in ("y\n", "yes\n", "\n"):
        assert pausepoint("approve", link.session_id, typed=typed).code == 9
    assert deployment.status(link) == "pending"
    ran = pausepoint("approve", link.session_id, typed=f"{code.lower()}\n")
    assert ran.code == 0
    assert f'"path": "{text}"' in ran.out
    assert "This is a lot: read all of it" in ran.out
    assert f"Type {code} to go on: " in ran.out


def test_nobody_there_to_ask_approves_nothing(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    ran = pausepoint("approve", link.session_id)
    assert ran.code == 2
    assert "Nobody is there" in ran.err
    assert deployment.status(link) == "pending"


def test_case_15_several_calls_wait_and_one_has_to_be_named(pausepoint: CommandLine, deployment: Deployment) -> None:
    first, _ = deployment.paused_at(TWO, "Done.")
    ran = pausepoint("approve", first.session_id, "--yes")
    assert ran.code == 2
    assert "c2-0 (shred), c2-1 (shred)" in ran.err
    assert desk.entered == []
    assert pausepoint("approve", first.session_id, "c2-1", "--yes").code == 0
    assert desk.entered == [("shred", {"path": "b.txt", "copies": 1})]
    last = pausepoint("reject", first.session_id, "--wait")
    assert last.code == 0
    assert "Rejected c2-0 shred" in last.out


def test_case_2_a_call_that_was_decided_is_refused_with_what_stands(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    link = deployment.paused(SHRED, SHRED)
    pausepoint("reject", link.session_id)
    ran = pausepoint("approve", link.session_id, "c2-0", "--yes")
    assert ran.code == 4
    assert f"was decided before: rejected by {CALLER} at 20" in ran.err
    assert desk.entered == []
    assert pausepoint("approve", link.session_id, "c9-9", "--yes").code == 3


def test_case_37_who_decides_a_moment_later_reads_the_decision_that_stands(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    link = deployment.paused()
    send = pausepoint.send

    def somebody_is_faster(prepared: Any) -> Received:
        if prepared.method == "POST":
            deployment.post(link, decision="rejected")
        return send(prepared)

    pausepoint.send = somebody_is_faster
    ran = pausepoint("approve", link.session_id, "--yes")
    assert (ran.code, desk.entered) == (4, [])
    assert "was decided before and is rejected" in ran.err


def test_case_45_an_expired_call_is_refused(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    deployment.expire(link)
    ran = pausepoint("approve", link.session_id, "--yes")
    assert (ran.code, desk.entered) == (4, [])
    assert "time to decide ended" in ran.err


def test_json_of_a_decision_is_on_stdout_and_what_a_person_reads_is_not(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    link = deployment.paused()
    ran = pausepoint("approve", link.session_id, "--json", typed="y\n")
    assert ran.json == deployment.session(link.session_id)
    assert "Would run" in ran.err
    assert "Let it run?" in ran.err


def test_case_28_a_reason_is_kept_verbatim(pausepoint: CommandLine, deployment: Deployment) -> None:
    reason = 'No: "never" \\ \n\n\N{PARTY POPPER} [bold]really[/bold]'
    link = deployment.paused(SHRED, "Then not.")
    assert pausepoint("reject", link.session_id, "--reason", reason).code == 0
    assert deployment.events(link.session_id)[2]["reason"] == reason
    assert "[bold]really[/bold]" in pausepoint("show", link.session_id).out


# --- edit ------------------------------------------------------------------------------------------------------------


def test_case_29_an_edit_shows_the_difference_asks_and_runs_the_changed_arguments(
    pausepoint: CommandLine, deployment: Deployment
) -> None:
    link = deployment.paused()
    words = ["edit", link.session_id, "c2-0", "--set", "path=b=c.txt", "--set", "copies=3"]
    assert pausepoint(*words, typed="n\n").code == 9
    assert deployment.status(link) == "pending"
    ran = pausepoint(*words, typed="y\n")
    assert ran.code == 0
    for line in ("  - " + '  "path": "a.txt"', "  + " + '  "path": "b=c.txt"', "  + " + '  "copies": 3,'):
        assert line + "\n" in ran.out
    assert desk.entered == [("shred", {"path": "b=c.txt", "copies": 3})]
    assert "with changed arguments\n" in pausepoint("show", link.session_id).out


@pytest.mark.parametrize(("copies", "told"), [('"3"', True), ("3", False)])
def test_case_8_what_the_tool_makes_of_changed_arguments_is_told(
    pausepoint: CommandLine, deployment: Deployment, copies: str, *, told: bool
) -> None:
    link = deployment.paused()
    ran = pausepoint("edit", link.session_id, "--yes", "--arguments", f'{{"path": "b.txt", "copies": {copies}}}')
    assert ran.code == 0
    assert desk.entered == [("shred", {"path": "b.txt", "copies": 3})]
    assert ("The tool's own rules made these of your arguments" in ran.out) is told


def test_an_edit_in_the_editor(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused([("shred", {"path": "a\x1b[2J\u202e.txt \N{PARTY POPPER}"})], "Done.")
    seen = []

    def editor(text: str) -> str:
        seen.append(text)
        return json.dumps(json.loads(text) | {"path": "c.txt"})

    pausepoint.editor = editor
    assert pausepoint("edit", link.session_id, typed="y\n").code == 0
    assert '"a\\u001b[2J\\u202e.txt \N{PARTY POPPER}"' in seen[0]
    assert desk.entered == [("shred", {"path": "c.txt", "copies": 1})]


def test_an_edit_that_changes_nothing_sends_nothing(pausepoint: CommandLine, deployment: Deployment) -> None:
    link = deployment.paused()
    ran = pausepoint("edit", link.session_id, typed="y\n")
    assert ran.code == 9
    assert "Nothing is changed" in ran.err
    assert deployment.status(link) == "pending"


@pytest.mark.parametrize(
    ("option", "told"),
    [
        (["--arguments", "{"], "is not JSON"),
        (["--arguments", "[1]"], "a JSON object"),
        (["--arguments", '{"path": "a", "path": "b"}'], "appears twice"),
        (["--arguments", "@missing.json"], "cannot be read"),
        (["--arguments", "{}", "--set", "path=b"], "one of the two"),
        (["--set", "path"], "NAME=VALUE"),
        (["--set", "owner=ada"], "it has: copies, path"),
        (["--set", "copies=many"], "is not JSON"),
    ],
)
def test_arguments_that_cannot_be_read_are_named(
    pausepoint: CommandLine, deployment: Deployment, option: list[str], told: str
) -> None:
    link = deployment.standing()
    ran = pausepoint("edit", link.session_id, "--yes", *option)
    assert ran.code == 2
    assert told in ran.err


@pytest.mark.parametrize(
    "arguments", ['{"path": "b", "tool": "look"}', '{"copies": 2}', '{"path": "b", "copies": "x"}']
)
def test_case_5_an_edit_that_does_not_fit_the_tool_is_refused_naming_the_field(
    pausepoint: CommandLine, deployment: Deployment, tmp_path: Path, arguments: str
) -> None:
    link = deployment.paused()
    (tmp_path / "new.json").write_text(arguments)
    ran = pausepoint("edit", link.session_id, "--yes", "--arguments", "@new.json")
    assert ran.code == 2
    assert "(decisions.0.arguments)" in ran.err
    assert (deployment.status(link), desk.entered) == ("pending", [])


# --- questions and doubt ---------------------------------------------------------------------------------------------


def test_case_4_a_question_is_answered_and_not_approved(registrar: CommandLine, deployment: Deployment) -> None:
    question = {"question": "Which register?", "choices": ["births", "deaths"]}
    (link,) = deployment.paused_at([("ask_human", question)], "Thank you.")
    assert "pausepoint answer" in registrar("show", link.session_id).out
    assert registrar("approve", link.session_id, "c2-0", "--yes").code == 4
    assert registrar("approve", link.session_id, "--yes").code == 4
    wrong = registrar("answer", link.session_id, "weddings")
    assert wrong.code == 2
    assert "births, deaths" in wrong.err
    assert deployment.status(link) == "pending"

    ran = registrar("answer", link.session_id, typed="deaths\n")
    assert ran.code == 0
    assert "│ Which register?" in ran.out
    assert 'Choices\n  │ "births"\n  │ "deaths"\n' in ran.out
    decision = next(event for event in deployment.events(link.session_id) if event["type"] == "decision")
    assert json.loads(decision["answer"]) == "deaths"
    shown = registrar("show", link.session_id).out
    assert f"answered c2-0 ask_human by {CALLER}" in shown
    assert "the answer\n" in shown


@pytest.mark.parametrize(
    ("words", "answer"),
    [
        (["c2-0", "births"], "births"),
        (["births"], "births"),
        (["--json-value", "false"], False),
        (["--json-value", "0"], 0),
    ],
)
def test_an_answer_may_be_any_value(
    registrar: CommandLine, deployment: Deployment, words: list[str], answer: object
) -> None:
    (link,) = deployment.paused_at([("ask_human", {"question": "Which register?"})], "Thank you.")
    assert registrar("answer", link.session_id, *words).code == 0
    decision = next(event for event in deployment.events(link.session_id) if event["type"] == "decision")
    assert json.loads(decision["answer"]) == answer


@pytest.mark.parametrize(
    ("word", "status"), [("happened", "success"), ("did-not-happen", "error"), ("run-again", None)]
)
def test_a_call_in_doubt_is_resolved(
    pausepoint: CommandLine, deployment: Deployment, word: str, status: str | None
) -> None:
    link = put_in_doubt(deployment)
    assert "in doubt" in pausepoint("approvals").out
    assert pausepoint("approve", link.session_id, "c2-0", "--yes").code == 4
    assert pausepoint("resolve", link.session_id, "c2-0", word, typed="n\n").code == 9
    ran = pausepoint("resolve", link.session_id, "c2-0", word, "--reason", "I looked.", typed="y\n")
    assert ran.code == 0
    assert "In doubt   shred" in ran.out
    events = {event["type"]: event for event in deployment.events(link.session_id)}
    assert events["doubt_resolved"]["answer"] == word.replace("-", "_")
    assert events.get("tool_result", {}).get("status") == status
    shown = pausepoint("show", link.session_id).out
    assert f"of c2-0 shred, cut off, {CALLER} says: it " in shown
    assert ("is asked for again, as c" in shown) == (word == "run-again")
