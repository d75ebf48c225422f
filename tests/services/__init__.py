"""A-19 to A-68, each by a named test, on the laptop's SQLite and on the real engines alike."""
