from __future__ import annotations

from typing import Any

import pytest

from local.model_commands import EXAMPLES, parse
from local.model_rules import NOTE, answer
from tests.unit.local.conversations import assistant, request, result, tool_spec, use, user


def calls(text: str, **more: Any) -> list[tuple[str, Any]]:
    return [(each.name, each.input) for each in answer(request(user(text), **more)).calls]


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("delete a.txt", [("delete_file", {"path": "a.txt"})]),
        (
            "Please delete the file reports/2023.csv.",
            [("delete_file", {"path": "reports/2023.csv"})],
        ),
        ("delete a and b", [("delete_file", {"path": "a"}), ("delete_file", {"path": "b"})]),
        ("delete a, b and c", [("delete_file", {"path": each}) for each in "abc"]),
        ("delete a, b, and c", [("delete_file", {"path": each}) for each in "abc"]),
        ("read x and delete y", [("read_file", {"path": "x"}), ("delete_file", {"path": "y"})]),
        ("list", [("list_files", {"prefix": ""})]),
        ("List all files", [("list_files", {"prefix": ""})]),
        ("list reports/", [("list_files", {"prefix": "reports/"})]),
        ("list the files in reports/", [("list_files", {"prefix": "reports/"})]),
        ("move a to b", [("move_file", {"source": "a", "destination": "b"})]),
        ('delete "a name and more.txt"', [("delete_file", {"path": "a name and more.txt"})]),
        ("ask Which one, a or b?", [("ask_human", {"question": "Which one, a or b?"})]),
        (
            "Please ask Which one? (a.txt, b.txt)",
            [("ask_human", {"question": "Which one?", "choices": ["a.txt", "b.txt"]})],
        ),
        ("ask delete a.txt", [("ask_human", {"question": "delete a.txt"})]),
        ("ask Which (of these)? (a)", [("ask_human", {"question": "Which (of these)?", "choices": ["a"]})]),
        ('delete "read"', [("delete_file", {"path": "read"})]),
        ('read "and" and "the"', [("read_file", {"path": each}) for each in ("and", "the")]),
    ],
)
def test_a_command_becomes_its_tool_calls(text: str, expected: list[Any]) -> None:
    assert calls(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "hello",
        "delete",
        "delete the file",
        "move a",
        "move a b",
        "delete my old report",
        "list a b",
        "delete a.txt, it is useless",
        "do not delete a.txt",
        "a.txt",
        '"delete" a.txt',
        ", and ,",
        "ask",
        "asked a.txt",
    ],
)
def test_what_is_not_understood_as_a_whole_calls_nothing_and_says_what_would_be(text: str) -> None:
    turn = answer(request(user(text)))

    assert turn.calls == ()
    assert turn.text is not None
    assert "I understand: " in turn.text
    assert turn.text.endswith(NOTE)


def test_every_example_shown_to_people_is_understood() -> None:
    assert all(parse(each) for each in EXAMPLES)


def test_a_tool_that_is_not_offered_is_not_called() -> None:
    turn = answer(request(user("read a and delete b"), tools=[tool_spec("read_file", "path")]))

    assert turn.calls == ()
    assert turn.text is not None
    assert "offers no delete_file" in turn.text


def test_parameters_are_named_as_the_schema_names_them() -> None:
    tools = [tool_spec("move_file", "from_key", "to_key"), tool_spec("delete_file", "key")]

    assert calls("move a to b, delete c", tools=tools) == [
        ("move_file", {"from_key": "a", "to_key": "b"}),
        ("delete_file", {"key": "c"}),
    ]


def test_results_are_summed_up_in_turn_and_an_error_is_quoted_in_full() -> None:
    refusal = 'A person refused this call. Reason: "keep it\nuntil June" ✓'
    turn = answer(
        request(
            user("read a and delete b"),
            assistant(use("t2", "read_file", path="a"), use("t1", "delete_file", path="b")),
            user(result("t1", refusal, "error"), result("t2", "hello", "success")),
        )
    )

    assert turn.calls == ()
    assert turn.text == f'delete_file: not done. "{refusal}"\nread_file: hello\n\n{NOTE}'


def test_a_result_without_status_and_a_json_result_are_summed_up_too() -> None:
    json_result = {"toolResult": {"toolUseId": "t", "content": [{"json": ["ä", 1]}]}}
    turn = answer(request(user("list"), assistant(use("t", "list_files")), user(json_result)))

    assert turn.text == f'list_files: ["ä", 1]\n\n{NOTE}'


def test_a_message_beside_tool_results_is_followed_after_the_summary() -> None:
    turn = answer(
        request(
            user("list"),
            assistant(use("t", "list_files")),
            user(result("t", "a.txt"), "read a.txt"),
        )
    )

    assert [each.name for each in turn.calls] == ["read_file"]
    assert turn.text is not None
    assert turn.text.startswith("list_files: a.txt\n")


def test_a_long_result_is_cut_and_says_so() -> None:
    turn = answer(request(user("x"), assistant(use("t")), user(result("t", "y" * 5000))))

    assert turn.text is not None
    assert "… (5000 characters in all)" in turn.text
    assert len(turn.text) < 2200
