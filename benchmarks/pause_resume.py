"""What a pause costs: `python -m benchmarks.pause_resume [--counts 1,10,50,200,1000] [--json FILE] [--svg FILE]`.

N harmless calls, one a turn, with about 1 KB of result each; then a gated one; a pause; and, everything made anew in
another process, the click and the end. Beside it, the same as one item that is saved at the pause and at the end only;
and as many requests of the same size by plain boto3, with nothing around them.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks import single_item
from benchmarks.stage import Stage, stage

Row = dict[str, Any]
_COLUMNS: Final = ("N", "results", "saved", "requests", "KB sent", "write units", "read units", "CPU s", "largest item")
_KB: Final = 1000
OURS: Final = "every step"
BASELINE: Final = "one item"
FLOOR: Final = "bare writes"
_STEP_BYTES: Final = {"random": 950, "english": 540}
"""About what a step's body takes, compressed."""


def measure(counts: list[int], kinds: list[str], *, repeat: int) -> list[Row]:
    """Return a row of measurements for each count and kind of result, Pausepoint's and the baseline's.

    What is counted comes from one run; CPU seconds are the median of runs that nothing is counted in.
    """
    with stage() as place:
        return [row for count in counts for kind in kinds for row in _rows(place, count, kind, repeat)]


def _rows(place: Stage, count: int, kind: str, repeat: int) -> Iterator[Row]:
    ways = {OURS: place.ours, BASELINE: place.baseline, FLOOR: place.floor}
    for saved, way in ways.items():
        if saved == BASELINE and count > single_item.MOST:
            continue
        both = []
        for turn in range(repeat + 1):
            given = {"count": count, "kind": kind, "bytes": _STEP_BYTES[kind], "metered": turn == 0}
            paused = way("pause", **given)
            both.append((paused, way("finish", **given, link=paused.get("link"))))
        counted, *timed = both
        row: Row = {"count": count, "kind": kind, "saved": saved}
        for index, part in enumerate(("pause", "finish")):
            row[part] = {**counted[index], "cpu": median(each[index]["cpu"] for each in timed)}
        yield row


def table(rows: list[Row]) -> str:
    """Return the measurements as a Markdown table: to the pause / from the click to the end."""
    lines = [_COLUMNS, tuple("---" for _ in _COLUMNS), *map(_line, rows)]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines) + "\n"


def _line(row: Row) -> tuple[str, ...]:
    def both(name: str, form: str, scale: float = 1) -> str:
        return " / ".join(form.format(row[part][name] / scale) for part in ("pause", "finish"))

    return (
        f"{row['count']:,}",
        row["kind"],
        row["saved"],
        both("total", "{:,.0f}"),
        both("sent", "{:,.1f}", _KB),
        f"{both('write_units', '{:,.0f}')} (indexes {both('index_units', '{:,.0f}')})",
        both("read_units", "{:,.0f}"),
        both("cpu", "{:.3f}"),
        f"{row['finish']['largest_item'] / _KB:,.1f} KB",
    )


def summary(rows: list[Row]) -> str:
    """Return what the totals come to: in all, beside the baseline, and by step."""
    lines = []
    for kind in dict.fromkeys(row["kind"] for row in rows):
        ours = [row for row in rows if row["kind"] == kind and row["saved"] == OURS]
        for row in ours:
            beside = [each for each in rows if each["saved"] != OURS and _same(each, row)]
            ratios = [f"{_all(row, 'cpu') / _all(each, 'cpu'):.2f} times {each['saved']}" for each in beside]
            lines.append(
                f"N = {row['count']:,}, {kind}: in all {_all(row, 'sent') / _KB:,.1f} KB, "
                f"{_all(row, 'write_units') + _all(row, 'index_units'):,.0f} write units, "
                f"{_all(row, 'cpu'):.3f} CPU s ({', '.join(ratios)})"
            )
        for less, more in pairwise(ours):
            steps = more["count"] - less["count"]
            added = [(more["pause"][name] - less["pause"][name]) / steps for name in ("sent", "write_units")]
            lines.append(
                f"A step between {less['count']:,} and {more['count']:,}, {kind}: "
                f"{added[0]:,.0f} bytes, {added[1]:.2f} write units"
            )
    return "\n".join(lines) + "\n"


def _all(row: Row, name: str) -> float:
    return float(row["pause"][name] + row["finish"][name])


def _same(one: Row, other: Row) -> bool:
    return (one["count"], one["kind"]) == (other["count"], other["kind"])


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--counts", default="1,10,50,200,1000", help="how many harmless calls")
    parser.add_argument("--kinds", default="random,english", help="of results: random (incompressible), english")
    parser.add_argument("--repeat", type=int, default=5, help="runs that CPU seconds are the median of")
    parser.add_argument("--json", type=Path, help="where the measurements go")
    parser.add_argument("--svg", type=Path, help="where a plot goes; needs matplotlib (`make benchmarks` has it)")
    options = parser.parse_args()
    counts = [int(count) for count in options.counts.split(",")]
    rows = measure(counts, options.kinds.split(","), repeat=options.repeat)
    sys.stdout.write(table(rows) + "\n" + summary(rows))
    if options.json:
        options.json.write_text(json.dumps(rows, indent=1) + "\n", encoding="utf-8")
    if options.svg:
        from benchmarks.plot import plot  # noqa: PLC0415 - what draws is not installed for the rest

        plot(rows, options.svg)


if __name__ == "__main__":
    main()
