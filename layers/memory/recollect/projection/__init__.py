"""Projection: what is derived from events when they are projected, what failed, and what makes it good."""
