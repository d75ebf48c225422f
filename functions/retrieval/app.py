"""retrieval: reads the timeline, searches, keeps memories, deletes, takes signals, and says how the deployment is."""

from recollect.entrypoints.aws_wiring import open_warm_app
from recollect.entrypoints.http.aws import http_handler

GROUPS = ("retrieval", "memories", "contradictions", "operations", "forgetting", "jobs", "bridge", "snapshots")

handler = http_handler(*GROUPS, app=open_warm_app())
