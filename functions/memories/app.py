"""memories: keeps memories, deletes and erases, settles conflicts, takes signals, exports, and begins jobs."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.priming import open_primed_app

app = open_primed_app("memories")
handler = http_handler("memories", "contradictions", "forgetting", "bridge", "snapshots", "jobs", "usage", app=app)
