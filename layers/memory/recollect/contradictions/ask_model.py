"""A configured language model is asked about the conflicts that the judge left open (P-24): on schedule, never while a
request or a projection waits.

Each conflict is asked about a few times at most. Before each call it is put off, so that two processes ask about it
once, and one that ends half-way leaves it due again. Where the model fails, gives no usable answer, or is not sure,
both memories stay and the conflict is open, as without a model.
"""

from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field, replace
from datetime import datetime, timedelta

from recollect.context.model_call import ModelAnswer, ModelRequest, Task
from recollect.context.rendering import Fence
from recollect.contradictions.candidates import CurrentRecord, CurrentRecords
from recollect.contradictions.decisions import (
    TO_ASK,
    ConflictStatus,
    OpenConflict,
    Step,
    conflict_in,
    conflict_write,
)
from recollect.contradictions.ledger import current_state
from recollect.contradictions.opinion import Dated, Holds, Opinion, opinion_messages, read_opinion
from recollect.contradictions.resolve import ResolveConflict, Settling
from recollect.core.errors import Conflict, NotFound, VersionMismatch
from recollect.core.items import DueItem, Item, pages
from recollect.core.scope import Scope
from recollect.memories.audit import Actor, ActorKind
from recollect.ports import Items, Model
from recollect.rules.groups import Rules

CALL_SECONDS = 20.0
RESERVE_SECONDS = CALL_SECONDS + 5.0
MOST_TRIES = 5
MOST_CALLS = 50
"""Of one run."""

_ANSWER_TOKENS = 100
_FIRST_PAUSE = timedelta(minutes=15)
_PAGE, _MOST_PAGES = 100, 1_000
_ASKED = Actor(ActorKind.JOB, "ask_model")

Fences = Callable[[], Fence]
"""A fence with a new nonce for each call."""


@dataclass(slots=True)
class OpinionRun:
    """What a run did, with what it cost: calls, the tokens of both directions as the provider counts them.

    `settled`: the older one is over. `stood`: both hold. `unsure`: left open for a person. `unusable`: the answer was
    not what was asked for; `failed` counts by class of error. Both are asked about again, a few times.
    """

    calls: int = 0
    settled: int = 0
    stood: int = 0
    unsure: int = 0
    unusable: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    failed: Counter[str] = field(default_factory=Counter)

    @property
    def counts(self) -> dict[str, int]:
        """For a log line and metrics."""
        names = ("calls", "settled", "stood", "unsure", "unusable", "input_tokens", "output_tokens")
        return {name: getattr(self, name) for name in names} | {"failed": self.failed.total()}

    def paid(self, answer: ModelAnswer) -> None:
        """Counts an answer's tokens."""
        self.input_tokens += answer.input_tokens or 0
        self.output_tokens += answer.output_tokens or 0


@dataclass(frozen=True, slots=True)
class _Question:
    """A conflict whose records both count, as its item is now; `least` is the confidence that settles it."""

    owner: Scope
    conflict: OpenConflict
    version: int
    older: CurrentRecord
    newer: CurrentRecord
    least: float


@dataclass(eq=False)
class AskAboutConflicts:
    """Raises as `Items.due`; one conflict's failure stops no other."""

    _items: Items
    _current: CurrentRecords
    _resolve: ResolveConflict
    _model: Model
    _rules_of: Callable[[str], Rules]
    _fence: Fences

    def run(self, clock: Callable[[], datetime], remaining_seconds: Callable[[], float]) -> OpinionRun:
        """Begins no call with less than 25 s left."""
        run, started = OpinionRun(), clock()
        for page in pages(lambda after: self._items.due(TO_ASK, started, _PAGE, after), _MOST_PAGES):
            for due in page.items:
                if remaining_seconds() < RESERVE_SECONDS or run.calls >= MOST_CALLS:
                    return run
                self._one(due, clock(), run)
        return run

    def _one(self, due: DueItem, now: datetime, run: OpinionRun) -> None:
        try:
            question = self._question(due, now)
            if question is not None:
                self._answered(question, self._asked(question, run), now, run)
        except (VersionMismatch, Conflict, NotFound):
            return  # another process, a person or a deletion was first
        except Exception as error:  # noqa: BLE001 - one conflict's failure, a defect too, must not starve the others
            run.failed[type(error).__name__] += 1

    def _question(self, due: DueItem, now: datetime) -> _Question | None:
        """None where there is nothing to ask any more; else the conflict is put off first."""
        item = self._items.get(due.owner, [due.key]).get(due.key)
        if item is None or item.due is None or item.due.at > now:
            return None
        conflict = conflict_in(item.value)
        current = self._current.read(due.owner, (conflict.newer, conflict.older), now)
        rules = self._rules_of(due.owner.tenant).conflict
        over = current_state(conflict, current).status is ConflictStatus.SETTLED
        if over or conflict.asked >= MOST_TRIES or rules.auto_apply == "off":
            self._written(due.owner, conflict, item.version, now)
            return None
        asked = replace(conflict, asked=conflict.asked + 1)
        version = self._written(due.owner, asked, item.version, now, _FIRST_PAUSE * 2**conflict.asked)
        return _Question(due.owner, asked, version, current[conflict.older], current[conflict.newer], rules.settle)

    def _asked(self, question: _Question, run: OpinionRun) -> ModelAnswer:
        run.calls += 1
        older, newer = (_dated(one) for one in (question.older, question.newer))
        request = ModelRequest(
            task=Task.JUDGE,
            messages=opinion_messages(older, newer, self._fence()),
            seconds=CALL_SECONDS,
            max_tokens=_ANSWER_TOKENS,
            json_answer=True,
            tenant=question.owner.tenant,
        )
        answer = self._model.generate(request)
        run.paid(answer)
        return answer

    def _answered(self, question: _Question, answer: ModelAnswer, now: datetime, run: OpinionRun) -> None:
        opinion, conflict = read_opinion(answer.text), question.conflict
        if opinion is None:
            run.unusable += 1
        elif opinion.holds is Holds.IN_PART or opinion.confidence < question.least:
            run.unsure += 1
            self._written(question.owner, conflict, question.version, now)
        elif opinion.holds is Holds.BOTH:
            run.stood += 1
            settled = replace(conflict, status=ConflictStatus.SETTLED, step=Step.MODEL, rule=answer.model)
            self._written(question.owner, settled, question.version, now)
        else:
            self._resolve.resolve(question.owner, conflict.id, conflict.newer, _settling(answer, opinion), now)
            run.settled += 1

    def _written(
        self, owner: Scope, conflict: OpenConflict, version: int, now: datetime, pause: timedelta | None = None
    ) -> int:
        """The new version; without a pause nobody is asked again."""
        write = conflict_write(conflict, version, now + pause if pause is not None else None)
        (item,) = self._items.write(owner, [write], now)
        return item.version if isinstance(item, Item) else version


def _settling(answer: ModelAnswer, opinion: Opinion) -> Settling:
    reason = f"{answer.model} was asked: {opinion.holds.value}, sure to {opinion.confidence:.2f}"
    return Settling(
        actor=_ASKED, step=Step.MODEL, rule=answer.model, reason=reason, confidence=round(opinion.confidence, 4)
    )


def _dated(record: CurrentRecord) -> Dated:
    content = record.stored.memory.content if record.stored is not None else record.event.content
    return Dated(content, record.said_at)
