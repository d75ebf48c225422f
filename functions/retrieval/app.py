"""retrieval: searches, reads the timeline, takes feedback, and says how the deployment is."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = http_handler("retrieval", "operations", app=open_warm_app("retrieval"))
