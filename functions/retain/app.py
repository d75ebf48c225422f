"""retain: on schedule, prunes what has expired and what the tenants' rules let go."""

from recollect.bootstrap import open_app
from recollect.entrypoints.lambda_handlers import retain_handler

handler = retain_handler(open_app())
