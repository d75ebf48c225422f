"""The tools for assistants and IDEs that speak MCP: on a laptop over stdio, elsewhere over HTTP."""
