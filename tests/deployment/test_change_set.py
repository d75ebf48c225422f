"""A change set that would lose data is refused; whatever CloudFormation may say of a resource has its answer."""

import json
from itertools import product
from pathlib import Path
from typing import Any

import pytest
from botocore.loaders import Loader

from deployment.template import template
from infra.tools.change_set import DATA_TYPES, Change, Unreadable, changes, main, refusals, table
from infra.tools.data_template import data_template

TABLE, FUNCTION = "AWS::DynamoDB::Table", "AWS::Lambda::Function"


def change(kind: str, action: str, replacement: str = "", policy: str = "", name: str = "Table") -> dict[str, Any]:
    """As `describe-change-set` has it: what does not apply is left out."""
    given = {"LogicalResourceId": name, "ResourceType": kind, "Action": action}
    optional = {"Replacement": replacement, "PolicyAction": policy}
    return {"Type": "Resource", "ResourceChange": given | {key: one for key, one in optional.items() if one}}


def described(*given: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"Status": "CREATE_COMPLETE", "ExecutionStatus": "AVAILABLE", "Changes": list(given), **more}


def allowed_values(shape: str) -> list[str]:
    model = Loader().load_service_model("cloudformation", "service-2")
    values: list[str] = model["shapes"][shape]["enum"]
    return values


EVERY = list(
    product(allowed_values("ChangeAction"), ["", *allowed_values("Replacement")], allowed_values("PolicyAction"))
)
"""All that the API can say of one resource, where it says what becomes of the old one."""


@pytest.mark.parametrize(
    ("action", "replacement", "policy"),
    [
        ("Modify", "True", ""),
        ("Modify", "Conditional", ""),
        ("Modify", "", ""),
        ("Modify", "False", "Delete"),
        ("Modify", "True", "ReplaceAndRetain"),
        ("Remove", "", "Retain"),
        ("Remove", "", "Delete"),
        ("Dynamic", "", ""),
        ("Sync", "", ""),
    ],
)
def test_what_might_lose_data_is_refused(action: str, replacement: str, policy: str) -> None:
    found = changes(described(change(TABLE, action, replacement, policy)))
    (sentence,) = refusals(found)
    assert sentence.startswith(f"Table ({TABLE}) holds data: {action}")
    assert refusals(found, ["Table"]) == []
    assert refusals(found, ["Bucket"]) == [sentence]


@pytest.mark.parametrize(("action", "replacement"), [("Add", ""), ("Import", ""), ("Modify", "False")])
def test_what_keeps_them_is_not(action: str, replacement: str) -> None:
    assert refusals(changes(described(change(TABLE, action, replacement)))) == []


@pytest.mark.parametrize(("action", "replacement", "policy"), EVERY)
def test_of_everything_that_can_be_said_only_new_and_kept_ones_pass(action: str, replacement: str, policy: str) -> None:
    (sentence, *_) = refusals(changes(described(change(TABLE, action, replacement, policy)))) or [""]
    assert bool(sentence) == (action not in ("Add", "Import"))
    assert refusals(changes(described(change(FUNCTION, action, replacement, policy)))) == []


def test_a_move_to_other_data_is_refused_though_the_stack_holds_none() -> None:
    """As CloudFormation says it of a function whose environment imports names of another data stack."""
    given = change(FUNCTION, "Modify", "False", name="Ingest")
    target = {"Attribute": "Properties", "Name": "Environment", "RequiresRecreation": "Never"}
    cause = {"Target": target, "Evaluation": "Static", "ChangeSource": "ParameterReference"}
    given["ResourceChange"]["Details"] = [{**cause, "CausingEntity": "LogDays"}]
    assert refusals(changes(described(given))) == []
    given["ResourceChange"]["Details"] += [{**cause, "CausingEntity": "DataStack"}, {"Evaluation": "Dynamic"}]
    found = changes(described(given, given))
    assert refusals(found) == ["DataStack names where the data are: the stack would leave those that it has"]
    assert refusals(found, ["DataStack"]) == []


def test_every_kind_of_the_data_stack_holds_data_but_names_and_policies() -> None:
    kinds = {one["Type"] for one in data_template(template())["Resources"].values()}
    assert kinds - DATA_TYPES == {"AWS::S3::BucketPolicy", "AWS::SSM::Parameter"}
    assert "AWS::Cognito::UserPool" in DATA_TYPES


def test_the_table_shows_every_change_and_losses_first_in_bold() -> None:
    found = changes(described(change(FUNCTION, "Modify", "False", name="Work"), change(TABLE, "Modify", "True")))
    assert table(found).splitlines()[2:] == [
        f"| Modify | True | **Table** | {TABLE} |",
        f"| Modify | False | Work | {FUNCTION} |",
    ]
    assert table([Change("New", FUNCTION, "Add", "", "")]).splitlines()[2] == f"| Add | – | New | {FUNCTION} |"


EMPTY = {"Status": "FAILED", "StatusReason": "The submitted information didn't contain changes. Submit different …"}


def test_nothing_to_deploy_is_nothing_to_refuse() -> None:
    assert changes(EMPTY) == []
    assert table([]) == "Nothing changes.\n"


@pytest.mark.parametrize(
    "description",
    [
        {"Status": "FAILED", "StatusReason": "Template error"},
        {"Status": "CREATE_IN_PROGRESS", "Changes": []},
        {},
        described(NextToken="more"),
        {"Status": "CREATE_COMPLETE"},
        described({"Type": "Resource"}),
        described({"Type": "Resource", "ResourceChange": {"Action": "Add"}}),
    ],
    ids=str,
)
def test_what_is_no_whole_change_set_is_not_judged(description: dict[str, Any]) -> None:
    with pytest.raises(Unreadable):
        changes(description)


@pytest.mark.parametrize(
    ("text", "more", "status"),
    [
        (json.dumps(described(change(TABLE, "Modify", "False"))), [], 0),
        (json.dumps(described(change(TABLE, "Modify", "True"))), [], 1),
        (json.dumps(described(change(TABLE, "Modify", "True"))), ["--allow", "Table"], 0),
        (json.dumps(EMPTY), [], 0),
        ("[]", [], 2),
        ("no JSON", [], 2),
    ],
)
def test_the_command_ends_accordingly(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], text: str, more: list[str], status: int
) -> None:
    path = tmp_path / "change-set.json"
    path.write_text(text, encoding="utf-8")
    assert main([str(path), *more]) == status
    printed = capsys.readouterr()
    assert ("REFUSED Table" in printed.err) == (status == 1)
    assert bool(printed.out) == (status != 2), "what is refused is shown all the same"


def test_a_file_that_is_not_there_is_no_approval(tmp_path: Path) -> None:
    assert main([str(tmp_path / "none.json")]) == 2
