"""A part of an app behind something that does some of its methods otherwise."""

from typing import Any


class Wrapped:
    """Stands before a part; methods of a subclass go first."""

    def __init__(self, part: object) -> None:
        self.part: Any = part

    def __getattr__(self, name: str) -> Any:
        return getattr(self.part, name)
