"""The HTTP surface: one table of routes, answered alike by Lambda behind an HTTP API and by the laptop's server."""
