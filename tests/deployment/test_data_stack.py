"""The data in a stack of their own: the code's stack uses them, is granted these alone, and can be thrown away."""

import json
import re
from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from deployment.account import Account, Refused
from deployment.resolving import Stack, translated
from deployment.template import FUNCTIONS, ROOT, listed, statements, template, walk
from deployment.test_template_roles import pairs
from deployment.test_updates import _others
from infra.tools.cloudformation import template as read
from infra.tools.data_template import (
    FILE,
    IMPORTED,
    data_template,
    data_template_file,
    import_template,
    import_template_file,
)

DATA, CODE = "recollect-data", "recollect"
DATA_UUID = "d0a825a0-e4cd-11e5-b9fb-061c69e99204"
APART = {"DataStack": DATA}
KINDS = {
    "AWS::DynamoDB::Table": "Table",
    "AWS::S3::Bucket": "SnapshotBucket",
    "AWS::S3::BucketPolicy": "SnapshotBucketPolicy",
    "AWS::OpenSearchService::Domain": "SearchDomain",
}
ENGINES = [{}, {"SearchEngine": "table"}, {"SearchEngine": "table", "KeepDomain": "true"}]
VPC = {"SubnetIds": "subnet-0a1,subnet-0b2", "SecurityGroupIds": "sg-0a1"}


@pytest.fixture(params=["as written", "as SAM translates it"])
def source(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    return template() if request.param == "as written" else translated()


def data_stack(parameters: Mapping[str, str] | None = None) -> Stack:
    return Stack(data_template(template()), DATA, DATA_UUID, parameters or {})


def code_stack(source: Mapping[str, Any], parameters: Mapping[str, str] | None = None) -> Stack:
    """Over the data stack of the same parameters."""
    given = dict(parameters or {})
    own = {name: one for name, one in given.items() if name in data_template(template())["Parameters"]}
    return Stack(source, CODE, parameters=given | APART, imports=data_stack(own).exports())


def test_the_file_is_what_the_template_makes() -> None:
    assert (ROOT / FILE).read_text("utf-8") == data_template_file()
    assert read(ROOT / FILE) == data_template(template())


def test_by_default_a_stack_has_its_own_data_and_imports_nothing(source: Mapping[str, Any]) -> None:
    stack = Stack(source)
    assert set(KINDS.values()) <= stack.made().keys()
    assert stack.imported() == set()


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_what_holds_data_is_in_one_of_the_two_stacks(source: Mapping[str, Any], engine: Mapping[str, str]) -> None:
    """Working out the whole fails where anything refers to what is not made."""
    together, code, data = Stack(source, parameters=engine), code_stack(source, engine), data_stack(engine)
    holding = {name for name, one in together.made().items() if one["Type"] in KINDS}
    assert {name for name, one in code.made().items() if one["Type"] in KINDS} == set()
    assert {name for name, one in data.made().items() if one["Type"] in KINDS} == holding
    assert code.whole().keys() | holding == together.whole().keys()
    assert data.whole()


@pytest.mark.parametrize("name", ["Table", "SnapshotBucket", "SnapshotBucketPolicy", "SearchDomain"])
@pytest.mark.parametrize("parameters", [{}, VPC, {"DeletionProtection": "true", "TableMaxReadUnits": "5"}], ids=str)
def test_they_are_in_their_own_stack_as_they_would_be_in_the_codes(name: str, parameters: Mapping[str, str]) -> None:
    apart, together = (
        data_stack(parameters).resource(name),
        Stack(template(), DATA, DATA_UUID, parameters).resource(name),
    )
    for resource in (apart, together):
        resource["Properties"].pop("AccessPolicies", None)
        resource.pop("Condition", None)
    assert apart == together


def test_the_code_imports_what_the_data_export_and_nothing_else(source: Mapping[str, Any]) -> None:
    assert code_stack(source).imported() == set(data_stack().exports())
    table = {"SearchEngine": "table"}
    assert code_stack(source, table).imported() == set(data_stack(table).exports()) - {f"{DATA}-OpenSearchDomainName"}


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_every_grant_is_the_same_on_the_data_of_the_other_stack(
    source: Mapping[str, Any], engine: Mapping[str, str]
) -> None:
    together, code = Stack(source, parameters=engine), code_stack(source, engine)
    assert documents(code) == documents(together, names_of(together, code))
    assert documents(code) != documents(together)


def documents(stack: Stack, renamed: Mapping[str, str] | None = None) -> str:
    """Every policy of roles and shared ones, with names of one stack's data for those of the other's."""
    kinds = ("AWS::IAM::Role", "AWS::IAM::ManagedPolicy", "AWS::Lambda::EventSourceMapping")
    text = json.dumps({name: one for name, one in stack.made().items() if one["Type"] in kinds}, sort_keys=True)
    for old, new in (renamed or {}).items():
        text = text.replace(old, new)
    return text


def names_of(before: Stack, after: Stack) -> dict[str, str]:
    held = ["DataTableStream", "DataTableArn", "DataTable", "DataBucketArn", "DataBucket", "SearchDomainName"]
    values = [(before.properties(name)["Value"], after.properties(name)["Value"]) for name in held]
    return {old: new for old, new in values if new != "none"}


def test_functions_are_told_of_the_data_stacks_names(source: Mapping[str, Any]) -> None:
    exports, code = data_stack().exports(), code_stack(source)
    given = [one for one in walk(source) if isinstance(one, dict) and "RECOLLECT_TABLE" in one]
    assert {code.value(one["RECOLLECT_TABLE"]) for one in given} == {exports[f"{DATA}-TableName"]}
    buckets = [one for one in walk(source) if isinstance(one, dict) and "RECOLLECT_SNAPSHOT_BUCKET" in one]
    assert {code.value(one["RECOLLECT_SNAPSHOT_BUCKET"]) for one in buckets} == {exports[f"{DATA}-SnapshotBucketName"]}
    urls = {code.value(one["RECOLLECT_OPENSEARCH_URL"]) for one in given}
    assert urls == {f"https://{exports[f'{DATA}-OpenSearchEndpoint']}"}


def test_the_domain_leaves_to_the_accounts_iam_what_roles_need_and_no_more() -> None:
    granted = data_stack().source["Resources"]["SearchDomain"]["Properties"]["AccessPolicies"]["Statement"]
    needed = {pair for name in FUNCTIONS for pair in pairs(statements(name)) if pair[0].startswith("es:")}
    assert pairs(granted) == needed
    principals = [data_stack().value(one["Principal"]) for one in granted]
    assert all(one == {"AWS": "arn:aws:iam::123456789012:root"} for one in principals)
    assert {one["Effect"] for one in granted} == {"Allow"}


def test_the_template_is_short_enough_to_be_sent_without_a_bucket() -> None:
    """51,200 bytes, for `aws cloudformation deploy` and an import."""
    assert len(data_template_file().encode()) < 51_200


def test_nothing_of_the_code_is_in_the_data_stack() -> None:
    kinds = {one["Type"] for one in data_template(template())["Resources"].values()}
    assert kinds == {*KINDS, "AWS::SSM::Parameter"}


def both(source: Mapping[str, Any]) -> Account:
    account = Account()
    account.deploy(data_stack())
    account.deploy(code_stack(source))
    return account


def test_code_is_thrown_away_and_deployed_again_and_the_data_stay_as_they_are() -> None:
    account = both(translated())
    before = account.stacks[DATA].made()
    assert account.delete(CODE) == set(), "nothing of it is left behind"
    assert account.deploy(code_stack(translated())) == set()
    assert account.stacks[DATA].made() == before
    assert account.deploy(data_stack()) == set()


def test_code_needs_its_data_first() -> None:
    with pytest.raises(Refused, match=f"No export named {DATA}-"):
        Account().deploy(code_stack(translated()))


def test_data_cannot_go_or_change_under_the_code() -> None:
    account = both(translated())
    with pytest.raises(Refused, match="in use by recollect"):
        account.delete(DATA)
    with pytest.raises(Refused, match=r"OpenSearchDomainName cannot be changed: it is in use by recollect"):
        account.deploy(data_stack(VPC))
    account.delete(CODE)
    account.deploy(data_stack(VPC))
    account.deploy(code_stack(translated(), VPC))
    account.delete(CODE)
    assert account.delete(DATA) == {"Table", "SnapshotBucket"}


def test_another_version_of_the_engine_and_more_of_it_disturb_no_code() -> None:
    account = both(translated())
    changed = {"EngineVersion": "OpenSearch_3.1", "EngineInstanceType": "r7g.large.search", "EngineInstanceCount": "2"}
    assert account.deploy(data_stack(changed)) == set()


def test_a_stack_that_leaves_its_own_data_leaves_them_there() -> None:
    """The table stays in the account, in no stack, until the data stack imports it."""
    account = Account()
    account.deploy(Stack(translated(), CODE))
    assert account.delete(CODE) == set(IMPORTED)


def test_an_import_takes_what_is_there_as_it_is_and_nothing_else() -> None:
    """CloudFormation imports into a stack that gets nothing else, and wants a deletion policy of each."""
    made = import_template(template())
    assert made.keys() >= {"Resources", "Parameters"}
    assert "Outputs" not in made
    assert tuple(made["Resources"]) == IMPORTED
    for name, one in made["Resources"].items():
        assert one == {**data_template(template())["Resources"][name], "DeletionPolicy": "Retain"}
    imported = replace(data_stack(), source={**made, "Outputs": {}, "Rules": {}})
    account = Account()
    account.deploy(imported)
    assert account.deploy(data_stack()) == set(), "the whole template then makes neither of them anew"


def test_the_printed_import_is_that(tmp_path: Any) -> None:
    (tmp_path / "import.yaml").write_text(import_template_file(), encoding="utf-8")
    assert read(tmp_path / "import.yaml") == import_template(template())


def test_the_parameter_says_which_others_must_be_the_data_stacks() -> None:
    """Those of the data stack that still make a difference to the code's."""
    declared = data_template(template())["Parameters"]
    told = template()["Parameters"]["DataStack"]["Description"].partition("own. ")[2]
    shared = {name for name, one in declared.items() for other in _others(one) if _differs({name: other})}
    assert {name for name in declared if name in re.findall(r"\w+", told)} == shared


def _differs(change: Mapping[str, str]) -> bool:
    """Whether a change of the code's stack alone changes what it makes, with either search engine and in a VPC."""
    given = [{**APART, **one} for one in (*ENGINES, VPC)]
    made = [Stack(translated(), CODE, parameters=one, imports=data_stack().exports()) for one in given]
    return any(replace(one, parameters={**one.parameters, **change}).whole() != one.whole() for one in made)


@pytest.mark.parametrize("engine", ENGINES, ids=str)
def test_outputs_are_the_same_either_way(source: Mapping[str, Any], engine: Mapping[str, str]) -> None:
    together, code = Stack(source, parameters=engine), code_stack(source, engine)
    assert together.outputs().keys() == code.outputs().keys()
    assert code.outputs()["TableName"] == data_stack().exports()[f"{DATA}-TableName"]


@pytest.mark.parametrize("name", ["", "recollect-data", "R2"])
def test_a_stacks_name_is_taken(name: str) -> None:
    assert re.fullmatch(template()["Parameters"]["DataStack"]["AllowedPattern"], name)


def test_the_event_source_is_the_data_stacks_stream() -> None:
    code = code_stack(translated())
    mappings = [one for one in code.made().values() if one["Type"] == "AWS::Lambda::EventSourceMapping"]
    assert [one["Properties"]["EventSourceArn"] for one in mappings] == [
        data_stack().exports()[f"{DATA}-TableStreamArn"]
    ]
    streams = {one for role in ("project",) for s in statements(role) for one in map(str, listed(s["Resource"]))}
    assert "{'Fn::GetAtt': ['DataTableStream', 'Value']}" in streams
