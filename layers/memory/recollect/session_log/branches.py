"""Branches of a log: a name, and the entry from which it goes on. Sequences and head are the log's, of all branches.

`main` needs no root; any other begins behind one entry of another branch, its parent, and has what was appended to it
since. Seen with its parents it is a conversation from the first entry on: each parent's entries up to the root.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

MAIN = "main"
MOST_BRANCHES = 100
"""Branches of one log besides `main`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Branch:
    """`root` is the sequence behind which it begins, in its `parent`; no entry of it is beyond `last`."""

    name: str
    root: int
    parent: str
    last: int = 0


@dataclass(frozen=True, slots=True)
class View:
    """What is read of a log: a branch, with its parents or without; every branch where it is None."""

    branch: str | None = MAIN
    parents: bool = False


MAIN_ALONE = View()


@dataclass(frozen=True, slots=True)
class Span:
    """The entries of a branch (of every one for None) with sequences above `low` and at most `high`."""

    branch: str | None
    low: int
    high: int

    def has(self, branch: str, sequence: int) -> bool:
        """Whether the entry is among them."""
        return self.branch in (None, branch) and self.low < sequence <= self.high


def spans_of(view: View, branches: Mapping[str, Branch], begins: int, following: int) -> Sequence[Span]:
    """What the view has of a log, the last span first; `following` is the next sequence. Raises KeyError."""
    cleared = begins - 1
    if view.branch is None or view.branch == MAIN:
        return (Span(view.branch, cleared, following - 1),)
    branch = branches[view.branch]
    own = Span(branch.name, max(branch.root, cleared), branch.last)
    return (own, *_parents(branch, branches, cleared)) if view.parents else (own,)


def _parents(branch: Branch, branches: Mapping[str, Branch], cleared: int) -> Iterator[Span]:
    """Roots become smaller from parent to parent, also where an import says otherwise: so it ends."""
    root = branch.root
    while branch.parent in branches and branches[branch.parent].root < root:
        branch = branches[branch.parent]
        yield Span(branch.name, max(branch.root, cleared), root)
        root = branch.root
    yield Span(MAIN, cleared, root)


def branch_document(branch: Branch) -> dict[str, Any]:
    """As the head of a log has it, under its name."""
    return {"root": branch.root, "parent": branch.parent, "last": branch.last}


def branch_in(name: str, document: Mapping[str, Any]) -> Branch:
    """The branch of a stored head."""
    return Branch(name=name, root=int(document["root"]), parent=str(document["parent"]), last=int(document["last"]))
