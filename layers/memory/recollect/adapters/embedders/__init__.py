"""Embedders: multilingual-e5-small in the process, remote ones over HTTP, and feature hashing for tests."""
