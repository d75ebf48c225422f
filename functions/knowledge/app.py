"""knowledge: what terms and rules mean to a tenant, the tenant's rules, and tool calls."""

from recollect.entrypoints.http.aws import http_handler

handler = http_handler("knowledge", "rules", "tools")
