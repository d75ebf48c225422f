"""Deletion (P-22): deleting events, memories and users, rejecting values, and the tombstones that keep them deleted."""
