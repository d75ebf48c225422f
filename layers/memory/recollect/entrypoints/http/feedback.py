"""`POST /v1/feedback`: a thumb up or down for what a search showed. It is counted, and nothing is stored (R-98)."""

from recollect.app import App
from recollect.entrypoints.http.fields import Shape, choice, flag
from recollect.entrypoints.http.messages import Reply, Request
from recollect.entrypoints.http.questions import WHOSE

FEEDBACK = "IntentFeedback"
BY_INTENT, OTHERWISE = "intent", "other"
FEEDBACK_BODY = Shape(
    "FeedbackRequest",
    {
        "user_id": WHOSE["user_id"],
        "positive": flag().needed().described("Whether it helped."),
        "mode": choice(BY_INTENT, OTHERWISE, default=BY_INTENT).described("How it was found; only intent is shown."),
    },
)


def give_feedback(_app: App, request: Request) -> Reply:
    """Counts it: the metric is 1 or 0, so that its average is the share of what helped."""
    values = request.values
    request.scope(values)
    counted = values["mode"] == BY_INTENT
    log = {"positive": values["positive"], "mode": values["mode"]}
    return Reply(200, {"counted": counted}, log=log, metrics={FEEDBACK: int(values["positive"])} if counted else {})
