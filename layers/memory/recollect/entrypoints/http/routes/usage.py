"""`GET /v1/usage`: what this tenant asked for, through every door. For administrators."""

from typing import Annotated, Self

from pydantic import Field

from recollect.app import App
from recollect.core.time import utc_now
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.models import AnswerModel, Count, Maybe, OneOf
from recollect.entrypoints.http.routing import Routes
from recollect.usage import CONTEXT, MESSAGE, SEARCH, TURN, Used

routes = Routes()


class ModelUsageAnswer(AnswerModel, title="ModelUsage"):
    model: str = Field(description="Provider and model, as configured.")
    calls: Count
    input_tokens: Count = Field(description="As far as the provider says.")
    output_tokens: Count


class UsedAnswer(AnswerModel, title="Used"):
    messages: Count = Field(description="Events and saved memories that were new.")
    searches: Count
    contexts: Count
    turns: Count = Field(description="Their messages and contexts are not counted by themselves.")
    models: list[ModelUsageAnswer]

    @classmethod
    def of(cls, used: Used) -> Self:
        """The counts by their names here."""
        counts, models = used.counts, list(map(ModelUsageAnswer.made_of, used.models))
        named = {"messages": MESSAGE, "searches": SEARCH, "contexts": CONTEXT, "turns": TURN}
        return cls(**{name: counts[kind] for name, kind in named.items()}, models=models)


class UsageAnswer(AnswerModel, title="Usage"):
    month: str = Field(description="The month of now, in UTC, such as 2026-11.")
    this_month: UsedAnswer
    since: Maybe[str] = Field(None, description="The first day that has a count; absent before there is one.")
    whole: UsedAnswer = Field(description="Since that day.")
    search_engine: Maybe[Annotated[str, OneOf("table", "domain")]] = Field(
        None, description="That of the stack, by which its cost is estimated; absent where no stack answers."
    )


@routes.get("/v1/usage", answer=UsageAnswer, admin=True)
def get_usage(app: App, request: Request) -> Reply:
    """What was asked for and counted, of this tenant; the last minute may be missing."""
    now = utc_now()
    report = app.usage.report(request.principal.tenant, now)
    answer = UsageAnswer(
        month=f"{now:%Y-%m}",
        this_month=UsedAnswer.of(report.month),
        since=report.since.isoformat() if report.since else None,
        whole=UsedAnswer.of(report.whole),
        search_engine=app.settings.search_engine if app.settings.engines == "aws" else None,
    )
    return Reply(200, answer)
