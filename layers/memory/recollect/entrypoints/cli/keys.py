"""`recollect keys`: the keys under which a tenant's rejected values are hashed."""

from datetime import UTC, datetime

import typer

from recollect.deletion.rejected_values import ValueKey
from recollect.entrypoints.cli.console import say, write_json, write_line
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import LOCAL_TENANT, AsJson, Sure, Tenant, sure, tenant_of

keys = typer.Typer(help="Keys of a tenant's rejected values; their ids, never the keys.", no_args_is_help=True)


@keys.command("list")
def listed(tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """The keys, the newest first: new rejections take that one. None before the first value was rejected."""
    with opened() as app:
        found = app.deletion.suppression.keys(tenant_of(tenant))
    _show(found, as_json)


@keys.command()
def rotate(yes: Sure = False, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Makes a new key for what is rejected from now on; the old ones stay, to check what was rejected under them."""
    tenant = tenant_of(tenant)
    sure(yes, "Make a new key? It cannot be taken back.")
    with opened() as app:
        found = app.deletion.suppression.rotate(tenant, datetime.now(UTC))
    _show(found, as_json)


def _show(found: tuple[ValueKey, ...], as_json: bool) -> None:
    if as_json:
        write_json({"keys": [key.id for key in found]})
        return
    for place, key in enumerate(found):
        write_line(f"{key.id}  {'old' if place else 'in use'}")
    say(f"{len(found)} keys")
