"""The handler of the function `project`: the table's stream, and the schedule of reconcile.

Metrics are in the namespace `Recollect`, with POWERTOOLS_SERVICE_NAME (the stack's name) as dimension.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.entrypoints.scheduled import ReconcileReport, is_reconcile, run_reconcile
from recollect.entrypoints.stream import StreamReport, project_records

NAMESPACE = "Recollect"
OLDEST_PENDING = "OldestPendingAge"
QUARANTINED = "QuarantinedEvents"

Answer: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[dict[str, Any], LambdaContext], Answer]


def project_handler(app: App) -> Handler:
    """A handler of stream batches (answered with the records to send again) and of `{"task": "reconcile"}`."""
    logger, metrics = Logger(level=app.settings.log_level), Metrics(namespace=NAMESPACE)

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        if is_reconcile(event):
            return _reconcile(app, logger, metrics, lambda: context.get_remaining_time_in_millis() / 1000)
        if isinstance(event, dict) and isinstance(event.get("Records"), list):
            return _stream(app, logger, metrics, event["Records"])
        raise InvalidInput("neither records of the stream nor a task")

    decorated: Handler = metrics.log_metrics(logger.inject_lambda_context(handler))
    return decorated


def _stream(app: App, logger: Logger, metrics: Metrics, records: list[Any]) -> Answer:
    report = project_records(records, app.projection.project, _clock())
    _count(metrics, len(records), report)
    if report.malformed:
        logger.error("change records that cannot be read", extra={"sequence_numbers": report.malformed})
    _log_failed(logger, report.projection.failed)
    return report.answer


def _count(metrics: Metrics, records: int, report: StreamReport) -> None:
    counts = {
        "Records": records,
        "Malformed": len(report.malformed),
        "Projected": report.projection.projected,
        "Gone": report.projection.gone,
        "Failed": len(report.projection.failed),
    }
    for name, count in counts.items():
        metrics.add_metric(name, MetricUnit.Count, count)
    metrics.add_metric("ProjectedAge", MetricUnit.Seconds, report.oldest_age_seconds)


def _reconcile(app: App, logger: Logger, metrics: Metrics, remaining_seconds: Callable[[], float]) -> Answer:
    report = run_reconcile(app.projection.reconcile, _clock, remaining_seconds)
    _log_failed(logger, report.projection.failed)
    _measure(metrics, report)
    projection = report.projection
    counts = {"projected": projection.projected, "gone": projection.gone, "failed": len(projection.failed)}
    counts |= {} if report.quarantined is None else {"quarantined": report.quarantined}
    bridge = app.memories.reconcile_bridge(_clock(), remaining_seconds=remaining_seconds).counts
    logger.info("reconciled", extra=counts | {"complete": report.complete} | bridge)
    return counts


def _measure(metrics: Metrics, report: ReconcileReport) -> None:
    metrics.add_metric("Reconciled", MetricUnit.Count, report.projection.projected)
    metrics.add_metric("ReconcileFailed", MetricUnit.Count, len(report.projection.failed))
    if report.oldest_age_seconds is not None:
        metrics.add_metric(OLDEST_PENDING, MetricUnit.Seconds, report.oldest_age_seconds)
    if report.quarantined is not None:
        metrics.add_metric(QUARANTINED, MetricUnit.Count, report.quarantined)


def _log_failed(logger: Logger, failed: dict[str, str]) -> None:
    """Ids and kinds of errors; never a text."""
    if failed:
        logger.warning("events not projected yet", extra={"failed": failed})


def _clock() -> datetime:
    return datetime.now(UTC)
