"""Retrieval by intent: the document's own search, by keywords and recency, apart from the hybrid search."""
