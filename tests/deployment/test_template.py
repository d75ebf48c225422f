"""template.yaml agrees with the code, and grants and leaks no more than it must."""

import json
import re
import subprocess
import sys

import pytest

from deployment.gateway import Need
from deployment.permissions import refusals
from deployment.template import (
    FUNCTIONS,
    PUBLIC_ROUTES,
    ROOT,
    environment,
    function,
    layers,
    listed,
    properties,
    resources,
    routes,
    sample_events,
    statements,
    template,
    walk,
)
from recollect.adapters.aws.stream_records import EVENT_FILTER
from recollect.adapters.aws.table import table_definition
from recollect.entrypoints import aws_wiring_project
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.settings import variables

NOT_IN_THE_CLOUD = {
    "RECOLLECT_HOME": "the laptop's folder",
    "RECOLLECT_API_KEYS": "the API's authorizer reads tokens instead",
    "RECOLLECT_TEST_CLOCK": "never where users are",
    "RECOLLECT_PROJECTOR": "the stream is the projector's switch",
    "RECOLLECT_MODEL_FOLDER": "the layer has a place of its own",
    "RECOLLECT_EMBEDDING_PRECISION": "the layer holds the int8 model",
}
GROUPS_OF = {"ingest": ("ingest",), "retrieval": ("retrieval", "operations"), "context": ("context",)}
WILDCARDS = {
    "${Table.Arn}/stream/*": "a stream's name ends with the time of its making",
    "${IndexPrefix}-*": "an index's name ends with the embedder's generation",
}


def test_the_functions_get_the_settings_that_apply() -> None:
    given = {name for each in FUNCTIONS for name in environment(each) if name.startswith("RECOLLECT_")}
    assert given == {name for name, _, _ in variables()} - set(NOT_IN_THE_CLOUD)


def test_the_test_clock_is_not_in_the_template() -> None:
    assert "TEST_CLOCK" not in (ROOT / "template.yaml").read_text("utf-8")


@pytest.mark.parametrize("name", FUNCTIONS)
def test_every_setting_of_a_function_exists(name: str) -> None:
    known = {variable for variable, _, _ in variables()} | {"POWERTOOLS_SERVICE_NAME"}
    assert set(environment(name)) <= known


def test_the_table_is_the_one_that_init_makes() -> None:
    table = properties("Table")
    assert {name: table[name] for name in table_definition()} == table_definition()


def test_the_table_is_kept_and_can_be_restored() -> None:
    table = template()["Resources"]["Table"]
    assert table["DeletionPolicy"] == table["UpdateReplacePolicy"] == "Retain"
    assert table["Properties"]["PointInTimeRecoverySpecification"] == {"PointInTimeRecoveryEnabled": True}
    assert table["Properties"]["DeletionProtectionEnabled"] == {"Ref": "DeletionProtection"}
    assert table["Properties"]["SSESpecification"] == {"SSEEnabled": True}


def test_the_bucket_is_private_versioned_encrypted_and_tls_only() -> None:
    bucket = properties("SnapshotBucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]
    (denied,) = properties("SnapshotBucketPolicy")["PolicyDocument"]["Statement"]
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_search_domain_speaks_tls_and_encrypts() -> None:
    domain = properties("SearchDomain")
    assert domain["DomainEndpointOptions"]["EnforceHTTPS"] is True
    assert domain["EncryptionAtRestOptions"] == domain["NodeToNodeEncryptionOptions"] == {"Enabled": True}
    assert domain["AdvancedOptions"]["rest.action.multi.allow_explicit_index"] == "false"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_no_role_has_a_wildcard_without_a_reason(name: str) -> None:
    for statement in statements(name):
        assert "*" not in "".join(listed(statement["Action"]))
        resource = "".join(text for text in walk(statement["Resource"]) if isinstance(text, str))
        for reasoned in WILDCARDS:
            resource = resource.replace(reasoned, "")
        assert "*" not in resource, statement


@pytest.mark.parametrize(
    ("name", "action", "resource"),
    [
        ("ingest", "dynamodb:DeleteItem", "table"),
        ("ingest", "dynamodb:Query", "table"),
        ("ingest", "es:ESHttpPost", "domain/recollect-minilm/_msearch"),
        ("retrieval", "dynamodb:PutItem", "table"),
        ("retrieval", "es:ESHttpPost", "domain/recollect-minilm/_bulk"),
        ("retrieval", "es:ESHttpPost", "domain/other-minilm/_msearch"),
        ("context", "dynamodb:Query", "table/index/other"),
        ("context", "es:ESHttpDelete", "domain/recollect-minilm"),
        ("project", "dynamodb:DeleteTable", "table"),
        ("project", "s3:ListBucket", "bucket"),
    ],
)
def test_a_role_refuses_what_its_function_has_no_use_for(name: str, action: str, resource: str) -> None:
    assert refusals(name, {Need(action, resource)}, "recollect") == {Need(action, resource)}


def test_no_role_is_made_by_sam_which_would_grant_whole_services() -> None:
    assert all(one["Properties"]["Role"]["Fn::GetAtt"] for one in resources("AWS::Serverless::Function").values())
    assert all("Policies" not in one["Properties"] for one in resources("AWS::Serverless::Function").values())


@pytest.mark.parametrize("name", ["retrieval", "context", "project"])
def test_the_domain_lets_in_what_the_role_allows(name: str) -> None:
    role = f"{name.capitalize()}Role"
    granted = [
        (statement["Action"], resource)
        for statement in properties("SearchDomain")["AccessPolicies"]["Statement"]
        if {"Fn::GetAtt": [role, "Arn"]} in listed(statement["Principal"]["AWS"])
        for resource in listed(statement["Resource"])
    ]
    wanted = [
        (statement["Action"], resource)
        for statement in statements(name)
        if "es:" in str(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    assert granted == wanted


def test_ingest_cannot_reach_the_search_engine_or_delete() -> None:
    actions = {action for statement in statements("ingest") for action in listed(statement["Action"])}
    assert not {
        action for action in actions if action.startswith("es:") or "Delete" in action or "BatchWrite" in action
    }


@pytest.mark.parametrize(("name", "groups"), GROUPS_OF.items())
def test_the_api_has_the_routes_that_the_function_serves(name: str, groups: tuple[str, ...]) -> None:
    assert set(routes(name)) == {route.template for route in routes_of(groups)}
    assert all(f'"{group}"' in (ROOT / "functions" / name / "app.py").read_text("utf-8") for group in groups)


def test_each_route_is_served_by_one_function() -> None:
    assert sorted(group for groups in GROUPS_OF.values() for group in groups) == sorted(GROUPS)


def test_routes_without_credentials_are_those_of_the_code() -> None:
    assert {route.template for route in routes_of(GROUPS) if not route.needs_credentials} == PUBLIC_ROUTES


def test_only_the_four_public_routes_need_no_token() -> None:
    api = properties("Api")["Auth"]
    assert set(api["Authorizers"]) == {api["DefaultAuthorizer"]}
    assert set(api["Authorizers"]["Tokens"]["JwtConfiguration"]) == {"issuer", "audience"}
    public = {route for name in FUNCTIONS for route, event in routes(name).items() if "Auth" in event}
    assert public == PUBLIC_ROUTES
    assert all(routes("retrieval")[route]["Auth"] == {"Authorizer": "NONE"} for route in public)


def test_every_route_is_throttled() -> None:
    throttles = properties("Api")["DefaultRouteSettings"]
    assert throttles["ThrottlingRateLimit"] == {"Ref": "RateLimit"}
    assert throttles["ThrottlingBurstLimit"] == {"Ref": "BurstLimit"}


def test_the_stream_brings_events_only_and_gives_up_in_bounds() -> None:
    stream = function("project")["Events"]["Stream"]["Properties"]
    (pattern,) = stream["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == EVENT_FILTER
    assert stream["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert stream["BisectBatchOnFunctionError"] is True
    assert 0 < stream["MaximumRetryAttempts"] <= 100
    assert 60 <= stream["MaximumRecordAgeInSeconds"] <= 86400
    assert stream["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["StreamFailures", "Arn"]}


def test_every_asynchronous_edge_ends_in_a_watched_queue() -> None:
    project, queues = function("project"), set(resources("AWS::SQS::Queue"))
    edges = [
        project["Events"]["Stream"]["Properties"]["DestinationConfig"]["OnFailure"]["Destination"],
        project["EventInvokeConfig"]["DestinationConfig"]["OnFailure"]["Destination"],
        project["Events"]["Reconcile"]["Properties"]["DeadLetterConfig"]["Arn"],
    ]
    assert {edge["Fn::GetAtt"][0] for edge in edges} == queues
    assert all(properties(queue)["SqsManagedSseEnabled"] is True for queue in queues)
    assert queues == {names[0] for names in alarmed("QueueName")}


def alarmed(dimension: str) -> list[list[str]]:
    """The values of a dimension that alarms watch."""
    watched = [one for alarm in resources("AWS::CloudWatch::Alarm").values() for one in walk(alarm)]
    return [
        one["Value"].get("Fn::GetAtt", [one["Value"].get("Ref")])
        for one in watched
        if isinstance(one, dict) and one.get("Name") == dimension
    ]


def test_functions_of_users_and_of_the_stream_are_watched() -> None:
    watched = {names[0] for names in alarmed("FunctionName")}
    assert watched == set(resources("AWS::Serverless::Function"))


def test_alarms_tell_the_topic_where_there_is_one() -> None:
    told = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}
    assert all(one["Properties"]["AlarmActions"] == told for one in resources("AWS::CloudWatch::Alarm").values())


def test_alarms_and_dashboard_read_metrics_that_the_code_writes() -> None:
    source = (ROOT / "layers/memory/recollect/entrypoints/aws_wiring_project.py").read_text("utf-8")
    alarms = [one["Properties"] for one in resources("AWS::CloudWatch::Alarm").values()]
    own = {one["MetricName"] for one in alarms if one.get("Namespace") == aws_wiring_project.NAMESPACE}
    body = properties("Dashboard")["DashboardBody"]["Fn::Sub"]
    own |= set(re.findall(rf'\["{aws_wiring_project.NAMESPACE}", "(\w+)"', body))
    assert aws_wiring_project.OLDEST_PENDING in own
    assert all(f'"{metric}"' in source for metric in own)
    assert json.loads(body)["widgets"]


def test_the_missing_age_of_the_oldest_marker_is_an_alarm() -> None:
    assert properties("OldestPendingAlarm")["TreatMissingData"] == "breaching"


@pytest.mark.parametrize("name", FUNCTIONS)
def test_logs_are_kept_for_the_time_set(name: str) -> None:
    group = function(name)["LoggingConfig"]["LogGroup"]["Ref"]
    assert properties(group)["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_gives_up_before_its_function_does(name: str) -> None:
    call = float(environment(name)["RECOLLECT_CALL_TIMEOUT_SECONDS"])
    assert call <= 2
    assert 2 * call < function(name)["Timeout"]


def test_answers_come_before_the_api_gives_up() -> None:
    assert all(function(name)["Timeout"] < 30 for name in FUNCTIONS if routes(name))


def test_what_does_not_embed_carries_no_model() -> None:
    assert layers("ingest") == ["MemoryLayer", "DependenciesLayer"]
    for name in ("retrieval", "context", "project"):
        assert layers(name) == ["MemoryLayer", "DependenciesLayer", "EmbedderLayer"]


def test_functions_run_on_one_python_and_the_chosen_architecture() -> None:
    shared = template()["Globals"]["Function"]
    assert shared["Runtime"] == "python3.13"
    assert shared["Architectures"] == [{"Ref": "Architecture"}]
    assert set(template()["Parameters"]["Architecture"]["AllowedValues"]) == {"arm64", "x86_64"}
    for layer in resources("AWS::Serverless::LayerVersion").values():
        assert layer["Properties"]["CompatibleRuntimes"] == ["python3.13"]
        assert layer["Properties"]["CompatibleArchitectures"] == [{"Ref": "Architecture"}]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_function_is_wiring_only(name: str) -> None:
    source = ROOT / "functions" / name / "app.py"
    assert len(source.read_text("utf-8").splitlines()) <= 40
    assert [path.name for path in source.parent.iterdir() if path.suffix != ""] == ["app.py"]


@pytest.mark.parametrize("name", FUNCTIONS)
def test_each_route_has_a_sample_event(name: str) -> None:
    samples = {event["routeKey"] for event in sample_events(name).values() if "routeKey" in event}
    assert samples == set(routes(name))


def test_the_stream_and_the_schedule_have_sample_events() -> None:
    samples = sample_events("project")
    assert {"stream-insert", "stream-modify", "stream-remove", "stream-duplicate"} <= set(samples)
    scheduled = function("project")["Events"]["Reconcile"]["Properties"]["Input"]
    assert samples["schedule-reconcile"] == json.loads(scheduled)


def test_the_pins_of_the_layer_are_those_of_pyproject() -> None:
    command = [sys.executable, str(ROOT / "infra/dependencies.py"), "--check"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
