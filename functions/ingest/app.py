"""ingest: makes events durable, and says what it would decide about a text."""

from recollect.entrypoints.http.aws import http_handler

handler = http_handler("ingest")
