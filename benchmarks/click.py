"""What a click costs: `python -m benchmarks.click [--count 200] [--json FILE]`.

The page's Lambda handler, in a fresh process with the layer as Lambda has it: the first look at a link after a cold
start, further looks, and the decision. AWS is a MiniStack on this computer, so that times are the function's own.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path
from statistics import median
from typing import Any

from benchmarks.layer import ROOT
from benchmarks.stage import Stage, stage


def measure(count: int, *, looks: int, repeat: int) -> list[dict[str, Any]]:
    """Return what each of some processes took; in the first of them, requests are counted."""
    with stage() as place:
        return [_clicked(place, count, looks=looks, metered=turn == 0) for turn in range(repeat + 1)]


def _clicked(place: Stage, count: int, *, looks: int, metered: bool) -> dict[str, Any]:
    link = place.ours("pause", count=count, kind="english", metered=False)["link"]
    paths = [ROOT / "functions" / "approvals", place.built.library]
    return place.run("clicking", paths, "click", link=link, looks=looks, metered=metered)


def report(runs: list[dict[str, Any]]) -> str:
    """Return a Markdown table."""
    counted, *timed = runs
    lines = ["| | AWS requests | ms | of them CPU |", "| --- | --- | --- | --- |"]
    lines.append(f"| cold start: the handler is imported | none | {_ms(run['imported'] for run in timed)} | |")
    rows = {
        "the first look, its page made by a fresh process": ([run["first"] for run in timed], counted["first"]),
        "a look": ([look for run in timed for look in run["again"]], counted["again"][0]),
        "the decision": ([run["post"] for run in timed], counted["post"]),
    }
    for name, (each, shown) in rows.items():
        requests = ", ".join(f"{times} {operation}" for operation, times in shown["requests"].items())
        wall, cpu = _ms(one["seconds"] for one in each), _ms(one["cpu"] for one in each)
        lines.append(f"| {name} | {requests} | {wall} | {cpu} |")
    return "\n".join(lines) + "\n"


def _ms(seconds: Any) -> str:
    return f"{median(seconds) * 1000:.0f}"


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--count", type=int, default=200, help="how many calls the session made before")
    parser.add_argument("--looks", type=int, default=20, help="further looks in each process")
    parser.add_argument("--repeat", type=int, default=9, help="processes that times are the median of")
    parser.add_argument("--json", type=Path, help="where the measurements go")
    options = parser.parse_args()
    runs = measure(options.count, looks=options.looks, repeat=options.repeat)
    sys.stdout.write(report(runs))
    if options.json:
        options.json.write_text(json.dumps(runs, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
