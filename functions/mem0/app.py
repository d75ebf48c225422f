"""mem0: the API of mem0's platform, for its client, over the same memory."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = http_handler("mem0", app=open_warm_app("mem0"))
