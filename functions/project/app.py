"""project: from the table's stream, or on schedule, derives what searches and contexts read."""

from recollect.entrypoints.lambda_handlers import open_embedding_app, project_handler

handler = project_handler(open_embedding_app())
