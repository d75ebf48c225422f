"""`recollect knowledge`: what terms and rules mean to a tenant; listed, set, deleted, learnt from a sentence."""

import json
from collections.abc import Iterator
from typing import Annotated, Any, TypeAlias

import typer

from recollect.app import App
from recollect.core.errors import InvalidInput
from recollect.core.time import utc_now
from recollect.entrypoints.cli.console import one_line, say, write_json, write_line
from recollect.entrypoints.cli.opening import (
    LOCAL_TENANT,
    AsJson,
    Tenant,
    naming_the_part,
    opened,
    pages,
    required_text,
    tenant_of,
)
from recollect.entrypoints.http.representations import knowledge_json
from recollect.knowledge.entries import KnowledgeEntry, Namespace

_PAGE = 200
_SHOWN = 200

NamespaceName: TypeAlias = Annotated[str, typer.Argument(help="vocabulary, rule, correction, or one of your own.")]
Key: TypeAlias = Annotated[str, typer.Argument(help="In the vocabulary resource:term, such as orders:cost.")]
Store: TypeAlias = Annotated[str | None, typer.Option(help="The current store; absent: all of them.")]

knowledge = typer.Typer(help="What terms and rules mean here.", no_args_is_help=True)


@knowledge.command("list")
def list_entries(
    namespace: Annotated[str | None, typer.Argument(help="Only this one.")] = None,
    prompt: Annotated[bool, typer.Option("--prompt", help="The sections of a prompt instead.")] = False,
    store: Annotated[str | None, typer.Option(help="With --prompt: only what holds in this store.")] = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
) -> None:
    """Lists entries by namespace and key; with --json as JSON Lines."""
    tenant = tenant_of(tenant)
    with opened() as app:
        if prompt:
            write_line(app.knowledge.section(tenant, store).text or "")
            return
        count = 0
        for entry in _walk(app, tenant, namespace):
            count += 1
            _show(entry, as_json)
    say(f"{count} entries")


@knowledge.command("set")
def set_entry(
    namespace: NamespaceName,
    key: Key,
    value: Annotated[str, typer.Argument(help='JSON, such as {"target": "total_amount"}.')],
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Makes or replaces an entry; prints it."""
    tenant = tenant_of(tenant)
    with opened() as app:
        entry = naming_the_part(lambda: app.knowledge.put(tenant, namespace, key, _json(namespace, value), utc_now()))
    write_json(knowledge_json(entry))


@knowledge.command("delete")
def delete_entry(namespace: NamespaceName, key: Key, tenant: Tenant = LOCAL_TENANT) -> None:
    """Deletes an entry."""
    tenant = tenant_of(tenant)
    with opened() as app:
        naming_the_part(lambda: app.knowledge.delete(tenant, namespace, key, utc_now()))
    say("deleted")


@knowledge.command()
def learn(
    text: Annotated[str, typer.Argument(help="What the user said.")],
    store: Store = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Store nothing.")] = False,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Learns what a sentence says a word means, such as: No, by 'cost' I mean the 'total_amount' field."""
    tenant, text = tenant_of(tenant), required_text(text, "the text")
    with opened() as app:
        lesson = naming_the_part(lambda: app.knowledge.learn(tenant, text, store, utc_now(), dry_run=dry_run))
    if lesson is None:
        say("nothing learnt")
        return
    write_line(lesson.confirmation)
    say(f"{'would be' if dry_run else 'stored as'} {lesson.call.namespace} {lesson.call.key}")


def _walk(app: App, tenant: str, namespace: str | None) -> Iterator[KnowledgeEntry]:
    for page in pages(lambda after: app.knowledge.listed(tenant, namespace, _PAGE, after)):
        yield from page.entries


def _show(entry: KnowledgeEntry, as_json: bool) -> None:
    if as_json:
        write_json(knowledge_json(entry), indent=None)
    else:
        value = json.dumps(entry.value, ensure_ascii=False)
        write_line(f"{one_line(entry.namespace, 40)}  {one_line(entry.key, 80)}  {one_line(value, _SHOWN)}")


def _json(namespace: str, text: str) -> Any:
    """The value of a free namespace; what has a schema is read by it. Raises InvalidInput."""
    if namespace in frozenset(Namespace):
        return text
    try:
        return json.loads(text)
    except (ValueError, RecursionError):
        raise InvalidInput("is no JSON", ("value",)) from None
