"""The local engine: one SQLite file (FTS5, exact vector search in memory), a folder of snapshots, an in-process bus.

`ports` documents what both engines do alike.
"""
