"""`recollect memories` and `bridge`: what is kept of a user, and whether it comes about by itself."""

import time
from collections.abc import Callable, Iterator
from dataclasses import replace
from datetime import datetime
from typing import Annotated, Any, TypeAlias

import typer

from recollect.app import App
from recollect.contradictions.told import Ending
from recollect.core.errors import InvalidInput
from recollect.core.filter import EVERYTHING, filter_of
from recollect.core.scope import Scope
from recollect.core.time import iso, parse_instant, utc_now
from recollect.deletion.forget_matching import MOST_AT_ONCE, Matched, Matching
from recollect.entrypoints.cli.commands import (
    LOCAL_TENANT,
    AsJson,
    CommandGroup,
    Sure,
    Tenant,
    check_ids,
    namespace_of,
    options_of,
)
from recollect.entrypoints.cli.console import (
    json_of,
    pages,
    required_text,
    say,
    sure,
    write_each,
    write_json,
    write_line,
)
from recollect.entrypoints.cli.memory_lines import Listed, Version, as_it_was, line_of, write_step
from recollect.entrypoints.cli.narrowing import Filtered
from recollect.entrypoints.http.representations import memory_json, version_json
from recollect.memories.audit import Actor, ActorKind
from recollect.memories.deferred_promotion import Signal, SignalType
from recollect.memories.memory import MemoryDraft, MemoryStatus
from recollect.memories.reading import MemoryQuery
from recollect.memories.save import MemoryChange
from recollect.retrieval.attributes import MEMORY_FIELDS, of_fields

_PAGE = 200
_NEVER = "never"
_SAMPLES = 20

MemoryId: TypeAlias = Annotated[str, typer.Argument(help="The memory's id, as `list` shows it.")]
Keyword: TypeAlias = Annotated[list[str] | None, typer.Option("--keyword", help="May be given several times.")]
Importance: TypeAlias = Annotated[float | None, typer.Option(min=0, max=1, help="0 to 1; absent: 0.5, or as it is.")]
Expires: TypeAlias = Annotated[str | None, typer.Option(help="When it is gone from every read; `never` clears it.")]

Agent: TypeAlias = Annotated[str | None, typer.Option("--agent", help="Only those of this agent.")]
Application: TypeAlias = Annotated[str | None, typer.Option("--app", help="Only those of this application.")]
Namespace: TypeAlias = Annotated[
    str | None, typer.Option("--namespace", help="Only those of exactly this one: labels with slashes between.")
]
Below: TypeAlias = Annotated[str | None, typer.Option("--below", help="Only those of this namespace and all below it.")]

memories = CommandGroup(help="Lists, shows, changes and deletes a user's memories.", no_args_is_help=True)
bridge = CommandGroup(help="Whether events become memories by themselves.", no_args_is_help=True)


@memories.command("list")
def list_memories(
    app: App,
    scope: Scope,
    status: Annotated[MemoryStatus | None, typer.Option(help="Only those; active ones are current.")] = None,
    key: Annotated[str | None, typer.Option(help="Only the values of this slot.")] = None,
    wanted: Filtered = None,
    agent: Agent = None,
    application: Application = None,
    namespace: Namespace = None,
    below: Below = None,
    as_json: AsJson = False,
) -> None:
    """Lists memories, the last made first, with the words that a current one has lost; with --json as JSON Lines."""
    query = replace(_query(wanted, agent, application, namespace, below), status=status, key=key)
    found, now = _walk(app, scope, query), utc_now()
    write_each(
        "memories", found, as_json, lambda one: memory_json(one.memory), lambda one: write_line(line_of(one, now))
    )
    cut = _count_cut(app, scope, query, now) if status is MemoryStatus.SUPERSEDED and not as_json else 0
    if cut:
        say(f"and a part of {cut} that are current: `recollect memories list {options_of(scope)}` shows which words")


@memories.command()
def save(
    app: App,
    content: Annotated[str, typer.Argument(help="One thing worth remembering.")],
    scope: Scope,
    importance: Importance = None,
    keyword: Keyword = None,
    key: Annotated[str | None, typer.Option(help="The slot whose value this is.")] = None,
    expires: Expires = None,
) -> None:
    """Saves one memory and prints it; where one says the same, prints that one."""
    check_ids(key=key)
    draft = MemoryDraft(
        content=required_text(content, "the memory"),
        importance=importance,
        keywords=tuple(keyword or ()),
        key=key,
        expires_at=_expiry(expires),
    )
    seed = app.ids.seed(int(time.time() * 1000))
    saved = app.memories.store.save(scope, draft, seed, utc_now(), _actor(scope), app.rules.resolved(scope.tenant))
    write_json(memory_json(saved.memory))
    say("saved" if saved.created else "known already")


@memories.command()
def show(
    app: App,
    memory_id: MemoryId,
    scope: Scope,
    history: Annotated[bool, typer.Option("--history", help="Every version, the oldest first.")] = False,
) -> None:
    """Prints one memory."""
    now = utc_now()
    memory = app.memories.store.one(scope, memory_id, now)
    versions = app.memories.versions.read(scope, memory, now) if history else []
    write_json({"history": [version_json(one) for one in versions]} if history else memory_json(memory))


@memories.command()
def history(app: App, memory_id: MemoryId, scope: Scope, as_json: AsJson = False) -> None:
    """Shows how a memory changed, its first version first: when, by whom, why, what it was; --json: as JSON Lines."""
    now = utc_now()
    memory = app.memories.store.one(scope, memory_id, now)
    endings = app.contradictions.telling.endings(scope, [memory.id], now).get(memory.id, ())
    *earlier, current = app.memories.versions.read(scope, memory)
    versions = [*(as_it_was(one, now) for one in earlier), Version(current, current.memory.content, endings)]
    changed = zip([None, *versions], versions, strict=False)
    write_each("versions", changed, as_json, lambda step: version_json(step[1].made), write_step)


@memories.command()
def edit(
    app: App,
    memory_id: MemoryId,
    scope: Scope,
    content: Annotated[str | None, typer.Option(help="Other words.")] = None,
    importance: Importance = None,
    keyword: Keyword = None,
    expires: Expires = None,
    metadata: Annotated[str | None, typer.Option(help="A JSON object that replaces all of it.")] = None,
) -> None:
    """Changes a memory, whatever its version, and prints it; what it was stays in its history."""
    given = {
        "content": content,
        "importance": importance,
        "keywords": tuple(keyword) if keyword else None,
        "metadata": _object(metadata),
    }
    changes: dict[str, Any] = {name: value for name, value in given.items() if value is not None}
    changes |= {"expires_at": _expiry(expires)} if expires is not None else {}
    if not changes:
        raise InvalidInput("nothing to change: see --help")
    memory = app.memories.store.patch(scope, memory_id, MemoryChange(changes, _actor(scope), _any), utc_now())
    write_json(memory_json(memory))


@memories.command()
def correct(
    app: App,
    event: Annotated[str, typer.Argument(help="The id of what was said, of which there is no memory yet.")],
    content: Annotated[str, typer.Argument(help="What is remembered of it from now on.")],
    scope: Scope,
) -> None:
    """Sets right what is remembered of something said, which stays as it was said, and prints the memory."""
    change = MemoryChange({"content": required_text(content, "the memory")}, _actor(scope), _any)
    write_json(memory_json(app.memories.corrections.correct(scope, event, change, utc_now())))


@memories.command()
def delete(app: App, memory_id: MemoryId, scope: Scope) -> None:
    """Deletes a memory with the events it was made from; they are refused when they come again."""
    memory = app.memories.store.one(scope, memory_id, utc_now())
    forgotten = app.deletion.events.memory(scope, memory, now=utc_now(), actor=_actor(scope))
    say(f"deleted, with {len(memory.source_event_ids)} events" if memory.source_event_ids else "deleted")
    write_json({"deleted": list(forgotten.event_ids)})


@memories.command("delete-matching")
def delete_matching(
    app: App,
    scope: Scope,
    wanted: Filtered = None,
    agent: Agent = None,
    application: Application = None,
    namespace: Namespace = None,
    below: Below = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Count them, and delete nothing.")] = False,
    yes: Sure = False,
) -> None:
    """Deletes all memories that match, ended ones too, each as by itself; says first how many there are."""
    query = _query(wanted, agent, application, namespace, below)
    if query == MemoryQuery():
        raise InvalidInput("names no memories: --filter, --agent, --app, --namespace or --below")
    now = utc_now()
    counted = _all_matching(query, lambda one: app.deletion.matching.count(scope, one, now))
    say(f"{len(counted)} memories match")
    if dry_run or not counted:
        write_json({"matched": len(counted), "deleted": 0, "memory_ids": counted[:_SAMPLES]})
        return
    sure(yes, "Delete them with the events they were made from?")
    gone = _all_matching(query, lambda one: app.deletion.matching.delete(scope, one, now, _actor(scope)))
    write_json({"matched": len(counted), "deleted": len(gone), "memory_ids": gone[:_SAMPLES]})


def _all_matching(query: MemoryQuery, found: Callable[[Matching], Matched]) -> list[str]:
    matched = pages(lambda after: found(Matching(query, MOST_AT_ONCE, after, lambda: 1.0)))
    return [memory_id for page in matched for memory_id in page.memory_ids]


def _query(
    wanted: str | None, agent: str | None, application: str | None, namespace: str | None, below: str | None
) -> MemoryQuery:
    check_ids(agent=agent, app=application)
    return MemoryQuery(
        agent_id=agent,
        app_id=application,
        namespace=namespace_of(namespace),
        namespace_prefix=namespace_of(below),
        where=of_fields(filter_of(json_of(wanted, "--filter is no JSON")), MEMORY_FIELDS) if wanted else EVERYTHING,
    )


def _write_listed(now: datetime, one: Listed) -> None:
    write_line(line_of(one, now))


def _walk(app: App, scope: Scope, query: MemoryQuery) -> Iterator[Listed]:
    now = utc_now()
    for page in pages(lambda after: app.memories.listing.page(scope, query, _PAGE, after, now)):
        endings = app.contradictions.telling.endings(scope, [one.id for one in page.memories], now)
        yield from (Listed(one, endings.get(one.id, ())) for one in page.memories)


def _count_cut(app: App, scope: Scope, query: MemoryQuery, now: datetime) -> int:
    current = _walk(app, scope, replace(query, status=MemoryStatus.ACTIVE))
    return sum(any(_is_over(ending, now) for ending in one.endings) for one in current)


def _is_over(ending: Ending, now: datetime) -> bool:
    return ending.until is None and (ending.since is None or ending.since <= now)


def _expiry(given: str | None) -> datetime | None:
    return None if given in (None, _NEVER) else parse_instant(given)


def _object(text: str | None) -> dict[str, Any] | None:
    if text is None:
        return None
    value = json_of(text, "--metadata is no JSON")
    if not isinstance(value, dict):
        raise InvalidInput("--metadata is no JSON object")
    return value


def _any(_version: int) -> bool:
    return True


def _actor(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)


@bridge.command()
def state(app: App, tenant: Tenant = LOCAL_TENANT, as_json: AsJson = False) -> None:
    """Whether a tenant's bridge is suspended, since when, by whom and why."""
    found = app.memories.signals.state(tenant)
    since = iso(found.since) if found.since else None
    if as_json:
        told = {"source": found.source, "severity": found.severity, "reason": found.reason, "since": since}
        write_json({"suspended": found.suspended, **{name: one for name, one in told.items() if one is not None}})
        return
    about = "  ".join(one for one in (since, found.source, found.severity, found.reason) if one)
    write_line(f"{'suspended' if found.suspended else 'open'}  {about}".rstrip())


@bridge.command()
def signal(
    app: App,
    kind: Annotated[SignalType, typer.Argument(help="A warning suspends, healthy resumes.")],
    source: Annotated[str, typer.Option(help="Who tells.")] = "operator",
    severity: Annotated[str | None, typer.Option(help="Such as low, high.")] = None,
    reason: Annotated[str | None, typer.Option(help="Such as write latency; no contents.")] = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Suspends or resumes the making of memories; what waited is made by the next reconciliation."""
    told = Signal(
        id=app.ids.seed(int(time.time() * 1000)).nth(0),
        type=kind,
        source=required_text(source, "--source"),
        severity=severity,
        reason=reason,
    )
    outcome = app.memories.signals.receive(tenant, told, utc_now())
    write_line("suspended" if outcome.suspended else "open")
