"""What stands before a part of a memory."""

from typing import Any


class Before:
    """Answers the calls that a subclass defines; all others go through to the part."""

    def __init__(self, part: Any) -> None:
        self.part = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self.part, name)
