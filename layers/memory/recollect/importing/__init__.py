"""Importing: chat exports read as turns. Pure: no store, no clock, no network."""
