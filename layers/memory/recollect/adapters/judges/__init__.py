"""Adapters of `PairModel`: the trained model in the process, and a table."""
