"""The timeline: events taken in, listed, projected, retried, and published.

The pending markers decide what is left to do.
"""
