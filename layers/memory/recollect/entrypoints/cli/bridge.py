"""`recollect bridge`: whether events become memories by themselves, and the signals that stop and resume it."""

import time
from datetime import UTC, datetime
from typing import Annotated

import typer

from recollect.core.time import iso
from recollect.entrypoints.cli.console import write_json, write_line
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import LOCAL_TENANT, AsJson, Tenant, required_text, tenant_of
from recollect.memories.deferred_promotion import Signal, SignalType

bridge = typer.Typer(help="Whether events become memories by themselves.", no_args_is_help=True)


@bridge.command()
def state(tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Whether a tenant's bridge is suspended, since when, by whom and why."""
    with opened() as app:
        found = app.memories.signal_bridge.state(tenant_of(tenant))
    since = iso(found.since) if found.since else None
    if as_json:
        told = {"source": found.source, "severity": found.severity, "reason": found.reason, "since": since}
        write_json({"suspended": found.suspended, **{name: one for name, one in told.items() if one is not None}})
        return
    about = "  ".join(one for one in (since, found.source, found.severity, found.reason) if one)
    write_line(f"{'suspended' if found.suspended else 'open'}  {about}".rstrip())


@bridge.command()
def signal(
    kind: Annotated[SignalType, typer.Argument(help="A warning suspends, healthy resumes.")],
    source: Annotated[str, typer.Option(help="Who tells.")] = "operator",
    severity: Annotated[str | None, typer.Option(help="Such as low, high.")] = None,
    reason: Annotated[str | None, typer.Option(help="Such as write latency; no contents.")] = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Suspends or resumes the making of memories; what waited is made by the next reconciliation."""
    tenant, now = tenant_of(tenant), datetime.now(UTC)
    with opened() as app:
        told = Signal(
            id=app.ids.seed(int(time.time() * 1000)).nth(0),
            type=kind,
            source=required_text(source, "--source"),
            severity=severity,
            reason=reason,
        )
        outcome = app.memories.signal_bridge(tenant, told, now)
    write_line("suspended" if outcome.suspended else "open")
