"""Starts the local stack, keeps it up until Ctrl-C or SIGTERM, and stops all it started."""

from __future__ import annotations

import argparse
import os
import signal
import sys
import time
from collections.abc import Sequence
from contextlib import ExitStack
from pathlib import Path

from local.build import REPOSITORY
from local.demo import Demo
from local.deploy import PATH_STYLE, Deployment, session
from local.errors import LocalStackError
from local.files import choose_victim
from local.model_choice import choose_model
from local.sam_local import require_docker
from local.stack import LocalStack, Options

_STOP_SIGNALS = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


def main(arguments: Sequence[str] | None = None) -> int:
    """Run the stack and return the process's exit status."""
    asked = _parse(arguments)
    for number in _STOP_SIGNALS:
        signal.signal(number, signal.default_int_handler)
    status = 0
    with ExitStack() as resources:
        try:
            _run(asked, resources)
        except KeyboardInterrupt:
            _say("\nStopping.")
        except LocalStackError as error:
            print(f"The local stack cannot run: {error}", file=sys.stderr, flush=True)
            status = 1
        # From here on everything is taken down; another Ctrl-C must not leave half of it.
        for number in _STOP_SIGNALS:
            signal.signal(number, signal.SIG_IGN)
    return status


def _run(asked: argparse.Namespace, resources: ExitStack) -> None:
    if asked.sam_local:
        require_docker()  # before anything else is begun
    options = Options(
        state=asked.state.resolve(),
        port=asked.port,
        enforce_iam=os.environ.get("AUTH", "").lower() == "true",
        sam_local=asked.sam_local,
        model=choose_model(os.environ),
        parameters=dict(asked.parameter),
    )
    stack = LocalStack(options, resources)
    _say(f"Starting MiniStack; what it knows is kept in {_short(options.state)}.")
    stack.start_programs()
    _say("Building and deploying template.yaml.")
    deployment = stack.deploy()
    _say(_welcome(stack, options))
    demo = Demo(stack.api_url, stack.mailbox_url)
    if asked.demo:
        _start_demo(demo, stack, deployment)
    _say("Ctrl-C stops everything; it carries on from there the next time.")
    while True:
        time.sleep(1)
        stack.check()
        if news := demo.news():
            _say(f"\n{news}")


def _parse(arguments: Sequence[str] | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m local.run", description=__doc__)
    parser.add_argument("--state", type=Path, default=REPOSITORY / ".local", help="the directory that keeps everything")
    parser.add_argument("--port", type=int, help="MiniStack's; a free one otherwise")
    parser.add_argument("--no-demo", dest="demo", action="store_false", help="send no sample request")
    parser.add_argument("--sam-local", action="store_true", help="answer the API from Docker containers")
    parser.add_argument(
        "--parameter",
        type=_parameter,
        action="append",
        default=[],
        metavar="NAME=VALUE",
        help="a parameter of template.yaml; repeatable",
    )
    return parser.parse_args(arguments)


def _parameter(text: str) -> tuple[str, str]:
    name, separator, value = text.partition("=")
    if not separator:
        raise argparse.ArgumentTypeError(f"{text!r} is not NAME=VALUE")
    return name, value


def _start_demo(demo: Demo, stack: LocalStack, deployment: Deployment) -> None:
    s3 = session().client("s3", endpoint_url=stack.aws_url, config=PATH_STYLE)
    victim = choose_victim(s3, deployment.outputs["FilesBucket"])
    _say(demo.start(f"delete {victim}" if victim else "list"))


def _welcome(stack: LocalStack, options: Options) -> str:
    aws = "MiniStack, which enforces the functions' IAM policies" if options.enforce_iam else "MiniStack"
    model = "" if options.model.url else "  (a stand-in that follows fixed rules; it is no LLM)"
    return f"""Pausepoint is up.

  API      {stack.api_url}
  Mailbox  {stack.mailbox_url}
  AWS      {stack.aws_url}  ({aws})
  Model    {stack.model_url}{model}
  Logs     {_short(options.state)}/ministack/ministack.log
"""


def _short(path: Path) -> str:
    return str(path.relative_to(REPOSITORY)) if path.is_relative_to(REPOSITORY) else str(path)


def _say(text: str) -> None:
    print(text, flush=True)


if __name__ == "__main__":
    sys.exit(main())
