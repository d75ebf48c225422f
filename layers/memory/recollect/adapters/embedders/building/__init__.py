"""Builds the folder of the in-process model from published weights; no function imports it."""
