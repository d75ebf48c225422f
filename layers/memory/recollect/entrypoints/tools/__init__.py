"""What a model may call: one table of tools, behind `POST /v1/tool-calls`, the turn, and MCP."""
