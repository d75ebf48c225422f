"""context: chooses and renders the context of the next model call."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = http_handler("context", app=open_warm_app("context"))
