"""mcp: the tools and the context for assistants that speak MCP."""

from recollect.entrypoints.lambda_handlers import mcp_handler, open_warm_app

handler = mcp_handler(open_warm_app("mcp"))
