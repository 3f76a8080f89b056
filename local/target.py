"""Prints what the layers' Makefiles need to know to build for a stage of samconfig.toml."""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from typing import Any

from local.build import LINUX_PLATFORMS, REPOSITORY


def layer_environment(config: Mapping[str, Any], stage: str) -> dict[str, str]:
    """Return the environment in which ``sam build`` makes the layers for ``stage``.

    Raises:
        KeyError: the stage, its Runtime or its Architecture is missing, or not known.
    """
    overrides = config[stage]["deploy"]["parameters"]["parameter_overrides"]
    parameters = dict(override.split("=", 1) for override in overrides)
    return {
        "LAYER_PYTHON": parameters["Runtime"].removeprefix("python"),
        "LAYER_PLATFORM": LINUX_PLATFORMS[parameters["Architecture"]],
    }


def main() -> int:
    """Print the variables for the stage that is named on the command line."""
    stage = sys.argv[1]
    config = tomllib.loads((REPOSITORY / "samconfig.toml").read_text())
    try:
        environment = layer_environment(config, stage)
    except KeyError as missing:
        print(f"samconfig.toml says nothing of {missing} for {stage}.", file=sys.stderr)
        return 1
    print(" ".join(f"{name}={value}" for name, value in environment.items()))
    return 0


if __name__ == "__main__":
    sys.exit(main())
