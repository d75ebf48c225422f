"""mem0's entities as our users, and its ids, which name the user too.

mem0 keeps a memory under any of `user_id`, `agent_id`, `app_id`, `run_id`; ours has one user. The first of them that is
named, in that order, is the owner: a `user_id` as it is, another as `agent:NAME`, `app:NAME`, `run:NAME`. The others
stand in the metadata under names of ours, where searches find them.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Self

from recollect.core.errors import InvalidInput, NotFound
from recollect.core.ids import LONGEST_ID, id_fault
from recollect.entrypoints.http.routing import path_id, path_segment

ENTITIES = ("user_id", "agent_id", "app_id", "run_id")
"""In the order in which they own a memory."""
UPDATED_AT = "mem0_updated_at"
_RESERVED = {name: f"mem0_{name}" for name in ENTITIES if name != "user_id"}
_OURS = frozenset((*_RESERVED.values(), UPDATED_AT))
_BETWEEN = "."
_MEMORY_ID = re.compile(r"[^.~/]{1,64}")


@dataclass(frozen=True, slots=True, kw_only=True)
class Entities:
    """Whose a memory is, in mem0's terms."""

    user_id: str | None = None
    agent_id: str | None = None
    app_id: str | None = None
    run_id: str | None = None

    @classmethod
    def of(cls, given: Mapping[str, Any]) -> Self:
        """Those that a body or a query names. Raises InvalidInput for one that is no id."""
        named = {name: given[name] for name in ENTITIES if given.get(name) is not None}
        for name, value in named.items():
            _check(value, name)
        return cls(**named)

    @classmethod
    def of_memory(cls, owner: str, metadata: Mapping[str, Any]) -> Self:
        """Those of a memory that this user owns."""
        beside = {name: metadata[key] for name, key in _RESERVED.items() if isinstance(metadata.get(key), str)}
        return cls(**{**beside, **entity_of(owner)})

    @property
    def owner(self) -> str:
        """Our user. Raises InvalidInput where none is named."""
        for name in ENTITIES:
            value = getattr(self, name)
            if value is not None:
                return owner_of(name, value)
        raise InvalidInput(f"one of {', '.join(ENTITIES)} is required")

    @property
    def kept(self) -> dict[str, str]:
        """What the metadata of a memory keeps of them."""
        return {key: value for name, key in _RESERVED.items() if (value := getattr(self, name)) is not None}

    @property
    def shown(self) -> dict[str, str | None]:
        """As mem0 shows them."""
        return {name: getattr(self, name) for name in ENTITIES}

    @property
    def only_owner(self) -> bool:
        """Whether nothing but the owner is named."""
        return sum(value is not None for value in self.shown.values()) == 1


def owner_of(name: str, value: str) -> str:
    """Our user for an entity. Raises InvalidInput where the name is too long for one."""
    _check(value, name)
    owner = value if name == "user_id" else f"{_kind(name)}:{value}"
    _check(owner, name)
    return owner


def entity_of(owner: str) -> dict[str, str]:
    """The entity that a user of ours stands for."""
    kind, _, value = owner.partition(":")
    name = f"{kind}_id"
    return {name: value} if value and name in _RESERVED else {"user_id": owner}


def kind_and_name(owner: str) -> tuple[str, str]:
    """The entity as mem0 lists it: `user`, `agent`, `app` or `run`, and its name."""
    ((name, value),) = entity_of(owner).items()
    return _kind(name), value


def memory_id_of(owner: str, memory_id: str) -> str:
    """mem0's id of a memory: ours and its owner, since mem0 asks for a memory by its id alone."""
    return f"{memory_id}{_BETWEEN}{path_segment(owner)}"


def split_memory_id(given: str) -> tuple[str, str]:
    """Owner and id of a memory. Raises NotFound for what is no id of `memory_id_of`."""
    memory_id, _, owner = given.partition(_BETWEEN)
    if not _MEMORY_ID.fullmatch(memory_id) or not owner:
        raise NotFound("no such memory")
    try:
        return path_id(owner, ()), memory_id
    except InvalidInput:
        raise NotFound("no such memory") from None


def own_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """The metadata without what we keep in it."""
    return {name: value for name, value in metadata.items() if name not in _OURS}


def reserved_metadata(metadata: Mapping[str, Any]) -> dict[str, Any]:
    """What we keep in the metadata."""
    return {name: value for name, value in metadata.items() if name in _OURS}


def own_name(name: str) -> bool:
    """Whether we keep something under this name of the metadata."""
    return name in _OURS


def reserved_name(name: str) -> str | None:
    """Under what name the metadata has an entity; None for the user."""
    return _RESERVED.get(name)


def _kind(name: str) -> str:
    return name.removesuffix("_id")


_ROOM = LONGEST_ID - 37
"""What a path's id leaves for the owner beside an id of ours and the dot."""


def _check(value: object, name: str) -> None:
    fault = id_fault(value)
    if fault is None and len(path_segment(str(value))) > _ROOM:
        fault = f"an entity of mem0's has at most {_ROOM} letters, digits, dots, hyphens and underscores, or 67 bytes"
    if fault is not None:
        raise InvalidInput(fault, (name,))
