"""The built functions, each in a clean interpreter, over the real engines."""

import os
import shutil
import uuid
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TypeAlias

import boto3
import pytest
from cryptography.hazmat.primitives.asymmetric.rsa import generate_private_key
from opensearchpy import OpenSearch

from conftest import NEEDS_BUILT, Engines
from deployment.built import BUILD, Deployment, RunningFunction, build, lay_out_opt, staleness, started
from deployment.gateway import RULES_PARAMETER, SIGNING_PARAMETER, Gateway
from deployment.permissions import BEDROCK_MODEL_ARN
from deployment.template import FUNCTIONS, layers
from engines.conftest import shown_at_once
from entrypoints.http.test_authorizer import AUDIENCE, Issuer, serving
from recollect.bootstrap.aws_parts import AwsParts
from recollect.settings import Settings

Opt: TypeAlias = Mapping[str, Path]
"""What each function finds under /opt."""


@pytest.fixture(scope="session")
def built() -> Path:
    """The build of what is checked out. Where it is not there, it is made if the run requires it, else left out."""
    if staleness() is not None:
        if os.environ.get("RECOLLECT_REQUIRE_BUILT") != "1":
            pytest.skip(NEEDS_BUILT)
        build()
    stale = staleness()
    if stale is not None:
        pytest.fail(f"sam build ended well, but {stale}", pytrace=False)
    return BUILD


@pytest.fixture(scope="session")
def opt(built: Path) -> Iterator[Opt]:
    """The layers as Lambda lays them out; functions of the same layers share a folder."""
    # Beside the build, so that files are linked, not copied.
    place = built.parent / f"opt-{uuid.uuid4().hex[:8]}"
    folders: dict[tuple[str, ...], Path] = {}
    try:
        for name in FUNCTIONS:
            if tuple(layers(name)) not in folders:
                folders[tuple(layers(name))] = lay_out_opt(name, place / name)
        yield {name: folders[tuple(layers(name))] for name in FUNCTIONS}
    finally:
        shutil.rmtree(place)


@pytest.fixture(scope="session")
def issuer() -> Iterator[Issuer]:
    """Of the stack's tokens."""
    with serving(Issuer(generate_private_key(65537, 2048))) as one:
        yield one


@pytest.fixture(scope="session")
def deployment(built: Path, engines: Engines, issuer: Issuer) -> Iterator[Deployment]:
    """Table, index and bucket of this run alone; removed after it."""
    run = uuid.uuid4().hex[:8]
    names = {
        "AWS::StackName": f"built-{run}",
        "JwtIssuer": issuer.url,
        "JwtAudience": AUDIENCE,
        "Table": f"built-{run}",
        "SnapshotBucket": f"built-{run}",
        "Bus": f"built-{run}",
        "IndexPrefix": f"built{run}",
        "RulesParameter": RULES_PARAMETER,
        "SigningKeysParameter": SIGNING_PARAMETER,
        "BedrockModelArns": BEDROCK_MODEL_ARN,
        "ContextLive": "context",
    }
    parts = AwsParts(_settings(built, engines, names))
    parts.create()
    shown_at_once(parts, names["IndexPrefix"])
    upstream = {"dynamodb": engines.dynamodb_url, "opensearch": engines.opensearch_url, "s3": engines.s3_url}
    credentials = {name: os.environ[name] for name in ("AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY", "AWS_REGION")}
    yield Deployment(names, upstream, credentials | {"AWS_DEFAULT_REGION": engines.region})
    boto3.client("dynamodb").delete_table(TableName=names["Table"])
    bucket = boto3.resource("s3").Bucket(names["SnapshotBucket"])
    bucket.object_versions.delete()
    bucket.delete()
    OpenSearch([engines.opensearch_url]).indices.delete(index=f"{names['IndexPrefix']}-*")


def _settings(built: Path, engines: Engines, names: Mapping[str, str]) -> Settings:
    (model,) = (built / "EmbedderLayer/recollect-models").iterdir()
    return Settings.from_environment(
        {
            "RECOLLECT_ENGINES": "aws",
            "RECOLLECT_TABLE": names["Table"],
            "RECOLLECT_OPENSEARCH_URL": engines.opensearch_url,
            "RECOLLECT_INDEX_PREFIX": names["IndexPrefix"],
            "RECOLLECT_SNAPSHOT_BUCKET": names["SnapshotBucket"],
            "RECOLLECT_MODEL_FOLDER": str(model),
            "RECOLLECT_CALL_TIMEOUT_SECONDS": "30",
        }
    )


@pytest.fixture(scope="session")
def functions(
    deployment: Deployment, opt: Opt, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[dict[str, RunningFunction]]:
    """Every function, started once, with a gateway of its own."""
    logs = tmp_path_factory.mktemp("logs")
    running: dict[str, RunningFunction] = {}
    gateways = {name: Gateway(deployment.upstream) for name in FUNCTIONS}
    try:
        for name, gateway in gateways.items():
            gateway.__enter__()
            gateway.invoked = lambda asked, event: running[asked].outcome(event)
            running[name] = started(name, deployment, gateway, opt[name], logs / f"{name}.log")
        yield running
    finally:
        for one in running.values():
            one.stop()
        for gateway in gateways.values():
            gateway.__exit__()
