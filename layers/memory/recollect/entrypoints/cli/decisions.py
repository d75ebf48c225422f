"""`recollect decisions` and `conflicts`: what was decided between memories, and what is still open."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, Generic, TypeAlias, TypeVar

import typer
from rich.text import Text

from recollect.app import App
from recollect.contradictions.corrections import CorrectionPage
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, OpenConflict, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.resolve import OlderWords, RevertOrder, Settling
from recollect.contradictions.told import Ending, Said, ToldConflict, ToldDecision
from recollect.core.errors import InvalidInput
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import (
    LOCAL_TENANT,
    AsJson,
    CommandGroup,
    Tenant,
    options_of,
    scope_of,
    whole_id,
)
from recollect.entrypoints.cli.console import number_of, pages, required_text, say, write_each, write_json, write_line
from recollect.entrypoints.http.representations import memory_json
from recollect.entrypoints.http.routes.contradictions import conflict_json, decision_json
from recollect.memories.audit import Actor, ActorKind

_PAGE = 200

decisions = CommandGroup(help="What was decided between memories, and why.", no_args_is_help=True)
conflicts = CommandGroup(help="Memories of which no rule can tell which counts.", no_args_is_help=True)


class Keep(StrEnum):
    """What a person says of an open conflict."""

    NEW = "new"
    OLD = "old"
    BOTH = "both"


_One = TypeVar("_One", Decision, OpenConflict)


@dataclass(frozen=True, slots=True)
class Numbered(Generic[_One]):
    """A conflict or a decision with its place among all of the user's, from 1.

    Both are numbered in the order in which they were made: so each keeps its number when others are settled or taken
    back, and when new ones come.
    """

    number: int
    one: _One


_NAMED = "Its number, as `list` shows it, or its id or how that begins."
ConflictId: TypeAlias = Annotated[str, typer.Argument(metavar="CONFLICT", help=_NAMED)]
DecisionId: TypeAlias = Annotated[str, typer.Argument(metavar="DECISION", help=_NAMED)]


@decisions.command("list")
def list_decisions(
    app: App,
    scope: Scope,
    status: Annotated[DecisionStatus | None, typer.Option(help="Only those.")] = None,
    step: Annotated[Step | None, typer.Option(help="Only what this decided.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists decisions, the newest winning record first, with the words that ended; with --json as JSON Lines.

    A decision's number is its place among all of the user's, the first made first; `revert` takes it.
    """
    wanted = DecisionFilter(status=status, step=step)
    found = [one for one in numbered_decisions(app, scope) if wanted.admits(one.one)]
    told = app.contradictions.telling.decisions(scope, [one.one for one in found], utc_now()) if not as_json else ()
    words = {one.decision.id: one for one in told}
    shape, left_at = partial(_decision_json, scope), _left_at(found)
    write_each("decisions", found, as_json, shape, lambda one: _write_decision(one.number, words[one.one.id], left_at))


@decisions.command()
def revert(
    app: App,
    decision: DecisionId,
    scope: Scope,
    content: Annotated[
        str | None, typer.Option(help="What it says from now on: where a part of it did end, without that part.")
    ] = None,
) -> None:
    """Takes a decision back and prints the memory that counts now; it is not decided so again."""
    now, found = utc_now(), _named(decision, numbered_decisions(app, scope), "decision").one
    changes = {} if content is None else {"content": required_text(content, "--content")}
    order = RevertOrder(actor=_actor(scope), now=now, changes=changes)
    reverted = app.contradictions.reversal.revert(scope, found.id, order)
    write_json(memory_json(app.memories.store.one(scope, reverted.memory_id, now)))
    say("reverted")


@decisions.command()
def reapply(app: App, decision: DecisionId, scope: Scope) -> None:
    """Makes a decision again that was taken back, and prints the memory as the decision had left it."""
    now, found = utc_now(), _named(decision, numbered_decisions(app, scope), "decision").one
    made = app.contradictions.again.reapply(scope, found.id, RevertOrder(actor=_actor(scope), now=now))
    write_json(memory_json(app.memories.store.one(scope, made.memory_id, now)))
    say("reapplied")


@decisions.command()
def corrections(
    app: App,
    user: Annotated[str | None, typer.Option("--user", "-u", help="Whose; absent: every user of the tenant.")] = None,
    tenant: Tenant = LOCAL_TENANT,
) -> None:
    """Prints what was reverted and resolved as pairs for the judge's next training, as JSON Lines; sends nothing."""
    now, found = utc_now(), 0
    for scope in _users(app, tenant) if user is None else [scope_of(user, tenant=tenant)]:
        for page in pages(partial(_corrections, app, scope, now)):
            found += len(page.corrections)
            for one in page.corrections:
                write_json(one.document, indent=None)
    say(number_of(found, "pairs"))


def _corrections(app: App, scope: Scope, now: datetime, after: str | None) -> CorrectionPage:
    return app.contradictions.corrections.page(scope, _PAGE, after, now)


def _users(app: App, tenant: str) -> Iterator[Scope]:
    for page in pages(lambda after: app.timeline.known_users.page(tenant, _PAGE, after)):
        yield from (Scope(tenant, one) for one in page.user_ids)


@conflicts.command("list")
def list_conflicts(
    app: App,
    scope: Scope,
    status: Annotated[ConflictStatus | None, typer.Option(help="Only those.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists conflicts, those of the newest records first; with --json as JSON Lines.

    A conflict's number is its place among all of the user's, the oldest first; `resolve` takes it.
    """
    found = [one for one in numbered_conflicts(app, scope) if status in (None, one.one.status)]
    listed = [] if as_json else [one.one for one in found]
    words = {one.conflict.id: one for one in app.contradictions.telling.conflicts(scope, listed, utc_now())}
    by = app.contradictions.telling.settled_by(scope, listed)
    told = partial(_write_conflict, words, by)
    write_each("conflicts", found, as_json, _conflict_json, told)


def _conflict_json(one: Numbered[OpenConflict]) -> dict[str, Any]:
    return {"number": one.number, **conflict_json(one.one)}


def _decision_json(scope: Scope, one: Numbered[Decision]) -> dict[str, Any]:
    return {"number": one.number, **decision_json(scope, one.one)}


@conflicts.command()
def resolve(
    app: App,
    conflict: ConflictId,
    scope: Scope,
    keep: Annotated[Keep | None, typer.Option(help="The newer one counts, the older one, or both hold.")] = None,
    winner: Annotated[str | None, typer.Option(help="The id of the one that counts, instead of --keep.")] = None,
    older: Annotated[
        str | None, typer.Option(help="What the older one says from now on, so that both hold; instead of --keep.")
    ] = None,
) -> None:
    """Says which of the two counts, so that the other one is superseded by it, or that both hold."""
    found = _named(conflict, numbered_conflicts(app, scope), "conflict").one
    if sum(one is not None for one in (keep, winner, older)) != 1:
        raise InvalidInput("either --keep, --winner or --older says what counts")
    if older is not None:
        words = OlderWords(content=required_text(older, "--older"), actor=_actor(scope), accepts=_any)
        write_json(conflict_json(app.contradictions.resolution.amend_older(scope, found.id, words, utc_now())))
        say("resolved: both hold")
        return
    settled, decision_id = settle(app, scope, found, keep or _side(found, winner or ""), utc_now())
    write_json(conflict_json(settled))
    say("resolved: both hold" if decision_id is None else _what_holds(app, scope, decision_id))


def _what_holds(app: App, scope: Scope, decision_id: str) -> str:
    _, told = told_decision(app, scope, decision_id, utc_now())
    takes_back = f"`{revert_command(scope, decision_id)}` takes it back"
    return f"resolved: “{told.now}” holds, “{told.ended.words}” does not; {takes_back}"


@conflicts.command()
def reopen(app: App, conflict: ConflictId, scope: Scope) -> None:
    """Takes back that both hold: the conflict is open again."""
    found = _named(conflict, numbered_conflicts(app, scope), "conflict").one
    write_json(conflict_json(app.contradictions.resolution.reopen(scope, found.id, _actor(scope), utc_now())))
    say("open again")


def settle(
    app: App, scope: Scope, conflict: OpenConflict, keep: Keep, now: datetime
) -> tuple[OpenConflict, str | None]:
    """The conflict as it is settled, and the id of the decision, where there is one.

    Raises NotFound, and Conflict where it was settled otherwise or one of the two no longer counts.
    """
    use, settling = app.contradictions.resolution, Settling(actor=_actor(scope))
    if keep is Keep.BOTH:
        return use.keep_both(scope, conflict.id, settling.actor, now), None
    winner = conflict.newer if keep is Keep.NEW else conflict.older
    resolved = use.resolve(scope, conflict.id, winner, settling, now)
    return resolved.conflict, resolved.decision_id


def revert_command(scope: Scope, named: str | int) -> str:
    """What takes this decision back."""
    return f"recollect decisions revert {named} {options_of(scope)}"


def take_back(app: App, scope: Scope, decision: Decision, now: datetime) -> None:
    """Reverts the decision; one that was taken back stays so. Raises NotFound and Conflict."""
    app.contradictions.reversal.revert(scope, decision.id, RevertOrder(actor=_actor(scope), now=now, again=True))


def numbered_decisions(app: App, scope: Scope) -> list[Numbered[Decision]]:
    """All of the user's, the newest winning record first."""
    read = pages(lambda after: app.contradictions.decisions.page(scope, _PAGE, after, DecisionFilter()))
    return _numbered([one for page in read for one in page.decisions])


def told_decision(app: App, scope: Scope, decision_id: str, now: datetime) -> tuple[Numbered[Decision], ToldDecision]:
    """A decision of the user's with its number, and what it is about in words."""
    made = next(one for one in numbered_decisions(app, scope) if one.one.id == decision_id)
    (told,) = app.contradictions.telling.decisions(scope, [made.one], now)
    return made, told


def numbered_conflicts(app: App, scope: Scope) -> list[Numbered[OpenConflict]]:
    """All of the user's, those of the newest records first, numbered in the order in which they were opened."""
    now = utc_now()
    read = pages(lambda after: app.contradictions.conflicts.page(scope, _PAGE, after, None, now))
    return _numbered([one for page in read for one in page.conflicts])


def _numbered(found: Sequence[_One]) -> list[Numbered[_One]]:
    places = {one.id: n for n, one in enumerate(sorted(found, key=lambda one: (one.at, one.id)), start=1)}
    return [Numbered(places[one.id], one) for one in found]


def _named(given: str, found: Sequence[Numbered[_One]], noun: str) -> Numbered[_One]:
    by_number = {str(one.number): one for one in found}
    if given in by_number:
        return by_number[given]
    whole = whole_id(given, [one.one.id for one in found], noun)
    return next(one for one in found if one.one.id == whole)


def _side(conflict: OpenConflict, winner: str) -> Keep:
    whole = whole_id(winner, (conflict.newer, conflict.older), "side of the conflict")
    return Keep.NEW if whole == conflict.newer else Keep.OLD


def _left_at(found: Sequence[Numbered[Decision]]) -> dict[str, int]:
    """At which of these the list says what is left of a line by now: the first that holds, if one does."""
    holding = [one for one in found if one.one.status is DecisionStatus.APPLIED]
    return {one.one.loser: one.number for one in reversed([*holding, *found])}


def _write_decision(number: int, told: ToldDecision, left_at: Mapping[str, int]) -> None:
    decision, ended = told.decision, told.ended
    by = f"{decision.step.value}:{decision.rule}"
    about = f"{decision.outcome.value}  {by}  {_sure(decision.confidence)}  {decision.status.value}"
    _write_head(f"{number}  {decision.id}", decision.at, about)
    _write_words("now", told.now)
    _write_words("was", told.was)
    if not ended.whole or ended.since or ended.until:
        _write_words(when_ended(ended), ended.words)
    if told.left:
        at = left_at[decision.loser]
        _write_words("left of it by now", told.left if at == number else f"see {at}")


def when_ended(ended: Ending) -> str:
    """Since when words do not hold, or until when, where that was told; else that they ended."""
    since, until = (None if one is None else f"{one:%Y-%m-%d}" for one in (ended.since, ended.until))
    if until is not None:
        return f"not until {until}"
    return "ended" if since is None else f"no longer from {since}"


def _write_words(label: str, words: str) -> None:
    write_line(f"    {label}: {words}")


def _write_conflict(
    words: Mapping[str, ToldConflict], by: Mapping[str, Step | None], one: Numbered[OpenConflict]
) -> None:
    conflict, told = one.one, words[one.one.id]
    confidence = conflict.confidence if conflict.proposal is None else conflict.proposal.get("confidence")
    sure = "" if confidence is None else f"  {_sure(confidence)}"
    about = f"{conflict.status.value}  {conflict.step.value}:{conflict.rule}{sure}"
    _write_head(f"{one.number}  {conflict.id}", conflict.at, about)
    _write_words(_dated("newer", told.sides.newer), told.newer)
    _write_words(_dated("older", told.sides.older), told.older)
    if conflict.status is ConflictStatus.SETTLED:
        settled_so = _how_said(conflict, by[conflict.id]) if conflict.id in by else _how_by_itself(conflict)
        _write_words("settled", settled_so)
    elif told.doubted is not None:
        _write_words("in doubt", "all of the older" if told.doubted.whole else told.doubted.words)


def _dated(side: str, said: Said | None) -> str:
    return side if said is None else f"{side}, {said.at:%Y-%m-%d}"


def _how_said(conflict: OpenConflict, by: Step | None) -> str:
    if conflict.winner is None:
        return "both hold, as was said"
    side = "newer" if conflict.winner == conflict.newer else "older"
    return f"the {side} counts, as {'the language model' if by is Step.MODEL else 'a person'} said"


def _how_by_itself(conflict: OpenConflict) -> str:
    """Nobody had to say it: something else has ended a side, or its words in doubt."""
    if conflict.winner is None:
        return "by itself, neither counts any more"
    if conflict.winner == conflict.older:
        return "by itself, the newer no longer counts"
    return f"by itself, the older{', or what of it was in doubt,' if conflict.ended else ''} no longer counts"


def _sure(confidence: float) -> str:
    return f"{100 * confidence:.0f} % sure"


def _write_head(record_id: str, at: datetime, about: str) -> None:
    write_line(Text(f"{record_id}  {at:%Y-%m-%d %H:%M}  ", style="dim").append(about, style="not dim"))


def _any(_version: int) -> bool:
    return True


def _actor(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)
