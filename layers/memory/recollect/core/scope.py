"""Scope: the first argument of every port call; and a user in the names of objects."""

import hashlib
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Scope:
    """Tenant and user, narrowed by persona and household.

    `tenant` comes from the credentials alone. On a read, an absent persona or household is no filter;
    on a write it is the default persona and no household (api.md, *Who*; A-32, A-49).
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


def user_hash(user_id: str) -> str:
    """The user in the names of objects: 32 hex digits of a hash."""
    return hashlib.sha256(user_id.encode("utf-8", "surrogatepass")).hexdigest()[:32]
