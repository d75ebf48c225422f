"""converse: takes a whole turn, from the user's line to the stored answer."""

from recollect.entrypoints.aws_wiring import open_warm_app
from recollect.entrypoints.http.aws import http_handler

handler = http_handler("turns", app=open_warm_app())
