"""What large accounts ask for, each by a parameter and off by default: address, browsers, VPC, keys, boundary."""

from collections.abc import Mapping
from typing import Any

import pytest

from deployment.resolving import Stack, translated
from deployment.template import FUNCTIONS, OPTIONAL, WITH_DATA, listed, statements, template, walk
from recollect.entrypoints.http.headers import KEY, REPLAYED

EVERY_FUNCTION = {name: value for given in OPTIONAL.values() for name, value in given.items()}
VPC = {"SubnetIds": "subnet-0a1,subnet-0b2,subnet-0c3", "SecurityGroupIds": "sg-0a1,sg-0b2"}
CUSTOMER_KEY = {"KmsKeyArn": "arn:aws:kms:eu-west-1:123456789012:key/1234abcd-12ab-34cd-56ef-1234567890ab"}
ADDRESS = {
    "ApiDomainName": "memory.example.com",
    "ApiCertificateArn": "arn:aws:acm:eu-west-1:123456789012:certificate/12345678-1234-1234-1234-123456789012",
}
BOUNDARY = {"PermissionsBoundaryArn": "arn:aws:iam::123456789012:policy/boundary"}
BROWSERS = {"CorsOrigins": "https://app.example.com,http://localhost:5173"}
WITH_ADDRESS = ("console", "agentcore")
"""Optional functions that clients find at an address of their own."""
ROLES = [*(f"{name.capitalize()}Role" for name in FUNCTIONS), "ScheduleRole"]


@pytest.fixture(params=["as written", "as SAM translates it"])
def source(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    return template() if request.param == "as written" else translated()


def body(stack: Stack) -> dict[str, Any]:
    given = stack.properties("Api")
    found: dict[str, Any] = given.get("Body") or given["DefinitionBody"]
    return found


def allowed(stack: Stack, role: str) -> list[dict[str, Any]]:
    """The statements of a role, with those of the managed policies that it has."""
    given = stack.properties(role)
    shared = [stack.properties(_logical_id(stack, one)) for one in given.get("ManagedPolicyArns", [])]
    documents = [one["PolicyDocument"] for one in [*given["Policies"], *shared]]
    return [statement for document in documents for statement in document["Statement"]]


def _logical_id(stack: Stack, physical: str) -> str:
    return physical.removeprefix(f"{stack.name}-").removesuffix("-1MADE2UP3")


def statements_of(stack: Stack, role: str, service: str) -> list[dict[str, Any]]:
    return [one for one in allowed(stack, role) if listed(one["Action"])[0].startswith(f"{service}:")]


def test_by_default_there_is_nothing_of_it(source: Mapping[str, Any]) -> None:
    stack = Stack(source)
    assert "x-amazon-apigateway-cors" not in body(stack)
    assert "VPCOptions" not in stack.properties("SearchDomain")
    assert stack.properties("SearchDomain")["EncryptionAtRestOptions"] == {"Enabled": True}
    assert stack.properties("Table")["SSESpecification"] == {"SSEEnabled": True}
    assert stack.properties("SnapshotBucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"] == [
        {"ServerSideEncryptionByDefault": {"SSEAlgorithm": "AES256"}}
    ]
    assert not {"ApiDomain", "ApiDomainMapping"} & set(stack.made())
    assert all("PermissionsBoundary" not in stack.properties(role) for role in ROLES)
    assert all(not statements_of(stack, role, service) for role in ROLES for service in ("ec2", "kms"))


def test_pages_of_the_origins_named_may_call_the_api(source: Mapping[str, Any]) -> None:
    cors = body(Stack(source, parameters=BROWSERS))["x-amazon-apigateway-cors"]
    assert cors["allowOrigins"] == ["https://app.example.com", "http://localhost:5173"]
    assert {"authorization", KEY.lower(), "if-match"} <= set(cors["allowHeaders"])
    assert {"etag", "link", "retry-after", *(name.lower() for name in REPLAYED)} == set(cors["exposeHeaders"])
    assert "allowCredentials" not in cors, "a token comes in a header, and never by itself"
    methods = {key.upper() for path in body(Stack(source))["paths"].values() for key in path}
    assert set(cors["allowMethods"]) == methods - {"PARAMETERS", "X-AMAZON-APIGATEWAY-ANY-METHOD"}


def test_under_an_address_of_its_own_the_api_answers_and_under_no_other(source: Mapping[str, Any]) -> None:
    stack = Stack(source, parameters=ADDRESS)
    made = stack.made()
    (configuration,) = made["ApiDomain"]["Properties"]["DomainNameConfigurations"]
    assert configuration["CertificateArn"] == ADDRESS["ApiCertificateArn"]
    assert made["ApiDomain"]["Properties"]["DomainName"] == "memory.example.com"
    assert made["ApiDomainMapping"]["Properties"]["Stage"] == "$default"
    assert stack.outputs()["ApiUrl"] == "https://memory.example.com"
    assert stack.outputs()["McpUrl"] == "https://memory.example.com/mcp"
    assert "RegionalDomainName" in stack.outputs()["ApiDomainTarget"]


def test_the_address_that_aws_gives_is_off_where_there_is_another(source: Mapping[str, Any]) -> None:
    assert "servers" not in body(Stack(source))
    (server,) = body(Stack(source, parameters=ADDRESS))["servers"]
    assert server == {"x-amazon-apigateway-endpoint-configuration": {"disableExecuteApiEndpoint": True}}


def test_the_address_is_mapped_to_the_stage_that_sam_makes() -> None:
    mapping = translated()["Resources"]["ApiDomainMapping"]
    stage = translated()["Resources"][mapping["DependsOn"]]
    assert (stage["Type"], stage["Properties"]["StageName"]) == ("AWS::ApiGatewayV2::Stage", "$default")


def test_functions_are_in_the_vpc_and_may_have_interfaces_there(source: Mapping[str, Any]) -> None:
    stack = Stack(source, parameters=VPC)
    wanted = {"SubnetIds": ["subnet-0a1", "subnet-0b2", "subnet-0c3"], "SecurityGroupIds": ["sg-0a1", "sg-0b2"]}
    given = [stack.value(one["VpcConfig"]) for one in walk(source) if isinstance(one, dict) and "VpcConfig" in one]
    assert len(given) == (len(FUNCTIONS) if "Globals" not in source else 1)
    assert all(one == wanted for one in given)
    for role in ROLES[:-1]:
        (statement,) = statements_of(stack, role, "ec2")
        assert "ec2:CreateNetworkInterface" in statement["Action"]


@pytest.mark.parametrize(("nodes", "subnets"), [("1", 1), ("2", 2), ("4", 2)])
def test_the_domain_has_one_subnet_for_each_of_its_zones(source: Mapping[str, Any], nodes: str, subnets: int) -> None:
    stack = Stack(source, parameters={**VPC, "EngineInstanceCount": nodes})
    options = stack.properties("SearchDomain")["VPCOptions"]
    assert options["SubnetIds"] == ["subnet-0a1", "subnet-0b2"][:subnets]
    assert options["SecurityGroupIds"] == ["sg-0a1", "sg-0b2"]


def test_what_is_kept_is_encrypted_by_the_customers_key_which_every_function_may_use(
    source: Mapping[str, Any],
) -> None:
    stack, arn = Stack(source, parameters={**CUSTOMER_KEY, **EVERY_FUNCTION}), CUSTOMER_KEY["KmsKeyArn"]
    assert stack.properties("Table")["SSESpecification"] == {
        "SSEEnabled": True,
        "SSEType": "KMS",
        "KMSMasterKeyId": arn,
    }
    (rule,) = stack.properties("SnapshotBucket")["BucketEncryption"]["ServerSideEncryptionConfiguration"]
    assert rule["ServerSideEncryptionByDefault"] == {"SSEAlgorithm": "aws:kms", "KMSMasterKeyID": arn}
    assert stack.properties("SearchDomain")["EncryptionAtRestOptions"] == {"Enabled": True, "KmsKeyId": arn}
    for role in (f"{name.capitalize()}Role" for name in WITH_DATA):
        (statement,) = statements_of(stack, role, "kms")
        assert statement["Resource"] == arn
        assert statement["Condition"]["StringEquals"]["kms:ViaService"] == [
            "dynamodb.eu-west-1.amazonaws.com",
            "s3.eu-west-1.amazonaws.com",
        ]


def test_every_role_has_the_boundary(source: Mapping[str, Any]) -> None:
    stack = Stack(source, parameters={**BOUNDARY, **EVERY_FUNCTION})
    roles = {name: one for name, one in stack.made().items() if one["Type"] == "AWS::IAM::Role"}
    assert sorted(roles) == sorted(ROLES)
    assert all(one["Properties"]["PermissionsBoundary"] == BOUNDARY["PermissionsBoundaryArn"] for one in roles.values())


def test_a_stack_of_two_of_them_is_refused_by_no_rule(source: Mapping[str, Any]) -> None:
    together = {**VPC, **CUSTOMER_KEY, **ADDRESS, **BOUNDARY, **BROWSERS}
    assert Stack(source, parameters=together).refusals() == []


@pytest.mark.parametrize("function", OPTIONAL)
def test_without_its_parameter_there_is_nothing_of_an_optional_function(
    source: Mapping[str, Any], function: str
) -> None:
    without, asked, name = Stack(source), Stack(source, parameters=OPTIONAL[function]), function.capitalize()
    added = set(asked.made()) - set(without.made())
    together = tuple(one.capitalize() for one, given in OPTIONAL.items() if given == OPTIONAL[function])
    assert {one for one in added if not one.startswith((*together, *OPTIONAL[function]))} == set()
    assert {f"{name}{part}" for part in ("Function", "Role", "Logs", "Permission")} <= added
    assert name not in str(without.made())
    assert f"{name}Url" not in without.outputs()
    assert (f"{name}Url" in asked.outputs()) is (function in WITH_ADDRESS)
    assert asked.refusals() == []


def test_the_console_has_no_right_to_data() -> None:
    assert {action.partition(":")[0] for one in statements("console") for action in listed(one["Action"])} == {
        "logs",
        "ec2",
        "xray",
    }
