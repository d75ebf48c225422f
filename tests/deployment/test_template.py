"""template.yaml agrees with the code, and grants and leaks no more than it must."""

import json
import re
from dataclasses import fields
from itertools import permutations
from typing import Any

import pytest

from deployment.resolving import Stack
from deployment.template import (
    ASKING,
    EMBEDDING,
    FUNCTIONS,
    ROOT,
    environment,
    function,
    layers,
    properties,
    resources,
    sample_events,
    schedules,
    statements,
    template,
    walk,
)
from infra.tools import dependencies
from recollect.adapters.aws import model_function
from recollect.adapters.aws.stream import EVENT_FILTER
from recollect.adapters.aws.table import table_definition
from recollect.entrypoints import lambda_handlers
from recollect.entrypoints.http.access_log import METRICS_NAMESPACE
from recollect.entrypoints.http.routes.retrieval import FEEDBACK
from recollect.intent.analysis import IntentName
from recollect.settings import Settings, variables
from recollect.summaries.run import RESERVE_SECONDS
from recollect.tool_calls.protocol import Statistics

DASHBOARDS = tuple(resources("AWS::CloudWatch::Dashboard"))
JUDGING = ("project", "jobs")
RERANKING = ("retrieval", "context", "mem0", "agentcore")
NOT_IN_THE_CLOUD = {
    "RECOLLECT_HOME": "the laptop's folder",
    "RECOLLECT_OPENAI_API_KEY": "a parameter holds the key: whoever may read a configuration reads its variables",
    "RECOLLECT_API_KEYS": "the API's authorizer reads tokens instead",
    "RECOLLECT_SIGNING_KEYS": "a parameter holds them: whoever may read a configuration reads its variables",
    "RECOLLECT_CORS_ORIGINS": "the API answers browsers itself, by CorsOrigins",
    "RECOLLECT_TEST_CLOCK": "never where users are",
    "RECOLLECT_LOCAL_API": "for `sam local` alone: on AWS the authorizer checks tokens",
    "RECOLLECT_RULES": "a parameter holds the rules, which is changed without a deployment",
    "RECOLLECT_MCP_USER": "the token or a header says whose memory it is",
    "RECOLLECT_PROJECTOR": "the stream is the projector's switch",
    "RECOLLECT_MODEL_FOLDER": "the layer has a place of its own",
}


def widgets(*names: str) -> list[dict[str, Any]]:
    """Those of the dashboards named, or of all."""
    bodies = [properties(name)["DashboardBody"]["Fn::Sub"] for name in names or DASHBOARDS]
    return [widget for body in bodies for widget in json.loads(body)["widgets"]]


def test_the_functions_get_the_settings_that_apply() -> None:
    given = {name for each in FUNCTIONS for name in environment(each)} - {
        "POWERTOOLS_SERVICE_NAME",
        "PYDANTIC_DISABLE_PLUGINS",
        "SNAPSHOT_NAME",
    }
    assert given == {name for name, _, _ in variables()} - set(NOT_IN_THE_CLOUD)
    text = (ROOT / "template.yaml").read_text("utf-8")
    assert not [name for name in ("TEST_CLOCK", "LOCAL_API") if name in text]


def test_the_table_is_the_one_that_init_makes() -> None:
    table = properties("Table")
    assert {name: table[name] for name in table_definition()} == table_definition()


ENABLED = {"Enabled": True}


@pytest.mark.parametrize(
    ("resource", "wanted"),
    [
        ("Table", {"PointInTimeRecoverySpecification": {"PointInTimeRecoveryEnabled": True}}),
        (
            "Table",
            {"DeletionProtectionEnabled": {"Ref": "DeletionProtection"}},
        ),
        ("SearchDomain", {"NodeToNodeEncryptionOptions": ENABLED}),
        ("OldestPendingAlarm", {"TreatMissingData": "breaching"}),
    ],
)
def test_data_are_kept_and_encrypted_and_a_missing_age_is_an_alarm(resource: str, wanted: dict[str, Any]) -> None:
    assert properties(resource).items() >= wanted.items()


def test_the_search_domain_speaks_tls_alone() -> None:
    domain = properties("SearchDomain")
    assert domain["DomainEndpointOptions"]["EnforceHTTPS"] is True
    assert domain["AdvancedOptions"]["rest.action.multi.allow_explicit_index"] == "false"


def test_the_bucket_is_private_versioned_encrypted_and_tls_only() -> None:
    bucket = properties("SnapshotBucket")
    assert set(bucket["PublicAccessBlockConfiguration"].values()) == {True}
    assert bucket["VersioningConfiguration"] == {"Status": "Enabled"}
    assert bucket["BucketEncryption"]
    (denied,) = properties("SnapshotBucketPolicy")["PolicyDocument"]["Statement"]
    assert (denied["Effect"], denied["Condition"]) == ("Deny", {"Bool": {"aws:SecureTransport": "false"}})


def test_the_stream_brings_events_only_and_gives_up_in_bounds() -> None:
    stream = function("project")["Events"]["Stream"]["Properties"]
    (pattern,) = stream["FilterCriteria"]["Filters"]
    assert json.loads(pattern["Pattern"]) == EVENT_FILTER
    assert stream["FunctionResponseTypes"] == ["ReportBatchItemFailures"]
    assert stream["BisectBatchOnFunctionError"] is True
    assert 0 < stream["MaximumRetryAttempts"] <= 3, "a batch that fails is projected again with each try"
    assert 60 <= stream["MaximumRecordAgeInSeconds"] <= 86400
    assert (stream["BatchSize"], stream["MaximumBatchingWindowInSeconds"]) == (50, 5)
    assert stream["DestinationConfig"]["OnFailure"]["Destination"] == {"Fn::GetAtt": ["StreamFailures", "Arn"]}


def test_every_asynchronous_edge_ends_in_a_watched_queue() -> None:
    queues, scheduled = set(resources("AWS::SQS::Queue")), [name for name in FUNCTIONS if schedules(name)]
    edges = [
        function("project")["Events"]["Stream"]["Properties"]["DestinationConfig"]["OnFailure"]["Destination"],
        *(one["DeadLetterConfig"]["Arn"] for name in scheduled for one in schedules(name)),
        *(function(name)["EventInvokeConfig"]["DestinationConfig"]["OnFailure"]["Destination"] for name in scheduled),
    ]
    assert scheduled == ["summarize", "project", "jobs", "retain"]
    assert {edge["Fn::GetAtt"][0] for edge in edges} == queues
    assert all(properties(queue)["SqsManagedSseEnabled"] is True for queue in queues)
    assert queues == {names[0] for names in alarmed("QueueName")}


def alarmed(dimension: str) -> list[list[str]]:
    watched = [one for alarm in resources("AWS::CloudWatch::Alarm").values() for one in walk(alarm)]
    return [
        one["Value"].get("Fn::GetAtt", [one["Value"].get("Ref")])
        for one in watched
        if isinstance(one, dict) and one.get("Name") == dimension
    ]


def test_functions_of_users_and_of_the_stream_are_watched() -> None:
    """One of a schedule leaves what failed in a queue; the test before this one has those."""
    watched = {names[0] for names in alarmed("FunctionName")}
    scheduled = {f"{name.capitalize()}Function" for name in FUNCTIONS if schedules(name)}
    assert watched == set(resources("AWS::Serverless::Function")) - scheduled | {"ProjectFunction"}


def test_alarms_tell_the_topic_where_there_is_one() -> None:
    told = {"Fn::If": ["HasAlarmTopic", [{"Ref": "AlarmTopicArn"}], {"Ref": "AWS::NoValue"}]}
    assert all(one["Properties"]["AlarmActions"] == told for one in resources("AWS::CloudWatch::Alarm").values())


def test_alarms_and_dashboard_read_metrics_that_the_code_writes() -> None:
    namespace = lambda_handlers.NAMESPACE
    assert namespace == METRICS_NAMESPACE
    source = ROOT / "layers/memory/recollect/entrypoints/lambda_handlers.py"
    written = set(re.findall(r'"(\w+)"', source.read_text("utf-8")))
    written |= {one.name for one in fields(Statistics)}
    alarms = [one["Properties"] for one in resources("AWS::CloudWatch::Alarm").values()]
    own = {one["MetricName"] for one in alarms if one.get("Namespace") == namespace}
    body = json.dumps([metric for widget in widgets() for metric in widget["properties"]["metrics"]])
    own |= {name for name in re.findall(rf'\["{namespace}", "(\w+)"', body) if not name.startswith("Intent")}
    needed = {lambda_handlers.OLDEST_PENDING, lambda_handlers.QUARANTINED, "SummariesFailed", "JobsFailed"}
    assert needed <= own <= written


def test_every_metric_of_ours_that_is_shown_or_watched_is_this_stack_s() -> None:
    """In one account staging and production would add up."""
    body = properties("Dashboard")["DashboardBody"]["Fn::Sub"]
    shown = [line for widget in json.loads(body)["widgets"] for line in widget["properties"]["metrics"]]
    own = [line for line in shown if line[0] == lambda_handlers.NAMESPACE]
    assert [line for line in own if line[2:4] != ["service", "${AWS::StackName}"]] == []
    watched = [one["Properties"] for one in resources("AWS::CloudWatch::Alarm").values()]
    for alarm in watched:
        if alarm.get("Namespace") == lambda_handlers.NAMESPACE:
            assert alarm["Dimensions"] == [{"Name": "service", "Value": {"Ref": "AWS::StackName"}}]


@pytest.mark.spec("R-119", "R-98", "R-115")
def test_the_dashboard_shows_what_is_counted_of_retrieval_by_intent() -> None:
    source = (ROOT / "layers/memory/recollect/entrypoints/http/routes/retrieval.py").read_text("utf-8")
    counted = set(re.findall(r'"(Intent\w+)"', source)) | {
        f"Intent{intent.value.capitalize()}" for intent in IntentName
    }
    every = [{metric[1] for metric in one["properties"]["metrics"]} for one in widgets()]
    shown = [names for names in every if any(name.startswith("Intent") for name in names)]
    assert shown == [
        {"IntentRecords", "IntentRecordsStage4"},
        {"IntentTokens", "IntentTokensStage4"},
        {"IntentRetrievalMs"},
        {"IntentQuestion", "IntentCommand", "IntentStatement", "IntentGreeting"},
        {"IntentZeroMatches", "IntentFallbacks", "IntentCrossSpace"},
        {"IntentFeedback"},
    ]
    assert set().union(*shown) <= counted | {FEEDBACK}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_logs_are_kept_for_the_time_set(name: str) -> None:
    group = function(name)["LoggingConfig"]["LogGroup"]["Ref"]
    assert properties(group)["RetentionInDays"] == {"Ref": "LogRetentionDays"}


@pytest.mark.parametrize("name", FUNCTIONS)
def test_a_call_gives_up_before_its_function_does(name: str) -> None:
    call = float(environment(name)["RECOLLECT_CALL_TIMEOUT_SECONDS"])
    assert call <= 2
    assert 2 * call < function(name)["Timeout"]


def test_a_scheduled_run_is_over_before_the_next_begins() -> None:
    for name in ("summarize", "project", "retain"):
        (schedule,) = schedules(name)
        minutes = int(re.fullmatch(r"rate\((\d+) minutes\)", schedule["ScheduleExpression"])[1])  # type: ignore[index]
        assert function(name)["Timeout"] <= 60 * minutes
        assert schedule["RetryPolicy"]["MaximumEventAgeInSeconds"] < 60 * minutes
        assert function(name)["EventInvokeConfig"]["MaximumRetryAttempts"] == 0


def test_a_run_of_jobs_may_be_longer_than_their_schedules_minute() -> None:
    """Others find its jobs leased, and what it leaves is due at once; its last step ends before the function does."""
    (schedule,) = schedules("jobs")
    assert schedule["ScheduleExpression"] == "rate(1 minute)"
    assert function("jobs")["Timeout"] <= 900
    assert lambda_handlers.RESERVE_SECONDS < function("retain")["Timeout"] == function("jobs")["Timeout"]
    for retries in (schedule["RetryPolicy"], function("jobs")["EventInvokeConfig"]):
        assert retries["MaximumEventAgeInSeconds"] <= 60
        assert retries["MaximumRetryAttempts"] == 0


def test_a_model_gives_up_before_its_function_does() -> None:
    assert function("summarize")["Timeout"] >= 4 * RESERVE_SECONDS
    for name in ASKING:
        assert float(environment(name)["RECOLLECT_MODEL_TIMEOUT_SECONDS"]) < function(name)["Timeout"]


def test_what_does_not_embed_carries_no_model() -> None:
    for name in FUNCTIONS:
        more = ["EmbedderLayer"] if name in EMBEDDING and "RECOLLECT_MODEL_FUNCTION" not in environment(name) else []
        more += ["JudgeLayer"] if name in JUDGING else []
        more += ["RerankLayer"] if name in RERANKING else []
        more += ["McpLayer"] if name in ("mcp", "authorizer") else []
        assert layers(name) == ["MemoryLayer", "DependenciesLayer", *more]


def test_a_turn_waits_for_its_model_in_a_small_function_and_asks_the_function_context_for_vectors() -> None:
    asking = {name: environment(name).get("RECOLLECT_MODEL_FUNCTION") for name in FUNCTIONS}
    assert {name: one for name, one in asking.items() if one} == {"converse": {"Ref": "ContextLive"}}
    assert function("converse")["MemorySize"] <= 512
    assert {"EmbedderLayer", "RerankLayer"} <= set(layers("context"))


def test_a_turn_has_time_for_its_model_though_the_function_context_has_to_start() -> None:
    tries = model_function.POLICY
    once = tries.connect_seconds + tries.read_seconds
    assert function("converse")["Timeout"] - 2 * once >= 10
    assert once >= 5


def test_the_key_of_a_model_is_with_the_functions_that_ask_it_alone() -> None:
    asking = [name for name in FUNCTIONS if name in EMBEDDING + ASKING]
    assert [name for name in FUNCTIONS if "RECOLLECT_OPENAI_API_KEY_PARAMETER" in environment(name)] == asking
    reading = [name for name in FUNCTIONS if "${OpenaiApiKeyParameter}" in str(statements(name))]
    assert reading == asking


def test_the_secrets_of_signing_clients_are_with_the_function_that_they_ask_alone() -> None:
    name = "RECOLLECT_SIGNING_KEYS_PARAMETER"
    assert [one for one in FUNCTIONS if name in environment(one)] == ["agentcore"]
    assert environment("agentcore")[name] == {"Ref": "SigningKeysParameter"}
    assert [one for one in FUNCTIONS if "${SigningKeysParameter}" in str(statements(one))] == ["agentcore"]


def test_no_key_stands_in_a_parameter_or_in_a_function_s_configuration() -> None:
    """By name alone: whoever may read a configuration reads its variables."""
    keys = {"RECOLLECT_OPENAI_API_KEY", "RECOLLECT_SIGNING_KEYS"}
    assert all(not keys & environment(name).keys() for name in FUNCTIONS)
    assert [name for name, one in template()["Parameters"].items() if "NoEcho" in one] == []


def test_inputs_leave_the_account_from_functions_that_build_contexts_alone() -> None:
    searching = [name for name in FUNCTIONS if "RECOLLECT_WEB_SEARCH" in environment(name)]
    assert searching == ["context", "converse", "mcp"]


def test_a_function_that_saves_knows_how_vectors_are_called_which_another_one_makes() -> None:
    assert "memories" not in EMBEDDING
    assert environment("memories")["RECOLLECT_EMBEDDER"] == environment("project")["RECOLLECT_EMBEDDER"]


def test_the_embedder_may_be_any_that_the_settings_take() -> None:
    kinds = template()["Parameters"]["EmbedderKind"]
    assert kinds["Default"] == Settings.from_environment({}).embedder
    for kind in kinds["AllowedValues"]:
        given = {"RECOLLECT_EMBEDDER": kind, "RECOLLECT_OPENAI_BASE_URL": "http://host/v1"}
        assert Settings.from_environment(given).embedder == kind


def test_the_model_may_be_any_list_that_the_settings_take() -> None:
    names = ("extractive", "openai", "bedrock")
    lists = [",".join(chosen) for count in (1, 2, 3) for chosen in permutations(names, count)]
    assert sorted(template()["Parameters"]["Model"]["AllowedValues"]) == sorted(lists)
    needed = {"OPENAI_BASE_URL": "http://127.0.0.1/v1", "OPENAI_MODEL": "a", "BEDROCK_MODEL": "b"}
    variables = {f"RECOLLECT_{name}": value for name, value in needed.items()}
    for one in lists:
        assert Settings.from_environment({**variables, "RECOLLECT_MODEL": one}).model == tuple(one.split(","))


@pytest.mark.parametrize(
    ("provider", "rule"), [("openai", "OpenaiAnswersByModel"), ("bedrock", "BedrockAnswersByModel")]
)
def test_a_deployment_without_what_its_model_needs_is_refused(provider: str, rule: str) -> None:
    chosen, parameter = template()["Rules"][rule]["RuleCondition"]["Fn::Contains"]
    allowed = template()["Parameters"]["Model"]["AllowedValues"]
    assert parameter == {"Ref": "Model"}
    assert set(chosen) == {one for one in allowed if provider in one.split(",")}


@pytest.mark.parametrize("name", DASHBOARDS)
def test_the_widgets_of_a_dashboard_do_not_overlap_and_leave_no_hole(name: str) -> None:
    shown = widgets(name)
    assert {(one["width"], one["height"]) for one in shown} == {(8, 6)}
    assert [(one["x"], one["y"]) for one in shown] == [(place % 3 * 8, place // 3 * 6) for place in range(len(shown))]


def test_dashboards_are_within_what_cloudwatch_gives_away() -> None:
    """Three an account, of 50 metrics each: those of one stack leave room for another one's first."""
    assert len(DASHBOARDS) == 2
    assert all(
        len([one for each in widgets(name) for one in each["properties"]["metrics"]]) <= 50 for name in DASHBOARDS
    )


def test_a_stack_without_dashboards_names_none() -> None:
    whole, bare = Stack(template(), parameters={"Dashboards": "true"}).whole(), Stack(template()).whole()
    assert whole.keys() - bare.keys() == {*DASHBOARDS, "DashboardUrl", "WorkDashboardUrl"}


def test_metrics_of_single_routes_are_counted_only_where_they_are_asked_for() -> None:
    assert not Stack(template()).properties("Api")["DefaultRouteSettings"]["DetailedMetricsEnabled"]
    asked = Stack(template(), parameters={"DetailedRouteMetrics": "true"})
    assert asked.properties("Api")["DefaultRouteSettings"]["DetailedMetricsEnabled"]


def test_the_table_is_bounded_only_where_that_is_asked_for() -> None:
    assert "OnDemandThroughput" not in Stack(template()).properties("Table")
    reads = Stack(template(), parameters={"TableMaxReadUnits": "500"})
    assert reads.properties("Table")["OnDemandThroughput"] == {"MaxReadRequestUnits": "500"}
    both = Stack(template(), parameters={"TableMaxReadUnits": "500", "TableMaxWriteUnits": "100"})
    assert both.properties("Table")["OnDemandThroughput"] == {
        "MaxReadRequestUnits": "500",
        "MaxWriteRequestUnits": "100",
    }


def test_the_engines_memory_rings_before_it_stops_writes() -> None:
    alarm = properties("EngineMemoryAlarm")
    assert (alarm["Namespace"], alarm["MetricName"], alarm["Threshold"]) == ("AWS/ES", "JVMMemoryPressure", 95)
    assert alarm["Period"] * alarm["EvaluationPeriods"] < 1800


@pytest.mark.parametrize(
    ("instance", "burstable"), [("t3.small.search", True), ("t3.medium.search", True), ("r7g.large.search", False)]
)
def test_processor_credits_are_watched_where_there_are_any(instance: str, burstable: bool) -> None:
    stack = Stack(template(), parameters={"EngineInstanceType": instance})
    assert ("EngineCreditsAlarm" in stack.made()) is burstable
    alarm = properties("EngineCreditsAlarm")
    assert (alarm["MetricName"], alarm["Statistic"]) == ("CPUCreditBalance", "Minimum")
    assert alarm["ComparisonOperator"] == "LessThanThreshold"


def test_no_alarm_has_more_metrics_than_cloudwatch_takes() -> None:
    metrics = [one["Properties"].get("Metrics", []) for one in resources("AWS::CloudWatch::Alarm").values()]
    assert max(len([one for one in each if "MetricStat" in one]) for each in metrics) <= 10


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


def test_the_stream_and_the_schedule_have_sample_events() -> None:
    samples = sample_events("project")
    assert {"stream-insert", "stream-modify", "stream-remove", "stream-duplicate"} <= set(samples)
    tasks = {"project": "reconcile", "summarize": "summarize", "jobs": "jobs", "retain": "retain"}
    for name, task in tasks.items():
        (schedule,) = schedules(name)
        assert sample_events(name)[f"schedule-{task}"] == json.loads(schedule["Input"])
        assert schedule["RoleArn"] == {"Fn::GetAtt": ["ScheduleRole", "Arn"]}
    (policy,) = properties("ScheduleRole")["Policies"]
    invoked = policy["PolicyDocument"]["Statement"][0]["Resource"]
    functions = [f"{name}Function" for name in ("Project", "Summarize", "Jobs", "Retain")]
    assert invoked == [{"Fn::GetAtt": [name, "Arn"]} for name in functions]


def test_the_pins_of_the_layers_are_those_of_pyproject() -> None:
    assert dependencies.check() == []
