"""`recollect chat`: talk to a memory in the terminal.

A message may end an older one, or put it in doubt; that is known once it is projected, beside the talk. It is told
before the next prompt, or the one after that, and taken back or settled by a command of two characters.
"""

import re
import sys
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from typing import Annotated, Literal

import typer
from rich.text import Text

from recollect.context.turn import TurnAnswer
from recollect.contradictions.decisions import Decision, OpenConflict, Outcome
from recollect.contradictions.told import ToldConflict, ToldDecision
from recollect.core.errors import Conflict, InvalidInput, RecollectError, TurnUnanswered
from recollect.core.time import utc_now, written_day
from recollect.entrypoints.cli.chat_session import Chat
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
    options_of,
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
from recollect.entrypoints.cli.decisions import (
    Keep,
    Numbered,
    revert_command,
    settle,
    take_back,
    told_decision,
)

HELP = (
    "Without a configured language model, recollect answers by quoting what it remembers; RECOLLECT_MODEL sets one. "
    "/why shows what the answer was made from, /conflicts what is in doubt: /n the new holds instead, "
    "/b both hold, /o the new was wrong; "
    "/u takes back what a message ended; /quit or exit or Ctrl-D ends."
)
_ENDS = frozenset({"exit", "quit", "/exit", "/quit"})
_SETTLES = re.compile(r"/(n|new|o|old|b|both)\s*(\d{1,9})?")
_TAKES_BACK = re.compile(r"/(?:u|undo)\s*(\d{1,9})?")
_MOST_SHOWN = 3
_KEPT = {word: keep for keep in Keep for word in (keep.value, keep.value[0])}
_HOW = "/n# the new holds instead, /b# both hold, /o# the new was wrong."
_HOW_BACK = "/u # takes it back."
_MOMENT = timedelta(microseconds=1)

WebSearchWish = Literal["auto", "always", "never"]
Clock = Callable[[], datetime]


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

    What a message ended or put in doubt is told on standard error, with the command that takes it back or settles it.
    """
    scope, labels = scope_of(user, persona, household, tenant), labels_of(agent, application, namespace)
    check_ids(conversation=conversation)
    settings = settings_of_environment()
    ensure_model(settings)
    with opened(settings) as app, projecting(app) as projected:
        session = Chat(app, scope, conversation, store, web_search, labels)
        talk(session, _lines())
        projected()
        settles = f"`recollect conflicts resolve# {options_of(scope)} --keep new` (or old, or both)"
        _tell(session, utc_now(), settles, f"`{revert_command(scope, '#')}` takes it back.")


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
        _tell(session, now)


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
        _list_doubts(session, now)
    elif settling := _SETTLES.fullmatch(line):
        _settle(session, _KEPT[settling[1]], settling[2], now)
    elif back := _TAKES_BACK.fullmatch(line):
        _take_back(session, back[1], now)
    else:
        say(HELP)


def _tell(session: Chat, now: datetime, settles: str = _HOW, takes_back: str = _HOW_BACK) -> None:
    """What was ended and put in doubt meanwhile; where that cannot be read, the talk goes on."""
    with suppress(RecollectError):
        if session.inputs:
            _show_decisions(session, session.fresh_decisions(), now, takes_back)
            doubts = session.fresh_doubts(now)
            if doubts:
                _show_doubts(session, doubts, now, settles)


def _show_decisions(session: Chat, decisions: Sequence[Numbered[Decision]], now: datetime, takes_back: str) -> None:
    shown = decisions[:_MOST_SHOWN]
    told = session.app.contradictions.telling.decisions(session.scope, [one.one for one in shown], now)
    for one, words in zip(shown, told, strict=True):
        before = f"{_said_on(words.said_at)} “{words.ended.words}”, now “{words.now}”"
        say(f"({one.number}) {_what_it_does(words)}: {before}. {takes_back.replace('#', str(one.number))}")
    _say_more(session, len(decisions), "decisions")


def _what_it_does(told: ToldDecision) -> str:
    since, until = told.ended.since, told.ended.until
    if until is not None:
        return f"this holds instead until {written_day(until - _MOMENT)}"
    if since is not None:
        return f"this ends from {written_day(since)}"
    outcomes = {Outcome.MERGED: "this changes a part", Outcome.RETRACTED: "this was never so"}
    return outcomes.get(told.decision.outcome, "this ends")


def _show_doubts(session: Chat, doubts: Sequence[Numbered[OpenConflict]], now: datetime, how: str = _HOW) -> None:
    by_number = how is not _HOW or len(session.meant(None)) > 1
    shown = sorted(doubts[:_MOST_SHOWN], key=lambda one: one.number)
    told = session.app.contradictions.telling.conflicts(session.scope, [one.one for one in shown], now)
    for one, words in zip(shown, told, strict=True):
        named = how.replace("#", f" {one.number}" if by_number else "")
        say(f"({one.number}) in doubt: {_in_doubt(words, now)}. {named}")
    _say_more(session, len(doubts), "conflicts")


def _in_doubt(told: ToldConflict, now: datetime) -> str:
    """What was said before, which words of it would end, and what was said then, with its day unless that is today."""
    doubted, newer = told.doubted, told.sides.newer
    part = "" if doubted is None or doubted.whole else f", of which “{doubted.words}” may have ended"
    then = "now" if newer is None or newer.at.date() == now.date() else f"and on {written_day(newer.at)}"
    return f"{_said_on(told.said_at)} “{told.older}”{part}, {then} “{told.newer}”"


def _list_doubts(session: Chat, now: datetime) -> None:
    doubts = session.open_doubts()
    if doubts:
        _show_doubts(session, doubts, now)
    else:
        say("nothing is in doubt")


def _said_on(moment: datetime | None) -> str:
    return "before" if moment is None else f"on {written_day(moment)} you said"


def _say_more(session: Chat, count: int, noun: str) -> None:
    if count > _MOST_SHOWN:
        say(f"and {count - _MOST_SHOWN} more: `recollect {noun} list {options_of(session.scope)}`")


def _settle(session: Chat, keep: Keep, number: str | None, now: datetime) -> None:
    """The one of that number; without one the only one that is meant."""
    meant = session.meant(None if number is None else int(number))
    if len(meant) != 1:
        say(
            "which one? /conflicts shows numbers, /n 2 says that the new of number 2 holds"
            if meant
            else "that is not in doubt"
        )
        return
    (told,) = session.app.contradictions.telling.conflicts(session.scope, [meant[0].one], now)
    try:
        _, decision_id = settle(session.app, session.scope, told.conflict, keep, now)
    except RecollectError as error:
        say(f"not settled: {error}")
        return
    if decision_id is None:
        say("settled: both hold")
        return
    made, done = told_decision(session.app, session.scope, decision_id, now)
    holds = told.newer if keep is Keep.NEW else told.older
    say(f"settled: “{holds}” holds, “{done.ended.words}” does not. /u {session.number(made)} takes it back.")


def _take_back(session: Chat, number: str | None, now: datetime) -> None:
    """The decision of that number; without one the only one that was told. Again it changes nothing."""
    decision = session.decision(None if number is None else int(number))
    if decision is None:
        many = number is None and len(session.decided.ids) > 1
        say("which one? /u 2 takes back number 2" if many else "there is no such decision")
        return
    (told,) = session.app.contradictions.telling.decisions(session.scope, [decision], now)
    try:
        take_back(session.app, session.scope, decision, now)
    except RecollectError as error:
        say(f"not taken back: {error}")
        return
    say(f"taken back: “{told.ended.words}” holds again")


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
