"""The options that every command has, and how a function becomes a command."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Annotated, Any, Final

import typer

from pausepoint_cli.desk import Desk
from pausepoint_cli.exits import Exit
from pausepoint_cli.where import Asked

_PANEL: Final = "Which API"


def _shared(
    api: Annotated[str | None, typer.Option(metavar="URL", help="The API's address.", rich_help_panel=_PANEL)] = None,
    stack: Annotated[
        str | None, typer.Option(metavar="NAME", help="The CloudFormation stack that it is.", rich_help_panel=_PANEL)
    ] = None,
    profile: Annotated[
        str | None, typer.Option(metavar="NAME", help="The AWS profile to sign with.", rich_help_panel=_PANEL)
    ] = None,
    region: Annotated[str | None, typer.Option(metavar="NAME", help="The AWS region.", rich_help_panel=_PANEL)] = None,
    as_json: Annotated[bool, typer.Option("--json", help="Print the API's JSON and nothing else.")] = False,
) -> None:
    """Declare the options."""


def command(app: typer.Typer, *, panel: str, name: str | None = None) -> Callable[[Callable[..., Exit]], None]:
    """Make a function a command of `app`: it gets a `Desk`, and its own parameters after that."""

    def register(function: Callable[..., Exit]) -> None:
        shared = inspect.signature(_shared, eval_str=True).parameters
        own = list(inspect.signature(function, eval_str=True).parameters.values())[1:]

        @wraps(function)
        def run(context: typer.Context, **given: Any) -> Exit:
            asked = Asked(**{each: given.pop(each) for each in ("api", "stack", "profile", "region")})
            return function(Desk(context.obj, asked, as_json=given.pop("as_json")), **given)

        context = inspect.Parameter("context", inspect.Parameter.KEYWORD_ONLY, annotation=typer.Context)
        parameters = [each.replace(kind=inspect.Parameter.KEYWORD_ONLY) for each in (*own, *shared.values())]
        run.__signature__ = inspect.Signature([context, *parameters])  # type: ignore[attr-defined]
        run.__annotations__ = {each.name: each.annotation for each in (context, *parameters)}
        app.command(name, rich_help_panel=panel)(run)

    return register


SessionId = Annotated[str, typer.Argument(metavar="SESSION", help="The session's id.", show_default=False)]
CallId = Annotated[
    str | None,
    typer.Argument(
        metavar="CALL", help="The call's id, like c2-0; may be left out if only one waits.", show_default=False
    ),
]
Reason = Annotated[
    str,
    typer.Option(metavar="TEXT", help="Why; recorded, and read by the model after a rejection.", show_default=False),
]
Yes = Annotated[bool, typer.Option("--yes", "-y", help="Do not ask.")]
Wait = Annotated[bool, typer.Option("--wait", help="Wait until the session rests, and tell how by the exit code.")]
Timeout = Annotated[
    float | None,
    typer.Option(metavar="SECONDS", min=0, help="How long to wait at most, in seconds; without it, for ever."),
]
