"""Fits what the ranking of a search learns: how far a question asks how things are now."""
