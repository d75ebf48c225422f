"""A user's memory and conversation, and what came of the last step of a scenario."""

from dataclasses import dataclass, replace
from datetime import timedelta
from typing import Any

from embedded.setting import ANNA, NOON, Memory, with_parts
from embedded.turning import Talk
from recollect.context.build import ContextAnswer
from recollect.context.turn import TurnAnswer
from recollect.core.errors import RecollectError
from recollect.core.event import Event
from recollect.core.ids import IdSeed
from recollect.core.scope import Scope
from recollect.timeline.record import EventDraft

LONG_AGO = NOON - timedelta(days=60)


@dataclass
class World:
    """A memory, the user's talk with it, and what came of the last thing done."""

    memory: Memory
    talk: Talk
    stored: Event | None = None
    context: ContextAnswer | None = None
    answer: TurnAnswer | None = None
    failure: RecollectError | None = None
    said: tuple[str, IdSeed] | None = None
    earlier: int = 0

    def replace_parts(self, **parts: Any) -> None:
        """Other parts in these places; what is stored stays."""
        self.talk = replace(self.talk, memory=with_parts(self.talk.memory, **parts))

    def store(self, draft: EventDraft, scope: Scope = ANNA) -> Event:
        """Ingests it into a conversation of long ago."""
        (result,) = self.memory.add(draft, scope=scope, conversation="long ago").results
        assert result.event is not None
        return result.event

    def say(self, text: str, seed: IdSeed | None = None, resumed: bool = False) -> None:
        """One turn, a minute after the last."""
        self.said = (text, seed or self.talk.seed())
        try:
            self.answer = self.talk.say(text, self.said[1], resumed)
            self.context = self.answer.context
        except RecollectError as error:
            self.failure = error
        self.go_on(timedelta(minutes=1))

    def go_on(self, time: timedelta) -> None:
        """Time goes by."""
        self.memory.now += time
        self.talk.memory.now = self.memory.now

    @property
    def shown(self) -> ContextAnswer:
        """The last context."""
        assert self.context is not None, self.failure
        return self.context

    @property
    def prompt(self) -> str:
        """Its text."""
        return self.shown.prompt.text

    def by_section(self, section: str) -> list[str]:
        """The contents that a source chose."""
        return [chosen.item.content for chosen in self.shown.prompt.memories if chosen.section.value == section]
