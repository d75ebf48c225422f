"""What would break a first deployment, or a running one, is not in the CloudFormation that SAM makes of the template.

One test a point, in the order in which they were found; behind each stand the details: test_first_deployment (names,
failed creation, storage), test_user_pool, test_refusals, test_updates (a simulation of an account in which stacks are
made and changed), test_template_roles, test_template_routes, test_layer_versions, test_options, test_plain_build. What
fails for one event stays with it: that is shown by tests/projection/test_whatever_fails.py.
"""

import json
import re
from typing import Any

import pytest
from cfnlint import ManualArgs
from cfnlint.api import lint

from deployment.account import Account
from deployment.resolving import Stack, translated
from deployment.template import FUNCTIONS, OPTIONAL, PUBLIC_ROUTES, ROOT, listed, template, walk

OTHER_UUID = "d0a825a0-e4cd-11e5-b9fb-061c69e99204"


def stack(**parameters: str) -> Stack:
    return Stack(translated(), parameters=parameters)


def of_kind(kind: str, **parameters: str) -> dict[str, dict[str, Any]]:
    made = stack(**parameters).made()
    return {name: one["Properties"] for name, one in made.items() if one["Type"] == kind}


def alarms() -> list[dict[str, Any]]:
    return list(of_kind("AWS::CloudWatch::Alarm").values())


def test_cloudformation_s_linter_finds_nothing() -> None:
    ignored = translated()["Metadata"]["cfn-lint"]["config"]["ignore_checks"]
    found = lint(json.dumps(translated()), config=ManualArgs(regions=["us-east-1"], ignore_checks=ignored))
    assert [str(one) for one in found] == []


def test_1_an_account_of_ten_concurrent_runs_is_enough() -> None:
    assert "ReservedConcurrentExecutions" not in str(stack().made())


def test_1_a_creation_that_fails_takes_all_away_that_it_made() -> None:
    policies = {one.get("DeletionPolicy", "Delete") for one in stack().made().values()}
    assert policies == {"Delete", "RetainExceptOnCreate"}
    assert stack().properties("Table")["DeletionProtectionEnabled"] == "false"


def test_1_without_an_issuer_the_stack_makes_one_and_prints_how_to_get_a_token() -> None:
    (scheme,) = stack().properties("Api")["Body"]["components"]["securitySchemes"].values()
    issuer = scheme["x-amazon-apigateway-authorizer"]["jwtConfiguration"]["issuer"]
    assert issuer.endswith(stack().outputs()["UserPoolId"])
    assert stack().properties("UserPool")["Schema"][0]["Name"] == "tenant"
    assert "admin-initiate-auth" in stack().outputs()["TokenCommand"]
    own = stack(JwtIssuer="https://issuer.example", JwtAudience="recollect")
    assert not own.made().keys() & {"UserPool", "UserPoolClient", "Administrators"}


@pytest.mark.parametrize(
    "parameters",
    [
        {"Model": "bedrock", "BedrockModel": "some.model-1"},
        {"Model": "openai"},
        {"EmbedderKind": "openai"},
        {"Architecture": "arm64"},
    ],
    ids=str,
)
def test_1_what_cannot_work_is_refused_before_anything_is_made(parameters: dict[str, str]) -> None:
    assert stack(**parameters).refusals()
    assert not stack().refusals()


def test_2_what_fails_in_the_stream_is_told_apart_tried_a_few_times_and_watched() -> None:
    (stream,) = of_kind("AWS::Lambda::EventSourceMapping").values()
    assert stream["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert stream["BisectBatchOnFunctionError"] is True
    assert 0 < stream["MaximumRetryAttempts"] <= 3
    assert "StreamFailures" in stream["DestinationConfig"]["OnFailure"]["Destination"]
    assert "StreamFailures" in str([one["Dimensions"] for one in alarms() if one.get("Namespace") == "AWS/SQS"])


def test_2_reconciliation_comes_by_itself_and_what_it_puts_aside_rings() -> None:
    schedules = [one for one in of_kind("AWS::Scheduler::Schedule").values() if "reconcile" in one["Target"]["Input"]]
    assert [one["ScheduleExpression"] for one in schedules] == ["rate(5 minutes)"]
    (alarm,) = [one for one in alarms() if one.get("MetricName") == "QuarantinedEvents"]
    assert (alarm["Threshold"], alarm["ComparisonOperator"]) == (0, "GreaterThanThreshold")


def test_3_the_engine_is_upgraded_in_place_and_two_stacks_stand_in_one_account() -> None:
    account = Account()
    account.deploy(stack())
    account.deploy(Stack(translated(), "recollect-staging", OTHER_UUID))
    assert "SearchDomain" not in account.deploy(stack(EngineVersion="OpenSearch_3.1"))


def test_3_the_function_jobs_makes_the_index_each_minute_where_there_is_none() -> None:
    schedules = [one for one in of_kind("AWS::Scheduler::Schedule").values() if '"jobs"' in one["Target"]["Input"]]
    assert [one["ScheduleExpression"] for one in schedules] == ["rate(1 minute)"]
    document = stack().properties("JobsRole")["Policies"][0]["PolicyDocument"]
    (making,) = [one for one in document["Statement"] if "es:ESHttpPut" in listed(one["Action"])]
    assert any(one.endswith("/recollect-*") for one in making["Resource"])
    deploy = (ROOT / "README.md").read_text("utf-8").partition("## Deploy")[2].partition("\n## ")[0]
    assert "recollect init" not in deploy


def test_4_what_strangers_may_call_is_throttled() -> None:
    (stage,) = of_kind("AWS::ApiGatewayV2::Stage").values()
    assert {stage["RouteSettings"][route]["ThrottlingRateLimit"] for route in PUBLIC_ROUTES} == {2}


def test_4_storage_rings_by_the_volume_and_a_write_block_by_itself() -> None:
    (storage,) = [one for one in alarms() if "FreeStorageSpace" in str(one)]
    expressions = [of_kind("AWS::CloudWatch::Alarm", EngineVolumeGigabytes=size) for size in ("10", "1000")]
    assert len({str(one["EngineStorageAlarm"]["Metrics"]) for one in expressions}) == 2
    assert (storage["Threshold"], storage["ComparisonOperator"]) == (25, "LessThanThreshold")
    assert "ClusterIndexWritesBlocked" in {one.get("MetricName") for one in alarms()}


def test_4_a_key_is_read_by_its_name() -> None:
    named = stack(OpenaiApiKeyParameter="/recollect/key")
    holding = [one for one in walk(named.made()) if one == "/recollect/key"]
    asking = [one for one in of_kind("AWS::Lambda::Function").values() if "API_KEY_PARAMETER" in str(one)]
    assert len(holding) == len(asking) > 0
    allowed = [one for one in walk(named.made()) if isinstance(one, str) and one.endswith(":parameter/recollect/key")]
    assert allowed
    assert not [name for name, one in template()["Parameters"].items() if "NoEcho" in one]


def test_4_other_code_is_another_version_of_a_layer_for_every_function() -> None:
    """SAM names a version by what was uploaded, so that no function stays at old code."""
    versions = of_kind("AWS::Lambda::LayerVersion")
    assert all(re.fullmatch(r"\w+Layer[0-9a-f]{10}", name) for name in versions)
    functions = of_kind("AWS::Lambda::Function").values()
    assert len(functions) >= len(FUNCTIONS) - len(OPTIONAL)
    assert all(any("MemoryLayer" in layer for layer in one["Layers"]) for one in functions)


def test_4_one_permission_lets_the_api_call_a_function() -> None:
    allowed = [one["FunctionName"] for one in of_kind("AWS::Lambda::Permission").values()]
    assert len(allowed) == len(set(allowed)) > 0


def test_4_metrics_are_the_stack_s() -> None:
    functions = of_kind("AWS::Lambda::Function").values()
    assert {one["Environment"]["Variables"]["POWERTOOLS_SERVICE_NAME"] for one in functions} == {"recollect"}
    own = [one for one in alarms() if one.get("Namespace") == "Recollect"]
    assert {str(one["Dimensions"]) for one in own} == {"[{'Name': 'service', 'Value': 'recollect'}]"}


def test_4_options_are_off() -> None:
    made = str(stack().made())
    on = ("AWS::ApiGatewayV2::DomainName", "x-amazon-apigateway-cors", "VpcConfig", "KmsKeyId", "PermissionsBoundary")
    assert [word for word in on if word in made] == []


def test_4_requests_can_be_traced_and_are_not_by_default() -> None:
    for given, mode in (("off", "PassThrough"), ("on", "Active")):
        functions = of_kind("AWS::Lambda::Function", Tracing=given)
        assert {one.get("TracingConfig", {}).get("Mode", "PassThrough") for one in functions.values()} == {mode}


def test_5_a_plain_build_needs_nothing_but_the_layers_own_makefiles() -> None:
    for name, one in template()["Resources"].items():
        if one["Type"] == "AWS::Serverless::LayerVersion":
            makefile = (ROOT / one["Properties"]["ContentUri"] / "Makefile").read_text("utf-8")
            assert (one["Metadata"]["BuildMethod"], f"build-{name}:" in makefile) == ("makefile", True)
            assert ".venv" not in makefile
            assert "RECOLLECT_PYTHON" not in makefile
