"""Namespaces of records: the labels that they are kept below, and which actor they name.

An actor's id may have slashes, so that it is several parts of a namespace. In a strategy's namespace only `{actorId}`
may be several; where that leaves a choice, those decide who have said something. Slashes around a namespace make no
difference.
"""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from recollect.core.errors import InvalidInput
from recollect.entrypoints.http.agentcore.memories import AgentMemory
from recollect.entrypoints.http.agentcore.wire import Kept, conversation_of, label, short_digest, user_of
from recollect.items.item import MOST_LABELS, ItemPlace, Namespace, NamespacedItem
from recollect.items.use_cases import Get

_VARIABLE = re.compile(r"\\\{(\w+)\\\}")
_ACTOR = "{actorId}"
_UNMADE = ("SUMMARIZATION",)
"""Kinds of strategies whose namespaces show nothing but what is put there."""


@dataclass(frozen=True, slots=True)
class Source:
    """A strategy's namespace of an actor: what it shows are our memories of that user."""

    strategy: str
    namespace: str
    actor: str
    session: str | None = None

    @property
    def conversation(self) -> str | None:
        """Ours of the session that the namespace names."""
        return None if self.session is None else conversation_of(self.session)


def path_of(namespace: str) -> str:
    """A namespace without a slash before it and behind it."""
    return namespace.removeprefix("/").removesuffix("/")


def labels_of(memory: AgentMemory, namespace: str) -> Namespace:
    """Where the records of a namespace are. Raises InvalidInput for one of too many parts."""
    parts = path_of(namespace).split("/")
    labels = memory.at("records", *(label(part) for part in parts if part))
    if len(labels) > MOST_LABELS or len(parts) > MOST_LABELS:
        raise InvalidInput(f"at most {MOST_LABELS - 3} parts", ("namespace",))
    return labels


def owner_of(kept: Kept, memory: AgentMemory, namespace: str) -> str | None:
    """The user whose a record there is: the actor whom a strategy's namespace names, else one whose name is in it.

    Where a strategy's names `anna/notes`, who has said nothing, and `anna` has, it is `anna`.
    """
    named, inside = _named(memory, namespace), _runs(path_of(namespace))
    known = _known(kept, memory, [*named, *inside])
    wholes = (one.actor for one in _matching(memory, namespace, below=False))
    actor = next(iter([*filter(known.__contains__, named), *wholes, *filter(known.__contains__, inside)]), None)
    if actor is None:
        kept.check_operator()
        return None
    return kept.scope(actor).user_id


def is_where_its_owner_is(memory: AgentMemory, item: NamespacedItem) -> bool:
    """Whether a record is nobody's, or of an actor whom its namespace names: others were put there past us."""
    namespace = f"/{item.value['path']}/"
    named = (*_runs(item.value["path"]), *_named(memory, namespace))
    return item.owner is None or item.owner in map(user_of, named)


def sources_of(kept: Kept, memory: AgentMemory, namespace: str, *, below: bool) -> list[Source]:
    """The strategies' namespaces that the namespace names, or lies above of while it names the actor.

    Of several actors whom it may name, those who are known, else the shortest; one user's credentials see that user.
    """
    found = list(_matching(memory, namespace, below=below))
    actors = list(dict.fromkeys(one.actor for one in found))
    if len(actors) > 1:
        known = _known(kept, memory, actors)
        actors = [one for one in actors if one in known] or [min(actors, key=len)]
        actors = [one for one in actors if kept.reader in (None, user_of(one))] or actors
    return [one for one in found if one.actor in actors]


def _matching(memory: AgentMemory, namespace: str, *, below: bool) -> Iterator[Source]:
    for strategy in memory.strategies:
        for template in strategy["namespaces"] if strategy["type"] not in _UNMADE else ():
            wanted = template.replace("{memoryStrategyId}", strategy["strategyId"])
            for found in _matched(wanted, namespace, below=below):
                yield Source(strategy["strategyId"], namespace, found["actorId"], found.get("sessionId"))


def _matched(template: str, namespace: str, *, below: bool) -> Iterator[Mapping[str, str]]:
    """What the variables of a template may be in a namespace, the actor among them."""
    wanted, given = path_of(template).split("/"), path_of(namespace).split("/")
    place = next((place for place, part in enumerate(wanted) if _ACTOR in part), len(given))
    for end in range(place + 1, len(given) + 1):
        parts = [*given[:place], "/".join(given[place:end]), *given[end:]]
        if len(parts) == len(wanted) or (below and len(parts) < len(wanted)):
            found = _variables(wanted, parts)
            if found is not None:
                yield found


def _variables(wanted: Sequence[str], parts: Sequence[str]) -> dict[str, str] | None:
    found: dict[str, str] = {}
    for part, value in zip(wanted, parts, strict=False):
        match = re.fullmatch(_VARIABLE.sub(r"(?P<\1>.+)", re.escape(part)), value)
        if match is None:
            return None
        found |= match.groupdict()
    return found


def _named(memory: AgentMemory, namespace: str) -> list[str]:
    """The actors whom the strategies' namespaces name, each followed by those whose names its own begins with."""
    parts = (one.actor.split("/") for one in _matching(memory, namespace, below=False))
    return ["/".join(one[:end]) for one in parts for end in range(len(one), 0, -1)]


def _runs(path: str) -> list[str]:
    """Parts of a path that follow one another, the most first: each may be the name of an actor."""
    parts = path.split("/")
    whole = range(len(parts))
    starts = ((start, size) for size in reversed(whole) for start in whole if start + size < len(parts))
    return ["/".join(parts[start : start + size + 1]) for start, size in starts]


def _known(kept: Kept, memory: AgentMemory, actors: Iterable[str]) -> set[str]:
    """Those of the actors who have said something."""
    places = {one: ItemPlace(memory.at("actors"), short_digest(one)) for one in actors if one}
    noted = kept.app.items.batch(kept.tenant, [Get(place, refresh=False) for place in places.values()], kept.now)
    owners = (one.owner if isinstance(one, NamespacedItem) else None for one in noted)
    return {actor for actor, owner in zip(places, owners, strict=True) if owner == user_of(actor)}
