"""summarize: makes summaries and keeps goals; on schedule, for everybody who is due."""

from recollect.entrypoints.lambda_handlers import summarize_handler
from recollect.entrypoints.priming import open_primed_app

handler = summarize_handler(open_primed_app("summarize"))
