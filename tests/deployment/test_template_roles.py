"""Roles grant what their functions use, on the resources they use it on, and no more."""

import json
import re
from pathlib import Path
from typing import Any

import pytest

from deployment.gateway import Need
from deployment.permissions import refusals
from deployment.template import (
    ASKING,
    EMBEDDING,
    FUNCTIONS,
    WITH_DATA,
    environment,
    listed,
    managed,
    properties,
    resources,
    statements,
    template,
    walk,
)

WILDCARDS = {
    "${DataBucketArn.Value}/*/search-blocks/*": "an object's name begins with its tenant",
    "${DataTableArn.Value}/stream/*": "a stream's name ends with the time of its making",
    "${IndexPrefix}-*": "an index's name ends with the embedder's generation",
    "${DataBucketArn.Value}/*": "an object's name is what it holds",
}

INTERFACES = [
    "ec2:AssignPrivateIpAddresses",
    "ec2:CreateNetworkInterface",
    "ec2:DeleteNetworkInterface",
    "ec2:DescribeNetworkInterfaces",
    "ec2:DescribeSubnets",
    "ec2:UnassignPrivateIpAddresses",
]
"""On any resource, in a VPC: IAM knows no names of interfaces that are not there yet."""


TRACING = {"Effect": "Allow", "Action": ["xray:PutTelemetryRecords", "xray:PutTraceSegments"], "Resource": "*"}
"""X-Ray has no resources to name."""


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_role_has_a_wildcard_without_a_reason(name: str) -> None:
    for statement in statements(name):
        assert "*" not in "".join(listed(statement["Action"]))
        if statement["Action"] == INTERFACES or statement == TRACING:
            continue
        resource = "".join(text for text in walk(statement["Resource"]) if isinstance(text, str))
        for reasoned in WILDCARDS:
            resource = resource.replace(reasoned, "")
        assert "*" not in resource, statement


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_do_what_stands_in_the_table_and_nothing_else(name: str) -> None:
    """A shared policy that grows would widen every role that has it: here each of them shows it."""
    table = (Path(__file__).parent / "grants.txt").read_text("utf-8")
    wanted = {line for line in table.splitlines() if line.startswith(f"{name} ")}
    assert set(rows(name)) == wanted


def rows(name: str) -> list[str]:
    """A function's lines of that table: resource and actions."""
    allowed: dict[str, set[str]] = {}
    for one in statements(name):
        for resource in listed(one["Resource"]):
            allowed.setdefault(_named(resource), set()).update(listed(one["Action"]))
    return [f"{name} {resource}: {' '.join(sorted(actions))}" for resource, actions in sorted(allowed.items())]


def _named(resource: dict[str, Any] | str) -> str:
    """A resource by its logical id, or its ARN without partition, region and account."""
    if isinstance(resource, str):
        return resource
    ((_, given),) = resource.items()
    text = ".".join(given) if isinstance(given, list) else str(given)
    for common in ("arn:${AWS::Partition}:", "${AWS::Region}:", "${AWS::AccountId}:", "/${SearchDomainName.Value}"):
        text = text.replace(common, "")
    return text


@pytest.mark.parametrize(
    ("name", "action", "resource"),
    [
        ("ingest", "dynamodb:Query", "table"),
        ("retrieval", "es:ESHttpPost", "domain/other-e5/_msearch"),
        ("memories", "s3:DeleteObject", "bucket/object"),
        ("jobs", "es:ESHttpDelete", "domain/other-e5"),
        ("jobs", "s3:DeleteBucket", "bucket"),
    ],
)
def test_what_is_not_granted_is_refused_to_a_built_function_too(name: str, action: str, resource: str) -> None:
    assert refusals(name, {Need(action, resource)}, "recollect") == {Need(action, resource)}


def test_no_role_is_made_by_sam_which_would_grant_whole_services() -> None:
    assert all(one["Properties"]["Role"]["Fn::GetAtt"] for one in resources("AWS::Serverless::Function").values())
    assert all("Policies" not in one["Properties"] for one in resources("AWS::Serverless::Function").values())


@pytest.mark.parametrize("name", FUNCTIONS)
def test_the_domain_lets_in_what_the_role_allows(name: str) -> None:
    role = {"Fn::GetAtt": [f"{name.capitalize()}Role", "Arn"]}
    of_domain = properties("SearchDomain")["AccessPolicies"]["Statement"]
    granted = [one for one in of_domain if role in let_in(one)]
    assert pairs(granted) == {pair for pair in pairs(statements(name)) if pair[0].startswith("es:")}


def let_in(statement: dict[str, Any]) -> list[Any]:
    """Whom a statement of the domain lets in, conditional ones included."""
    return [one.get("Fn::If", [None, one])[1] for one in listed(statement["Principal"]["AWS"])]


def pairs(given: list[dict[str, Any]]) -> set[tuple[str, str]]:
    return {
        (action, str(resource))
        for one in given
        for action in listed(one["Action"])
        for resource in listed(one["Resource"])
    }


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_role_stays_within_the_limits_of_iam(name: str) -> None:
    """Ten managed policies a role, 10,240 characters of its own ones; white space is not counted."""
    assert len(managed(name)) <= 10
    assert len(re.sub(r"\s", "", json.dumps(properties(f"{name.capitalize()}Role")["Policies"]))) < 10_240


@pytest.mark.parametrize("policy", resources("AWS::IAM::ManagedPolicy"))
def test_a_shared_policy_is_shared_unnamed_and_within_the_limit_of_iam(policy: str) -> None:
    """6,144 characters. Named policies would need CAPABILITY_NAMED_IAM, and collide between two stacks."""
    given = properties(policy)
    assert len([name for name in FUNCTIONS if policy in managed(name)]) > 1
    assert set(given) == {"Description", "PolicyDocument"}
    assert len(re.sub(r"\s", "", json.dumps(given["PolicyDocument"]))) < 6_144


def test_policies_are_attached_before_a_function_is_made() -> None:
    """Attached from their own side, they might come after the mapping of the stream, which is refused without them."""
    assert all("Roles" not in one["Properties"] for one in resources("AWS::IAM::ManagedPolicy").values())
    assert not resources("AWS::IAM::Policy")


def test_only_what_asks_a_model_may_call_it_on_bedrock() -> None:
    called = {
        name: [one["Resource"] for one in statements(name) if "bedrock" in str(one["Action"])] for name in FUNCTIONS
    }
    assert [name for name in FUNCTIONS if {"Ref": "BedrockModelArns"} in called[name]] == list(ASKING)
    assert [name for name in FUNCTIONS if "titan-embed" in str(called[name])] == list(EMBEDDING)


_STORE = "arn:${AWS::Partition}:ssm:${AWS::Region}:${AWS::AccountId}"


@pytest.mark.parametrize("name", WITH_DATA)
def test_every_function_may_read_the_one_parameter_that_holds_the_rules(name: str) -> None:
    read = [one["Resource"]["Fn::Sub"] for one in statements(name) if "ssm:GetParameter" in listed(one["Action"])]
    others = ("OpenaiApiKey", "SigningKeys")
    of_rules = [one for one in read if not any(other in one for other in others)]
    assert of_rules == [f"{_STORE}:parameter${{RulesParameter}}"]
    assert environment(name)["RECOLLECT_RULES_PARAMETER"] == {"Ref": "RulesParameter"}
    pattern = template()["Parameters"]["RulesParameter"]["AllowedPattern"]
    assert re.fullmatch(pattern, "/recollect/rules")
    assert re.fullmatch(pattern, "")
    assert not re.fullmatch(pattern, "recollect")
    assert not re.fullmatch(pattern, "/recollect/*")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_may_tell_x_ray_where_that_is_on_and_tells_it_then_alone(name: str) -> None:
    """Lambda refuses to make a function with active tracing whose role may not write segments."""
    assert TRACING in statements(name)
    assert template()["Globals"]["Function"]["Tracing"] == {"Fn::If": ["Traces", "Active", "PassThrough"]}
    assert template()["Parameters"]["Tracing"]["Default"] == "off"
    granted = [one for one in walk(template()["Resources"]) if isinstance(one, dict) and one.get("Fn::If")]
    of_tracing = [one["Fn::If"] for one in granted if TRACING in one["Fn::If"]]
    assert {condition for condition, _, _ in of_tracing} == {"Traces"}
