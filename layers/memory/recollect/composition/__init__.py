"""Wires the use cases of each subject over the adapters of one deployment.

One class a subject, each part made on first use.
"""
