"""converse: takes a whole turn, from the user's line to the stored answer."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = http_handler("turns", app=open_warm_app("converse"))
