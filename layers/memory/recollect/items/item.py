"""What an item of an application is: a JSON document at a namespace and a key, its limits, its lifetime, its owner.

A namespace is a path of labels, such as `("users", "anna", "notes")`. It is chosen by the application, unlike the paths
of `core.items`, which are ours. An item is replaced as a whole and never merged with another.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from typing import Any, Final, TypeAlias

from recollect.core.errors import InvalidInput, VersionMismatch
from recollect.core.filter import EVERYTHING, Filter
from recollect.core.items import is_deeper
from recollect.core.vectors import FloatArray
from recollect.items.embedded_texts import WHOLE

MOST_LABELS = 16
"""Labels of a namespace."""
MOST_CHARACTERS = 1_024
"""Characters of all labels together, and of a key."""
MOST_BYTES = 256 * 1024
"""Bytes of an item's JSON: DynamoDB takes 400 KB, in which the vectors have to fit."""
MOST_LEVELS_OF_VALUE = 32
"""Of lists and objects in an item's document."""
MOST_VECTOR_BYTES = 120 * 1024
"""Bytes of an item's vectors, of two a number."""
MOST_RESULTS = 1_000
"""Results of one search, namespaces of one listing."""
LONGEST_TTL = timedelta(days=3650)
MOST_READ = 10_000
"""Items that one search or listing looks at where an engine must read them one by one."""
RESERVED_LABEL = "langgraph"
"""LangGraph keeps this first label to itself: its own `put` refuses it, and so do the routes."""
ANY_LABEL: Final = "*"
"""In the conditions of a listing, any one label."""
ABSENT = 0
"""The version to expect of an item that must not exist yet."""

Namespace: TypeAlias = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class ItemPlace:
    """Where an item is, within a tenant."""

    namespace: Namespace
    key: str


@dataclass(frozen=True, slots=True)
class ItemVectors:
    """The vectors of an item's embedded texts, packed (`core.vectors`), all of one space: only within one they compare.

    A space is an embedder's generation, or the vectors that the application itself gives, by their length.
    """

    space: str
    packed: tuple[bytes, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespacedItem:
    """A stored item. `version` counts its writes from 1; `revision` is a new UUIDv7 at each of them.

    `index` are the paths of its embedded texts. `owner` is the user whose data it is, so that an erasure and an export
    reach it. With a `ttl` it ends so long after
    its last write, or its last read that refreshes it.
    """

    place: ItemPlace
    value: Mapping[str, Any]
    version: int
    revision: str
    created_at: datetime
    updated_at: datetime
    index: tuple[str, ...] = (WHOLE,)
    owner: str | None = None
    ttl: timedelta | None = None
    expires_at: datetime | None = None

    def expired(self, now: datetime) -> bool:
        """Whether it has ended, though the engine may still have it."""
        return self.expires_at is not None and self.expires_at <= now


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemPut:
    """Replaces or creates a whole item; `value` None deletes it.

    `expected` is the version that it must have: ABSENT for a new one, None for any. Where `only_of` names a user, an
    item of another owner is left alone: VersionMismatch.
    """

    place: ItemPlace
    value: Mapping[str, Any] | None
    revision: str = ""
    expected: int | None = None
    index: tuple[str, ...] = (WHOLE,)
    owner: str | None = None
    ttl: timedelta | None = None
    vectors: ItemVectors | None = None
    only_of: str | None = None

    def after(self, stored: NamespacedItem | None, now: datetime) -> NamespacedItem | None:
        """What is stored afterwards. Raises VersionMismatch; a missing item may be deleted at any expected version."""
        version = stored.version if stored else ABSENT
        if self.expected not in (None, version) and not (self.value is None and stored is None):
            raise VersionMismatch("the item changed since it was read")
        if stored is not None and self.only_of not in (None, stored.owner):
            raise VersionMismatch("the item is another's")
        if self.value is None:
            return None
        return NamespacedItem(
            place=self.place,
            value=self.value,
            version=version + 1,
            revision=self.revision,
            created_at=stored.created_at if stored else now,
            updated_at=now,
            index=self.index,
            owner=self.owner,
            ttl=self.ttl,
            expires_at=now + self.ttl if self.ttl else None,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemSearch:
    """What a search asks: items below a prefix that pass the filter, of one owner where it names one.

    With a vector, the most similar come first, each by its best vector of that space; then those without one. Else,
    and among equals, the last written come first, equal ones by namespace and key.

    `exact`: those of the namespace `prefix` alone. `bounded`: an engine that reads the items one by one looks at the
    last `MOST_READ` in its order instead of refusing.
    """

    prefix: Namespace = ()
    filter: Filter = EVERYTHING
    owner: str | None = None
    vector: FloatArray | None = None
    space: str = ""
    limit: int = 10
    offset: int = 0
    exact: bool = False
    bounded: bool = False


@dataclass(frozen=True, slots=True)
class FoundItem:
    """A result; `score` is the cosine of its best vector, None where nothing was compared."""

    item: NamespacedItem
    score: float | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class ItemListing:
    """Which items of exactly one namespace a page has: those after the key `after` in their order."""

    namespace: Namespace
    limit: int
    after: str | None = None
    descending: bool = False


@dataclass(frozen=True, slots=True)
class ListedPage:
    """Items of a namespace; `more` is the key after which the next page begins, None at the end."""

    items: tuple[NamespacedItem, ...]
    more: str | None


@dataclass(frozen=True, slots=True)
class OwnedPage:
    """A user's items in a fixed order; `more` is where the next page begins, None at the end."""

    items: tuple[NamespacedItem, ...]
    more: str | None


@dataclass(frozen=True, slots=True, kw_only=True)
class NamespaceListing:
    """Which namespaces are listed: those that begin and end so, cut to a depth, each once, in order."""

    prefix: Namespace = ()
    suffix: Namespace = ()
    max_depth: int | None = None
    limit: int = 100
    offset: int = 0

    @property
    def fixed_prefix(self) -> Namespace:
        """The labels before the first that may be any."""
        place = self.prefix.index(ANY_LABEL) if ANY_LABEL in self.prefix else len(self.prefix)
        return self.prefix[:place]

    def of(self, namespaces: Sequence[Namespace]) -> list[Namespace]:
        """The page of the listing, from all namespaces below the fixed prefix."""
        matching = (one for one in namespaces if _begins(one, self.prefix) and _begins(one[::-1], self.suffix[::-1]))
        distinct = sorted({one if self.max_depth is None else one[: self.max_depth] for one in matching})
        return distinct[self.offset : self.offset + self.limit]


def _begins(namespace: Namespace, wanted: Namespace) -> bool:
    if len(namespace) < len(wanted):
        return False
    return all(label in (ANY_LABEL, own) for own, label in zip(namespace, wanted, strict=False))


def refreshed(item: NamespacedItem, now: datetime) -> NamespacedItem:
    """The item with its lifetime begun anew."""
    return replace(item, expires_at=now + item.ttl) if item.ttl else item


def check_place(place: ItemPlace) -> None:
    """Raises InvalidInput for a namespace without labels, a bad label, and a key that is empty or too long."""
    if not place.namespace:
        raise InvalidInput("a namespace has at least one label", ("namespace",))
    check_labels(place.namespace, "namespace")
    if not place.key or len(place.key) > MOST_CHARACTERS or not _is_text(place.key):
        raise InvalidInput(f"a key has 1 to {MOST_CHARACTERS} characters of Unicode", ("key",))


def check_labels(labels: Sequence[str], name: str) -> None:
    """Raises InvalidInput for an empty label, one with `.` or NUL, and for more than 16 or 1,024 characters of them."""
    for place, label in enumerate(labels):
        if not label or "." in label or not _is_text(label):
            raise InvalidInput("a label has characters, and none is a dot or NUL", (name, place))
    if len(labels) > MOST_LABELS or sum(map(len, labels)) > MOST_CHARACTERS:
        raise InvalidInput(f"at most {MOST_LABELS} labels of {MOST_CHARACTERS} characters together", (name,))


def check_new_namespace(namespace: Namespace) -> None:
    """Raises InvalidInput where an item may not be put: LangGraph keeps the first label `langgraph` to itself."""
    if namespace[:1] == (RESERVED_LABEL,):
        raise InvalidInput(f"the first label must not be {RESERVED_LABEL}", ("namespace", 0))


def value_text(value: Mapping[str, Any]) -> str:
    """The stored JSON. Raises InvalidInput for what is no JSON, for more than 256 KiB, and more than 32 levels."""
    if is_deeper(value, MOST_LEVELS_OF_VALUE):
        raise InvalidInput("is nested too deeply", ("value",))
    try:
        text = json.dumps(dict(value), ensure_ascii=False, separators=(",", ":"), allow_nan=False)
        size = len(text.encode())
    except (TypeError, ValueError) as error:
        raise InvalidInput("a value that is no JSON", ("value",)) from error
    if size > MOST_BYTES:
        raise InvalidInput(f"an item of more than {MOST_BYTES} bytes of JSON", ("value",))
    return text


def check_vectors(vectors: ItemVectors | None) -> None:
    """Raises InvalidInput where an item's vectors would not fit beside its document."""
    if vectors is not None and sum(map(len, vectors.packed)) > MOST_VECTOR_BYTES:
        raise InvalidInput("an item with too many vectors: name fewer fields in index", ("index",))


def _is_text(text: str) -> bool:
    return "\x00" not in text and not any("\ud800" <= character <= "\udfff" for character in text)


def in_order(found: Sequence[FoundItem]) -> list[FoundItem]:
    """Results as `ItemSearch` orders them."""
    listed = sorted(found, key=lambda one: (one.item.place.namespace, one.item.place.key))
    listed.sort(key=lambda one: one.item.updated_at, reverse=True)
    return sorted(listed, key=lambda one: (one.score is None, -(one.score or 0.0)))
