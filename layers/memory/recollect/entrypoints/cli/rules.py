"""`recollect rules`: the rules that hold, and whether a file of rules is right."""

from pathlib import Path
from typing import Annotated

import typer

from recollect.entrypoints.cli.console import say, write_json, write_line
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import LOCAL_TENANT, Tenant
from recollect.rules.groups import Rules, document_of
from recollect.rules.reading import read_rules_json, shown_path

_WRONG = 1


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
