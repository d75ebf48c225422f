"""What lets a first deployment succeed, a second one stand beside it, and a failed one leave nothing behind."""

import re
from collections.abc import Mapping
from graphlib import TopologicalSorter
from typing import Any

import pytest

from deployment.resolving import Stack, dependencies, translated
from deployment.template import PUBLIC_ROUTES, template, walk

DOMAIN_NAME = re.compile(r"[a-z][a-z0-9-]{2,27}")
STACK_NAMES = ("recollect", "Recollect-Staging", "r", "a" * 128, "A" + "-9" * 63)
OTHER_UUID = "d0a825a0-e4cd-11e5-b9fb-061c69e99204"
GIB = 1024


@pytest.fixture(params=["as written", "as SAM translates it"])
def source(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    return template() if request.param == "as written" else translated()


def test_nothing_waits_for_itself() -> None:
    """Roles name the domain, whose policy names the roles: the domain's name must come from neither."""
    made = translated()
    assert set(TopologicalSorter(dependencies(made)).static_order()) == set(made["Resources"])


def test_no_concurrency_is_reserved_unless_it_is_asked_for(source: Mapping[str, Any]) -> None:
    """An account that has 10 concurrent runs, as a new one has, may reserve none."""
    assert "ReservedConcurrentExecutions" not in Stack(source).properties("ProjectFunction")
    asked = Stack(source, parameters={"ProjectConcurrency": "25"})
    assert asked.properties("ProjectFunction")["ReservedConcurrentExecutions"] == "25"
    reserving = {name for name, one in source["Resources"].items() if "ReservedConcurrentExecutions" in str(one)}
    assert reserving == {"ProjectFunction"}


@pytest.mark.parametrize("name", ["Table", "SnapshotBucket"])
def test_data_outlive_the_stack_and_not_a_failed_creation(source: Mapping[str, Any], name: str) -> None:
    resource = Stack(source).resource(name)
    assert (resource["DeletionPolicy"], resource["UpdateReplacePolicy"]) == ("RetainExceptOnCreate", "Retain")


def test_what_must_go_with_a_failed_creation_lets_itself_be_deleted(source: Mapping[str, Any]) -> None:
    assert Stack(source).properties("Table")["DeletionProtectionEnabled"] == "false"
    protected = Stack(source, parameters={"DeletionProtection": "true"})
    assert protected.properties("Table")["DeletionProtectionEnabled"] == "true"


def test_nothing_of_a_failed_creation_is_left(source: Mapping[str, Any]) -> None:
    kept = {one["Type"] for one in source["Resources"].values() if one.get("DeletionPolicy", "Delete") == "Retain"}
    assert kept == set()


def test_two_stacks_of_one_account_share_no_name(source: Mapping[str, Any]) -> None:
    first, second = Stack(source, "recollect"), Stack(source, "staging", OTHER_UUID)
    assert first.names()
    assert first.names() & second.names() == set()


@pytest.mark.parametrize("name", STACK_NAMES)
def test_any_stack_has_a_domain_of_a_name_that_opensearch_takes(source: Mapping[str, Any], name: str) -> None:
    made = Stack(source, name).properties("SearchDomain")["DomainName"]
    assert DOMAIN_NAME.fullmatch(made)
    assert Stack(source, name, OTHER_UUID).properties("SearchDomain")["DomainName"] != made


def test_a_domain_may_be_named(source: Mapping[str, Any]) -> None:
    named = Stack(source, parameters={"DomainName": "memories"})
    assert named.properties("SearchDomain")["DomainName"] == "memories"
    pattern = re.compile(template()["Parameters"]["DomainName"]["AllowedPattern"])
    assert pattern.fullmatch("")
    assert not pattern.fullmatch("Memories")
    assert not pattern.fullmatch("m" * 29)


@pytest.mark.parametrize("parameters", [{}, {"DomainName": "memories"}], ids=["made", "given"])
def test_roles_policies_and_alarms_name_the_domain_that_is_made(
    source: Mapping[str, Any], parameters: Mapping[str, str]
) -> None:
    stack = Stack(source, "Recollect-Staging", parameters=parameters)
    domain = stack.properties("SearchDomain")["DomainName"]
    texts = [text for name in source["Resources"] for text in walk(stack.resource(name)) if isinstance(text, str)]
    granted = {found for text in texts for found in re.findall(r":domain/([^/]+)/", text)}
    assert granted == {domain}
    watched = {
        one["Value"]
        for name in source["Resources"]
        for one in walk(stack.resource(name))
        if isinstance(one, dict) and one.get("Name") == "DomainName"
    }
    assert watched == {domain}
    assert f'"DomainName", "{domain}"' in stack.properties("Dashboard")["DashboardBody"]


def test_another_engine_version_upgrades_the_domain_that_is_there(source: Mapping[str, Any]) -> None:
    assert source["Resources"]["SearchDomain"]["UpdatePolicy"] == {"EnableVersionUpgrade": True}


def test_what_needs_no_credentials_is_throttled_below_the_rest(source: Mapping[str, Any]) -> None:
    (settings,) = [one["RouteSettings"] for one in walk(source) if isinstance(one, dict) and "RouteSettings" in one]
    for route in PUBLIC_ROUTES:
        limits = settings[route]
        assert (limits["ThrottlingRateLimit"], limits["ThrottlingBurstLimit"]) == (2, 5)


@pytest.mark.parametrize("gigabytes", [10, 11, 79, 80, 99, 100, 101, 500, 1024])
def test_the_storage_alarm_rings_before_writes_are_refused(source: Mapping[str, Any], gigabytes: int) -> None:
    """AWS refuses writes below 20 % of a volume or 20 GiB, whichever is less, and counts in MiB."""
    alarm = Stack(source, parameters={"EngineVolumeGigabytes": str(gigabytes)}).properties("EngineStorageAlarm")
    (expression,) = [one["Expression"] for one in alarm["Metrics"] if "Expression" in one]
    (metric,) = [one for one in alarm["Metrics"] if "MetricStat" in one]
    assert (metric["Id"], metric["MetricStat"]["Metric"]["MetricName"]) == ("free", "FreeStorageSpace")
    assert metric["MetricStat"]["Stat"] == "Minimum"

    def rings(free: float) -> bool:
        assert alarm["ComparisonOperator"] == "LessThanThreshold"
        return bool(eval(expression, {"free": free}) < alarm["Threshold"])

    refused_below = min(0.2 * gigabytes * GIB, 20 * GIB)
    assert rings(refused_below * 1.2)
    assert rings(refused_below)
    assert not rings(0.3 * gigabytes * GIB)


def test_every_size_that_a_volume_may_have_is_between_those_tried() -> None:
    size = template()["Parameters"]["EngineVolumeGigabytes"]
    assert (size["MinValue"], size["MaxValue"]) == (10, 1024)


def test_writes_that_the_search_engine_refuses_ring(source: Mapping[str, Any]) -> None:
    alarm = Stack(source).properties("EngineWritesBlockedAlarm")
    assert (alarm["Namespace"], alarm["MetricName"]) == ("AWS/ES", "ClusterIndexWritesBlocked")
    assert (alarm["Statistic"], alarm["ComparisonOperator"]) == ("Maximum", "GreaterThanThreshold")
    assert (alarm["Threshold"], alarm["Period"] * alarm["EvaluationPeriods"]) == (0, 300)
