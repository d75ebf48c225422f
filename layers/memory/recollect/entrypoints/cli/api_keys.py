"""`recollect api-keys`: keys with which clients ask a stack's API."""

from typing import Annotated, Any

import typer

from recollect.api_keys import ApiKey, ApiKeys
from recollect.app import App
from recollect.core.errors import ConfigurationError
from recollect.core.time import iso, utc_now
from recollect.entrypoints.cli.commands import AsJson, CommandGroup, Sure
from recollect.entrypoints.cli.console import say, sure, write_json, write_line, write_list
from recollect.settings import Principal

api_keys = CommandGroup(help="Keys with which clients ask a stack's API.", no_args_is_help=True)


@api_keys.command()
def create(
    app: App,
    tenant: Annotated[str, typer.Option(help="The tenant for whom the key speaks, for each of its users.")],
    admin: Annotated[bool, typer.Option("--admin", help="It administers the tenant too.")] = False,
    label: Annotated[str, typer.Option(help="What it is for, as `list` shows it.")] = "",
    as_json: AsJson = False,
) -> None:
    """Makes a key and shows it, this once: stored is its hash alone."""
    key, made = _keys(app).make(Principal(tenant, admin), label, utc_now())
    if as_json:
        write_json({"key": key, **_json(made)})
        return
    write_line(key)
    say(f"key {made.id} of tenant {tenant}: it is shown this once")


@api_keys.command("list")
def list_api_keys(app: App, as_json: AsJson = False) -> None:
    """All keys of the deployment: ids, tenants, labels and times; never the keys."""
    write_list("keys", sorted(_keys(app).every(), key=lambda one: one.made_at), as_json, _json, _line)


@api_keys.command()
def revoke(
    app: App,
    key_id: Annotated[str, typer.Argument(help="As `list` shows it, or as much of it as is one key's alone.")],
    yes: Sure = False,
) -> None:
    """Ends a key: the next request with it is refused."""
    sure(yes, "Revoke it?")
    revoked = _keys(app).revoke(key_id, utc_now())
    say(f"key {revoked.id} of tenant {revoked.principal.tenant} is revoked")


def _keys(app: App) -> ApiKeys:
    if app.settings.engines != "aws":
        raise ConfigurationError("RECOLLECT_ENGINES", "must be aws: a server of one's own has RECOLLECT_API_KEYS")
    return ApiKeys(app.parts.items)


def _json(one: ApiKey) -> dict[str, Any]:
    who = one.principal
    return {"id": one.id, "tenant": who.tenant, "admin": who.admin, "label": one.label, "time": iso(one.made_at)}


def _line(one: ApiKey) -> str:
    admin = "  admin" if one.principal.admin else ""
    return f"{one.id}  {one.made_at:%Y-%m-%d %H:%M:%S}  {one.principal.tenant}{admin}  {one.label}".rstrip()
