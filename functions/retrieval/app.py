"""retrieval: searches, reads the timeline, takes feedback, and says how the deployment is."""

from recollect.entrypoints.aws_wiring import open_warm_app
from recollect.entrypoints.http.aws import http_handler

handler = http_handler("retrieval", "operations", app=open_warm_app())
