"""`recollect timeline`: everything a user said and was told, newest first, page after page."""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import typer
from rich.text import Text

from recollect.app import App
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.entrypoints.cli.console import one_line, printable, say, write_json, write_line
from recollect.entrypoints.cli.opening import opened
from recollect.entrypoints.cli.options import LOCAL_TENANT, AsJson, Household, Persona, Tenant, User, scope_of
from recollect.entrypoints.http.representations import event_json
from recollect.memories.storage import memory_json
from recollect.retrieval.filters import TimeWindow
from recollect.timeline.timeline import WindowQuery

_PAGE = 200


def timeline(
    user: User,
    conversation: Annotated[str | None, typer.Option(help="Only this conversation.")] = None,
    persona: Persona = None,
    household: Household = None,
    tenant: Tenant = LOCAL_TENANT,
    as_json: AsJson = False,
    camel_case: Annotated[bool, typer.Option(help="With --json: the names other stores use, such as userId.")] = False,
) -> None:
    """Prints the whole timeline, newest first; with --json as JSON Lines, which `recollect import` reads."""
    scope = scope_of(user, persona, household, tenant)
    count = 0
    with opened() as app:
        for event in walk(app, scope, conversation):
            count += 1
            if as_json:
                write_json(memory_json(event) if camel_case else event_json(event), indent=None)
            else:
                write_line(_line(event))
    say(f"{count} events")


def walk(app: App, scope: Scope, conversation_id: str | None = None) -> Iterator[Event]:
    """Every event of the scope, newest first, a page of 200 in memory."""
    now, after = datetime.now(UTC), None
    while True:
        page = app.timeline.listing.window(scope, _query(now, conversation_id, after))
        yield from page.events
        after = page.more
        if after is None:
            return


def _query(now: datetime, conversation_id: str | None, after: EventRef | None) -> WindowQuery:
    return WindowQuery(now=now, window=TimeWindow(), limit=_PAGE, conversation_id=conversation_id, after=after)


def _line(event: Event) -> Text:
    line = Text(event.timestamp.strftime("%Y-%m-%d %H:%M  "), style="dim")
    line.append(one_line(f"{event.speaker or event.role}: ", 70) + " ", style="bold")
    return line.append(" ".join(printable(event.content).split()), style="not dim")
