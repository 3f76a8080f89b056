"""Cost against N, as a picture for docs/performance.md."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, Final

import matplotlib as mpl
from matplotlib.figure import Figure

from benchmarks.pause_resume import BASELINE, FLOOR, OURS

_NAMES: Final = {"random": "incompressible results", "english": "English text"}
_COLOURS: Final = {OURS: "#0b5fff", BASELINE: "#8a5a00", FLOOR: "#999999"}
_STYLES: Final = {"random": "-", "english": "--"}
_PANELS: Final[tuple[tuple[str, Callable[[dict[str, Any]], float]], ...]] = (
    ("KB sent in all", lambda row: (row["pause"]["sent"] + row["finish"]["sent"]) / 1000),
    ("CPU seconds in all", lambda row: row["pause"]["cpu"] + row["finish"]["cpu"]),
    ("requests from the click to the end", lambda row: row["finish"]["total"]),
)


def plot(rows: list[dict[str, Any]], target: Path) -> None:
    """Draw the measurements of `benchmarks.pause_resume` as SVG."""
    defaults: Any = mpl.rcParams
    defaults.update({"svg.hashsalt": "pausepoint", "svg.fonttype": "none", "font.size": 9})
    figure = Figure(figsize=(11, 3.6), layout="constrained")
    for panel, (title, value) in zip(figure.subplots(1, len(_PANELS)), _PANELS, strict=True):
        for saved, colour in _COLOURS.items():
            if saved == FLOOR and "CPU" not in title:
                continue  # it sends and asks what it is told to
            for kind, style in _STYLES.items():
                points = [(row["count"], value(row)) for row in rows if (row["saved"], row["kind"]) == (saved, kind)]
                if points:
                    panel.plot(*zip(*points, strict=True), style, color=colour, marker="o", markersize=3)
                    panel.lines[-1].set_label(f"{saved}, {_NAMES[kind]}")
        panel.set(title=title, xlabel="N, safe tool calls before the pause", ylim=(0, None), xlim=(0, None))
        panel.grid(alpha=0.3)
        panel.spines[["top", "right"]].set_visible(False)
    figure.axes[1].legend(frameon=False, fontsize=8)
    # Without a date, so that the same measurements make the same file.
    figure.savefig(target, metadata={"Date": None})
