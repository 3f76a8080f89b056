"""What a deployment can choose: described, bounded, used, and within bounds in every stage."""

from __future__ import annotations

import re
import tomllib
from typing import Any

import pytest

from local.target import layer_environment
from tests.template.conftest import REPOSITORY

STAGES = tomllib.loads((REPOSITORY / "samconfig.toml").read_text())


def _overrides(stage: str) -> dict[str, str]:
    return dict(text.split("=", 1) for text in STAGES[stage]["deploy"]["parameters"]["parameter_overrides"])


def test_every_parameter_is_described_and_bounded_and_has_a_default(template: dict[str, Any]) -> None:
    for name, parameter in template["Parameters"].items():
        assert parameter.get("Description"), name
        assert "Default" in parameter, name
        bounded = (
            "AllowedValues" in parameter
            or {"AllowedPattern", "MaxLength"} <= set(parameter)
            or {"MinValue", "MaxValue"} <= set(parameter)
        )
        assert bounded, name


def test_every_parameter_is_used() -> None:
    text = (REPOSITORY / "template.yaml").read_text()
    names = re.findall(
        r"^  (\w+):$", text.partition("\nParameters:\n")[2].partition("\nConditions:\n")[0], re.MULTILINE
    )
    assert names
    for name in names:
        assert re.search(rf"!Ref {name}\b|\$\{{{name}\}}", text), name


def test_defaults_are_the_safe_choice(template: dict[str, Any]) -> None:
    defaults = {name: parameter["Default"] for name, parameter in template["Parameters"].items()}
    assert defaults["RequireSignedCaller"] == "true"
    assert defaults["DeletionProtection"] == "true"


@pytest.mark.parametrize(
    ("name", "good", "bad"),
    [
        ("Agent", ["custodian:agent", "my.pkg:the_agent"], ["", "custodian", "a:b:c", "os;rm:x", "a-b:c"]),
        ("ModelId", ["anthropic.claude-haiku-4-5-20251001-v1:0", "amazon.nova-2-lite-v1:0"], ["", "*", "x/*", "a b.c"]),
        ("ApproverEmail", ["", "ada@example.com"], ["ada", "a b@example.com", "ada@example"]),
        (
            "TimeZone",
            ["UTC", "Europe/Berlin", "America/Argentina/Buenos_Aires", "Etc/GMT+1"],
            ["", "/etc/passwd", "../x", "Europe/", "a b"],
        ),
        (
            "WebhookUrl",
            ["", "https://hooks.example", "https://h.example:8443/a/b?c=d&e=%20", "http://127.0.0.1:9000/hook"],
            [
                *("hooks.example", "ftp://hooks.example/", "http://hooks.example/", "http://localhost:9000/"),
                *("https://user:pw@hooks.example/", "https://h.example/a b", "https://h.example/#x"),
                *("https://[::1]/", "http://10.0.0.1/", "https://h.example/\n"),
            ],
        ),
        (
            "BaseUrl",
            ["", "https://ok.example.com", "http://127.0.0.1:8080"],
            ["ok.example.com", "https://a b", "https://a/?t="],
        ),
    ],
)
def test_patterns_take_the_good_and_refuse_the_bad(
    template: dict[str, Any], name: str, good: list[str], bad: list[str]
) -> None:
    pattern = re.compile(template["Parameters"][name]["AllowedPattern"])
    assert [text for text in good if not pattern.fullmatch(text)] == []
    assert [text for text in bad if pattern.fullmatch(text)] == []


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_a_stage_sets_parameters_that_exist_to_values_that_are_allowed(template: dict[str, Any], stage: str) -> None:
    for name, value in _overrides(stage).items():
        allowed = template["Parameters"][name].get("AllowedValues", [value])
        assert value in [str(option) for option in allowed], name


def test_prod_is_protected() -> None:
    assert _overrides("prod")["DeletionProtection"] == "true"
    assert STAGES["prod"]["deploy"]["parameters"]["confirm_changeset"] is True


@pytest.mark.parametrize("stage", ["dev", "prod"])
def test_the_layers_are_built_for_the_lambda_they_run_on(stage: str) -> None:
    assert layer_environment(STAGES, stage) == {"LAYER_PYTHON": "3.13", "LAYER_PLATFORM": "aarch64-manylinux_2_28"}
