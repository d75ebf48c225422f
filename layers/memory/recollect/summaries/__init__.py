"""Summaries of what was said, with the sources of each sentence, and the goals that users follow."""
