"""The search index: which index is in use, rebuilding it, its snapshots, and its health."""
