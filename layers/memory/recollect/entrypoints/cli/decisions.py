"""`recollect decisions` and `conflicts`: what was decided between memories, and what is still open."""

from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from functools import partial
from typing import Annotated, Any, TypeAlias

import typer
from rich.text import Text

from recollect.app import App
from recollect.contradictions.corrections import CorrectionPage
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, OpenConflict, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.contradictions.resolve import RevertOrder, Settling
from recollect.core.errors import InvalidInput, NotFound
from recollect.core.scope import Scope
from recollect.core.time import utc_now
from recollect.entrypoints.cli.commands import LOCAL_TENANT, AsJson, CommandGroup, Tenant, scope_of
from recollect.entrypoints.cli.console import one_line, pages, say, write_each, write_json, write_line
from recollect.entrypoints.http.representations import memory_json
from recollect.entrypoints.http.routes.contradictions import conflict_json, decision_json
from recollect.memories.audit import Actor, ActorKind

_PAGE = 200
_SHOWN_OF_DECISION = 120
_UNSEEN = "(gone)"

decisions = CommandGroup(help="What was decided between memories, and why.", no_args_is_help=True)
conflicts = CommandGroup(help="Memories of which no rule can tell which counts.", no_args_is_help=True)


class Keep(StrEnum):
    """What a person says of an open conflict."""

    NEW = "new"
    OLD = "old"
    BOTH = "both"


@dataclass(frozen=True, slots=True)
class Numbered:
    """A conflict with its place among all of the user's, from 1 for the one of the oldest records.

    So it keeps its number when others are settled, and when new ones come.
    """

    number: int
    conflict: OpenConflict


ConflictId: TypeAlias = Annotated[
    str, typer.Argument(metavar="CONFLICT", help="Its number, as `list` shows it, or its id or how that begins.")
]


@decisions.command("list")
def list_decisions(
    app: App,
    scope: Scope,
    status: Annotated[DecisionStatus | None, typer.Option(help="Only those.")] = None,
    step: Annotated[Step | None, typer.Option(help="Only what this decided.")] = None,
    as_json: AsJson = False,
) -> None:
    """Lists decisions, what the newest records won first; with --json as JSON Lines."""
    found = _decisions(app, scope, DecisionFilter(status=status, step=step))
    shape, show = partial(decision_json, scope), partial(_write_decision, app, scope)
    write_each("decisions", found, as_json, shape, show)


@decisions.command()
def revert(
    app: App,
    decision_id: Annotated[str, typer.Argument(help="The decision's id, as `list` shows it, or how it begins.")],
    scope: Scope,
) -> None:
    """Takes a decision back and prints the memory that counts now; it is not decided so again."""
    now, ids = utc_now(), (one.id for one in _decisions(app, scope, DecisionFilter()))
    whole = _whole(decision_id, ids, "decision")
    reverted = app.contradictions.reversal.revert(scope, whole, RevertOrder(actor=_actor(scope), now=now))
    write_json(memory_json(app.memories.store.one(scope, reverted.memory_id, now)))
    say("reverted")


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
    say(f"{found} pairs")


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
    found = (one for one in numbered_conflicts(app, scope) if status in (None, one.conflict.status))
    write_each("conflicts", found, as_json, _numbered_json, partial(_write_conflict, app, scope))


def _numbered_json(one: Numbered) -> dict[str, Any]:
    return {"number": one.number, **conflict_json(one.conflict)}


@conflicts.command()
def resolve(
    app: App,
    conflict: ConflictId,
    scope: Scope,
    keep: Annotated[Keep | None, typer.Option(help="The newer one counts, the older one, or both hold.")] = None,
    winner: Annotated[str | None, typer.Option(help="The id of the one that counts, instead of --keep.")] = None,
) -> None:
    """Says which of the two counts, so that the other one is superseded by it, or that both hold."""
    found = _named(conflict, numbered_conflicts(app, scope)).conflict
    if (keep is None) is (winner is None):
        raise InvalidInput("either --keep or --winner says which one counts")
    settled, decision_id = settle(app, scope, found, keep or _side(found, winner or ""), utc_now())
    write_json(conflict_json(settled))
    say("resolved" if decision_id is None else f"resolved; `recollect decisions revert {decision_id}` takes it back")


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


def numbered_conflicts(app: App, scope: Scope) -> list[Numbered]:
    """All of the user's, those of the newest records first."""
    now = utc_now()
    found = [
        one
        for page in pages(lambda after: app.contradictions.conflicts.page(scope, _PAGE, after, None, now))
        for one in page.conflicts
    ]
    return [Numbered(number, one) for number, one in zip(range(len(found), 0, -1), found, strict=True)]


def _named(given: str, found: Sequence[Numbered]) -> Numbered:
    by_number = {str(one.number): one for one in found}
    if given in by_number:
        return by_number[given]
    whole = _whole(given, [one.conflict.id for one in found], "conflict")
    return next(one for one in found if one.conflict.id == whole)


def _whole(given: str, ids: Iterable[str], noun: str) -> str:
    """The id that is given, or the only one that begins so. Raises NotFound, InvalidInput where several do."""
    matching = [one for one in ids if given and one.startswith(given)]
    if given in matching:
        return given
    if len(matching) == 1:
        return matching[0]
    if not matching:
        raise NotFound(f"no such {noun}")
    raise InvalidInput(f"{len(matching)} {noun}s begin so: name more of the id")


def _side(conflict: OpenConflict, winner: str) -> Keep:
    whole = _whole(winner, (conflict.newer, conflict.older), "side of the conflict")
    return Keep.NEW if whole == conflict.newer else Keep.OLD


def _decisions(app: App, scope: Scope, wanted: DecisionFilter) -> Iterator[Decision]:
    for page in pages(lambda after: app.contradictions.decisions.page(scope, _PAGE, after, wanted)):
        yield from page.decisions


def _write_decision(app: App, scope: Scope, decision: Decision) -> None:
    by = f"{decision.step.value}:{decision.rule}"
    about = f"{decision.outcome.value}  {by}  {_sure(decision.confidence)}  {decision.status.value}"
    _write_head(decision.id, decision.at, about)
    write_line(f"    now: {words_of(app, scope, decision.winner)}")
    before, left = _said(app, scope, decision.loser), words_of(app, scope, decision.loser)
    write_line(f"    was: {before}")
    if left != before:
        write_line(f"    left of it: {left}")


def _write_conflict(app: App, scope: Scope, one: Numbered) -> None:
    conflict = one.conflict
    confidence = conflict.confidence if conflict.proposal is None else conflict.proposal.get("confidence")
    sure = "" if confidence is None else f"  {_sure(confidence)}"
    about = f"{conflict.status.value}  {conflict.step.value}:{conflict.rule}{sure}"
    _write_head(f"{one.number}  {conflict.id}", conflict.at, about)
    for record_id in (conflict.newer, conflict.older):
        chosen = "  *" if record_id == conflict.winner else "   "
        write_line(f"{chosen} {record_id}  {words_of(app, scope, record_id)}")


def _sure(confidence: float) -> str:
    return f"{100 * confidence:.0f} % sure"


def _write_head(record_id: str, at: datetime, about: str) -> None:
    write_line(Text(f"{record_id}  {at:%Y-%m-%d %H:%M}  ", style="dim").append(about, style="not dim"))


def _said(app: App, scope: Scope, record_id: str) -> str:
    """The words of its event, whatever was cut out of its memory since; of a record without one its memory's."""
    with suppress(NotFound):
        return one_line(app.timeline.listing.one(scope, record_id, utc_now()).content, _SHOWN_OF_DECISION)
    return words_of(app, scope, record_id)


def words_of(app: App, scope: Scope, record_id: str) -> str:
    """The content of its memory; of its event where it is none."""
    return told(app, scope, record_id)[0]


def told(app: App, scope: Scope, record_id: str) -> tuple[str, datetime | None]:
    """The same, and when it was said; None where it is gone."""
    for one in (app.memories.store.one, app.timeline.listing.one):
        with suppress(NotFound):
            found = one(scope, record_id, utc_now())
            return one_line(found.content, _SHOWN_OF_DECISION), found.timestamp
    return _UNSEEN, None


def _actor(scope: Scope) -> Actor:
    return Actor(ActorKind.USER, scope.user_id)
