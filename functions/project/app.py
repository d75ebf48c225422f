"""project: from the table's stream, or on schedule, derives what searches and contexts read."""

from recollect.entrypoints.lambda_handlers import open_embedding_app, project_handler
from recollect.entrypoints.priming import primed

handler = project_handler(primed(open_embedding_app(), "project"))
