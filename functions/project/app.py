"""project: from the table's stream, or on schedule, derives what searches and contexts read."""

from recollect.entrypoints.aws_wiring import open_embedding_app
from recollect.entrypoints.aws_wiring_project import project_handler

handler = project_handler(open_embedding_app())
