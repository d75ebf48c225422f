"""With SnapStart clients call published versions; a deployment of another name publishes others."""

import re
from typing import Any

from deployment.account import Account
from deployment.resolving import Stack, translated
from deployment.template import FUNCTIONS, OPTIONAL, ROOT, function, operations, routes, schedules, template

WAITED_FOR = tuple(name for name in FUNCTIONS if routes(name) and not schedules(name) and name not in OPTIONAL)
"""Nobody waits for a run on schedule or of the stream: a snapshot would cost and help no one.

The console opens nothing that takes long: its pages wait for the others. A snapshot of AgentCore's function would go on
with keys that were taken away.
"""
ON = {"SnapStart": "one"}


def stack(**parameters: str) -> Stack:
    return Stack(translated(), parameters=parameters)


def made(kind: str, of: Stack) -> dict[str, dict[str, Any]]:
    return {name: one["Properties"] for name, one in of.made().items() if one["Type"] == kind}


def named(name: str, what: str) -> str:
    return f"{name.capitalize()}{what}"


def apply_on(of: Stack) -> dict[str, str | None]:
    return {one: of.properties(named(one, "Function")).get("SnapStart", {}).get("ApplyOn") for one in FUNCTIONS}


def test_it_is_off_by_default_and_the_alias_is_the_function_as_it_is() -> None:
    off = stack()
    assert made("AWS::Lambda::Version", off) == {}
    assert set(apply_on(off).values()) == {"None", None}
    aliases = made("AWS::Lambda::Alias", off)
    assert set(aliases) == {named(one, "Live") for one in WAITED_FOR}
    assert {one["FunctionVersion"] for one in aliases.values()} == {"$LATEST"}


def test_where_it_is_on_functions_that_clients_wait_for_have_a_version_which_the_alias_is() -> None:
    on = stack(**ON)
    assert apply_on(on) == {one: "PublishedVersions" if one in WAITED_FOR else None for one in FUNCTIONS}
    assert set(made("AWS::Lambda::Version", on)) == {named(one, "Version") for one in WAITED_FOR}
    aliases = made("AWS::Lambda::Alias", on)
    for one in WAITED_FOR:
        alias = aliases[named(one, "Live")]
        assert alias["FunctionVersion"] == on.value({"Fn::GetAtt": [named(one, "Version"), "Version"]})
        assert alias["FunctionName"] == on.value({"Ref": named(one, "Function")})


def test_the_api_calls_the_alias_and_may() -> None:
    permissions = translated()["Resources"]
    for route, operation in operations().items():
        uri = operation["x-amazon-apigateway-integration"]["uri"]["Fn::Sub"]
        (name, qualifier) = re.findall(r"functions/\$\{(\w+)Function\.Arn\}(:live)?/invocations", uri)[0]
        assert bool(qualifier) == (name.lower() in WAITED_FOR), route
        permitted = permissions[f"{name}Permission"]["Properties"]["FunctionName"]
        assert permitted == {"Ref": f"{name}{'Live' if qualifier else 'Function'}"}


def test_the_api_is_changed_once_its_aliases_are_there() -> None:
    for of in (stack(), stack(**ON)):
        assert {named(one, "Live") for one in WAITED_FOR} <= of.references("Api")


def test_what_runs_on_schedule_or_of_the_stream_is_called_as_before() -> None:
    off, on = stack(), stack(**ON)
    for kind in ("AWS::Scheduler::Schedule", "AWS::Lambda::EventSourceMapping", "AWS::Lambda::EventInvokeConfig"):
        assert made(kind, off) == made(kind, on)
        assert len(made(kind, on)) >= 1
    called = {one["Target"]["Arn"] for one in made("AWS::Scheduler::Schedule", on).values()}
    assert called == {on.value({"Fn::GetAtt": [named(one, "Function"), "Arn"]}) for one in FUNCTIONS if schedules(one)}


def test_another_name_publishes_another_version_and_the_same_one_none() -> None:
    account, versions = Account(), {named(one, "Version") for one in WAITED_FOR}
    account.deploy(stack(**ON))
    assert account.deploy(stack(**ON, LogLevel="DEBUG")) & versions == set()
    assert account.deploy(stack(SnapStart="two")) & versions == versions


def test_another_name_is_another_configuration_of_the_function() -> None:
    """Lambda publishes nothing of a function that has not changed, and CloudFormation takes that for an error."""
    for name in WAITED_FOR:
        one, two = (stack(SnapStart=given).properties(named(name, "Function")) for given in ("one", "two"))
        assert one["Environment"] != two["Environment"]


def test_no_version_outlives_its_deployment() -> None:
    """It would go on costing for its snapshot."""
    versions = [one for one in template()["Resources"].values() if one["Type"] == "AWS::Lambda::Version"]
    assert len(versions) == len(WAITED_FOR)
    assert not [one for one in versions if {"DeletionPolicy", "UpdateReplacePolicy"} & one.keys()]


def test_what_it_does_not_go_with_is_nowhere() -> None:
    every: list[dict[str, Any]] = [template()["Globals"]["Function"], *map(function, FUNCTIONS)]
    for one in every:
        assert not one.keys() & {"FileSystemConfigs", "EphemeralStorage", "ImageUri", "ProvisionedConcurrencyConfig"}
    assert template()["Globals"]["Function"]["Runtime"] == "python3.13"


def test_the_page_has_its_price_by_the_templates_sizes() -> None:
    gigabytes = sum(function(one)["MemorySize"] for one in WAITED_FOR) / 1024
    text = " ".join((ROOT / "docs/operations.md").read_text("utf-8").split())
    told = re.search(r"the ([\d.]+) GB of the template's functions ([\d.]+) dollars a month", text)
    assert told is not None
    assert (float(told[1]), float(told[2])) == (round(gigabytes, 1), round(gigabytes * 0.0000015046 * 30 * 86_400, 1))
