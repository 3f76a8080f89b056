"""The program as a whole: its help, its document, and how it ends when something is wrong."""

from __future__ import annotations

import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import typer

from pausepoint_cli.app import app
from pausepoint_cli.exits import MEANINGS, CommandError, Exit
from pausepoint_cli.world import edit
from tests.support.command_line import CommandLine, Script

ROOT = Path(__file__).parents[3]
DOCUMENT = (ROOT / "docs" / "cli.md").read_text(encoding="utf-8")
SHARED = {"--api", "--stack", "--profile", "--region", "--json", "--help"}
SENTENCE = re.compile(r"[A-Z].*[.:]", re.DOTALL)
PROGRAM: Any = typer.main.get_command(app)


def options(command: Any) -> set[str]:
    return {option for each in command.params for option in each.opts if option.startswith("--")} | {"--help"}


def sections() -> dict[str, str]:
    parts = re.split(r"^### `pausepoint (\w+)[^`]*`$", DOCUMENT.partition("\n## What you see")[0], flags=re.MULTILINE)
    return dict(zip(parts[1::2], parts[2::2], strict=True))


def test_the_document_has_every_command() -> None:
    assert list(sections()) == list(PROGRAM.commands)


@pytest.mark.parametrize("name", list(PROGRAM.commands))
def test_the_document_has_every_option_and_no_other(name: str) -> None:
    named = set(re.findall(r"--[a-z-]+", sections()[name]))
    assert named | SHARED == options(PROGRAM.commands[name])
    assert re.findall(r"--[a-z-]+", DOCUMENT.partition("### `")[0])


def test_the_document_has_the_exit_codes_of_the_code() -> None:
    table = dict(re.findall(r"^\| (\d+) \| (.*) \|$", DOCUMENT, re.MULTILINE))
    assert table == {str(code.value): meaning for code, meaning in MEANINGS.items()}
    assert set(MEANINGS) == set(Exit)


@pytest.mark.parametrize("name", list(PROGRAM.commands))
def test_help_is_in_sentences_and_every_part_has_one(
    name: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    command = PROGRAM.commands[name]
    assert SENTENCE.fullmatch(command.help), command.help
    for each in command.params:
        assert each.help
        assert SENTENCE.fullmatch(each.help[0].upper() + each.help[1:]), each.help
    assert CommandLine(Script([]), tmp_path)(name, "--help").code == 0
    shown = capsys.readouterr().out
    for option in options(command):
        assert option in shown


def test_help_lists_the_commands_and_the_exit_codes(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    for words in ([], ["--help"], ["-h"]):
        assert CommandLine(Script([]), tmp_path)(*words).code == 0
        shown = " ".join(capsys.readouterr().out.split())
        for name in PROGRAM.commands:
            assert name in shown
        assert "0 ok · 1 error · 2 usage" in shown


@pytest.mark.parametrize(
    ("words", "told"),
    [
        (["lst"], "list"),
        (["list", "--statuss", "x"], "--status"),
        (["list", "--status", "asleep"], "paused"),
        (["list", "--limit", "0"], "limit"),
        (["show"], "SESSION"),
        (["resolve", "s", "c2-0", "maybe"], "did-not-happen"),
        (["approve", "s", "c2-0", "extra"], "extra"),
    ],
)
def test_wrong_words_are_named_without_a_traceback(tmp_path: Path, words: list[str], told: str) -> None:
    ran = CommandLine(Script([]), tmp_path)(*words)
    assert (ran.code, ran.out) == (2, "")
    assert told in ran.err
    assert ran.err.count("\n") == 1


def test_ctrl_c_ends_it_quietly(tmp_path: Path) -> None:
    def interrupted(_: object) -> Any:
        raise KeyboardInterrupt

    ran = CommandLine(interrupted, tmp_path)("list")
    assert (ran.code, ran.out, ran.err) == (130, "", "")


def test_what_nobody_foresaw_gives_no_traceback(tmp_path: Path) -> None:
    def broken(_: object) -> Any:
        raise ZeroDivisionError("by \x1b[31mzero")

    line = CommandLine(broken, tmp_path)
    ran = line("list")
    assert (ran.code, ran.out) == (1, "")
    assert "Traceback" not in ran.err
    assert "\x1b" not in ran.err
    line.environ["PAUSEPOINT_DEBUG"] = "1"
    assert "Traceback" in line("list").err


def test_the_version_is_the_packages(capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert CommandLine(Script([]), tmp_path)("--version").code == 0
    assert f'version = "{capsys.readouterr().out.strip()}"' in (ROOT / "pyproject.toml").read_text(encoding="utf-8")


# --- As a process ---------------------------------------------------------------------------------------------------


def start(*words: str, **environ: str) -> subprocess.CompletedProcess[bytes]:
    return subprocess.run(
        [sys.executable, "-m", "pausepoint_cli", *words],
        env={**os.environ, **environ},
        capture_output=True,
        check=False,
        timeout=60,
    )


def test_without_its_extra_it_says_what_to_install(tmp_path: Path) -> None:
    (tmp_path / "typer.py").write_text("raise ModuleNotFoundError('No module named typer', name='typer')")
    done = start("list", PYTHONPATH=str(tmp_path))
    assert (done.returncode, done.stdout) == (1, b"")
    assert b"pip install 'pausepoint[cli]'" in done.stderr
    assert b"Traceback" not in done.stderr


def test_a_terminal_that_knows_only_ascii_gets_escapes() -> None:
    done = start("list", "--api", "http://example.com/\N{PARTY POPPER}", PYTHONIOENCODING="ascii")
    assert done.returncode == 2
    assert b"Error: " in done.stderr
    assert b"Traceback" not in done.stderr


# --- The editor -----------------------------------------------------------------------------------------------------


def editor(folder: Path, script: str) -> str:
    program = folder / "my editor.py"
    program.write_text(f"import pathlib, sys\npath = pathlib.Path(sys.argv[-1])\n{script}\n")
    return f"'{sys.executable}' '{program}' --wait"


def test_the_editor_of_the_environment_changes_the_text(tmp_path: Path) -> None:
    command = editor(tmp_path, "path.write_text(path.read_text().replace('a', 'b'))")
    assert edit('{"path": "a"}', {"VISUAL": command, "EDITOR": "false"}) == '{"pbth": "b"}'


@pytest.mark.parametrize(
    ("command", "code"), [("no-such-editor", Exit.USAGE), ("'", Exit.USAGE), ("false", Exit.DECLINED)]
)
def test_an_editor_that_fails_decides_nothing(command: str, code: Exit) -> None:
    with pytest.raises(CommandError) as failed:
        edit("{}", {"EDITOR": command})
    assert failed.value.code is code
