"""A pytest plugin: `RecollectSession` in the place of the SDK's `SQLiteSession`, over a running server.

A file that a session names, and each session in memory, is a tenant of its own, as each database is.
"""

import itertools
import os
from pathlib import Path
from typing import Any

import agents
import agents.memory
import agents.memory.sqlite_session

from recollect.integrations.openai_agents import RecollectSession

_URL = os.environ["COMPAT_URL"]
_KEYS = int(os.environ["COMPAT_KEYS"])
_numbers = itertools.count()
_of_file: dict[Path, str] = {}


def _key(path: str | Path) -> str:
    file = Path(path)
    if str(path) != ":memory:" and file in _of_file:
        return _of_file[file]
    number = next(_numbers)
    if number >= _KEYS:
        raise RuntimeError("more sessions than the server knows keys")
    if str(path) != ":memory:":
        _of_file[file] = f"compat-{number}"
    return f"compat-{number}"


class SQLiteSession(RecollectSession):
    """As the SDK's."""

    def __init__(self, session_id: str, db_path: str | Path = ":memory:", session_settings: Any = None) -> None:
        super().__init__(session_id, _URL, api_key=_key(db_path), user_id="compat", session_settings=session_settings)


for _module in (agents, agents.memory, agents.memory.sqlite_session):
    setattr(_module, SQLiteSession.__name__, SQLiteSession)
