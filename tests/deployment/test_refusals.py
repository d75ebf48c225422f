"""Parameters that cannot work together are refused before anything is made."""

from collections.abc import Mapping
from typing import Any

import pytest

from deployment.resolving import Stack, translated
from deployment.template import template

SERVER = {"OpenaiBaseUrl": "https://host/v1"}
ARN = "arn:aws:bedrock:eu-west-1::foundation-model/some.model-1"


@pytest.fixture(params=["as written", "as SAM translates it"])
def source(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    return template() if request.param == "as written" else translated()


GOOD: list[dict[str, str]] = [
    {},
    {"JwtIssuer": "https://issuer.example", "JwtAudience": "recollect"},
    {"EmbedderKind": "openai", **SERVER, "OpenaiEmbeddingModel": "bge-m3"},
    {"EmbedderKind": "bedrock", "EmbeddingDimension": "1024"},
    {"Model": "openai", **SERVER, "OpenaiModel": "llama3.2"},
    {"Model": "bedrock,extractive", "BedrockModel": "some.model-1", "BedrockModelArns": ARN},
    {"Model": "bedrock", "BedrockModel": "some.model-1", "BedrockModelArns": f"{ARN},{ARN}", "Judge": "model"},
    {"Model": "openai,extractive", **SERVER, "OpenaiModel": "llama3.2", "Extraction": "model"},
    {"Architecture": "arm64", "EmbedderKind": "none"},
    {"Architecture": "arm64", "EmbedderKind": "bedrock", "EmbeddingDimension": "256", "Judge": "none"},
    {"EngineVolumeGigabytes": "100"},
    {"EngineVolumeGigabytes": "101", "EngineInstanceType": "t3.medium.search"},
]

BAD: list[tuple[dict[str, str], str]] = [
    ({"JwtIssuer": "https://issuer.example"}, "JwtAudience"),
    ({"JwtAudience": "recollect"}, "JwtIssuer"),
    ({"ApiDomainName": "memory.example.com"}, "ApiCertificateArn"),
    ({"SubnetIds": "subnet-0a1"}, "SecurityGroupIds"),
    ({"EmbedderKind": "openai", "OpenaiEmbeddingModel": "bge-m3"}, "OpenaiBaseUrl"),
    ({"EmbedderKind": "openai", **SERVER}, "OpenaiEmbeddingModel"),
    ({"EmbedderKind": "bedrock"}, "EmbeddingDimension"),
    ({"Model": "extractive,openai", "OpenaiModel": "llama3.2"}, "OpenaiBaseUrl"),
    ({"Model": "openai", **SERVER}, "OpenaiModel"),
    ({"Model": "bedrock", "BedrockModelArns": ARN}, "BedrockModel"),
    ({"Model": "bedrock", "BedrockModel": "some.model-1"}, "BedrockModelArns"),
    ({"Judge": "model"}, "Model"),
    ({"Extraction": "model"}, "Model"),
    ({"Extraction": "model", "Model": "extractive,openai", **SERVER, "OpenaiModel": "llama3.2"}, "Model"),
    ({"Architecture": "arm64"}, "EmbedderKind"),
    ({"Architecture": "arm64", "EmbedderKind": "none", "Judge": "e5"}, "Judge"),
    ({"Architecture": "arm64", "EmbedderKind": "none", "Rerank": "e5"}, "Rerank"),
    ({"EngineVolumeGigabytes": "101"}, "EngineVolumeGigabytes"),
]


@pytest.mark.parametrize("parameters", GOOD)
def test_what_can_work_is_let_through(source: Mapping[str, Any], parameters: Mapping[str, str]) -> None:
    assert Stack(source, parameters=parameters).refusals() == []


@pytest.mark.parametrize(("parameters", "named"), BAD)
def test_what_cannot_is_refused_by_the_parameter_to_change(
    source: Mapping[str, Any], parameters: Mapping[str, str], named: str
) -> None:
    (said,) = Stack(source, parameters=parameters).refusals()
    assert named in said


def test_two_zones_share_an_even_number_of_nodes() -> None:
    """OpenSearch refuses another one when the domain is made, after all that comes before it."""
    nodes = template()["Parameters"]["EngineInstanceCount"]["AllowedValues"]
    assert {one for one in nodes if one % 2} == {1}
    assert max(nodes) == 40


def test_every_rule_is_shown_to_refuse() -> None:
    stacks = [Stack(template(), parameters=parameters) for parameters, _ in BAD]
    said = {one for stack in stacks for one in stack.refusals()}
    assert said == {each["AssertDescription"] for rule in template()["Rules"].values() for each in rule["Assertions"]}
