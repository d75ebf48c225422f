"""Makes the summary of a user and a persona when it is due, once, however many try (P-5, P-21, H-31).

The state is read, then the timeline, which decides what is due. A lease in the state bars other makers. Summary, goals
and state are written atomically, conditional on the state. Whatever fails before that leaves the trigger unchanged.
"""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from recollect.core.errors import Conflict, OutOfTime, RecollectError, UpstreamFailed, VersionMismatch
from recollect.core.event import EventRef
from recollect.core.idempotency import retry_on_conflict
from recollect.core.ids import IdSeed
from recollect.core.items import ABSENT, Item, ItemWrite
from recollect.core.scope import Scope
from recollect.core.time import iso
from recollect.deletion.suppression import Rejections, SuppressionList
from recollect.memories.audit import Action, Actor, ActorKind, AuditEntry, audit_write
from recollect.memories.promotion import KeptChoice
from recollect.ports import Items, Model, Timeline
from recollect.rules.groups import SummaryRules
from recollect.summaries.choosing import Remember
from recollect.summaries.draft import Draft, MakeSummary, SummaryTask, failure_of
from recollect.summaries.goals import Goal, GoalSources, NamedGoal, merge_goals
from recollect.summaries.late import MOST_COVERED
from recollect.summaries.model_answer import MOST_TRACKED
from recollect.summaries.reading import Found, ReadBacklog
from recollect.summaries.storage import (
    GOALS,
    LONGEST_LEASE,
    Lease,
    SummaryState,
    failures_key,
    failures_with,
    goal_in,
    goal_write,
    key_of,
    state_in,
    state_key,
    state_write,
    summary_key,
    summary_writes,
)
from recollect.summaries.summary import Reason, Summary, Trigger, place, summary_from, trigger

IDS = 200
"""Ids of the seed that a summary may use: its own, then those of new goals; the last two are the audit's."""

VIA = "summarize"
_MOST_GOALS_SHOWN = 50
_LEASE_MARGIN = timedelta(seconds=5)
_NOTHING_TO_QUOTE = timedelta(days=1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryOrder:
    """When, by which rules, with which ids (`IDS` of them), in how much time; `force` makes one before it is due.

    A retry with the same seed finds what the first try stored.
    """

    now: datetime
    rules: SummaryRules
    seed: IdSeed
    remaining_seconds: Callable[[], float]
    force: bool = False


@dataclass(frozen=True, slots=True)
class SummaryMade:
    """The summary that was stored, and what became of the messages that the model chose to remember."""

    summary: Summary
    choice: KeptChoice = field(default_factory=KeptChoice)


@dataclass(frozen=True, slots=True)
class NotDue:
    """Nothing was due: messages and days since the last summary, or since the first message."""

    messages_since: int
    days_since: float


@dataclass(frozen=True, slots=True)
class _Work:
    scope: Scope
    order: SummaryOrder
    state: SummaryState
    found: Found
    due: Trigger


class Summarize:
    """The use case behind `POST …/summaries` and the scheduled run. `scope` without a persona: the default one.

    With `remember` the model is asked too which messages to remember.
    """

    def __init__(self, timeline: Timeline, items: Items, model: Model, remember: Remember | None = None) -> None:
        self._items = items
        self._read = ReadBacklog(timeline, items)
        self._gate = SuppressionList(items)
        self._make = MakeSummary(model)
        self._remember = remember

    def summarize(self, scope: Scope, order: SummaryOrder) -> SummaryMade | NotDue:
        """Makes a summary if one is due, or forced. Household plays no part.

        Raises Conflict while another maker holds the lease, UpstreamFailed where the model fails or none of its answers
        can be used, OutOfTime; then nothing is stored but a count of the failure.
        """

        def attempt() -> _Work | SummaryMade | NotDue:
            item = self._state_item(scope)
            state = state_in(item, scope.persona_id)
            if state.last and state.last.id == order.seed.nth(0):
                return self._made_before(scope, state)
            if state.lease and state.lease.holds(order.now) and not _is_mine(state, order):
                raise Conflict("a summary of this user and persona is being made")
            found = self._read.read(scope, state, order.now)
            due = trigger(found.backlog, order.rules, order.now, force=order.force)
            if due is None:
                return self._not_due(scope, order, item, found)
            self._lease(scope, order, item, state)
            return _Work(scope, order, state, found, due)

        begun = retry_on_conflict(attempt, "the state of the summaries")
        return self._run(begun) if isinstance(begun, _Work) else begun

    def _run(self, work: _Work) -> SummaryMade | NotDue:
        try:
            draft = self._draft(work)
            if draft is None:
                return self._without_text(work)
            choice = self._keep(work, draft)  # first: what a summary covers no model is asked about again
            return SummaryMade(self._store(work, draft), choice)
        except (Exception, KeyboardInterrupt, SystemExit) as error:
            self._let_go(work, error)
            raise

    def _draft(self, work: _Work) -> Draft | None:
        earlier = self._last(work.scope, work.state)
        task = SummaryTask(
            earlier=earlier.sentences if earlier else (),
            goals=tuple(self._goals(work.scope)),
            persona_id=work.scope.persona_id,
            max_words=work.order.rules.max_words,
            seed=work.order.seed,
            remaining_seconds=work.order.remaining_seconds,
            tenant=work.scope.tenant,
            choosable=self._remember.choosable(work.scope.tenant) if self._remember else None,
        )
        rejections = self._gate.load(work.scope)
        covers = work.due.covers[:MOST_COVERED]
        messages = self._read.messages(work.scope, covers, work.found.events, work.order.now)
        draft = self._make.make(task, (one for event in messages if (one := rejections.shown(event)) is not None))
        if draft is not None:
            draft.complete &= len(covers) == len(work.due.covers)
        return draft

    def _keep(self, work: _Work, draft: Draft) -> KeptChoice:
        """Makes memories of what the models chose; a failure is the summary's, so that the next run does both."""
        kept = KeptChoice()
        if self._remember is not None:
            for model, refs in draft.chosen.items():
                kept += self._remember.keep(work.scope.user, refs, model, work.order.now)
        if draft.unusable:
            self._count(work, draft.unusable)
        return kept

    def _store(self, work: _Work, draft: Draft) -> Summary:
        def attempt() -> Summary:
            item = self._state_item(work.scope)
            state = state_in(item, work.scope.persona_id)
            if not _is_mine(state, work.order):
                raise Conflict("somebody else has begun to make this summary")
            rejections, goals = self._gate.load(work.scope), self._goals(work.scope)
            lost = self._lost_meanwhile(work, draft, rejections)
            merged = [goal for goal in self._merged(work, draft, goals, lost) if rejections.admits_goal(goal)]
            places = [draft.refs[event_id] for event_id in lost if event_id in draft.refs]
            covered = _covered(work, draft)
            summary = rejections.summary(self._summary(work, draft, merged, covered).without(lost, places))
            changed = [goal for goal in merged if goal not in goals][:MOST_TRACKED]
            after = _after(work, draft, state, summary, covered)
            writes = [
                state_write(after, work.order.rules, work.order.now, item.version if item else ABSENT),
                *summary_writes(summary, covered),
                *(goal_write(goal) for goal in changed),
                *_audit_writes(work, draft, changed),
            ]
            self._items.write(work.scope.user, writes, work.order.now)
            return summary

        return retry_on_conflict(attempt, "the state of the summaries")

    def _merged(self, work: _Work, draft: Draft, stored: Sequence[Goal], lost: frozenset[str]) -> list[Goal]:
        ids = (work.order.seed.nth(number) for number in range(1, IDS))
        still = [left for named in draft.named if (left := _supported(named, stored, lost)) is not None]
        return merge_goals(stored, still, ids, work.scope.persona_id)

    def _summary(self, work: _Work, draft: Draft, goals: Sequence[Goal], covered: Sequence[EventRef]) -> Summary:
        until = max(covered[-1], work.state.covered or covered[-1], key=place)  # what came late moves it never back
        created_at = max([work.order.now, *([work.state.last.created_at] if work.state.last else [])])
        return Summary(
            id=work.order.seed.nth(0),
            text=draft.text,
            sentences=draft.sentences,
            tracked_goals=tuple(goal.tracked for goal in goals[-_MOST_GOALS_SHOWN:]),
            message_count=len(covered),
            covered_from=covered[0].timestamp,
            covered_until=until.timestamp,
            covered_until_id=until.id,
            created_at=created_at,
            reason=work.due.reason,
            model=draft.model,
            persona_id=work.scope.persona_id,
        )

    def _lost_meanwhile(self, work: _Work, draft: Draft, rejections: Rejections) -> frozenset[str]:
        """What was deleted, or holds no more in the words that were read."""
        earlier = self._last(work.scope, work.state)
        still = frozenset(earlier.source_event_ids if earlier else ())
        redacted = frozenset(source for one in draft.earlier for source in one.source_event_ids) - still
        refs = [draft.refs[event_id] for event_id in sorted(_needed(draft) & draft.refs.keys())]
        found = self._read.messages(work.scope, refs, {}, work.order.now)
        held = {one.id: one.content for event in found if (one := rejections.shown(event)) is not None}
        return redacted | frozenset(ref.id for ref in refs if held.get(ref.id) != draft.said[ref.id])

    def _not_due(self, scope: Scope, order: SummaryOrder, item: Item | None, found: Found) -> NotDue:
        """Corrects the count, and where to look for late ones, unless another writer changed the state just now."""
        counted = min(found.backlog.messages_since, order.rules.messages - 1)
        state = state_in(item, scope.persona_id)
        after = replace(state, hint=counted, lease=None, late=state.late if found.backlog.late else None)
        if item and after != state:
            write = state_write(after, order.rules, order.now, item.version)
            with suppress(VersionMismatch):
                self._items.write(scope.user, [write], order.now)
        return _nothing_due(found, order)

    def _without_text(self, work: _Work) -> NotDue:
        """All due messages are superseded: there is nothing to say until a new one, or a day later."""
        self._change(work, lambda state: replace(state, lease=None, retry_at=work.order.now + _NOTHING_TO_QUOTE))
        return _nothing_due(work.found, work.order)

    def _let_go(self, work: _Work, error: BaseException) -> None:
        """Ends the lease and counts the failure, without text; if that fails too, the lease lapses by itself."""
        by_itself = work.due.reason is not Reason.FORCED
        try:
            self._change(work, lambda state: state.failed(work.order.now, by_itself))
            if isinstance(error, UpstreamFailed | OutOfTime):
                self._count(work, failure_of(error))
        except RecollectError:
            return

    def _count(self, work: _Work, kinds: Mapping[str, int]) -> None:
        key, now = failures_key(work.scope.persona_id), work.order.now
        known = self._items.get(work.scope.user, [key]).get(key)
        counts = failures_with(known.value if known else {}, kinds, iso(now))
        self._items.write(work.scope.user, [ItemWrite(key, counts)], now)

    def _change(self, work: _Work, changed: Callable[[SummaryState], SummaryState]) -> None:
        def attempt() -> None:
            item = self._state_item(work.scope)
            state = state_in(item, work.scope.persona_id)
            if item is not None and _is_mine(state, work.order):
                write = state_write(changed(state), work.order.rules, work.order.now, item.version)
                self._items.write(work.scope.user, [write], work.order.now)

        with suppress(Conflict):  # the lease lapses by itself
            retry_on_conflict(attempt, "the state of the summaries")

    def _lease(self, scope: Scope, order: SummaryOrder, item: Item | None, state: SummaryState) -> None:
        until = order.now + min(timedelta(seconds=order.remaining_seconds()) + _LEASE_MARGIN, LONGEST_LEASE)
        leased = replace(state, lease=Lease(order.seed.nth(0), until))
        write = state_write(leased, order.rules, order.now, item.version if item else ABSENT)
        self._items.write(scope.user, [write], order.now)

    def _state_item(self, scope: Scope) -> Item | None:
        key = state_key(scope.persona_id)
        return self._items.get(scope.user, [key]).get(key)

    def _goals(self, scope: Scope) -> list[Goal]:
        goals = [goal_in(item) for item in self._items.page(scope.user, GOALS, 1000, None).items]
        return [goal for goal in goals if goal.persona_id == scope.persona_id]

    def _last(self, scope: Scope, state: SummaryState) -> Summary | None:
        if state.last is None:
            return None
        key = summary_key(scope.persona_id, state.last.key)
        item = self._items.get(scope.user, [key]).get(key)
        return summary_from(item.value) if item else None

    def _made_before(self, scope: Scope, state: SummaryState) -> SummaryMade:
        """An earlier try with the same seed stored it."""
        summary = self._last(scope, state)
        if summary is None:
            raise Conflict("the summary that this request made was deleted since")
        return SummaryMade(summary)


def _nothing_due(found: Found, order: SummaryOrder) -> NotDue:
    return NotDue(found.backlog.messages_since, found.backlog.days_since(order.now))


def _is_mine(state: SummaryState, order: SummaryOrder) -> bool:
    return state.lease is not None and state.lease.holder == order.seed.nth(0)


def _covered(work: _Work, draft: Draft) -> tuple[EventRef, ...]:
    if draft.complete or draft.until is None:
        return work.due.covers
    return tuple(ref for ref in work.due.covers if place(ref) <= place(draft.until))


def _after(
    work: _Work, draft: Draft, state: SummaryState, summary: Summary, covered: Sequence[EventRef]
) -> SummaryState:
    """Of an incomplete draft only what it covers was seen, so that the rest stays due.

    What was noted meanwhile may have come late: then the next run looks there again, and finds in the lists what is
    covered by now.
    """
    fresh, since = work.found.backlog.uncovered, work.state
    newest = fresh[-1] if fresh else since.seen or summary.covered
    after = state.summarized(summary, key_of(summary), newest if draft.complete else summary.covered, since.hint)
    left = 0 if draft.complete else len(work.found.backlog.all) - len(covered)
    looked_through = draft.complete and state.hint == since.hint
    return replace(after, hint=after.hint + left, late=None if looked_through else state.late)


def _needed(draft: Draft) -> set[str]:
    """The events that must still exist; all of them where the sources of something are unknown."""
    known = [one.supported for one in draft.sentences]
    known += [named.sources.supported for named in draft.named if named.stored_id is None]
    if not all(known):
        return set(draft.refs)
    sentences = (source for one in draft.sentences for source in one.source_event_ids)
    return {*sentences, *(source for named in draft.named for source in named.sources.event_ids)}


def _audit_writes(work: _Work, draft: Draft, changed: Sequence[Goal]) -> list[ItemWrite]:
    """An entry of the new goals, and one of the changed ones; with ids that no goal can have."""
    actor = Actor(ActorKind.MODEL if draft.inferred else ActorKind.JOB, VIA)
    made = tuple(goal.id for goal in changed if not goal.version)
    patched = tuple(goal.id for goal in changed if goal.version)
    entries = ((Action.CREATE, made, IDS - 1), (Action.PATCH, patched, IDS - 2))
    return [
        audit_write(
            AuditEntry(
                id=work.order.seed.nth(place),
                at=work.order.now,
                actor=actor,
                action=action,
                target_ids=ids,
                via=VIA,
                rule=draft.model,
            )
        )
        for action, ids, place in entries
        if ids
    ]


def _supported(named: NamedGoal, stored: Sequence[Goal], lost: frozenset[str]) -> NamedGoal | None:
    if named.stored_id is not None and all(goal.id != named.stored_id for goal in stored):
        return None  # deleted while the model was at work
    if not named.sources.supported:
        return None if lost and named.stored_id is None else named
    left = named.sources.without(lost)
    if left is None:
        return None if named.stored_id is None else replace(named, sources=GoalSources(supported=False))
    return replace(named, sources=left)
