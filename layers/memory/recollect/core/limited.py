"""What a tenant's rules may limit by the second."""

from enum import StrEnum


class Limited(StrEnum):
    """Each has a count of its own; the value is the word for several of them, and part of what is stored."""

    WRITES = "writes"
    TURNS = "turns"
