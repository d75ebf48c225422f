"""Which messages state something that lasts: of those whose importance words alone gave, only they become memories."""

from collections.abc import Iterable

from recollect.core.event import Event, EventType, Role
from recollect.memories.promotion import passes
from recollect.ports import PairModel
from recollect.rules.groups import Rules
from recollect.rules.importance import score

LEAST_LASTING = 0.25
"""The probability of lasting from which on a message may become a memory (docs/memories.md has what it keeps out)."""


class WorthKeeping:
    """Asks the judge's first look. Without a model everything is worth keeping."""

    def __init__(self, model: PairModel | None) -> None:
        self._model = model

    def passing_only(self, events: Iterable[Event], rules: Rules) -> frozenset[str]:
        """The ids of those that state nothing lasting ("I'm always happy to help"). Raises NotReady.

        What a caller called important, or a task, is not asked about; an assistant's words state nothing of a user.
        """
        doubtful = [one for one in events if _by_words_alone(one, rules)]
        if self._model is None or not doubtful:
            return frozenset()
        asked = [one for one in doubtful if one.role is not Role.BOT]
        shares = self._model.worth_keeping([one.content for one in asked])
        kept = {one.id for one, share in zip(asked, shares, strict=True) if share >= LEAST_LASTING}
        return frozenset(one.id for one in doubtful) - kept


def _by_words_alone(event: Event, rules: Rules) -> bool:
    plain = event.key is None and event.event_type is EventType.CONVERSATION and passes(event, rules.bridge)
    return plain and event.importance == score(event.content, event.content_type, rules)
