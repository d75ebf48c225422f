"""Chat exports that people have, read as turns. Pure: no store, no clock, no network."""
