"""Contradictions: what a newer statement does to an older one, and who judges it (P-24)."""
