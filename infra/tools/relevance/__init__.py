"""Training of the second stage, which reads a question and a hit together."""
