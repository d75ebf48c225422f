"""The turn: one line of the user's in, an answer out, and both stored (K-74 to K-80).

The input is stored before anything that can fail; then the context is built, the model asked, its tool calls executed,
and its answer stored under the tags of the input. A retry with the same seed uses the same ids.
"""

import hashlib
import json
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from typing import Any, Protocol

from recollect.context.budget import check_input
from recollect.context.build import BuildContext, ContextAnswer, ContextRequest
from recollect.context.model_call import Evidence, ModelAnswer, ModelRequest, Task
from recollect.context.rendering import render_messages
from recollect.context.selection import ContextItem
from recollect.core.errors import Conflict, OutOfTime, RecollectError, TurnUnanswered, UpstreamFailed
from recollect.core.event import ANSWERED_BY, Event, Role, Session
from recollect.core.ids import IdSeed
from recollect.core.learned_share import SURELY_ASKS, LearnedShare
from recollect.core.scope import NO_LABELS, Labels, Scope
from recollect.memories.memory import MemoryStatus
from recollect.memories.representation import EndedWords
from recollect.ports import Model, Timeline
from recollect.retrieval.filters import narrowed_to
from recollect.retrieval.second_stage import RELEVANCE
from recollect.rules.groups import Rules
from recollect.rules.importance import extract_tags
from recollect.rules.use_cases import GivenRules, settled
from recollect.timeline.ingest import IngestEvents, IngestResult, IngestStatus
from recollect.timeline.record import EventDraft
from recollect.tool_calls.protocol import ReadingPolicy, ToolCall, defused, read_tool_calls, without_quoted_calls
from recollect.usage import Counted, uncounted

MOST_CALLS = 8
RESPONSE_BYTES = 64 * 1024
_FIRST_CALL = 2  # after the input and the conversation
_IDS_OF_A_CALL = 4
_RESPONSE = _FIRST_CALL + MOST_CALLS * _IDS_OF_A_CALL
IDS_OF_A_TURN = _RESPONSE + 2
_TAIL_MASK = (1 << 62) - 1
_STORING_SECONDS = 1.5  # of the turn's time, reserved for storing the response
_LEAST_SECONDS = 0.25


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnRequest:
    """The input with its context request, and the seconds that the whole turn may take.

    Without a conversation in the question a new one begins. Input and answer have `labels`, and the context is of what
    these admit alone. `resumed`: an earlier try used the same ids, and this one
    goes on from there.
    """

    context: ContextRequest
    seconds: float
    labels: Labels = NO_LABELS
    resumed: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class ExecutedCall:
    """A model's call and its outcome; `message` is a sentence for a person.

    `tool` is None where no tool has that name: the model's text is not repeated. `result` is what the caller sees.
    """

    call: ToolCall
    tool: str | None
    status: str
    message: str
    result: Mapping[str, Any]


class Tools(Protocol):
    """What a model may call."""

    @property
    def instructions(self) -> str | None:
        """How a model calls them; None: nothing is said."""

    def execute(self, scope: Scope, call: ToolCall, seed: IdSeed, now: datetime, conversation_id: str) -> ExecutedCall:
        """Does what is asked, or says why not: never raises for what the model wrote."""


@dataclass(frozen=True, slots=True, kw_only=True)
class TurnAnswer:
    """The response with its event's id (None where its text is a rejected value and was not stored).

    `context` is None where an earlier try had stored the response already.
    """

    conversation_id: str
    response: str
    model: str
    input_event_id: str
    response_event_id: str | None
    context: ContextAnswer | None
    tool_calls: tuple[ExecutedCall, ...] = ()
    quoted_calls: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class _Turn:
    scope: Scope
    request: TurnRequest
    seed: IdSeed
    now: datetime
    rules: Rules
    deadline: float
    session: Session
    input_event_id: str

    @property
    def conversation_id(self) -> str:
        return self.session.conversation_id


class TakeTurn:
    """The use case behind `POST /v1/turns` and `recollect chat`.

    `model` is made when it is needed: one that cannot be made must not cost the user's words (K-77). What only asks, as
    `asks` tells from its vector, is no evidence.
    """

    def __init__(
        self,
        ingest: IngestEvents,
        context: BuildContext,
        timeline: Timeline,
        model: Callable[[], Model],
        asks: LearnedShare | None = None,
        clock: Callable[[], float] = time.monotonic,
        counted: Counted = uncounted,
    ) -> None:
        self._ingest = ingest
        self._context = context
        self._timeline = timeline
        self._model = model
        self._asks = asks
        self._clock = clock
        self._counted = counted

    def take(
        self, scope: Scope, request: TurnRequest, seed: IdSeed, now: datetime, given_rules: GivenRules, tools: Tools
    ) -> TurnAnswer:
        """Takes the turn. `seed` has `IDS_OF_A_TURN` ids.

        Raises InvalidInput where the input alone exceeds the budget and Conflict where its value was rejected, both
        with nothing stored; TurnUnanswered where the input is stored and there is no answer.
        """
        deadline = self._clock() + request.seconds
        rules = settled(given_rules)
        check_input(request.context.question.text, request.context.token_budget)
        turn = self._begin(scope, request, seed, now, rules, deadline)
        try:
            return (self._earlier_answer(turn) if request.resumed else None) or self._answer(turn, tools)
        except RecollectError as error:
            raise TurnUnanswered(_public_reason(error), error, turn.conversation_id, turn.input_event_id) from error

    def _begin(
        self, scope: Scope, request: TurnRequest, seed: IdSeed, now: datetime, rules: Rules, deadline: float
    ) -> _Turn:
        question = request.context.question
        drafts = [EventDraft(content=question.text, labels=request.labels)]
        ingested = self._ingest.ingest(scope, question.conversation_id, drafts, seed, now, rules)
        stored = ingested.results[0]
        if stored.event_id is None or stored.status is IngestStatus.REFUSED:
            raise Conflict("the input's value was rejected: it is stored nowhere, so that no turn can begin with it")
        return _Turn(
            scope=scope,
            request=request,
            seed=seed,
            now=now,
            rules=rules,
            deadline=deadline,
            session=_joined(Session(ingested.conversation_id), stored),
            input_event_id=stored.event_id,
        )

    def _earlier_answer(self, turn: _Turn) -> TurnAnswer | None:
        event = self._timeline.find(turn.scope, seed_of_response(turn.seed).nth(0))
        return answer_of(event, turn.input_event_id) if event else None

    def _answer(self, turn: _Turn, tools: Tools) -> TurnAnswer:
        context = self._context.build(turn.scope, _context_request(turn, tools), turn.rules)
        answered = self._ask(turn.scope.tenant, context, turn.deadline - self._clock() - _STORING_SECONDS)
        self._counted(turn.scope.tenant, 1)
        text, quoted = without_quoted_calls(_bounded(answered.text), _sent(context, turn.request.context))
        asked = read_tool_calls(text, ReadingPolicy(dual=True))
        executed = _executed(turn, asked.calls, tools)
        response = _response(asked.text, executed)
        return TurnAnswer(
            conversation_id=turn.conversation_id,
            response=response,
            model=answered.model,
            input_event_id=turn.input_event_id,
            response_event_id=self._store_response(turn, response, answered.model),
            context=context,
            tool_calls=executed,
            quoted_calls=quoted,
        )

    def _ask(self, tenant: str, context: ContextAnswer, seconds: float) -> ModelAnswer:
        """Sends the whole context (K-79). Raises OutOfTime, or UpstreamFailed for whatever else fails."""
        if seconds < _LEAST_SECONDS:
            raise OutOfTime("no time is left for the model")
        request = ModelRequest(
            task=Task.CONVERSE,
            messages=context.messages.messages,
            evidence=_evidence(context, self._asks),
            user_input=context.messages.parts.user_input,
            seconds=seconds,
            tenant=tenant,
        )
        try:
            return self._model().generate(request)
        except (OutOfTime, UpstreamFailed):
            raise
        except RecollectError as error:
            raise UpstreamFailed("the model does not answer") from error

    def _store_response(self, turn: _Turn, response: str, model: str) -> str | None:
        """Under the tags of the input (K-75), as a model's words and no user's."""
        tags = extract_tags(turn.request.context.question.text, turn.rules)
        draft = EventDraft(
            content=response,
            role=Role.BOT,
            tags=tags,
            metadata={ANSWERED_BY: model},
            labels=turn.request.labels,
        )
        seed = seed_of_response(turn.seed)
        result = self._ingest.ingest(turn.scope, turn.conversation_id, [draft], seed, turn.now, turn.rules).results[0]
        _joined(turn.session, result)
        return None if result.status is IngestStatus.REFUSED else result.event_id


def seed_of_call(seed: IdSeed, position: int, call: ToolCall) -> IdSeed:
    """For what the call at that position (from 0) stores.

    It depends on the call: a retry in which the model asks for something else must not meet the ids of its first wish
    and take that for done.
    """
    words = json.dumps([seed.encode(), call.tool, call.action, dict(call.parameters)], sort_keys=True)
    tail = int.from_bytes(hashlib.sha256(words.encode()).digest()[:8], "big") & _TAIL_MASK
    return IdSeed(seed.tick + _FIRST_CALL + min(position, MOST_CALLS - 1) * _IDS_OF_A_CALL, tail)


def seed_of_response(seed: IdSeed) -> IdSeed:
    """For the response: after the ids of all calls."""
    return IdSeed(seed.tick + _RESPONSE, seed.tail)


def _joined(session: Session, result: IngestResult) -> Session:
    return session.joined_by(result.event) if result.event is not None else session


def answer_of(response: Event, input_event_id: str) -> TurnAnswer:
    """The answer of a stored response, without the context that it was made from."""
    return TurnAnswer(
        conversation_id=response.conversation_id,
        response=response.content,
        model=str(response.metadata.get(ANSWERED_BY, "unknown")),
        input_event_id=input_event_id,
        response_event_id=response.id,
        context=None,
    )


def _context_request(turn: _Turn, tools: Tools) -> ContextRequest:
    request = turn.request.context
    filters = replace(request.question.filters, **narrowed_to(turn.request.labels))
    question = replace(
        request.question, filters=filters, conversation_id=turn.conversation_id, input_event_id=turn.input_event_id
    )
    return replace(request, question=question, tools=tools.instructions)


def _evidence(context: ContextAnswer, asks: LearnedShare | None) -> tuple[Evidence, ...]:
    """What holds and does not only ask. What no search found, such as a wish, is shown and answers nothing.

    No tool block in it is whole: a provider that answers by quoting must not call anything by it.
    """
    parts = context.messages.parts
    found = (selected.item for selected in parts.memories if selected.item.score is not None)
    shown: dict[str, ContextItem] = {item.identity: item for item in found}
    shown |= {item.identity: held for item in parts.raw_window if (held := _that_holds(context, item)) is not None}
    in_order = sorted(shown.values(), key=lambda item: (item.timestamp, item.id))
    return tuple(_as_evidence(context, item) for item in in_order if not _only_asks(context, item, asks))


def _as_evidence(context: ContextAnswer, item: ContextItem) -> Evidence:
    found = context.found.get(item.id)
    signals, score = (found.ranked.signals, found.ranked.score) if found is not None else ({}, None)
    newer = next((side for side in context.disputes.sides.get(item.identity, ()) if side.newer), None)
    return Evidence(
        event_id=item.id,
        text=defused(item.content),
        role=item.role,
        timestamp=item.timestamp,
        speaker=item.speaker,
        similarity=signals.get("similarity"),
        relevance=signals.get(RELEVANCE),
        against=replace(newer, words=defused(newer.words)) if newer is not None else None,
        score=score,
        ended=tuple(map(_defused, context.disputes.ended.get(item.identity, ()))),
        in_doubt=tuple(map(_defused, context.disputes.in_doubt.get(item.identity, ()))),
    )


def _defused(ended: EndedWords) -> EndedWords:
    return replace(ended, words=defused(ended.words), instead=defused(ended.instead) if ended.instead else None)


def _that_holds(context: ContextAnswer, item: ContextItem) -> ContextItem | None:
    """A message of the raw window, where everything stands as it was said, in the words that hold."""
    memory = context.gathered.recalled.memories.get(item.id)
    if memory is None or memory.id != item.id:
        return item
    return replace(item, content=memory.content) if memory.status is MemoryStatus.ACTIVE else None


def _only_asks(context: ContextAnswer, item: ContextItem, asks: LearnedShare | None) -> bool:
    found = context.found.get(item.id)
    vector = found.ranked.candidate.vector if found is not None and item.role == Role.USER else None
    return asks is not None and vector is not None and asks.of(vector) >= SURELY_ASKS


def _sent(context: ContextAnswer, request: ContextRequest) -> list[str]:
    """All that others wrote: not our own instructions, which show how to call."""
    others = replace(context.messages.parts, instructions=False)
    return [message.content for message in render_messages(others, request.fence, request.question.now)]


def _bounded(text: str) -> str:
    return text.encode("utf-8", "replace")[:RESPONSE_BYTES].decode("utf-8", "ignore")


def _response(text: str, executed: Sequence[ExecutedCall]) -> str:
    said = text.strip() or "\n".join(one.message for one in executed).strip()
    if not said:
        raise UpstreamFailed("the model's answer is empty")
    return said


def _executed(turn: _Turn, calls: Sequence[ToolCall], tools: Tools) -> tuple[ExecutedCall, ...]:
    done = [
        tools.execute(turn.scope, call, seed_of_call(turn.seed, place, call), turn.now, turn.conversation_id)
        for place, call in enumerate(calls[:MOST_CALLS])
    ]
    return (*done, *(_one_too_many(call) for call in calls[MOST_CALLS:]))


def _one_too_many(call: ToolCall) -> ExecutedCall:
    message = f"not executed: an answer has at most {MOST_CALLS} tool calls"
    result = {"ok": False, "status": "refused", "message": message}
    return ExecutedCall(call=call, tool=None, status="refused", message=message, result=result)


def _public_reason(error: RecollectError) -> str:
    # A provider's own message may quote what it was sent.
    if isinstance(error, OutOfTime):
        return "the input is stored; the time was used up before there was an answer"
    if isinstance(error, UpstreamFailed):
        return "the input is stored; the model failed"
    return "the input is stored; a part of the service does not answer"
