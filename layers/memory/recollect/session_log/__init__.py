"""The log of a conversation as an application keeps it: any JSON, exact, in order; nothing is derived from it."""
