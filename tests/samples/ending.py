"""A process of its own that may end in the middle of what it does, as one that is killed: nothing is cleaned up."""

import os
from collections.abc import Callable, Sequence
from typing import Any

from samples.wrapped import Wrapped

ENDED = 9


def exit_code(work: Callable[[], object]) -> int:
    """Of a process that does this; 0 where it came to the end of it. What the work needs it opens by itself."""
    child = os.fork()
    if child == 0:
        try:
            work()
            os._exit(0)
        finally:
            os._exit(1)
    _, status = os.waitpid(child, 0)
    return os.waitstatus_to_exitcode(status)


class EndsWith(Wrapped):
    """An embedder with which the process ends where a text has the word."""

    def __init__(self, part: object, word: str) -> None:
        super().__init__(part)
        self._word = word

    def encode(self, texts: Sequence[str], *given: Any, **named: Any) -> Any:
        if any(self._word in text for text in texts):
            os._exit(ENDED)
        return self.part.encode(texts, *given, **named)
