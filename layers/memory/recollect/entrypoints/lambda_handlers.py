"""The Lambda functions: the app that each one opens, and the handlers of all but plain routes (`http.aws`).

A handler imports what only its function needs when it is built: nothing here may slow the start of another function.
Metrics are in the namespace `Recollect`, with POWERTOOLS_SERVICE_NAME (the stack's name) as dimension. Logs hold
counts, ids and kinds of errors; never a text.
"""

from collections.abc import Callable, Mapping
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeAlias, cast

from aws_lambda_powertools import Logger, Metrics
from aws_lambda_powertools.metrics import MetricUnit
from aws_lambda_powertools.utilities.typing import LambdaContext

from recollect.app import App
from recollect.bootstrap import open_app, raise_gc_threshold
from recollect.core.errors import InvalidInput, NotReady, RecollectError
from recollect.core.ids import trace_of
from recollect.core.time import utc_now
from recollect.core.vectors import TextKind
from recollect.entrypoints.in_turn import InTurn
from recollect.entrypoints.priming import primed
from recollect.settings import Settings

if TYPE_CHECKING:
    from recollect.contradictions.ask_model import OpinionRun
    from recollect.entrypoints.projection_runs import ReconcileReport, StreamReport
    from recollect.jobs.run import JobRun
    from recollect.projection.project import ProjectionReport

NAMESPACE = "Recollect"
OLDEST_PENDING = "OldestPendingAge"
QUARANTINED = "QuarantinedEvents"
WRITTEN_IDLE = (OLDEST_PENDING, QUARANTINED)
"""Metrics that are written though nothing happened: alarms wait for them."""
RESERVE_SECONDS = 15.0
_MOST_TRACES = 100

_SUMMARY_METRICS = {
    "made": "SummariesMade",
    "not_due": "SummariesNotDue",
    "busy": "SummariesBusy",
    "failed": "SummariesFailed",
    "remembered": "MessagesRemembered",
}
_OPINION_METRICS = {
    "calls": "JudgeCalls",
    "settled": "JudgeSettled",
    "stood": "JudgeStood",
    "unsure": "JudgeUnsure",
    "unusable": "JudgeUnusable",
    "failed": "JudgeFailed",
    "input_tokens": "JudgeInputTokens",
    "output_tokens": "JudgeOutputTokens",
}
_JOB_METRICS = {"done": "JobsDone", "failed": "JobsFailed", "running": "JobsRunning"}

Answer: TypeAlias = dict[str, Any]
Handler: TypeAlias = Callable[[dict[str, Any], LambdaContext], Answer]
RemainingSeconds: TypeAlias = Callable[[], float]


def open_warm_app(function: str) -> App:
    """The app of the environment with all open that this function needs (`priming`), its in-process models too.

    Raises ConfigurationError. A missing model is no failure: reads go on by words alone and say so.
    """
    raise_gc_threshold()
    app = open_app()
    with suppress(RecollectError):
        _load_model(app, TextKind.QUERY if function == "context" else TextKind.QUESTION)
    with suppress(RecollectError):
        _load_second_stage(app)
    return primed(app, function)


def open_embedding_app() -> App:
    """With the model loaded, for what writes vectors. Raises NotReady without the model that is set.

    Events projected without vectors would count as done; events that wait are found again.
    """
    raise_gc_threshold()
    app = open_app()
    _load_model(app, TextKind.PASSAGE)
    if app.settings.embedder != "none" and app.parts.embedder is None:
        raise NotReady(f"no embedder {app.settings.embedder}, and nothing is projected without it")
    return app


def _load_model(app: App, kind: TextKind) -> None:
    """What it encodes: only a search needs the encoder of questions."""
    if app.settings.embedder == "e5" and app.parts.embedder is not None:
        app.parts.embedder.encode(["warm"], kind)


def _load_second_stage(app: App) -> None:
    """A search without hits would not: nothing is read together with its question then."""
    if app.parts.relevance_model is not None:
        app.parts.relevance_model.logits("warm", ["warm"])


def project_handler(app: App) -> Handler:
    """A handler of stream batches (it answers the records to send again) and of `{"task": "reconcile"}`."""
    from recollect.entrypoints.projection_runs import project_records, run_reconcile

    out = _Outputs(app)

    def project(records: list[Any]) -> Answer:
        report = project_records(records, app.projection.events.project, utc_now())
        out.projected(len(records), report)
        return report.answer

    def reconcile(context: LambdaContext) -> Answer:
        seconds, turns = _remaining(context), InTurn()
        report = turns.part("events", lambda: run_reconcile(app.projection.reconciliation, utc_now, seconds))
        counts = out.reconciled(report) if report is not None else {}
        bridge = turns.part("bridge", lambda: app.memories.bridge.reconcile(utc_now(), remaining_seconds=seconds))
        if bridge is not None:
            out.logger.info("the bridge was reconciled", extra=bridge.counts)
        out.ended(turns)
        return counts

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        if asks_for(event, "reconcile"):
            return reconcile(context)
        if isinstance(event, dict) and isinstance(event.get("Records"), list):
            return project(event["Records"])
        raise InvalidInput("neither records of the stream nor a task")

    return out.around(handler)


def context_handler(app: App) -> Handler:
    """A handler of `POST /v1/context`, and of functions that ask for the models that are in this one."""
    from recollect.adapters.aws.model_function import ENCODE, READ_TOGETHER, answered
    from recollect.entrypoints.http.aws import http_handler

    requests = http_handler("context", app=app)

    def handler(event: dict[str, Any], context: LambdaContext) -> Any:
        if asks_for(event, ENCODE) or asks_for(event, READ_TOGETHER):
            return answered(event, app.parts.embedder, app.parts.relevance_model)
        return requests(event, context)

    return handler


def mcp_handler(app: App) -> Handler:
    """A handler of MCP over HTTP behind the API's authorizer: the ASGI application under Mangum; warmed up."""
    from mangum import Mangum
    from mangum.adapter import DEFAULT_TEXT_MIME_TYPES

    from recollect.entrypoints.http.access_log import lambda_log
    from recollect.entrypoints.http.aws import cloud_credentials
    from recollect.entrypoints.http.problems import PROBLEM_TYPE
    from recollect.entrypoints.http.warm_up import as_nobody, run_warm_ups, unheard_log
    from recollect.entrypoints.mcp.server import McpEndpoint
    from recollect.entrypoints.mcp.warm_up import WARM_UPS

    def served(endpoint: McpEndpoint) -> Handler:
        mangum = Mangum(cast(Any, endpoint), "off", text_mime_types=[*DEFAULT_TEXT_MIME_TYPES, PROBLEM_TYPE])
        return lambda event, context: mangum(cast(Any, event), cast(Any, context))

    endpoint = McpEndpoint(app, cloud_credentials(app.settings), lambda_log(app.settings.log_level))
    run_warm_ups(app, served(endpoint.admitting(as_nobody, unheard_log(app.settings.log_level))), WARM_UPS)
    return served(endpoint)


def console_handler(settings: Settings) -> Handler:
    """A handler of the console's shell and pages, which asks the API at the name that the request was sent to."""
    from recollect.entrypoints.console.elsewhere import ConsoleElsewhere
    from recollect.entrypoints.http.access_log import lambda_log
    from recollect.entrypoints.http.aws import API_SECONDS, call_of, cloud_credentials, response_of

    console = ConsoleElsewhere(cloud_credentials(settings), lambda_log(settings.log_level))
    scheme = "http" if settings.local_api else "https"

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        asked = event["requestContext"]
        stage = asked.get("stage", "$default")
        base = f"{scheme}://{asked['domainName']}" + ("" if stage == "$default" else f"/{stage}")
        remaining = min(API_SECONDS, _remaining(context)())
        return response_of(console.answer(call_of(event, remaining), base))

    return handler


def summarize_handler(app: App) -> Handler:
    """A handler of requests to the routes of summaries and goals, and of `{"task": "summarize"}`."""
    from recollect.entrypoints.http.aws import http_handler

    requests, out = http_handler("summaries", app=app), _Outputs(app)

    def run(_event: dict[str, Any], context: LambdaContext) -> Answer:
        report = app.summaries.rounds.run(utc_now, _remaining(context))
        if report.failed:
            out.logger.warning("summaries that failed", extra={"failed": dict(report.failed)})
        return out.finished("summarized", report.counts, _SUMMARY_METRICS, report.complete)

    scheduled = out.around(run)

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        return scheduled(event, context) if asks_for(event, "summarize") else requests(event, context)

    return handler


def jobs_handler(app: App) -> Handler:
    """A handler of `{"task": "jobs"}`, from the schedule or anybody who may invoke it: runs every job that is due.

    First it makes the search index where there is none, applies the tombstone log, writes closed segments to the
    archive and packs the index; in the time that is left it asks the language model about open conflicts, where one is
    to be asked.
    """
    out = _Outputs(app)

    def ask(seconds: RemainingSeconds) -> None:
        if app.contradictions.opinions is not None:
            out.asked(app.contradictions.opinions.run(utc_now, seconds))

    def run(seconds: RemainingSeconds, turns: InTurn) -> "JobRun | None":
        turns.part("search index", lambda: app.reindexing.heal(utc_now()))
        turns.part("tombstones", lambda: app.deletion.tombstones.apply(utc_now(), seconds))
        turns.part("segments", lambda: app.segments.compact_due(utc_now(), seconds))
        turns.part("packing", lambda: app.search_index.in_use.pack(seconds))
        report = turns.part("jobs", lambda: app.job_runs.run(utc_now, seconds))
        turns.part("opinions", lambda: ask(seconds))
        return report

    return _jobs_handler("jobs", run, out)


def retain_handler(app: App) -> Handler:
    """A handler of `{"task": "retain"}`: asks for the jobs `retain` that are due by the day, and runs them."""

    def run(seconds: RemainingSeconds, turns: InTurn) -> "JobRun | None":
        turns.part("schedule", lambda: app.archive.retention_schedule.schedule(utc_now()))
        return turns.part("jobs", lambda: app.job_runs.run(utc_now, seconds, "retain"))

    return _jobs_handler("retain", run, _Outputs(app))


def _jobs_handler(task: str, run: "Callable[[RemainingSeconds, InTurn], JobRun | None]", out: "_Outputs") -> Handler:
    def run_due(_event: dict[str, Any], context: LambdaContext) -> Answer:
        turns = InTurn()
        report = run(_remaining(context, RESERVE_SECONDS), turns)
        answer = out.jobs(report) if report is not None else {}
        out.ended(turns)
        return answer

    scheduled = out.around(run_due)

    def handler(event: dict[str, Any], context: LambdaContext) -> Answer:
        if not asks_for(event, task):
            raise InvalidInput(f"no task {task}")
        return scheduled(event, context)

    return handler


def asks_for(event: Any, task: str) -> bool:
    """Whether an event asks for a scheduled run: the schedule sends `{"task": …}`."""
    return isinstance(event, dict) and event.get("task") == task


def _remaining(context: LambdaContext, reserve_seconds: float = 0.0) -> RemainingSeconds:
    return lambda: context.get_remaining_time_in_millis() / 1000 - reserve_seconds


class _Outputs:
    """The log and the metrics of one function."""

    def __init__(self, app: App) -> None:
        self.logger = Logger(level=app.settings.log_level)
        self._app = app
        self._metrics = Metrics(namespace=NAMESPACE)

    def around(self, handler: Handler) -> Handler:
        """The handler; after each call its metrics are written, where there are any."""
        logged: Handler = self.logger.inject_lambda_context(handler)

        def wrapped(event: dict[str, Any], context: LambdaContext) -> Answer:
            try:
                return logged(event, context)
            finally:
                self._app.usage.write_quietly()
                if self._metrics.provider.metric_set:
                    self._metrics.flush_metrics()

        return wrapped

    def finished(self, message: str, counts: Mapping[str, int], names: Mapping[str, str], complete: bool) -> Answer:
        """Counts and logs a run; answers its counts."""
        self._count({names[name]: count for name, count in counts.items()})
        self.logger.info(message, extra={**counts, "complete": complete})
        return {**counts, "complete": complete}

    def ended(self, turns: InTurn) -> None:
        """Counts the parts that failed. Raises the first one's error, so that the run counts as failed."""
        if turns.failed:
            self._count({"PartsFailed": turns.failed})
        turns.end()

    def jobs(self, report: "JobRun") -> Answer:
        """Counts and logs a run of jobs; answers its counts."""
        if report.errors:
            self.logger.warning("jobs that could not be run", extra={"errors": dict(report.errors)})
        return self.finished("jobs were run", report.counts, _JOB_METRICS, report.complete)

    def asked(self, report: "OpinionRun") -> None:
        """Counts what a language model was asked, and what it cost."""
        if report.failed:
            self.logger.warning("conflicts that no model could be asked about", extra={"errors": dict(report.failed)})
        if any(report.counts.values()):
            self._count({_OPINION_METRICS[name]: count for name, count in report.counts.items()})
            self.logger.info("open conflicts were asked about", extra=report.counts)

    def projected(self, records: int, report: "StreamReport") -> None:
        """Counts and logs a batch of change records."""
        projection = report.projection
        self._count(
            {
                "Records": records,
                "Malformed": len(report.malformed),
                "Projected": projection.projected,
                "Gone": projection.gone,
                "Failed": len(projection.failed),
            }
        )
        self._metrics.add_metric("ProjectedAge", MetricUnit.Seconds, report.oldest_age_seconds)
        self._log_traces("projected", projection)
        if report.malformed:
            self.logger.error("change records that cannot be read", extra={"sequence_numbers": report.malformed})
        self._log_failed(projection.failed)

    def reconciled(self, report: "ReconcileReport") -> Answer:
        """Counts a run of reconcile and logs what failed; answers its counts."""
        self._log_failed(report.projection.failed)
        self._log_traces("projected by reconcile", report.projection)
        self._count({"Reconciled": report.projection.projected, "ReconcileFailed": len(report.projection.failed)})
        if report.oldest_age_seconds is not None:
            self._metrics.add_metric(OLDEST_PENDING, MetricUnit.Seconds, report.oldest_age_seconds)
        if report.quarantined is not None:
            self._metrics.add_metric(QUARANTINED, MetricUnit.Count, report.quarantined)
        self.logger.info("reconciled", extra=report.counts | {"complete": report.complete})
        return report.counts

    def _log_traces(self, message: str, report: "ProjectionReport") -> None:
        """The requests whose events were projected, as their own log lines name them; at most 100."""
        ids = [event_id for _, event_id in report.done] + list(report.failed)
        if ids:
            traces = sorted({trace for event_id in ids if (trace := trace_of(event_id)) is not None})
            counts = {"projected": report.projected, "gone": report.gone, "failed": len(report.failed)}
            self.logger.info(message, extra={**counts, "traces": traces[:_MOST_TRACES]})

    def _count(self, counts: Mapping[str, int]) -> None:
        """Nothing where there is nothing to count: a metric costs by the hours in which it is written."""
        for name, count in counts.items():
            if not count:
                continue
            self._metrics.add_metric(name, MetricUnit.Count, count)

    def _log_failed(self, failed: Mapping[str, str]) -> None:
        if failed:
            self.logger.warning("events not projected yet", extra={"failed": failed})
