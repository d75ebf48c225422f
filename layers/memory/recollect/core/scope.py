"""Scope: the first argument of every port call; and a user in the names of objects."""

import hashlib
import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass

SHARED_OWNER = "__shared__"
"""The user who owns what is no person's: it has an agent, an application or a namespace instead (docs/memories.md)."""
MOST_LABELS = 16
"""Labels of a record's namespace."""
MOST_LABEL_CHARACTERS = 1_024
"""Characters of all of a namespace's labels."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Tenant and user, narrowed by persona and household.

    `tenant` comes from the credentials alone. On a read, an absent persona or household is no filter;
    on a write it is the default persona and no household (A-32, A-49).
    """

    tenant: str
    user_id: str
    persona_id: str | None = None
    household_id: str | None = None

    def admits(self, persona_id: str | None, household_id: str | None) -> bool:
        """Whether a record of that persona and household is visible to a read in this scope."""
        return self.persona_id in (None, persona_id) and self.household_id in (None, household_id)

    @property
    def user(self) -> "Scope":
        """The same user without persona and household: for keys and statistics."""
        return Scope(self.tenant, self.user_id)


@dataclass(frozen=True, slots=True)
class Labels:
    """Which agent, application and namespace a record is of, beside its user: attributes, which own nothing.

    Records of different labels are never duplicates, values of one key, or contradictions of each other.
    """

    agent_id: str | None = None
    app_id: str | None = None
    namespace: tuple[str, ...] = ()

    def admits(self, other: "Labels") -> bool:
        """Whether a record of those labels is seen where these are asked for; one that is absent here asks nothing."""
        asked = (self.agent_id, self.app_id, self.namespace or None)
        has = (other.agent_id, other.app_id, other.namespace)
        return all(one in (None, own) for one, own in zip(asked, has, strict=True))


NO_LABELS = Labels()


def namespace_fault(labels: Sequence[str]) -> str | None:
    """What is wrong with the labels of a namespace, or of a part of one; None for valid ones, and for none at all."""
    if len(labels) > MOST_LABELS or sum(map(len, labels)) > MOST_LABEL_CHARACTERS:
        return f"a namespace has at most {MOST_LABELS} labels of {MOST_LABEL_CHARACTERS} characters together"
    if not all(label and not any(map(_no_label_has, label)) for label in labels):
        return "a label is not empty, and has no / and no control characters"
    return None


def _no_label_has(character: str) -> bool:
    return character == "/" or unicodedata.category(character) in ("Cc", "Cs")


def user_hash(user_id: str) -> str:
    """The user in the names of objects: 32 hex digits of a hash."""
    return hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
