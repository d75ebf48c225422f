"""Turns of a memory with a model, a web search and tools that do as a test says."""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from embedded.setting import ANNA, Memory, with_parts
from embedded.summarizing import Said
from embedded.summarizing import ScriptedModel as ScriptedModel
from recollect.context.build import ContextRequest
from recollect.context.model_call import ModelRequest
from recollect.context.rendering import fence_for
from recollect.context.sources import ContextQuestion
from recollect.context.turn import IDS_OF_A_TURN, ExecutedCall, TurnAnswer, TurnRequest
from recollect.core.event import Event
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.retrieval.filters import SearchFilters, TimeWindow
from recollect.timeline.timeline import WindowQuery
from recollect.tool_calls.protocol import ToolCall

SECONDS = 30.0


@dataclass
class NotedTools:
    """Executes nothing, and keeps what it was to execute."""

    instructions: str | None = "You can call tools."
    calls: list[ToolCall] = field(default_factory=list)
    seeds: list[IdSeed] = field(default_factory=list)

    def execute(self, scope: Scope, call: ToolCall, seed: IdSeed, now: datetime, conversation_id: str) -> ExecutedCall:
        self.calls.append(call)
        self.seeds.append(seed)
        return ExecutedCall(call=call, tool=call.tool, status="done", message="It is done.", result={"ok": True})


@dataclass
class Talk:
    """A user's conversation with the memory; the id is brought back with every turn (K-61)."""

    memory: Memory
    model: ScriptedModel
    scope: Scope = ANNA
    tools: NotedTools = field(default_factory=NotedTools)
    conversation_id: str | None = None

    def seed(self) -> IdSeed:
        return self.memory.app.ids.seed(int(self.memory.now.timestamp() * 1000), IDS_OF_A_TURN)

    def say(self, text: str, seed: IdSeed | None = None, resumed: bool = False, **changes: Any) -> TurnAnswer:
        """One turn; `changes` are fields of the context's request."""
        app, memory = self.memory.app, self.memory
        question = ContextQuestion(
            text=text, filters=SearchFilters(now=memory.now), conversation_id=self.conversation_id
        )
        seconds = changes.pop("seconds", SECONDS)
        context = ContextRequest(question=question, fence=fence_for("f" * 32), **changes)
        request = TurnRequest(context=context, seconds=seconds, resumed=resumed)
        rules = app.rules.resolved(self.scope.tenant)
        answer = app.context.turn.take(self.scope, request, seed or self.seed(), memory.now, rules, self.tools)
        self.conversation_id = answer.conversation_id
        return answer

    def stored(self) -> list[Event]:
        """The user's events in the order in which they were said."""
        query = WindowQuery(now=self.memory.now, window=TimeWindow(), limit=100)
        return list(reversed(self.memory.app.timeline.listing.window(self.scope, query).events))

    def contents(self) -> list[tuple[str, str]]:
        """Role and content of each."""
        return [(event.role.value, event.content) for event in self.stored()]


def talk(memory: Memory, *says: Said, **parts: Any) -> Talk:
    """A talk with a model that says these things; `parts` replaces others of the app's."""
    model = ScriptedModel(list(says) or ["I see."])
    return Talk(with_parts(memory, model=model, **parts), model)


def sent(request: ModelRequest) -> str:
    """All that a model was sent, as one text."""
    return "\n".join(message.content for message in request.messages)
