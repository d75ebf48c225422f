"""Whose items the shipped judge has not learnt from, so that it is measured on them."""

from typing import Final

HELD: Final = frozenset({"w3", "x1", "x2", "x3", "c", "q", "r", "s", "u", "mc", "me", "oh"})
"""Writers of pairs, conversations and months."""
PLAIN: Final = frozenset({"xa", "xb", "xc"})
"""Plain first statements, by writers of whom it has learnt others."""
PERSONS: Final = frozenset({"pc"})
"""Persons who tell nine matters of their lives and change four of them: each message against each of the nine."""
HELD_LISTS: Final = frozenset({"w4", "w12", "w13"})
"""Writers of older messages of several things, of which a newer one ends some."""
HELD_LIST_GROUPS: Final = frozenset(f"list-{one}" for one in HELD_LISTS)
CHOSEN_LASTING: Final = frozenset(f"o{letter}" for letter in "abcdefghijklmnop")
"""Writers of months who named some of what lasts, not all: whether a message is worth keeping is not learnt of them."""
NOT_LEARNT: Final = HELD | PLAIN | PERSONS | HELD_LIST_GROUPS
