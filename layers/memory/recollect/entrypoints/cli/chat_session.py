"""A talk with a memory in the terminal: what was said in it, and what its messages ended and put in doubt."""

import secrets
import time
from dataclasses import dataclass, field
from datetime import datetime

from recollect.app import App
from recollect.context.build import ContextRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, TurnAnswer, TurnRequest
from recollect.contradictions.decisions import ConflictStatus, Decision, DecisionStatus, OpenConflict, Step
from recollect.contradictions.ledger import DecisionFilter
from recollect.core.errors import InvalidInput, TurnUnanswered
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.entrypoints.cli.decisions import Numbered, numbered_conflicts, numbered_decisions
from recollect.entrypoints.tools.registry import TurnTools
from recollect.retrieval.filters import SearchFilters

LINE_BYTES = 64 * 1024
_SECONDS_BESIDE_THE_MODEL = 10.0
_NEWEST = 20


@dataclass(slots=True)
class ToldNumbers:
    """The ids of what a session told, by the number under which it did: that stays, whatever is decided since."""

    ids: dict[int, str] = field(default_factory=dict)

    def of(self, place: int, one_id: str) -> int:
        """That under which it is told from now on: its place, unless another one was told under that."""
        told = next((number for number, known in self.ids.items() if known == one_id), None)
        taken = self.ids.get(place, one_id) != one_id
        number = told or (max(self.ids) + 1 if taken else place)
        self.ids[number] = one_id
        return number


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
    decided: ToldNumbers = field(default_factory=ToldNumbers)
    doubted: ToldNumbers = field(default_factory=ToldNumbers)

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

    def fresh_decisions(self) -> list[Numbered[Decision]]:
        """What its messages have ended, and nobody was told yet; what a person decided is known."""
        applied = DecisionFilter(status=DecisionStatus.APPLIED)
        page = self.app.contradictions.decisions.page(self.scope, _NEWEST, None, applied)
        own = {one.id for one in page.decisions if one.winner in self.inputs and one.step is not Step.USER}
        fresh = own - self.told
        self.told |= fresh
        found = [one for one in numbered_decisions(self.app, self.scope) if one.one.id in fresh] if fresh else []
        return [Numbered(self.number(one), one.one) for one in sorted(found, key=lambda one: one.number)]

    def number(self, decision: Numbered[Decision]) -> int:
        """That under which the session tells the decision."""
        return self.decided.of(decision.number, decision.one.id)

    def decision(self, number: int | None) -> Decision | None:
        """The decision of that number; without one the only one that this session told."""
        found = {one.one.id: one for one in numbered_decisions(self.app, self.scope)}
        if number is None:
            (named, *others) = [*self.decided.ids.values()] or [""]
            return found[named].one if named in found and not others else None
        places = {one.number: i for i, one in found.items()}
        named = self.decided.ids.get(number) or places.get(number) or ""
        return found[named].one if named in found and self._may_take_back(found[named].one) else None

    def _may_take_back(self, decision: Decision) -> bool:
        """In a labelled session what its own messages decided alone."""
        return self.labels == NO_LABELS or decision.id in self.decided.ids.values()

    def fresh_doubts(self, now: datetime) -> list[Numbered[OpenConflict]]:
        """What its messages have put in doubt and nobody was told yet, the newest first."""
        page = self.app.contradictions.conflicts.page(self.scope, _NEWEST, None, ConflictStatus.OPEN, now)
        fresh = {one.id for one in page.conflicts if one.newer in self.inputs} - self.told
        self.told |= fresh
        return [one for one in self.open_doubts() if one.one.id in fresh] if fresh else []

    def open_doubts(self) -> list[Numbered[OpenConflict]]:
        """All that waits for a person's word, the newest first; of a labelled session what its own messages opened."""
        found = numbered_conflicts(self.app, self.scope)
        waiting = [one for one in found if one.one.status is ConflictStatus.OPEN]
        own = [one for one in waiting if self.labels == NO_LABELS or one.one.newer in self.inputs]
        return [Numbered(self.doubted.of(one.number, one.one.id), one.one) for one in own]

    def meant(self, number: int | None) -> list[Numbered[OpenConflict]]:
        """The doubt of that number; without one those that this session told, or all."""
        found = self.open_doubts()
        if number is not None:
            return [one for one in found if one.number == number]
        return [one for one in found if one.one.id in self.told] or found

    def _request(self, line: str, now: datetime) -> TurnRequest:
        if len(line.encode()) > LINE_BYTES:
            raise InvalidInput(f"a line has at most {LINE_BYTES} bytes")
        question = ContextQuestion(
            text=line, filters=SearchFilters(now=now), conversation_id=self.conversation_id, store=self.store
        )
        context = ContextRequest(question=question, fence=fence_for(secrets.token_hex(16)), web_search=self.web_search)
        seconds = self.app.settings.model_timeout_seconds + _SECONDS_BESIDE_THE_MODEL
        return TurnRequest(context=context, seconds=seconds, labels=self.labels)
