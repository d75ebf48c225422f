"""The handlers of the functions `jobs` and `retain`: both run what is due, `retain` what no more than prunes.

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
from recollect.jobs.run import JobRun

NAMESPACE = "Recollect"
JOBS_TASK, RETAIN_TASK = "jobs", "retain"
RESERVE_SECONDS = 15.0

Answer: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[dict[str, Any], LambdaContext], Answer]

_METRICS = {"done": "JobsDone", "failed": "JobsFailed", "running": "JobsRunning"}


def jobs_handler(app: App) -> Handler:
    """A handler of `{"task": "jobs"}`, from the schedule or anybody who may invoke it: runs every job that is due.

    It writes closed segments to the archive too.
    """

    def run(seconds: Callable[[], float]) -> JobRun:
        app.deletion.apply_tombstones(_clock(), seconds)
        app.segments.compact_due(_clock(), seconds)
        return app.run_jobs(_clock, seconds)

    return _handler(JOBS_TASK, app, run)


def retain_handler(app: App) -> Handler:
    """A handler of `{"task": "retain"}`: asks for the jobs `retain` that are due by the day, and runs them."""

    def run(seconds: Callable[[], float]) -> JobRun:
        app.archive.schedule_retention(_clock())
        return app.run_jobs(_clock, seconds, "retain")

    return _handler(RETAIN_TASK, app, run)


def _handler(task: str, app: App, run: Callable[[Callable[[], float]], JobRun]) -> Handler:
    logger, metrics = Logger(level=app.settings.log_level), Metrics(namespace=NAMESPACE)

    def told(_event: dict[str, Any], context: LambdaContext) -> Answer:
        report = run(lambda: context.get_remaining_time_in_millis() / 1000 - RESERVE_SECONDS)
        return _told(report, logger, metrics)

    scheduled: Handler = metrics.log_metrics(logger.inject_lambda_context(told))

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        if not isinstance(event, dict) or event.get("task") != task:
            raise InvalidInput(f"no task {task}")
        return scheduled(event, context)

    return handler


def _told(report: JobRun, logger: Logger, metrics: Metrics) -> Answer:
    """Counts and kinds of errors; never a text."""
    for name, count in report.counts.items():
        metrics.add_metric(_METRICS[name], MetricUnit.Count, count)
    if report.errors:
        logger.warning("jobs that could not be run", extra={"errors": dict(report.errors)})
    logger.info("jobs were run", extra=report.counts | {"complete": report.complete})
    return {**report.counts, "complete": report.complete}


def _clock() -> datetime:
    return datetime.now(UTC)
