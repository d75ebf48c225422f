"""Search: the use case behind `POST /v1/search`."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace

from recollect.core.errors import Unavailable, UpstreamFailed
from recollect.core.event import Event, EventRef
from recollect.core.scope import Scope
from recollect.memories.memory import Memory
from recollect.memories.representation import as_it_stands
from recollect.retrieval.filters import DropReason, drop_reason
from recollect.retrieval.pipeline import Recalled, RecallRequest, SearchPipeline
from recollect.retrieval.ranking import Mode, Ranked
from recollect.retrieval.reasons import because
from recollect.retrieval.second_stage import READ_TOGETHER, SecondStage
from recollect.usage import Counted, uncounted


@dataclass(frozen=True, slots=True)
class SearchResult:
    """One record, why it is there, and its place (from 1); `memory` where one was made of it.

    `replaces` are the older records whose place it takes.
    """

    event: Event
    memory: Memory | None
    ranked: Ranked
    place: int
    replaces: tuple[EventRef, ...] = ()

    def because(self, asked: str) -> str:
        """Why it answers that question, in a sentence."""
        content = self.memory.content if self.memory else self.event.content
        replaces, speaker = bool(self.replaces), self.event.speaker
        return because(self.ranked, asked, content, speaker=speaker, replaces=replaces, place=self.place)


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchDiagnostics:
    """Counts over what was considered (A-30); `exact` is False where they do not cover the whole scope.

    `missing` names parts that did not answer, `fallback` what was used instead. `pending` counts the user's events that
    wait to be projected; `tail_cut`: they are more than the newest 100, and in the cloud `pending` is then a lower
    bound.
    """

    matched_count: int
    filtered_count: int
    returned_count: int
    dropped: Mapping[DropReason, int]
    exact: bool
    fallback: str | None
    missing: tuple[str, ...]
    tail: int
    tail_cut: bool
    pending: int


@dataclass(frozen=True, slots=True)
class SearchAnswer:
    """Results best first, and what happened on the way; `near_misses` follow, their places go on."""

    results: tuple[SearchResult, ...]
    diagnostics: SearchDiagnostics
    near_misses: tuple[SearchResult, ...] = ()


class SearchMemory:
    """Runs the pipeline and, where it is asked for, the second stage; cuts to the places asked for, counts."""

    def __init__(self, pipeline: SearchPipeline, second_stage: SecondStage, counted: Counted = uncounted) -> None:
        self._pipeline = pipeline
        self._second_stage = second_stage
        self._counted = counted

    def search(self, scope: Scope, request: RecallRequest) -> SearchAnswer:
        """At most `request.wanted` results, ordered by score, ties newer first (A-25). Raises NotReady."""
        rerank = request.rerank and self._second_stage.reads
        wanted = max(request.wanted, READ_TOGETHER) if rerank else request.wanted
        asked = replace(request, wanted=wanted, as_question=True)
        recalled = self._pipeline.conclude(self._pipeline.begin(scope, asked))
        if rerank:
            recalled = self._read_together(recalled)
        ranked, behind = recalled.ranked[: request.wanted], recalled.ranked[request.wanted :]
        near = (*behind, *recalled.near_misses)[: request.near_misses]
        shown = [_result(recalled, one, at) for at, one in enumerate((*ranked, *near), start=1)]
        results, near_misses = tuple(shown[: len(ranked)]), tuple(shown[len(ranked) :])
        self._counted(scope.tenant, 1)
        return SearchAnswer(results, diagnose(scope, request, recalled, len(results)), near_misses)

    def _read_together(self, recalled: Recalled) -> Recalled:
        """In the second stage's order; where its model is away, in the first's, and that is said."""
        try:
            ordered = self._second_stage.ordered(recalled.query, recalled.ranked, recalled.text, as_of_now=True)
        except (Unavailable, UpstreamFailed):
            return replace(recalled, missing=(*recalled.missing, "rerank"))
        return replace(recalled, ranked=ordered)


def diagnose(scope: Scope, request: RecallRequest, recalled: Recalled, returned: int) -> SearchDiagnostics:
    """The engine's tally, plus the tail where it does not count it, less what read-back dropped.

    An engine that counts the tail counts records without a vector as below the threshold: those vectors are made at
    read.
    """
    considered, dropped, exact = _tally(recalled)
    dropped += Counter(recalled.dropped.values())
    if recalled.nominations is None or not recalled.nominations.includes_tail:
        reasons = [drop_reason(scope, event, request.filters) for event in recalled.tail_events]
        considered += len(reasons)
        dropped += Counter(reason for reason in reasons if reason is not None)
        dropped[DropReason.THRESHOLD] += recalled.tail_unmatched if request.min_similarity is not None else 0
        exact = exact and not reasons
    elif request.min_similarity is not None and request.mode is not Mode.LEXICAL:
        dropped[DropReason.THRESHOLD] -= min(recalled.tail_matched, dropped[DropReason.THRESHOLD])
    dropped[DropReason.SUPERSEDED] -= min(recalled.recovered, dropped[DropReason.SUPERSEDED])
    _count_as_matched(dropped, returned - (considered - dropped.total()))
    filtered = min(dropped.total(), considered)
    return SearchDiagnostics(
        matched_count=considered - filtered,
        filtered_count=filtered,
        returned_count=returned,
        dropped={reason: count for reason, count in dropped.items() if count},
        exact=exact,
        fallback=recalled.fallback,
        missing=recalled.missing,
        tail=len(recalled.tail_events),
        tail_cut=recalled.tail_cut,
        pending=recalled.pending,
    )


def _result(recalled: Recalled, ranked: Ranked, place: int) -> SearchResult:
    event = recalled.events[ranked.candidate.ref.id]
    memory = recalled.memories.get(event.id)
    replaces = recalled.replaces.get(memory.id if memory else event.id, ())
    return SearchResult(event, as_it_stands(memory, event) if memory else None, ranked, place, replaces)


def _count_as_matched(dropped: Counter[DropReason], missing: int) -> None:
    """A result was matched, though the index may lack its vector, or its predecessor was nominated."""
    for reason in (DropReason.SUPERSEDED, DropReason.THRESHOLD):
        back = min(max(missing, 0), dropped[reason])
        dropped[reason] -= back
        missing -= back


def _tally(recalled: Recalled) -> tuple[int, Counter[DropReason], bool]:
    tally = recalled.nominations.tally if recalled.nominations else None
    if tally is None:
        return len(recalled.ranked) + len(recalled.dropped), Counter(), False
    return tally.considered, Counter(tally.dropped), tally.exact
