"""Calls to moto, one after another: it checks a condition and writes in two steps, and bears no threads."""

import inspect
import threading
from collections.abc import Callable
from typing import Any


class OneCallAtATime:
    """A client whose calls wait for each other, as a service's conditional writes do."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._turn = threading.RLock()

    def __getattr__(self, name: str) -> Any:
        attribute = getattr(self._client, name)
        return self._waiting(attribute) if inspect.ismethod(attribute) else attribute

    def _waiting(self, call: Callable[..., Any]) -> Callable[..., Any]:
        def wait(*given: Any, **request: Any) -> Any:
            with self._turn:
                return call(*given, **request)

        return wait
