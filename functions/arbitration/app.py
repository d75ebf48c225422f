"""arbitration: which of conflicting statements counts, what two become, and the rules of both."""

from recollect.entrypoints.http.aws import http_handler

handler = http_handler("arbitration", "merge_rules")
