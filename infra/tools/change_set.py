"""What a change set would do to a stack, and whether it may: it must keep every resource that holds data.

    aws cloudformation describe-change-set --stack-name STACK --change-set-name NAME > change-set.json
    python3 -m infra.tools.change_set change-set.json [--allow LOGICAL_ID]

Prints a table of the changes (Markdown). Ends with 1 where a resource that holds data would be replaced or removed,
might be, or what becomes of it is not said, and where the stack would move to other data; with 2 where the description
is no change set that is ready, or not all of it. What somebody has looked at is let through: a resource by its logical
id, a move by the parameter's name.
"""

import argparse
import json
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

DATA_TYPES = frozenset(
    {
        "AWS::Cognito::UserPool",
        "AWS::DynamoDB::GlobalTable",
        "AWS::DynamoDB::Table",
        "AWS::KMS::Key",
        "AWS::OpenSearchService::Domain",
        "AWS::S3::Bucket",
        # Its own change set says what becomes of what is in it.
        "AWS::CloudFormation::Stack",
    }
)
POINTERS = frozenset({"DataStack"})
"""Parameters that say where the data are: after a change of one the stack reads and writes other data."""
HARMLESS_ACTIONS = frozenset({"Add", "Import"})


class Unreadable(Exception):
    """This describes no change set that can be judged."""


@dataclass(frozen=True, slots=True)
class Change:
    """One resource's, in CloudFormation's words, each of them empty where it says none."""

    logical_id: str
    kind: str
    action: str
    replacement: str
    policy_action: str
    causes: frozenset[str] = frozenset()
    """What brought it about: parameters and resources, by their names."""

    @property
    def keeps_data(self) -> bool:
        """Whether nothing that holds data is lost; what is not known to be harmless is not."""
        if self.kind not in DATA_TYPES or self.action in HARMLESS_ACTIONS:
            return True
        return self.action == "Modify" and self.replacement == "False" and not self.policy_action


def changes(description: Mapping[str, Any]) -> list[Change]:
    """Those of a `describe-change-set`; none where there is nothing to deploy. Raises Unreadable."""
    status, reason = description.get("Status"), str(description.get("StatusReason", ""))
    if status == "FAILED" and _is_empty(reason):
        return []
    if status != "CREATE_COMPLETE":
        raise Unreadable(f"the change set is {status}: {reason}")
    if description.get("NextToken"):
        raise Unreadable("the description goes on, on a page that is not here")
    try:
        given = [one["ResourceChange"] for one in description["Changes"] if one.get("Type", "Resource") == "Resource"]
        return [_change(one) for one in given]
    except (KeyError, TypeError) as error:
        raise Unreadable(f"the description lacks {error}") from None


def _is_empty(reason: str) -> bool:
    return "didn't contain changes" in reason or "No updates are to be performed" in reason


def _change(given: Mapping[str, Any]) -> Change:
    return Change(
        given["LogicalResourceId"],
        given["ResourceType"],
        given["Action"],
        given.get("Replacement") or "",
        given.get("PolicyAction") or "",
        frozenset(one["CausingEntity"] for one in given.get("Details") or () if one.get("CausingEntity")),
    )


def table(given: Iterable[Change]) -> str:
    """The changes as a table, those that lose data first and in bold."""
    rows = sorted(given, key=lambda one: (one.keeps_data, one.action, one.kind, one.logical_id))
    if not rows:
        return "Nothing changes.\n"
    return "| action | replaced | resource | type |\n|---|---|---|---|\n" + "".join(map(_row, rows))


def _row(one: Change) -> str:
    marked = one.logical_id if one.keeps_data else f"**{one.logical_id}**"
    return f"| {one.action} | {one.replacement or '–'} | {marked} | {one.kind} |\n"


def refusals(given: Iterable[Change], allowed: Iterable[str] = ()) -> list[str]:
    """A sentence for each change that loses data, and for each move to other data, unless it was allowed."""
    changed, let_through = list(given), set(allowed)
    lost = [one for one in changed if not one.keeps_data and one.logical_id not in let_through]
    moved = sorted({cause for one in changed for cause in one.causes} & POINTERS - let_through)
    return [
        *(
            f"{one.logical_id} ({one.kind}) holds data: {one.action}, replacement {one.replacement or 'not said'}"
            for one in lost
        ),
        *(f"{one} names where the data are: the stack would leave those that it has" for one in moved),
    ]


def main(arguments: list[str]) -> int:
    """The command line."""
    parser = argparse.ArgumentParser(prog="change_set", description="Says whether a change set keeps all data.")
    parser.add_argument("file", type=Path, help="what `aws cloudformation describe-change-set` printed")
    parser.add_argument("--allow", action="append", default=[], metavar="LOGICAL_ID", help="may be lost all the same")
    given = parser.parse_args(arguments)
    try:
        found = changes(_read(given.file))
    except Unreadable as error:
        print(error, file=sys.stderr)
        return 2
    print(table(found), end="")
    against = refusals(found, given.allow)
    sys.stderr.write("".join(f"REFUSED {line}\n" for line in against))
    return 1 if against else 0


def _read(path: Path) -> Mapping[str, Any]:
    try:
        loaded = json.loads(path.read_text("utf-8"))
    except (OSError, ValueError) as error:
        raise Unreadable(f"{path}: {error}") from None
    if not isinstance(loaded, dict):
        raise Unreadable(f"{path} holds no change set")
    return loaded


if __name__ == "__main__":
    raise SystemExit(main(sys.argv[1:]))
