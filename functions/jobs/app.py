"""jobs: runs the jobs that an operator asked for, step by step, on schedule."""

from recollect.entrypoints.lambda_handlers import jobs_handler, open_embedding_app

handler = jobs_handler(open_embedding_app())
