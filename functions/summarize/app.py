"""summarize: makes summaries and keeps goals; on schedule, for everybody who is due."""

from recollect.bootstrap import open_app
from recollect.entrypoints.lambda_handlers import summarize_handler

handler = summarize_handler(open_app())
