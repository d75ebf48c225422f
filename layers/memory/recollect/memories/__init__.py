"""Memories: what is worth remembering, made of events or saved directly.

Their versions, their promotion, their audit.
"""
