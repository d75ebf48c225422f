"""Adapters of `RelevanceModel`: the trained model in the process, and a table."""
