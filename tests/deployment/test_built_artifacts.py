"""The built functions answer at every route, and together carry an event from ingest to search."""

import copy
import uuid

import pytest

from deployment.asking import CONTEXT, Functions, asked, found, ingested, of, projected, said
from deployment.built import Deployment
from deployment.permissions import refusals
from deployment.requests import SERVED_BY, good_statuses
from deployment.template import FUNCTIONS, sample_events

pytestmark = [pytest.mark.built, pytest.mark.engines]


@pytest.mark.parametrize("route", sorted(route for route in SERVED_BY if not route.startswith("ANY ")))
def test_every_route_is_answered(functions: Functions, route: str) -> None:
    answer = asked(functions, route)
    assert answer["statusCode"] in good_statuses(route), answer


@pytest.mark.parametrize("name", FUNCTIONS)
def test_what_is_for_sam_local_invoke_is_answered(functions: Functions, name: str) -> None:
    for event in sample_events(name).values():
        answer = functions[name].invoke(event)
        assert answer.get("statusCode", 200) in (200, 201), answer


@pytest.mark.parametrize("source", [source for source in sample_events("project") if source.startswith("stream-")])
def test_a_sample_batch_of_the_stream_is_taken(functions: Functions, source: str) -> None:
    assert functions["project"].invoke(sample_events("project")[source]) == {"batchItemFailures": []}


def test_a_scheduled_run_counts_what_it_did(functions: Functions) -> None:
    answer = functions["project"].invoke(sample_events("project")["schedule-reconcile"])
    assert set(answer) == {"projected", "gone", "failed", "quarantined"}


def test_the_schedules_run_the_jobs_that_were_asked_for(functions: Functions) -> None:
    """Those of the routes above among them; `retain` has begun its own day's."""
    job_id = said(asked(functions, "POST /v1/jobs/reconcile"))["job_id"]
    pruned = functions["retain"].invoke(sample_events("retain")["schedule-retain"])
    assert (pruned["failed"], pruned["complete"]) == (0, True)
    answer = functions["jobs"].invoke(sample_events("jobs")["schedule-jobs"])
    assert set(answer) == {"done", "failed", "running", "complete"}
    assert said(asked(functions, "GET /v1/jobs/{job_id}", job_id))["status"] == "done"


def test_an_event_of_another_kind_is_an_error_of_the_function(functions: Functions) -> None:
    assert functions["project"].outcome({"task": "unknown"}).error is not None


@pytest.mark.spec("P-25")
def test_an_event_goes_from_ingest_by_the_stream_to_search_and_context(functions: Functions) -> None:
    user = f"anna-{uuid.uuid4().hex[:8]}"
    event_id = ingested(functions, user)
    assert projected(functions, user, event_id) == {"batchItemFailures": []}
    told = [entry["DetailType"] for entry in functions["project"].gateway.published[-2:]]
    assert told == ["memory:episodic:saved", "memory:semantic:saved"]
    assert event_id in {one["id"] for one in found(functions, user)["results"]}
    context = said(functions["context"].invoke(of(user, CONTEXT)))
    assert "Lyon" in context["prompt"]


def test_a_record_that_comes_twice_changes_nothing(functions: Functions) -> None:
    user = f"anna-{uuid.uuid4().hex[:8]}"
    event_id = ingested(functions, user)
    assert projected(functions, user, event_id, times=3) == {"batchItemFailures": []}
    assert projected(functions, user, event_id, kind="stream-modify") == {"batchItemFailures": []}
    assert [one["id"] for one in found(functions, user)["results"]].count(event_id) == 1


def test_what_the_stream_never_brought_is_projected_by_the_schedule(functions: Functions) -> None:
    user = f"anna-{uuid.uuid4().hex[:8]}"
    event_id = ingested(functions, user)
    answer = functions["project"].invoke(sample_events("project")["schedule-reconcile"])
    assert answer["projected"] >= 1
    assert answer["failed"] == 0
    assert event_id in {one["id"] for one in found(functions, user)["results"]}
    assert '"OldestPendingAge"' in functions["project"].log


def test_without_the_search_engine_records_come_again_and_reads_go_on(functions: Functions) -> None:
    user = f"anna-{uuid.uuid4().hex[:8]}"
    for one in functions.values():
        one.gateway.away.add("opensearch")
    try:
        event_id = ingested(functions, user)
        assert projected(functions, user, event_id)["batchItemFailures"] != []
        assert event_id in {one["id"] for one in found(functions, user)["results"]}
    finally:
        for one in functions.values():
            one.gateway.away.clear()
    assert projected(functions, user, event_id) == {"batchItemFailures": []}
    assert event_id in {one["id"] for one in found(functions, user)["results"]}


def test_a_record_that_cannot_be_read_is_counted_and_not_tried_again(functions: Functions) -> None:
    broken = copy.deepcopy(sample_events("project")["stream-insert"])
    broken["Records"][0]["dynamodb"]["Keys"] = {"pk": {"S": "U#only-a-tenant"}, "sk": {"S": "E#no-instant"}}
    assert functions["project"].invoke(broken) == {"batchItemFailures": []}
    assert "change records that cannot be read" in functions["project"].log


def test_logs_hold_no_text_and_no_token(functions: Functions) -> None:
    ingested(functions, "lena")
    for one in functions.values():
        assert "Lyon" not in one.log
        assert "header.claims.signature" not in one.log


def test_roles_allow_all_that_was_asked_of_the_services(functions: Functions, deployment: Deployment) -> None:
    """Runs last in this file: by then every event has been through."""
    refused = {
        name: sorted(refusals(name, functions[name].gateway.needs, deployment.names["IndexPrefix"]))
        for name in FUNCTIONS
    }
    assert refused == {name: [] for name in FUNCTIONS}
    assert all(functions[name].gateway.needs for name in FUNCTIONS)
