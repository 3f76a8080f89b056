"""The local stack: its programs, their addresses, and the order in which they come up."""

from __future__ import annotations

import fcntl
import json
import os
import sys
from collections.abc import Mapping
from contextlib import ExitStack
from dataclasses import dataclass, field
from pathlib import Path

from local.build import REPOSITORY, runtime_parameters
from local.deploy import PATH_STYLE, Deployment, deploy, session
from local.emulator import REGION, start_emulator
from local.errors import LocalStackError
from local.files import seed
from local.forwarder import Forwarder
from local.inbox import subscribe
from local.model_choice import ModelChoice
from local.ports import ADDRESS, choose_ports
from local.processes import Program
from local.sam_local import start_api


@dataclass(frozen=True)
class Options:
    """What can be asked of a local stack.

    Attributes:
        state: The directory that keeps everything.
        port: MiniStack's; None takes a free one.
        enforce_iam: Let MiniStack enforce the functions' IAM policies.
        sam_local: Answer the API from Docker containers.
        model: Which model the functions talk to.
        parameters: Parameters of template.yaml.
    """

    state: Path
    port: int | None = None
    enforce_iam: bool = False
    sam_local: bool = False
    model: ModelChoice = field(default_factory=ModelChoice)
    parameters: Mapping[str, str] = field(default_factory=dict)


class LocalStack:
    """One stack with the state in one directory. Everything it starts is stopped by ``resources``."""

    def __init__(self, options: Options, resources: ExitStack) -> None:
        self._options = options
        self._resources = resources
        self._state = options.state
        self._programs: list[Program] = []
        self._take()
        self._ports = choose_ports(self._state / "ports.json", aws=options.port)
        addresses = {name: f"http://{ADDRESS}:{port}" for name, port in self._ports.items()}
        self.aws_url = addresses["aws"]
        self.api_url = addresses["api"]
        self.mailbox_url = addresses["mailbox"]
        self.model_url = options.model.url or addresses["model"]
        self._function_environment = {
            "AWS_ENDPOINT_URL": self.aws_url,
            "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": self.model_url,
            "WEBHOOK_LOOPBACK": "true",  # a receiver on this computer has no certificate
            **options.model.credentials,
        }

    def start_programs(self) -> None:
        """Start MiniStack, the mailbox and the model's stand-in, and wait for them.

        Raises:
            LocalStackError: one is missing, or does not come up.
        """
        emulator = start_emulator(
            self._state / "ministack",
            self._ports["aws"],
            function_environment=self._function_environment,
            enforce_iam=self._options.enforce_iam,
        )
        self._resources.callback(emulator.stop)
        self._programs.append(emulator)
        health = {f"{self.aws_url}/_ministack/health": emulator}
        if self._options.model.url is None:
            model = self._start_module("local.model", self._ports["model"])
            health[f"{self.model_url}/health"] = model
        mailbox = self._start_module(
            "local.mailbox",
            self._ports["mailbox"],
            *("--endpoint-url", self.aws_url, "--region", REGION),
            *("--state", str(self._state / "mailbox.json")),
        )
        health[f"{self.mailbox_url}/health"] = mailbox
        for url, program in health.items():
            program.wait_until_healthy(url)

    def deploy(self) -> Deployment:
        """Deploy the template, connect what MiniStack leaves open, and write stack.json.

        Raises:
            LocalStackError: a step failed.
        """
        parameters = {
            **runtime_parameters(),
            "BaseUrl": self.api_url,
            "DeletionProtection": "false",
            "RequireSignedCaller": "false",
            **self._options.model.parameters,
            **self._options.parameters,
        }
        deployment = deploy(self._state, self.aws_url, parameters)
        if self._options.sam_local:
            self._start_sam_local()
        else:
            self._start_gateway(deployment.api_id)
        aws = session()
        subscribe(aws.client("sns", endpoint_url=self.aws_url), deployment.outputs["TopicArn"], self.mailbox_url)
        s3 = aws.client("s3", endpoint_url=self.aws_url, config=PATH_STYLE)
        seed(s3, deployment.outputs["FilesBucket"])
        self._describe(deployment)
        return deployment

    def check(self) -> None:
        """Raise LocalStackError if one of the programs has ended."""
        for program in self._programs:
            program.check()

    def _take(self) -> None:
        """Keep every other stack out of this directory."""
        self._state.mkdir(parents=True, exist_ok=True)
        lock = self._resources.enter_context((self._state / "lock").open("w"))
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except OSError:
            raise LocalStackError(f"A stack with its state in {self._state} is running already.") from None
        # One that was killed left its description behind.
        description = self._state / "stack.json"
        description.unlink(missing_ok=True)
        self._resources.callback(description.unlink, missing_ok=True)

    def _start_module(self, module: str, port: int, *arguments: str) -> Program:
        program = Program(
            module,
            [sys.executable, "-m", module, "--port", str(port), *arguments],
            env={**os.environ, "PYTHONPATH": str(REPOSITORY)},
            log=self._state / f"{module.rpartition('.')[2]}.log",
        )
        self._resources.callback(program.stop)
        self._programs.append(program)
        return program

    def _start_gateway(self, api_id: str) -> None:
        """Let the API answer at the root of an address of its own, as it does on AWS.

        MiniStack has a name for it, <api>.execute-api.localhost, but not every program on every
        system can look that name up; and links need an address that is known before the deployment.
        """
        gateway = Forwarder(
            (ADDRESS, self._ports["api"]),
            upstream_port=self._ports["aws"],
            prefix=f"/_aws/execute-api/{api_id}/$default",
        )
        self._resources.callback(gateway.stop)
        gateway.start()

    def _start_sam_local(self) -> None:
        program = start_api(self._state, self._ports["api"], self.aws_url, self._function_environment, self._resources)
        self._programs.append(program)
        program.wait_until_listening(self._ports["api"], seconds=120)

    def _describe(self, deployment: Deployment) -> None:
        description = {
            "api_url": self.api_url,
            "mailbox_url": self.mailbox_url,
            "model_url": self.model_url,
            "aws_endpoint_url": self.aws_url,
            "region": REGION,
            "outputs": dict(deployment.outputs),
        }
        # Whoever waits for the file must never read half of it.
        draft = self._state / "stack.json.draft"
        draft.write_text(json.dumps(description, indent=2) + "\n")
        draft.replace(self._state / "stack.json")
