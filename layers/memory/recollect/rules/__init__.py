"""The rules that a tenant may set.

Their groups and defaults, how JSON is read into them, and what follows for one text.
"""
