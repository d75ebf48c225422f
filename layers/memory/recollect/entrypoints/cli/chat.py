"""`recollect chat`: talk to a memory in the terminal."""

import secrets
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from typing import Annotated, Literal

import typer
from rich.text import Text

from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, TurnAnswer, TurnRequest
from recollect.core.errors import Conflict, InvalidInput, RecollectError, TurnUnanswered
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.core.time import utc_now
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
from recollect.entrypoints.tools.registry import TurnTools
from recollect.retrieval.filters import SearchFilters

LINE_BYTES = 64 * 1024
HELP = "/why shows what the last answer was made from, /quit (or exit, or Ctrl-D) ends."
_ENDS = frozenset({"exit", "quit", "/exit", "/quit"})
_SECONDS_BESIDE_THE_MODEL = 10.0

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
            raise
        self.conversation_id = self.last.conversation_id
        return self.last

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
    with opened(settings) as app, projecting(app):
        talk(Chat(app, scope, conversation, store, web_search, labels), _lines())


def talk(session: Chat, lines: Iterable[str], clock: Clock = utc_now) -> None:
    """Answers line after line until they end, or one says nothing but exit or quit. One that fails costs no other."""
    for line in (line.strip() for line in lines):
        if line.casefold() in _ENDS:
            return
        if line.startswith("/"):
            _command(session, line)
        elif line:
            _turn(session, line, clock())


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


def _command(session: Chat, line: str) -> None:
    if line == "/why":
        _why(session.last)
    else:
        say(HELP)


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
