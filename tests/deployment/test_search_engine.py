"""A stack whose index is in the table has no domain, and nothing in it that names one; a stack on the way has both."""

from collections.abc import Mapping
from typing import Any

import pytest

from deployment.resolving import Stack, translated
from deployment.template import template

ENGINE_ALARMS = {
    "EngineRedAlarm", "EngineStorageAlarm", "EngineWritesBlockedAlarm", "EngineProcessorAlarm", "EngineMemoryAlarm",
    "EngineCreditsAlarm",
}  # fmt: skip
OUTPUTS = {"OpenSearchUrl", "OpenSearchDomainName"}
OF_THE_DOMAIN = {"SearchDomain"} | ENGINE_ALARMS | OUTPUTS


@pytest.fixture(params=["as written", "as SAM translates it"])
def source(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    return template() if request.param == "as written" else translated()


def made(source: Mapping[str, Any], **parameters: str) -> dict[str, Any]:
    return Stack(source, parameters=parameters).whole()


def test_a_table_needs_no_domain(source: Mapping[str, Any]) -> None:
    """Working it out fails where anything refers to what is not made."""
    whole, bare = made(source), made(source, SearchEngine="table")
    assert {name for name in whole if name in OF_THE_DOMAIN} == OF_THE_DOMAIN
    assert whole.keys() - bare.keys() >= OF_THE_DOMAIN
    assert not [name for name, one in bare.items() if _type(one) == "AWS::CloudWatch::Alarm" and "AWS/ES" in str(one)]
    assert not [name for name, one in bare.items() if "es:ESHttp" in str(one)]


def test_no_policy_of_a_table_is_empty(source: Mapping[str, Any]) -> None:
    """IAM refuses a policy without statements."""
    bare = made(source, SearchEngine="table")
    documents = [
        one["Properties"]["PolicyDocument"] for one in bare.values() if _type(one) == "AWS::IAM::ManagedPolicy"
    ]
    roles = [one["Properties"].get("Policies", []) for one in bare.values() if _type(one) == "AWS::IAM::Role"]
    documents += [policy["PolicyDocument"] for policies in roles for policy in policies]
    assert documents
    assert all(document["Statement"] for document in documents)


@pytest.mark.parametrize(
    ("parameters", "engine", "has_domain"),
    [
        ({}, "domain", True),
        ({"SearchEngine": "table"}, "table", False),
        ({"SearchEngine": "table", "KeepDomain": "true"}, "table", True),
    ],
    ids=["domain", "table", "on the way to the table"],
)
def test_functions_are_told_where_the_index_is(
    source: Mapping[str, Any], parameters: Mapping[str, str], engine: str, has_domain: bool
) -> None:
    stack = Stack(source, parameters=parameters)
    told = _environment(stack, source)
    assert told["RECOLLECT_SEARCH_ENGINE"] == engine
    assert bool(told["RECOLLECT_OPENSEARCH_URL"]) is ("SearchDomain" in stack.whole()) is has_domain


def _environment(stack: Stack, source: Mapping[str, Any]) -> dict[str, Any]:
    """What every function is told: in the template for all of them, in the translation in each."""
    if "Globals" in source:
        shared = source["Globals"]["Function"]["Environment"]["Variables"]
        return {name: stack.value(shared[name]) for name in ("RECOLLECT_SEARCH_ENGINE", "RECOLLECT_OPENSEARCH_URL")}
    found: dict[str, Any] = stack.properties("RetrievalFunction")["Environment"]["Variables"]
    return found


def _type(one: Any) -> str:
    return str(one.get("Type", "")) if isinstance(one, dict) else ""
