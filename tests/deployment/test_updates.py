"""Any parameter of a stack that stands can be changed, and changed back, without another stack or name in the way."""

import copy
import re
from collections.abc import Callable, Mapping
from typing import Any

import pytest

from deployment.account import Account, Refused, fixed_at_creation
from deployment.resolving import Stack, translated
from deployment.template import template

OTHER_UUID = "d0a825a0-e4cd-11e5-b9fb-061c69e99204"
SERVER = {"OpenaiBaseUrl": "https://host/v1", "OpenaiModel": "llama3.2", "OpenaiEmbeddingModel": "bge-m3"}
ARN = "arn:aws:bedrock:eu-west-1::foundation-model/some.model-1"
VPC = {"SubnetIds": "subnet-0a1,subnet-0b2", "SecurityGroupIds": "sg-0a1"}
KEY = {"KmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"}
OTHER_KEY = {"KmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/5678abcd-12ab-34cd-56ef-1234567890ab"}
KEPT = {"Table", "SnapshotBucket"}

TOGETHER: list[dict[str, str]] = [
    {"JwtIssuer": "https://issuer.example", "JwtAudience": "recollect"},
    {"ApiDomainName": "memory.example.com", "ApiCertificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/1"},
    VPC,
    KEY,
    {**VPC, **KEY},
    {**VPC, "EngineInstanceCount": "2"},
    {"Architecture": "arm64", "EmbedderKind": "none"},
    {"EmbedderKind": "openai", **SERVER},
    {"Model": "openai", "Judge": "model", **SERVER},
    {"Model": "openai", "Extraction": "model", **SERVER},
    {"Model": "bedrock", "BedrockModel": "some.model-1", "BedrockModelArns": ARN},
    {"EngineVersion": "OpenSearch_3.1"},
    {"DomainName": "memories"},
]
"""Changes of parameters that need each other, or another value than any."""


def one_by_one() -> list[dict[str, str]]:
    """Another value of each parameter that can have one by itself; test_data_stack.py has what needs another stack."""
    declared = {name: one for name, one in template()["Parameters"].items() if name != "DataStack"}
    changes = [{name: other} for name, one in declared.items() for other in _others(one)]
    return [change for change in changes if not Stack(template(), parameters=change).refusals()]


def _others(parameter: Mapping[str, Any]) -> list[str]:
    allowed = [str(one) for one in parameter.get("AllowedValues", []) if one != parameter.get("Default")]
    if allowed:
        return [allowed[0], allowed[-1]]
    return [str(int(parameter["Default"]) + 1)] if parameter["Type"] == "Number" else ["other.value"]


def stack(parameters: Mapping[str, str] | None = None, source: Mapping[str, Any] | None = None) -> Stack:
    return Stack(source or translated(), parameters=parameters or {})


def test_every_parameter_is_changed_in_some_test() -> None:
    changed = {name for change in [*TOGETHER, *one_by_one()] for name in change}
    assert changed == set(template()["Parameters"]) - {"DataStack"}


@pytest.mark.parametrize("change", [*TOGETHER, *one_by_one()], ids=str)
def test_a_parameter_can_be_changed_and_changed_back_and_no_data_are_made_anew(change: Mapping[str, str]) -> None:
    account = Account()
    account.deploy(stack())
    assert KEPT & account.deploy(stack(change)) == set()
    assert KEPT & account.deploy(stack()) == set()


@pytest.mark.parametrize("change", [{}, *TOGETHER], ids=str)
def test_a_first_deployment_may_have_it_too_beside_another_stack(change: Mapping[str, str]) -> None:
    account = Account()
    account.deploy(Stack(translated(), "recollect-production", OTHER_UUID))
    account.deploy(stack(change))
    assert {owner for owner, _ in account.taken.values()} == {"recollect", "recollect-production"}


def test_the_domain_is_upgraded_and_never_made_anew_under_its_name() -> None:
    account = Account()
    account.deploy(stack())
    assert "SearchDomain" not in account.deploy(stack({"EngineVersion": "OpenSearch_3.1"}))
    assert "SearchDomain" in account.deploy(stack({"EngineVersion": "OpenSearch_3.1", **VPC}))


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ({"DomainName": "memories"}, {"DomainName": "memories", **VPC}),
        ({"DomainName": "memories", **KEY}, {"DomainName": "memories"}),
        (KEY, OTHER_KEY),
    ],
    ids=["a named one into a VPC", "a named one out of its key", "one key after another"],
)
def test_the_changes_that_the_page_says_want_another_domain_name(
    before: Mapping[str, str], after: Mapping[str, str]
) -> None:
    account = Account()
    account.deploy(stack(before))
    with pytest.raises(Refused, match=r"SearchDomain: .* already exists"):
        account.deploy(stack(after))
    account = Account()
    account.deploy(stack(before))
    assert "SearchDomain" in account.deploy(stack({**after, "DomainName": "others"}))


def test_the_second_of_two_stacks_cannot_have_the_name_of_the_firsts_domain() -> None:
    account = Account()
    account.deploy(stack({"DomainName": "memories"}))
    with pytest.raises(Refused, match="memories already exists"):
        account.deploy(Stack(translated(), "other", OTHER_UUID, {"DomainName": "memories"}))


Change = Callable[[dict[str, Any]], None]


def _fixed_domain_name(resources: dict[str, Any]) -> None:
    resources["SearchDomainName"]["Properties"]["Value"] = "recollect"


def _fixed_bus_name(resources: dict[str, Any]) -> None:
    resources["Bus"]["Properties"]["Name"] = "recollect"


def _no_upgrade(resources: dict[str, Any]) -> None:
    del resources["SearchDomain"]["UpdatePolicy"]


def _name_of_the_stack_alone(resources: dict[str, Any]) -> None:
    name = resources["SearchDomainName"]["Properties"]
    name["Value"]["Fn::If"][1]["Fn::If"][2]["Fn::Join"][1].pop()


def _renamed_log_group(resources: dict[str, Any]) -> None:
    resources["MessageLogs"] = resources.pop("ApiLogs")
    text = resources["ApiApiGatewayDefaultStage"]["Properties"]["AccessLogSettings"]
    text["DestinationArn"] = {"Fn::GetAtt": ["MessageLogs", "Arn"]}


def _client_without_condition(resources: dict[str, Any]) -> None:
    del resources["UserPoolClient"]["Condition"]


def changed(change: Change) -> dict[str, Any]:
    source = copy.deepcopy(translated())
    change(source["Resources"])
    return source


@pytest.mark.parametrize("defect", [_fixed_domain_name, _fixed_bus_name])
def test_it_shows_that_a_second_stack_would_fail(defect: Change) -> None:
    account, source = Account(), changed(defect)
    account.deploy(Stack(source))
    with pytest.raises(Refused, match="recollect already exists"):
        account.deploy(Stack(source, "staging", OTHER_UUID))


@pytest.mark.parametrize(
    ("defect", "change"),
    [
        (_no_upgrade, {"EngineVersion": "OpenSearch_3.1"}),
        (_name_of_the_stack_alone, VPC),
        (_name_of_the_stack_alone, KEY),
    ],
)
def test_it_shows_that_a_change_would_replace_what_has_a_name(defect: Change, change: Mapping[str, str]) -> None:
    account, source = Account(), changed(defect)
    account.deploy(Stack(source))
    with pytest.raises(Refused, match=r"SearchDomain: .* already exists"):
        account.deploy(Stack(source, parameters=change))


def test_it_shows_that_a_name_cannot_move_to_another_resource_in_one_deployment() -> None:
    account = Account()
    account.deploy(stack())
    with pytest.raises(Refused, match=r"MessageLogs: .* already exists, as ApiLogs"):
        account.deploy(stack(source=changed(_renamed_log_group)))


def test_it_shows_that_something_names_what_is_not_made() -> None:
    with pytest.raises(Refused, match="UserPoolClient names UserPool, which"):
        Account().deploy(stack(TOGETHER[0], changed(_client_without_condition)))


def test_a_name_is_free_again_after_the_clean_up() -> None:
    account = Account()
    account.deploy(stack({"DomainName": "memories"}))
    account.deploy(stack())
    account.deploy(Stack(translated(), "other", OTHER_UUID, {"DomainName": "memories"}))
    assert re.fullmatch(r"recollect-[0-9a-f]{8}-[0-9a-f]{4}", stack().properties("SearchDomain")["DomainName"])


def test_what_is_fixed_is_told_by_the_schemas() -> None:
    assert ("DomainName",) in fixed_at_creation("AWS::OpenSearchService::Domain")
    assert ("EncryptionAtRestOptions", "KmsKeyId") in fixed_at_creation("AWS::OpenSearchService::Domain")
    assert ("KeySchema",) in fixed_at_creation("AWS::DynamoDB::Table")
