"""Every use case of the app, found by looking: a name for what is called, name and method for what is asked."""

import inspect
import sys
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cached_property
from types import CodeType, FrameType
from typing import Any

from recollect.app import App


def use_cases(app: App) -> dict[str, CodeType]:
    """What each of them runs: `search` for a call, `goals.patch` for a public method."""
    found: dict[str, CodeType] = {}
    for name in names():
        for method, function in inspect.getmembers(type(getattr(app, name)), inspect.isfunction):
            public = method == "__call__" or not method.startswith("_")
            if public and function.__module__.startswith("recollect."):
                found[name if method == "__call__" else f"{name}.{method}"] = _inner(function).__code__
    return found


def names() -> list[str]:
    """The use cases of the app, those that it mixes in too."""
    members = {name: member for kind in reversed(App.__mro__) for name, member in vars(kind).items()}
    return sorted(
        name for name, member in members.items() if isinstance(member, cached_property) and not name.startswith("_")
    )


def without_methods(app: App) -> list[str]:
    """Those whose object has nothing of ours to call."""
    called = {name.partition(".")[0] for name in use_cases(app)}
    return [name for name in names() if name not in called]


@contextmanager
def watched(known: Mapping[str, CodeType], ran: set[str]) -> Iterator[None]:
    """Enters in `ran` which of the known ones run inside, in this thread."""
    by_code: dict[CodeType, list[str]] = {}
    for name, code in known.items():
        by_code.setdefault(code, []).append(name)

    def profile(frame: FrameType, event: str, _: Any) -> None:
        if event == "call":
            ran.update(by_code.get(frame.f_code, ()))

    before = sys.getprofile()
    sys.setprofile(profile)
    try:
        yield
    finally:
        sys.setprofile(before)


def _inner(function: Any) -> Any:
    """Under what decorates it."""
    return inspect.unwrap(function)
