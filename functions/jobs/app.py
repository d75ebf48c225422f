"""jobs: runs the jobs that an operator asked for, step by step, on schedule."""

from recollect.entrypoints.aws_wiring import open_embedding_app
from recollect.entrypoints.aws_wiring_jobs import jobs_handler

handler = jobs_handler(open_embedding_app())
