"""Bedrock AgentCore Memory's API over our items, events and search."""
