"""SnapStart: Lambda keeps the memory of a started function, and every process of it goes on from a copy.

What must differ between copies is drawn anew in each; connections, which no copy can go on with, are closed before.
Ids, nonces and keys of files come from the system's generator (`secrets`, `uuid4`), which Lambda renews in every copy;
`random`, by which waits between tries are spread, has a state of its own, which it does not.
"""

import os
import random
from importlib import import_module

from recollect.app import App

INITIALIZATION = "AWS_LAMBDA_INITIALIZATION_TYPE"
_SNAP_START = "snap-start"


def renew_in_copies(app: App) -> bool:
    """Has Lambda close connections before it keeps this start, and renew what must differ in every copy of it.

    Says whether this start is kept; else nothing is to be done.
    """
    if os.environ.get(INITIALIZATION) != _SNAP_START:
        return False
    hooks = import_module("snapshot_restore_py")  # of Lambda's own runtime
    hooks.register_before_snapshot(app.parts.disconnect)
    hooks.register_after_restore(renew)
    return True


def renew() -> None:
    """What every copy has of its own."""
    random.seed()
