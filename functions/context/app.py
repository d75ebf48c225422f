"""context: chooses and renders the context of the next model call."""

from recollect.entrypoints.aws_wiring import open_warm_app
from recollect.entrypoints.http.aws import http_handler

handler = http_handler("context", app=open_warm_app())
