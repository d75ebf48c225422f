"""A model answers in steps of bounded prompts; each answer is validated, each sentence sourced."""

import hashlib
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count

from recollect.context.model_call import ModelRequest, Task
from recollect.context.rendering import Fence, fence_for
from recollect.core.errors import NotReady, OutOfTime, RecollectError, Unavailable, UpstreamFailed
from recollect.core.event import QUOTING_MODEL, Event, EventRef, Source
from recollect.core.ids import IdSeed
from recollect.ports import Model
from recollect.summaries.choosing import TOKENS_OF_CHOICE, Choice, numbered
from recollect.summaries.goals import Goal, NamedGoal, TrackedGoal, find_goal, merge_goals
from recollect.summaries.model_answer import (
    Fault,
    SummaryAnswer,
    SummaryMaterial,
    evidence_of,
    in_steps,
    read_summary_answer,
    summary_messages,
)
from recollect.summaries.sentence_sources import SentenceSources, Witness, witness_of
from recollect.summaries.summary import SummarySentence
from recollect.text.sentences import split_sentences

TRIES = 3
_FEWEST_SECONDS = 2.0
_MOST_SECONDS = 120.0
_TOKENS_PER_WORD = 4
_TOKENS_OF_GOALS = 1_500


@dataclass(frozen=True, slots=True, kw_only=True)
class SummaryTask:
    """The text to continue, how long it may get, the ids of new goals and fences, the time.

    `choosable`: of which messages the model is asked whether to remember them; None where it is not asked.
    """

    earlier: tuple[SummarySentence, ...]
    goals: tuple[Goal, ...]
    persona_id: str | None
    max_words: int
    seed: IdSeed
    remaining_seconds: Callable[[], float]
    tenant: str = ""
    choosable: Callable[[Event], bool] | None = None


@dataclass(slots=True)
class Draft:
    """A summary in the making: the text, the named goals with their sources, and the last message covered.

    `refs` and `said` have the places and the words of the messages that were read, by their ids.
    `earlier` are the sentences that it began with; `complete`: nothing was left out for want of time; `inferred`: a
    model took part. `chosen` are the messages that models would remember, by the models' names, and `unusable` counts
    what else they named.
    """

    text: str
    sentences: tuple[SummarySentence, ...]
    earlier: tuple[SummarySentence, ...]
    named: list[NamedGoal] = field(default_factory=list)
    refs: dict[str, EventRef] = field(default_factory=dict)
    said: dict[str, str] = field(default_factory=dict)
    until: EventRef | None = None
    model: str = ""
    complete: bool = True
    inferred: bool = False
    chosen: dict[str, list[EventRef]] = field(default_factory=dict)
    unusable: Counter[str] = field(default_factory=Counter)

    def chose(self, model: str, choice: Choice) -> None:
        """Adds what a model chose in one step."""
        if choice.messages:
            self.chosen.setdefault(model, []).extend(event.ref for event in choice.messages)
        self.unusable.update(choice.unusable)


class UnusableAnswers(Exception):
    """The cause of a model's failure: `faults` counts its answers by what was wrong with them."""

    def __init__(self, faults: Counter[str]) -> None:
        super().__init__(", ".join(faults))
        self.faults = faults


class MakeSummary:
    """Asks the model, as often as the messages need steps; stores nothing."""

    def __init__(self, model: Model) -> None:
        self._model = model

    def make(self, task: SummaryTask, messages: Iterable[Event]) -> Draft | None:
        """The draft; None where there is no message to cover.

        Where the time ends after a step or more, the draft ends with what these steps covered: `until`. Raises
        UpstreamFailed where the model fails, or none of three answers in a row can be used, and OutOfTime before the
        first step is done.
        """
        draft = Draft(" ".join(one.text for one in task.earlier), task.earlier, task.earlier)
        for number, step in enumerate(in_steps(messages)):
            if number and task.remaining_seconds() < _FEWEST_SECONDS:
                draft.complete = False
                break
            self._step(task, draft, step, number)
        return draft if draft.until else None

    def _step(self, task: SummaryTask, draft: Draft, step: tuple[Event, ...], number: int) -> None:
        goals = tuple(merge_goals(task.goals, draft.named, _no_ids(), task.persona_id))
        asked_of = numbered(step, task.choosable)
        material = SummaryMaterial(earlier=draft.sentences, goals=goals, messages=step, numbered=asked_of)
        fence = _fence(task.seed, number)
        answer, draft.model = self._answer(task, material, fence)
        sources = SentenceSources([*(witness_of(one) for one in draft.sentences), *map(_witness, step)])
        draft.text = answer.summary
        draft.sentences = sources.attribute(split_sentences(answer.summary))
        source = Source.CONVERSATION if draft.model == QUOTING_MODEL else Source.INFERRED
        if source is Source.INFERRED:
            draft.inferred = True
            draft.chose(draft.model, answer.choice)
        stored = frozenset(goal.id for goal in task.goals)
        draft.named += [_named(goal, goals, stored, sources, source) for goal in answer.tracked_goals]
        draft.refs |= {event.id: event.ref for event in step}
        draft.said |= {event.id: event.content for event in step}
        draft.until = step[-1].ref

    def _answer(self, task: SummaryTask, material: SummaryMaterial, fence: Fence) -> tuple[SummaryAnswer, str]:
        faults: Counter[str] = Counter()
        fault: Fault | None = None
        for _ in range(TRIES):
            text, model = self._ask(task, material, fence, fault)
            answer = read_summary_answer(text, task.max_words, material.numbered)
            if isinstance(answer, SummaryAnswer):
                return answer, model
            fault = answer
            faults[fault.value] += 1
        raise UpstreamFailed(f"{self._model.name} gave no usable summary in {TRIES} tries") from UnusableAnswers(faults)

    def _ask(self, task: SummaryTask, material: SummaryMaterial, fence: Fence, fault: Fault | None) -> tuple[str, str]:
        seconds = min(_MOST_SECONDS, task.remaining_seconds())
        if seconds < _FEWEST_SECONDS:
            raise OutOfTime("no time is left for the model")
        request = ModelRequest(
            task=Task.SUMMARIZE,
            messages=summary_messages(material, fence, task.max_words, fault),
            evidence=evidence_of(material),
            seconds=seconds,
            max_tokens=_most_tokens(task, material),
            max_words=task.max_words,
            json_answer=True,
            tenant=task.tenant,
        )
        try:
            answer = self._model.generate(request)
        except NotReady:
            raise
        except (Unavailable, UpstreamFailed) as error:
            raise UpstreamFailed(f"{self._model.name} failed: {type(error).__name__}") from error
        return answer.text, answer.model


def _most_tokens(task: SummaryTask, material: SummaryMaterial) -> int:
    chosen = TOKENS_OF_CHOICE if material.numbered else 0
    return _TOKENS_PER_WORD * task.max_words + _TOKENS_OF_GOALS + chosen


def _named(
    tracked: TrackedGoal, goals: Sequence[Goal], stored: frozenset[str], sources: SentenceSources, source: Source
) -> NamedGoal:
    """A stored goal keeps its wording: the sources are that wording's."""
    meant = find_goal(goals, tracked.goal)
    if meant is None:
        return NamedGoal(goal=tracked, wording=tracked.goal, sources=sources.of_goal(tracked.goal), source=source)
    stored_id, found = meant.id if meant.id in stored else None, sources.of_stored_goal(meant.goal)
    return NamedGoal(goal=tracked, wording=meant.goal, sources=found, stored_id=stored_id, source=source)


def _witness(event: Event) -> Witness:
    return Witness(f"{event.speaker or ''}\n{event.searchable_text}", (event.id,))


def _fence(seed: IdSeed, number: int) -> Fence:
    """The seed has 62 random bits that no stored text can know."""
    return fence_for(hashlib.sha256(f"fence {number} {seed.encode()}".encode()).hexdigest()[:32])


def _no_ids() -> Iterator[str]:
    # Goals that are not stored yet: a model sees no ids.
    return (f"new {number}" for number in count(1))


def failure_of(error: RecollectError) -> dict[str, int]:
    """What is recorded of a failure: kinds and their counts."""
    cause = error.__cause__
    return dict(cause.faults) if isinstance(cause, UnusableAnswers) else {type(cause or error).__name__: 1}
