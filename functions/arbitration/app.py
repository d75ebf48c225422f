"""arbitration: which of conflicting statements counts, what two become, and the rules of both."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = http_handler("arbitration", "merge_rules", app=open_warm_app("arbitration"))
