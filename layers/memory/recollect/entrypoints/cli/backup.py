"""`recollect backup` and `recollect restore`: a laptop's store as files."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Annotated

import typer

from recollect.bootstrap.whole_store import back_up_store, restore_store
from recollect.entrypoints.cli.console import say
from recollect.entrypoints.cli.opening import settings_of_environment


def backup(folder: Annotated[Path, typer.Argument(help="A folder without a store; made where it is missing.")]) -> None:
    """Copies all of a laptop's store while it is in use: everything, deletions included, as of now."""
    back_up_store(settings_of_environment(), folder)
    say(f"copied to {folder}; no deletion reaches it there")


def restore(folder: Annotated[Path, typer.Argument(help="What `recollect backup` made.")]) -> None:
    """Puts a copy where no store is; what was deleted since, as an archive that is there tells, is deleted in it."""
    counts = restore_store(settings_of_environment(), folder, datetime.now(UTC))
    applied = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    say(f"restored; deletions applied: {applied}" if applied else "restored")
