"""What the documents say is compared with the code."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any

from pausepoint.domain.calls import EDGES

ROOT = Path(__file__).parents[2]


def test_the_table_of_states_is_the_codes() -> None:
    text = (ROOT / "docs/architecture.md").read_text(encoding="utf-8")
    section = text.split("## The states of a call")[1].split("##")[0]
    written = {
        row.split("|")[1].strip().strip("`"): set(re.findall(r"`(\w+)`", row.split("|")[2]))
        for row in section.splitlines()
        if row.startswith("| `")
    }
    assert written == {str(state): {str(target) for target in targets} for state, targets in EDGES.items() if targets}


def test_the_code_in_the_readme_runs() -> None:
    blocks = re.findall(r"```python\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
    names: dict[str, Any] = {}
    for block in blocks:
        exec(compile(block, "README.md", "exec"), names)
    assert names["agent"].tools.keys() == {"list_files", "delete_file"}
    names["test_nothing_is_deleted_unless_somebody_agrees"]()
