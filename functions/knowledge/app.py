"""knowledge: what terms and rules mean to a tenant, the tenant's rules, tool calls, items and logs of applications."""

from recollect.entrypoints.http.aws import http_handler
from recollect.entrypoints.lambda_handlers import open_warm_app

handler = http_handler("knowledge", "rules", "tools", "items", "logs", app=open_warm_app("knowledge"))
