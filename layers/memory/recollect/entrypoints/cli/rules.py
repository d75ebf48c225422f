"""`recollect rules` and `recollect merge-rules`: the rules of a tenant, and its rules of arbitration and merging."""

import json
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from recollect.arbitration.merge_rules import export as exported_rules
from recollect.core.errors import InvalidInput
from recollect.core.time import utc_now
from recollect.entrypoints.cli.console import one_line, say, write_json, write_line
from recollect.entrypoints.cli.opening import LOCAL_TENANT, AsJson, Tenant, naming_the_part, opened, tenant_of
from recollect.rules.groups import Rules, document_of
from recollect.rules.reading import read_rules_json, shown_path

_WRONG = 1
_SHOWN = 200
Name: TypeAlias = Annotated[str, typer.Argument(help="The rule's name.")]
merge_rules = typer.Typer(help="Rules of arbitration and merging.", no_args_is_help=True)


def rules(
    check: Annotated[
        Path | None, typer.Option(help="Check this JSON file instead; tells each path that is wrong.")
    ] = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Shows the rules of a tenant, resolved, as JSON; or checks a file of rules."""
    if check is not None:
        _check(check)
        return
    with opened() as app:
        found = app.rules.read(tenant)
    write_json(document_of(found.rules))
    say(f"version {found.rules.version}; the tenant's own: {', '.join(found.own) or 'none'}")
    for fault in found.ignored:
        say(f"ignored: {shown_path(fault.path)}: {fault.message}")


def _check(file: Path) -> None:
    reading = read_rules_json(_text(file), Rules())
    for fault in reading.faults:
        write_line(f"{shown_path(fault.path)}: {fault.message}")
    if reading.faults:
        raise typer.Exit(_WRONG)
    say(f"{file}: nothing is wrong; merged over the defaults, its version is {reading.rules.version}")


def _text(file: Path) -> str:
    try:
        return file.read_text("utf-8-sig")
    except UnicodeDecodeError:
        return ""  # which is no JSON either


@merge_rules.command("list")
def list_rules(tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Lists the rules in their raw form; with --json as a document that `import` takes."""
    with opened() as app:
        registry = app.arbitration.merge_rules.registry(tenant_of(tenant))
    found = exported_rules(registry)
    if as_json:
        write_json({"version": registry.version, "rules": found})
        return
    for rule in found:
        name = rule.pop("name")
        write_line(f"{one_line(name, 80)}  {one_line(json.dumps(rule, ensure_ascii=False), _SHOWN)}")
    say(f"{len(found)} rules, version {registry.version}")


@merge_rules.command()
def show(name: Name, tenant: Tenant = LOCAL_TENANT) -> None:
    """Shows a rule as it holds, with all that it inherits."""
    with opened() as app:
        write_json(app.arbitration.merge_rules.registry(tenant_of(tenant)).resolved(name))


@merge_rules.command("set")
def set_rule(
    name: Name,
    document: Annotated[str, typer.Argument(help='JSON, such as {"arbitration": {"mergeThreshold": 0.3}}.')],
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Registers a rule, or replaces the one of that name."""
    tenant = tenant_of(tenant)
    with opened() as app:
        registry = naming_the_part(lambda: app.arbitration.merge_rules.put(tenant, name, _json(document), utc_now()))
    say(f"version {registry.version}")


@merge_rules.command()
def delete(name: Name, tenant: Tenant = LOCAL_TENANT) -> None:
    """Deletes a rule; not the default one, and none that another one extends."""
    tenant = tenant_of(tenant)
    with opened() as app:
        app.arbitration.merge_rules.delete(tenant, name, utc_now(), lambda _version: True)
    say("deleted")


@merge_rules.command("import")
def import_rules(
    file: Annotated[Path, typer.Argument(help="JSON, as `list --json` writes it.")], tenant: Tenant = LOCAL_TENANT
) -> None:
    """Registers all rules of a file, or none; those of the same names are replaced."""
    tenant, rules = tenant_of(tenant), _rules_in(_json(_text(file)))
    with opened() as app:
        registry = naming_the_part(lambda: app.arbitration.merge_rules.load(tenant, rules, utc_now()))
    say(f"{len(rules)} rules, version {registry.version}")


def _rules_in(document: Any) -> list[tuple[Any, Any]]:
    """Names and documents; what an export has besides is passed over."""
    listed = document.get("rules") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InvalidInput("the file must be {rules: [{name, …}]}")
    beside = ("name", "version", "resolved")
    return [(one.get("name"), {name: part for name, part in one.items() if name not in beside}) for one in listed]


def _json(text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("is no JSON") from None
