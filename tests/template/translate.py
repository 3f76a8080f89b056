"""Prints template.yaml as AWS will see it, as JSON. Run with the interpreter of the SAM environment."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Any


def main(path: str) -> None:
    from samcli.lib.translate.sam_template_validator import SamTemplateValidator  # noqa: PLC0415 - SAM's environment
    from samcli.yamlhelper import yaml_parse  # noqa: PLC0415

    class NoManagedPolicies:
        def load(self) -> dict[str, str]:
            return {}

    def parse(text: str) -> Any:
        return yaml_parse(text)

    validator = SamTemplateValidator(parse(Path(path).read_text()), NoManagedPolicies(), region="us-east-1")
    json.dump(parse(validator.get_translated_template_if_valid()), sys.stdout)


if __name__ == "__main__":
    main(sys.argv[1])
