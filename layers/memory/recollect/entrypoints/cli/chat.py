"""`recollect chat`: talk to a memory in the terminal.

A message may put an older one in doubt; that is known once it is projected, beside the talk. It is told before the next
prompt, or the one after that, and settled by a command of two characters.
"""

import re
import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from datetime import datetime
from typing import Annotated, Literal

import typer
from rich.text import Text

from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, TurnAnswer, TurnRequest
from recollect.contradictions.decisions import ConflictStatus
from recollect.core.errors import Conflict, InvalidInput, RecollectError, TurnUnanswered
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.core.time import utc_now, written_day
from recollect.entrypoints.cli.commands import (
    LOCAL_TENANT,
    Agent,
    Application,
    Household,
    Namespace,
    Persona,
    Tenant,
    User,
    check_ids,
    labels_of,
    opened,
    scope_of,
)
from recollect.entrypoints.cli.console import (
    ensure_model,
    message_console,
    projecting,
    say,
    settings_of_environment,
    write_line,
)
from recollect.entrypoints.cli.context import show_background, show_prompt, show_receipt
from recollect.entrypoints.cli.decisions import Keep, Numbered, numbered_conflicts, settle, told, words_of
from recollect.entrypoints.tools.registry import TurnTools
from recollect.retrieval.filters import SearchFilters

LINE_BYTES = 64 * 1024
HELP = (
    "/why shows what the answer was made from, /conflicts what is in doubt: /n keeps the new, /o the old, /b both; "
    "/quit or exit or Ctrl-D ends."
)
_ENDS = frozenset({"exit", "quit", "/exit", "/quit"})
_SECONDS_BESIDE_THE_MODEL = 10.0
_SETTLES = re.compile(r"/(n|new|o|old|b|both)\s*(\d{1,9})?")
_NEWEST = 20
_MOST_SHOWN = 3
_KEPT = {word: keep for keep in Keep for word in (keep.value, keep.value[0])}
_HOW = "/n# keeps the new, /o# the old, /b# both."

WebSearchWish = Literal["auto", "always", "never"]
Clock = Callable[[], datetime]


@dataclass(slots=True)
class Chat:
    """A session in the terminal: the first line makes the conversation's id, later ones use it (K-59 to K-61)."""

    app: App
    scope: Scope
    conversation_id: str | None = None
    store: str | None = None
    web_search: str = "auto"
    labels: Labels = NO_LABELS
    last: TurnAnswer | None = None
    inputs: set[str] = field(default_factory=set)
    told: set[str] = field(default_factory=set)

    def said(self, line: str, now: datetime) -> TurnAnswer:
        """One turn. Raises what `TakeTurn` raises, and keeps the conversation all the same."""
        seed = self.app.ids.seed(int(time.time() * 1000), IDS_OF_A_TURN)
        rules = self.app.begin_rules(self.scope.tenant)
        try:
            self.last = self.app.context.turn.take(
                self.scope, self._request(line, now), seed, now, rules, TurnTools(self.app, self.labels)
            )
        except TurnUnanswered as error:
            self.conversation_id = error.conversation_id
            self.inputs.add(error.input_event_id or "")
            raise
        self.conversation_id = self.last.conversation_id
        self.inputs.add(self.last.input_event_id)
        return self.last

    def fresh_doubts(self, now: datetime) -> list[Numbered]:
        """What its messages have put in doubt and nobody was told yet, the newest first."""
        page = self.app.contradictions.conflicts.page(self.scope, _NEWEST, None, ConflictStatus.OPEN, now)
        fresh = {one.id for one in page.conflicts if one.newer in self.inputs} - self.told
        self.told |= fresh
        return [one for one in self.open_doubts() if one.conflict.id in fresh] if fresh else []

    def open_doubts(self) -> list[Numbered]:
        """All that waits for a person's word, the newest first; of a labelled session what its own messages opened."""
        found = numbered_conflicts(self.app, self.scope)
        waiting = [one for one in found if one.conflict.status is ConflictStatus.OPEN]
        return [one for one in waiting if self.labels == NO_LABELS or one.conflict.newer in self.inputs]

    def meant(self, number: int | None) -> list[Numbered]:
        """The doubt of that number; without one those that this session told, or all."""
        found = self.open_doubts()
        if number is not None:
            return [one for one in found if one.number == number]
        return [one for one in found if one.conflict.id in self.told] or found

    def _request(self, line: str, now: datetime) -> TurnRequest:
        if len(line.encode()) > LINE_BYTES:
            raise InvalidInput(f"a line has at most {LINE_BYTES} bytes")
        question = ContextQuestion(
            text=line, filters=SearchFilters(now=now), conversation_id=self.conversation_id, store=self.store
        )
        context = ContextRequest(question=question, fence=fence_for(secrets.token_hex(16)), web_search=self.web_search)
        seconds = self.app.settings.model_timeout_seconds + _SECONDS_BESIDE_THE_MODEL
        return TurnRequest(context=context, seconds=seconds, labels=self.labels)


def chat(
    user: User,
    conversation: Annotated[str | None, typer.Option(help="Goes on with it; absent: a new one begins.")] = None,
    persona: Persona = None,
    household: Household = None,
    store: Annotated[str | None, typer.Option(help="Whose vocabulary and rules are meant.")] = None,
    web_search: Annotated[WebSearchWish, typer.Option(help="auto: as the rules say.")] = "auto",
    agent: Agent = None,
    application: Application = None,
    namespace: Namespace = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Talks to a memory: every line is remembered, and answered from what was said before.

    RECOLLECT_MODEL says who answers; by default nobody does, and the memory quotes itself.
    """
    scope, labels = scope_of(user, persona, household, tenant), labels_of(agent, application, namespace)
    check_ids(conversation=conversation)
    settings = settings_of_environment()
    ensure_model(settings)
    with opened(settings) as app, projecting(app) as projected:
        session = Chat(app, scope, conversation, store, web_search, labels)
        talk(session, _lines())
        projected()
        _tell_doubts(session, utc_now(), f"`recollect conflicts resolve# --user {user} --keep new` (or old, or both)")


def talk(session: Chat, lines: Iterable[str], clock: Clock = utc_now) -> None:
    """Answers line after line until they end, or one says nothing but exit or quit. One that fails costs no other."""
    for line in (line.strip() for line in lines):
        if line.casefold() in _ENDS:
            return
        now = clock()
        if line.startswith("/"):
            _command(session, line, now)
        elif line:
            _turn(session, line, now)
        _tell_doubts(session, now)


def _turn(session: Chat, line: str, now: datetime) -> None:
    try:
        answer = session.said(line, now)
    except TurnUnanswered as error:
        say(f"no answer: {error.cause or error}. What you said is remembered; say it again, or go on.")
        return
    except (InvalidInput, Conflict) as error:
        say(f"not remembered: {error}")
        return
    except RecollectError as error:
        say(f"not remembered, nothing could be stored: {error}")
        return
    write_line(answer.response)
    for executed in answer.tool_calls:
        say(f"({executed.tool or 'unknown tool'}: {executed.status})")


def _command(session: Chat, line: str, now: datetime) -> None:
    if line == "/why":
        _why(session.last)
    elif line == "/conflicts":
        _show_doubts(session, session.open_doubts())
    elif settling := _SETTLES.fullmatch(line):
        _settle(session, _KEPT[settling[1]], settling[2], now)
    else:
        say(HELP)


def _tell_doubts(session: Chat, now: datetime, how: str = _HOW) -> None:
    """What was put in doubt meanwhile; where that cannot be read, the talk goes on."""
    with suppress(RecollectError):
        doubts = session.fresh_doubts(now) if session.inputs else []
        if doubts:
            _show_doubts(session, doubts, how)


def _show_doubts(session: Chat, doubts: Sequence[Numbered], how: str = _HOW) -> None:
    by_number = how is not _HOW or len(session.meant(None)) > 1
    for one in doubts[:_MOST_SHOWN]:
        older, said_at = told(session.app, session.scope, one.conflict.older)
        before = f"on {written_day(said_at)} you said" if said_at is not None else "before"
        newer = words_of(session.app, session.scope, one.conflict.newer)
        named = how.replace("#", f" {one.number}" if by_number else "")
        say(f"({one.number}) in doubt: {before} “{older}”, now “{newer}”. {named}")
    if len(doubts) > _MOST_SHOWN:
        say(f"and {len(doubts) - _MOST_SHOWN} more: `recollect conflicts list` shows them")
    elif not doubts:
        say("nothing is in doubt")


def _settle(session: Chat, keep: Keep, number: str | None, now: datetime) -> None:
    """The one of that number; without one the only one that is meant."""
    meant = session.meant(None if number is None else int(number))
    if len(meant) != 1:
        say("which one? /conflicts shows numbers, /n 2 keeps the new of number 2" if meant else "that is not in doubt")
        return
    conflict = meant[0].conflict
    newer, older = (words_of(session.app, session.scope, one) for one in (conflict.newer, conflict.older))
    try:
        settle(session.app, session.scope, conflict, keep, now)
    except RecollectError as error:
        say(f"not settled: {error}")
        return
    holds, over = (newer, older) if keep is Keep.NEW else (older, newer)
    counts = f"settled: “{holds}” holds, “{over}” does not; `recollect decisions revert` takes it back"
    say("settled: both hold" if keep is Keep.BOTH else counts)


def _why(last: TurnAnswer | None) -> None:
    if last is None or last.context is None:
        say("nothing was answered yet")
        return
    show_prompt(last.context)
    show_receipt(last.context)
    show_background(last.context)
    write_line(Text(f"answered by {last.model}, conversation {last.conversation_id}", style="dim"))


def _lines() -> Iterator[str]:
    """The lines of standard input; a person gets a prompt for each, and Ctrl-C ends as Ctrl-D does."""
    if not sys.stdin.isatty():
        yield from sys.stdin
        return
    say(HELP)
    with suppress(EOFError, KeyboardInterrupt):
        while True:
            yield message_console().input("[bold]you>[/bold] ", markup=True)
