"""The handler of the function `summarize`: its routes behind the HTTP API, and the schedule of summaries.

Metrics are in the namespace `Recollect`, with POWERTOOLS_SERVICE_NAME (the stack's name) as dimension.
"""

from collections.abc import Callable
from datetime import UTC, datetime
from typing import Any, TypeAlias

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from recollect.app import App
from recollect.entrypoints.http.aws import http_handler
from recollect.summaries.run import SummaryRun

NAMESPACE = "Recollect"
TASK = "summarize"

Answer: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[dict[str, Any], LambdaContext], Answer]

_METRICS = {"made": "SummariesMade", "not_due": "SummariesNotDue", "busy": "SummariesBusy", "failed": "SummariesFailed"}


def summarize_handler(app: App) -> Handler:
    """A handler of requests to the routes of summaries and goals, and of `{"task": "summarize"}`."""
    logger, metrics = Logger(level=app.settings.log_level), Metrics(namespace=NAMESPACE)
    requests = http_handler("summaries", app=app)

    def run(_event: dict[str, Any], context: LambdaContext) -> Answer:
        report = app.summaries.run(_clock, lambda: context.get_remaining_time_in_millis() / 1000)
        return _told(report, logger, metrics)

    scheduled: Handler = metrics.log_metrics(logger.inject_lambda_context(run))

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        return scheduled(event, context) if is_summarize(event) else requests(event, context)

    return handler


def is_summarize(event: Any) -> bool:
    """Whether an event asks for a run: the schedule sends `{"task": "summarize"}`."""
    return isinstance(event, dict) and event.get("task") == TASK


def _told(report: SummaryRun, logger: Logger, metrics: Metrics) -> Answer:
    """Counts and kinds of errors; never a text."""
    for name, count in report.counts.items():
        metrics.add_metric(_METRICS[name], MetricUnit.Count, count)
    if report.failed:
        logger.warning("summaries that failed", extra={"failed": dict(report.failed)})
    logger.info("summarized", extra=report.counts | {"complete": report.complete})
    return {**report.counts, "complete": report.complete}


def _clock() -> datetime:
    return datetime.now(UTC)
