"""Whose an item is, where the application does not say: read from a label of its namespace.

A pattern is a namespace with `*` for any label and `{user_id}` for the owner's, such as `users.{user_id}`: it fits
every namespace that begins so. The first pattern that fits decides; without one the item is nobody's.
"""

from collections.abc import Sequence
from typing import Final

from recollect.core.ids import id_fault
from recollect.items.item import ANY_LABEL, Namespace

USER: Final = "{user_id}"


def owner_patterns(text: str) -> tuple[Namespace, ...]:
    """The patterns of a setting, with commas between. Raises ValueError for one that names no owner, or two."""
    patterns = tuple(tuple(part.strip().split(".")) for part in text.split(",") if part.strip())
    if not all(pattern.count(USER) == 1 and all(pattern) for pattern in patterns):
        raise ValueError(f"must be namespaces such as users.{USER}, each with {USER} once, with commas between")
    return patterns


def owner_of(namespace: Namespace, patterns: Sequence[Namespace]) -> str | None:
    """The user whom a namespace names; None where no pattern fits, or the label can be no user's id."""
    for pattern in patterns:
        if len(namespace) >= len(pattern) and all(map(_fits, namespace, pattern)):
            owner = namespace[pattern.index(USER)]
            return owner if id_fault(owner) is None else None
    return None


def _fits(label: str, wanted: str) -> bool:
    return wanted in (ANY_LABEL, USER, label)
