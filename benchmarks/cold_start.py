"""How long a function takes to be there: `python -m benchmarks.cold_start [--repeat 9] [--json FILE]`.

Each function's handler is imported in a fresh process that has the layers as Lambda does, and the client that it needs
first is made; the functions that run an agent load it too. Beside it, in turns, `import boto3` and one DynamoDB client,
from boto3 as it is installed. Any Python can run this: the layers are built for the one that does.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
from collections import defaultdict
from pathlib import Path
from statistics import median
from typing import Any, Final

from benchmarks.layer import ROOT, Built, built, child

_FUNCTIONS: Final = {
    "approvals": "app.application().services.store._client.meta",
    "start": "app.application().agent; app.application().services.store._client.meta",
    "resume": "app.application().agent; app.application().services.store._client.meta",
    "sessions": "app.application().services.store._client.meta",
    "sweep": "app.application().services.store._client.meta",
    "announce": "app.application().services.notifier._client.meta",
    "webhook": "app.webhook_sender()",
    "undelivered": "app.dead_letters()",
}
"""What each function makes of its own before it does anything."""
_BARE: Final = "import boto3; boto3.client('dynamodb')"
_TIMED: Final = "import time; begun = time.perf_counter(); {code}; print(time.perf_counter() - begun)"
_ENVIRONMENT: Final = {
    "AGENT": "custodian:agent",
    "TABLE_NAME": "sessions",
    "TOPIC_ARN": "arn:aws:sns:us-east-1:123456789012:approvals",
    "QUEUE_URL": "https://sqs.us-east-1.amazonaws.com/123456789012/work",
    "FILES_BUCKET": "files",
    "WEBHOOK_URL": "https://example.com/hook",
    "WEBHOOK_SECRET_ARN": "arn:aws:secretsmanager:us-east-1:123456789012:secret:webhook",
    "POWERTOOLS_METRICS_NAMESPACE": "Pausepoint",
}


_COMPILED: Final = ("boto3", "approvals")
"""Which are measured without byte-code as well: as Lambda would have to compile them, were it not in the layer."""


def times(place: Built, repeat: int) -> dict[str, list[float]]:
    """Return the seconds that each function took, and bare boto3, in turns."""
    code = {"boto3": _BARE, **{name: f"import app; {made}" for name, made in _FUNCTIONS.items()}}
    paths = {name: [ROOT / "functions" / name, place.library, place.agent] for name in _FUNCTIONS}
    paths["boto3"] = [place.bare]
    taken: dict[str, list[float]] = defaultdict(list)
    for _ in range(repeat):
        for name, each in code.items():
            taken[name].append(_timed(each, *paths[name]))
    for _ in range(repeat):
        for name in _COMPILED:
            # Python looks for byte-code there only, and finds none.
            taken[f"{name}, no byte-code"].append(_timed(code[name], *paths[name], PYTHONPYCACHEPREFIX=os.devnull))
    return taken


def _timed(code: str, *paths: Path, **environment: str) -> float:
    return float(child(_TIMED.format(code=code), *paths, environment={**_ENVIRONMENT, **environment}))


def sizes(layer: Path) -> dict[str, int]:
    """Return the bytes of each package of a layer, byte-code included."""
    found: dict[str, int] = {}
    for path in layer.rglob("*"):
        if path.is_file():
            package = path.relative_to(layer).parts[0].removesuffix(".py").partition("-")[0]
            found[package] = found.get(package, 0) + path.stat().st_size
    return dict(sorted(found.items(), key=lambda item: -item[1]))


def report(taken: dict[str, list[float]], packages: dict[str, int]) -> str:
    """Return both as Markdown tables."""
    base = median(taken["boto3"])
    lines = ["| function | ms | times bare boto3 |", "| --- | --- | --- |"]
    lines += [f"| {name} | {median(each) * 1000:.0f} | {median(each) / base:.2f} |" for name, each in taken.items()]
    lines += ["", "| package | MB |", "| --- | --- |"]
    most = list(packages.items())[:12]
    rest = sum(packages.values()) - sum(size for _, size in most)
    lines += [f"| {name} | {size / 1e6:.1f} |" for name, size in [*most, ("all others", rest)]]
    lines += [f"| **the layer** | **{sum(packages.values()) / 1e6:.1f}** |", ""]
    return "\n".join(lines)


def main() -> None:
    """Measure, print and write."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeat", type=int, default=9, help="processes that times are the median of")
    parser.add_argument("--json", type=Path, help="where the measurements go")
    options = parser.parse_args()
    with built() as place:
        taken, packages = times(place, options.repeat), sizes(place.library)
    sys.stdout.write(f"Python {sys.version.split()[0]}\n\n{report(taken, packages)}")
    if options.json:
        measured: dict[str, Any] = {"python": sys.version.split()[0], "seconds": taken, "bytes": packages}
        options.json.write_text(json.dumps(measured, indent=1) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
