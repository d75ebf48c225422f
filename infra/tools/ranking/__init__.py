"""Fits what the ranking learns: which questions ask of now, where relevance ends, which messages only ask."""
