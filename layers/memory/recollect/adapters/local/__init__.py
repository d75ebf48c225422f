"""The laptop's engines: one SQLite file with FTS5, exact vector search in memory, an in-process bus."""
