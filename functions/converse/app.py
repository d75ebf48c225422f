"""converse: takes a whole turn, from the user's line to the stored answer."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.priming import open_primed_app

handler = http_handler("turns", app=open_primed_app("converse"))
