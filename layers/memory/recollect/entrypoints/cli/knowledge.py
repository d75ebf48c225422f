"""`recollect rules`, `merge-rules` and `knowledge`: what a tenant has set, and what terms mean to it."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

from recollect.app import App
from recollect.arbitration.merge_rules import export as exported_rules
from recollect.core.errors import InvalidInput
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import LOCAL_TENANT, AsJson, CommandGroup, Tenant, check_ids, opened
from recollect.entrypoints.cli.console import (
    json_of,
    naming_the_part,
    one_line,
    pages,
    required_text,
    say,
    write_each,
    write_json,
    write_line,
)
from recollect.entrypoints.http.representations import knowledge_json
from recollect.knowledge.entries import KnowledgeEntry, Namespace
from recollect.rules.groups import Rules, document_of
from recollect.rules.reading import read_rules_json, shown_path

_WRONG = 1
_SHOWN_CHARACTERS = 200
Name: TypeAlias = Annotated[str, typer.Argument(help="The rule's name.")]
merge_rules = CommandGroup(help="Rules of arbitration and merging.", no_args_is_help=True)


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
    check_ids(tenant=tenant)
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
def list_rules(app: App, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Lists the rules in their raw form; with --json as a document that `import` takes."""
    registry = app.arbitration.merge_rules.registry(tenant)
    found = exported_rules(registry)
    if as_json:
        write_json({"version": registry.version, "rules": found})
        return
    for rule in found:
        name = rule.pop("name")
        write_line(f"{one_line(name, 80)}  {one_line(json.dumps(rule, ensure_ascii=False), _SHOWN_CHARACTERS)}")
    say(f"{len(found)} rules, version {registry.version}")


@merge_rules.command()
def show(app: App, name: Name, tenant: Tenant = LOCAL_TENANT) -> None:
    """Shows a rule as it holds, with all that it inherits."""
    write_json(app.arbitration.merge_rules.registry(tenant).resolved(name))


@merge_rules.command("set")
def set_rule(
    app: App,
    name: Name,
    document: Annotated[str, typer.Argument(help='JSON, such as {"arbitration": {"mergeThreshold": 0.3}}.')],
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Registers a rule, or replaces the one of that name."""
    registry = naming_the_part(lambda: app.arbitration.merge_rules.put(tenant, name, json_of(document), utc_now()))
    say(f"version {registry.version}")


@merge_rules.command()
def delete(app: App, name: Name, tenant: Tenant = LOCAL_TENANT) -> None:
    """Deletes a rule; not the default one, and none that another one extends."""
    app.arbitration.merge_rules.delete(tenant, name, utc_now(), lambda _version: True)
    say("deleted")


@merge_rules.command("import")
def import_rules(
    app: App,
    file: Annotated[Path, typer.Argument(help="JSON, as `list --json` writes it.")],
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Registers all rules of a file, or none; those of the same names are replaced."""
    rules = _rules_in(json_of(_text(file)))
    registry = naming_the_part(lambda: app.arbitration.merge_rules.load(tenant, rules, utc_now()))
    say(f"{len(rules)} rules, version {registry.version}")


def _rules_in(document: Any) -> list[tuple[Any, Any]]:
    """Names and documents; what an export has besides is passed over."""
    listed = document.get("rules") if isinstance(document, dict) else None
    if not isinstance(listed, list) or not all(isinstance(one, dict) for one in listed):
        raise InvalidInput("the file must be {rules: [{name, …}]}")
    beside = ("name", "version", "resolved")
    return [(one.get("name"), {name: part for name, part in one.items() if name not in beside}) for one in listed]


_PAGE = 200

NamespaceName: TypeAlias = Annotated[str, typer.Argument(help="vocabulary, rule, correction, or one of your own.")]
Key: TypeAlias = Annotated[str, typer.Argument(help="In the vocabulary resource:term, such as orders:cost.")]
Store: TypeAlias = Annotated[str | None, typer.Option(help="The current store; absent: all of them.")]

knowledge = CommandGroup(help="What terms and rules mean here.", no_args_is_help=True)


@knowledge.command("list")
def list_entries(
    app: App,
    namespace: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    prompt: Annotated[bool, typer.Option("--prompt", help="The sections of a prompt instead.")] = False,
    store: Annotated[str | None, typer.Option(help="With --prompt: only what holds in this store.")] = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Lists entries by namespace and key; with --json as JSON Lines."""
    if prompt:
        write_line(app.knowledge.section(tenant, store).text or "")
    else:
        write_each("entries", _walk(app, tenant, namespace), as_json, knowledge_json, _show)


@knowledge.command("set")
def set_entry(
    app: App,
    namespace: NamespaceName,
    key: Key,
    value: Annotated[str, typer.Argument(help='JSON, such as {"target": "total_amount"}.')],
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Makes or replaces an entry; prints it."""
    entry = naming_the_part(lambda: app.knowledge.put(tenant, namespace, key, _value(namespace, value), utc_now()))
    write_json(knowledge_json(entry))


@knowledge.command("delete")
def delete_entry(app: App, namespace: NamespaceName, key: Key, tenant: Tenant = LOCAL_TENANT) -> None:
    """Deletes an entry."""
    naming_the_part(lambda: app.knowledge.delete(tenant, namespace, key, utc_now()))
    say("deleted")


@knowledge.command()
def learn(
    app: App,
    text: Annotated[str, typer.Argument(help="What the user said.")],
    store: Store = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing.")] = False,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Learns what a sentence says a word means, such as: No, by 'cost' I mean the 'total_amount' field."""
    text = required_text(text, "the text")
    lesson = naming_the_part(lambda: app.knowledge.learn(tenant, text, store, utc_now(), dry_run=dry_run))
    if lesson is None:
        say("nothing learnt")
        return
    write_line(lesson.confirmation)
    say(f"{'would be' if dry_run else 'stored as'} {lesson.call.namespace} {lesson.call.key}")


def _walk(app: App, tenant: str, namespace: str | None) -> Iterator[KnowledgeEntry]:
    for page in pages(lambda after: app.knowledge.listed(tenant, namespace, _PAGE, after)):
        yield from page.entries


def _show(entry: KnowledgeEntry) -> None:
    value = json.dumps(entry.value, ensure_ascii=False)
    write_line(f"{one_line(entry.namespace, 40)}  {one_line(entry.key, 80)}  {one_line(value, _SHOWN_CHARACTERS)}")


def _value(namespace: str, text: str) -> Any:
    """The value of a free namespace; what has a schema is read by it. Raises InvalidInput."""
    return text if namespace in frozenset(Namespace) else json_of(text, loc=("value",))
