"""ingest: makes events durable, and says what it would decide about a text."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.priming import open_primed_app

handler = http_handler("ingest", app=open_primed_app("ingest"))
