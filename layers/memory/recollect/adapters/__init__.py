"""Implementations of the ports: engines by folder, model providers, embedders, web search."""
