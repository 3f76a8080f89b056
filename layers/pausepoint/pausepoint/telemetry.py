"""Logs and metrics of the functions."""

from __future__ import annotations

from functools import cache

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit


@cache
def logger() -> Logger:
    """Return the function's logger; JSON lines, on which CR and LF are harmless (R67)."""
    return Logger(service="pausepoint")


def count(name: str, value: int = 1) -> None:
    """Add to one of the function's metrics."""
    _metrics().add_metric(name=name, unit=MetricUnit.Count, value=value)


def flush_metrics() -> None:
    """Write the metrics of this invocation, if there are any."""
    metrics = _metrics()
    if metrics.provider.metric_set:
        metrics.flush_metrics()


@cache
def _metrics() -> Metrics:
    return Metrics()
