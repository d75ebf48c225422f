"""`recollect export`, `snapshots`, `backup` and `restore`: copies of what is stored."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated

import typer

from recollect.app import App
from recollect.archive.snapshot import snapshot_json
from recollect.bootstrap.local_parts import back_up_store, restore_store
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.console import say, write_json, write_line, write_raw
from recollect.entrypoints.cli.opening import (
    LOCAL_TENANT,
    AsJson,
    Household,
    Persona,
    Tenant,
    User,
    opened,
    pages,
    scope_of,
    settings_of_environment,
    tenant_of,
)

_NAMED = 50

snapshots = typer.Typer(help="What was kept; `recollect jobs run snapshot` takes one.", no_args_is_help=True)


def export(
    user: User,
    out: Annotated[Path | None, typer.Option("--out", "-o", help="A file; absent: standard output.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Writes all of a user as JSON Lines: events and memories, private ones too. `recollect import` reads it."""
    scope = scope_of(user, persona, household, tenant)
    count = 0
    with opened() as app:
        if out is None:
            for text in _pages(app, scope):
                write_raw(text)
                count += text.count("\n")
        else:
            with out.open("w", encoding="utf-8") as stream:
                for text in _pages(app, scope):
                    stream.write(text)
                    count += text.count("\n")
    say(f"{count} records")


def _pages(app: App, scope: Scope) -> Iterator[str]:
    for page in pages(lambda after: app.segments.exports.page(scope, after, utc_now())):
        yield page.text


@snapshots.command("list")
def list_snapshots(
    limit: Annotated[int, typer.Option(min=1, max=1000)] = 20, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False
) -> None:
    """The newest snapshots."""
    with opened() as app:
        page = app.segments.snapshots.page(tenant_of(tenant), limit, None)
    if as_json:
        write_json({"snapshots": [snapshot_json(one) for one in page.snapshots]})
        return
    for one in page.snapshots:
        counts = ", ".join(f"{count} {name}" for name, count in one.counts.items())
        write_line(f"{one.id}  {one.created_at:%Y-%m-%d %H:%M:%S}  {one.user_id or 'everybody'}  {counts}")
    say(f"{len(page.snapshots)} snapshots")


@snapshots.command()
def diff(
    first: Annotated[str, typer.Argument(help="A snapshot's id.")],
    second: Annotated[str, typer.Argument(help="Another one's.")],
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """What was added, removed and changed from the first to the second."""
    with opened() as app:
        found = app.segments.differences.diff(tenant_of(tenant), first, second, _NAMED)
    if as_json:
        changes = [{"kind": one.kind, "user_id": one.user_id, "id": one.record_id} for one in found.changes]
        write_json({"counts": dict(found.counts), "changes": changes})
        return
    for one in found.changes:
        write_line(f"{one.kind:8}  {one.user_id}  {one.record_id}")
    say(", ".join(f"{count} {kind}" for kind, count in found.counts.items()) or "no difference")


def backup(folder: Annotated[Path, typer.Argument(help="A folder without a store; made where it is missing.")]) -> None:
    """Copies all of a laptop's store while it is in use: everything, deletions included, as of now."""
    back_up_store(settings_of_environment(), folder)
    say(f"copied to {folder}; no deletion reaches it there")


def restore(folder: Annotated[Path, typer.Argument(help="What `recollect backup` made.")]) -> None:
    """Puts a copy where no store is; what was deleted since, as an archive that is there tells, is deleted in it."""
    counts = restore_store(settings_of_environment(), folder, utc_now())
    applied = ", ".join(f"{count} {kind}" for kind, count in sorted(counts.items()))
    say(f"restored; deletions applied: {applied}" if applied else "restored")
