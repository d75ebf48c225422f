"""memories: keeps memories, deletes and erases, settles conflicts, takes signals, exports, and begins jobs."""

from recollect.entrypoints.http.aws import http_handler

handler = http_handler("memories", "contradictions", "forgetting", "bridge", "snapshots", "jobs")
