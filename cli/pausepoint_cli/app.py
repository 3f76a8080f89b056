"""The program: its commands, and what becomes of an error."""

from __future__ import annotations

import traceback
from collections.abc import Sequence
from importlib.metadata import version
from typing import Annotated, Final

import typer

from pausepoint_cli import deciding, sessions
from pausepoint_cli.desk import complain
from pausepoint_cli.exits import MEANINGS, CommandError, Exit
from pausepoint_cli.world import World, system_world

DEBUG_VARIABLE: Final = "PAUSEPOINT_DEBUG"

_HELP: Final = (
    "Start agents, see what they want to do, and decide.\n\n"
    "The API is that of --api, of --stack or of the variable PAUSEPOINT_API; else the local stack of this folder. "
    "Requests are signed with your AWS credentials."
)
_CODES: Final = " · ".join(f"{code.value} {code.name.lower().replace('_', ' ')}" for code in MEANINGS)

app = typer.Typer(
    help=_HELP,
    epilog=f"Exit codes: {_CODES}. See docs/cli.md.",
    add_completion=False,
    rich_markup_mode="rich",
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        typer.echo(version("pausepoint"))
        raise typer.Exit


@app.callback()
def _options(
    show_version: Annotated[
        bool, typer.Option("--version", help="Print the version.", is_eager=True, callback=_print_version)
    ] = False,
) -> None:
    """Hold the options of no command."""


for _commands in (sessions, deciding):
    _commands.register(app)


def run(arguments: Sequence[str], world: World | None = None) -> int:
    """Run one command and return its exit code. What goes wrong is told on stderr, without a traceback."""
    world = world or system_world()
    program = typer.main.get_command(app)
    try:
        code = program.main(list(arguments) or ["--help"], prog_name="pausepoint", standalone_mode=False, obj=world)
    except CommandError as error:
        complain(world, str(error))
        return error.code
    except SystemExit:
        return Exit.OK  # whoever read stdout has stopped reading
    except typer.TyperException as error:
        complain(world, f"{error.format_message()} (`pausepoint COMMAND --help` tells more)")
        return Exit.USAGE
    except Exception as error:  # noqa: BLE001 - the top: nobody wants a traceback here
        if world.environ.get(DEBUG_VARIABLE):
            traceback.print_exc(file=world.stderr)
        told = f"Something is wrong with this program, or with what the API answered: {error!r}."
        complain(world, f"{told} {DEBUG_VARIABLE}=1 tells where.")
        return Exit.ERROR
    return int(code or Exit.OK)
