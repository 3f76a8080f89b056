"""Where the API is, and who signs."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import Any

import botocore.session
import pytest
from botocore.stub import Stubber

from tests.support.command_line import API, CommandLine, Script, received

NOTHING: dict[str, Any] = {"sessions": [], "next": None}
LOCAL = "http://127.0.0.1:4599"


def line(folder: Path, **environ: str) -> tuple[CommandLine, Script]:
    script = Script([received(200, NOTHING)] * 3)
    return CommandLine(script, folder, environ), script


def describe(folder: Path, text: str) -> None:
    (folder / ".local").mkdir(parents=True, exist_ok=True)
    (folder / ".local" / "stack.json").write_text(text)


def test_the_option_comes_before_the_environment_before_the_local_stack(tmp_path: Path) -> None:
    describe(tmp_path, json.dumps({"api_url": LOCAL}))
    (tmp_path / "deep" / "er").mkdir(parents=True)
    command, script = line(tmp_path / "deep" / "er", PAUSEPOINT_API="http://localhost:1/env/")
    assert command("list", "--api", "http://[::1]:2/option").code == 0
    assert command("list").code == 0
    command.environ.clear()
    assert command("list").code == 0
    assert [request.url.partition("/sessions")[0] for request in script.requests] == [
        "http://[::1]:2/option",
        "http://localhost:1/env",
        LOCAL,
    ]


def test_nothing_is_signed_for_this_machine_and_no_credentials_are_needed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("AWS_ACCESS_KEY_ID")
    monkeypatch.delenv("AWS_SECRET_ACCESS_KEY")
    describe(tmp_path, json.dumps({"api_url": LOCAL}))
    command, script = line(tmp_path)
    assert command("list").code == 0
    assert "Authorization" not in script.requests[0].headers


@pytest.mark.parametrize(
    "text", ["", "[]", "{}", '{"api_url": 7}', '{"api_url": "https://example.com"}', '{"api_url": "http://10.0.0.1"}']
)
def test_a_description_that_leads_elsewhere_is_not_followed(tmp_path: Path, text: str) -> None:
    describe(tmp_path, text)
    command, script = line(tmp_path)
    assert (command("list").code, script.requests) == (2, [])


def test_without_an_api_it_says_how_to_name_one(tmp_path: Path) -> None:
    command, _ = line(tmp_path)
    ran = command("list")
    assert ran.code == 2
    for word in ("--api", "--stack", "PAUSEPOINT_API", "make run"):
        assert word in ran.err


@pytest.mark.parametrize(
    "url",
    [
        "http://example.com",
        "http://10.0.0.1",
        "http://127.0.0.1.example.com",
        "http://localhost.example.com",
        "ftp://localhost",
        "example.com",
        "https://",
        "https://user:secret@example.com",
        "https://example.com?x=1",
        "https://example.com/#x",
        "https://example.com:99999",
        "https://exa mple.com",
        "https://example.com/\u202e",
        "",
    ],
)
def test_an_address_that_cannot_be_used_is_refused_before_anything_is_sent(tmp_path: Path, url: str) -> None:
    command, script = line(tmp_path)
    ran = command("list", f"--api={url}", "--region", "eu-central-1")
    assert (ran.code, script.requests) == (2, [])
    assert "Traceback" not in ran.err


@pytest.mark.parametrize(
    ("url", "region", "expected"),
    [
        (API, "eu-central-1", "us-east-1"),  # what the name says is what AWS will compute with
        ("https://x.execute-api.cn-north-1.amazonaws.com.cn", None, "cn-north-1"),
        ("https://vpce-1-x.execute-api.eu-west-1.vpce.amazonaws.com/prod", None, "eu-west-1"),
        ("https://approvals.example.com", "ap-south-1", "ap-south-1"),
    ],
)
def test_the_region_is_the_names_or_the_one_that_is_given(
    tmp_path: Path, url: str, region: str | None, expected: str
) -> None:
    command, script = line(tmp_path)
    assert command("list", "--api", url, *(["--region", region] if region else [])).code == 0
    authorization = script.requests[0].headers["Authorization"]
    text = authorization if isinstance(authorization, str) else authorization.decode()
    assert f"/{expected}/execute-api/aws4_request" in text


def test_a_custom_domain_needs_a_region_and_takes_the_configured_one(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    command, script = line(tmp_path)
    ran = command("list", "--api", "https://approvals.example.com")
    assert (ran.code, script.requests) == (2, [])
    assert "--region" in ran.err
    monkeypatch.setenv("AWS_DEFAULT_REGION", "eu-north-1")
    assert command("list", "--api", "https://approvals.example.com").code == 0


def test_the_profiles_credentials_and_certificates_are_used(tmp_path: Path) -> None:
    Path(os.environ["AWS_SHARED_CREDENTIALS_FILE"]).write_text(
        "[work]\naws_access_key_id = AKIAWORK\naws_secret_access_key = s\n"
    )
    Path(os.environ["AWS_CONFIG_FILE"]).write_text("[profile work]\nca_bundle = /etc/ssl/work.pem\n")
    command, script = line(tmp_path)
    assert command("list", "--api", API, "--profile", "work").code == 0
    assert b"Credential=AKIAWORK/" in script.requests[0].headers["Authorization"].encode()
    assert command.connected == [(API, "/etc/ssl/work.pem")]


@pytest.fixture
def cloudformation(monkeypatch: pytest.MonkeyPatch) -> Stubber:
    client = botocore.session.Session().create_client("cloudformation", region_name="eu-west-1")
    monkeypatch.setattr("botocore.session.Session.create_client", lambda *_, **__: client)
    stubber = Stubber(client)
    stubber.activate()
    return stubber


def stack(*outputs: tuple[str, str]) -> dict[str, Any]:
    return {
        "Stacks": [
            {
                "StackName": "pausepoint-dev",
                "CreationTime": "2026-11-29T16:00:00Z",
                "StackStatus": "CREATE_COMPLETE",
                "Outputs": [{"OutputKey": key, "OutputValue": value} for key, value in outputs],
            }
        ]
    }


def test_a_stack_says_where_its_api_is(tmp_path: Path, cloudformation: Stubber) -> None:
    answer = stack(("TableName", "t"), ("ApiUrl", API))
    cloudformation.add_response("describe_stacks", answer, {"StackName": "pausepoint-dev"})
    command, script = line(tmp_path, PAUSEPOINT_API="http://localhost:1")
    assert command("list", "--stack", "pausepoint-dev").code == 0
    assert script.requests[0].url.startswith(f"{API}/sessions")
    assert "Authorization" in script.requests[0].headers


def test_a_stack_that_is_something_else_or_nothing_is_named(tmp_path: Path, cloudformation: Stubber) -> None:
    cloudformation.add_response("describe_stacks", stack(("TableName", "t")))
    cloudformation.add_client_error("describe_stacks", "ValidationError", "Stack with id x does not exist", 400)
    cloudformation.add_client_error("describe_stacks", "AccessDenied", "not you", 403)
    command, script = line(tmp_path)
    for code, told in ((2, "no output ApiUrl"), (2, "does not exist"), (5, "not you")):
        ran = command("list", "--stack", "x")
        assert (ran.code, script.requests) == (code, [])
        assert told in ran.err


def test_one_of_the_two_is_enough(tmp_path: Path) -> None:
    command, _ = line(tmp_path)
    assert command("list", "--api", API, "--stack", "x").code == 2


def test_the_output_is_one_of_the_template() -> None:
    from pausepoint_cli.where import OUTPUT  # noqa: PLC0415

    template = (Path(__file__).parents[3] / "template.yaml").read_text(encoding="utf-8")
    assert f"\n  {OUTPUT}:\n" in template.partition("\nOutputs:")[2]
