"""mcp: the tools and the context for assistants that speak MCP."""

from recollect.entrypoints.aws_wiring import open_warm_app
from recollect.entrypoints.mcp.aws import mcp_handler

handler = mcp_handler(open_warm_app())
