"""Who names no issuer gets a user pool for trying out, whose tokens name a tenant that no user can choose."""

import re
from collections.abc import Mapping
from typing import Any

import pytest

from deployment.resolving import Stack, translated
from deployment.template import template, walk

ISSUER = {"JwtIssuer": "https://issuer.example", "JwtAudience": "recollect,others"}
KINDS = {"AWS::Cognito::UserPool", "AWS::Cognito::UserPoolClient", "AWS::Cognito::UserPoolGroup"}


@pytest.fixture(params=["as written", "as SAM translates it"])
def source(request: pytest.FixtureRequest) -> Mapping[str, Any]:
    return template() if request.param == "as written" else translated()


def cognito(stack: Stack) -> set[str]:
    return {one["Type"] for one in stack.made().values() if "Cognito" in one["Type"]}


def authorizer(stack: Stack) -> dict[str, Any]:
    """Issuer and audience as the API gets them."""
    found = [one for one in walk(stack.resource("Api")) if isinstance(one, dict) and set(one) == {"issuer", "audience"}]
    (configuration,) = found
    given: dict[str, Any] = configuration
    return given


def tenant_claims(stack: Stack) -> set[str]:
    given = [walk(one) for one in (stack.source.get("Globals", {}), *stack.source["Resources"].values())]
    claims = [one["RECOLLECT_TENANT_CLAIM"] for each in given for one in each if _sets_claim(one)]
    return {stack.value(one) for one in claims}


def _sets_claim(one: Any) -> bool:
    return isinstance(one, dict) and "RECOLLECT_TENANT_CLAIM" in one


def test_without_an_issuer_the_pool_of_the_stack_is_the_issuer(source: Mapping[str, Any]) -> None:
    stack = Stack(source)
    assert cognito(stack) == KINDS
    assert authorizer(stack) == {
        "issuer": "https://cognito-idp.eu-west-1.amazonaws.com/recollect-UserPool-1MADE2UP3",
        "audience": ["recollect-UserPoolClient-1MADE2UP3"],
    }
    assert tenant_claims(stack) == {"custom:tenant"}


def test_an_issuer_that_is_named_is_the_only_one(source: Mapping[str, Any]) -> None:
    stack = Stack(source, parameters={**ISSUER, "TenantClaim": "org"})
    assert cognito(stack) == set()
    assert authorizer(stack) == {"issuer": "https://issuer.example", "audience": ["recollect", "others"]}
    assert tenant_claims(stack) == {"org"}
    assert {"UserPoolId", "NewUserCommand", "TokenCommand"} & set(stack.outputs()) == set()


def test_no_user_can_give_himself_a_tenant_or_sign_up(source: Mapping[str, Any]) -> None:
    stack = Stack(source)
    pool, client = stack.properties("UserPool"), stack.properties("UserPoolClient")
    (attribute,) = pool["Schema"]
    assert (attribute["Name"], attribute["Mutable"]) == ("tenant", False)
    assert pool["AdminCreateUserConfig"] == {"AllowAdminCreateUserOnly": True}
    assert "custom:tenant" in client["ReadAttributes"], "else it would be in no token"
    assert client["WriteAttributes"] == ["nickname"], "without a list everything can be written"


def test_the_commands_that_are_printed_are_of_this_pool_and_ask_for_the_token_with_the_tenant(
    source: Mapping[str, Any],
) -> None:
    printed = Stack(source, parameters={"AdminScope": "recollect/root"}).outputs()
    new_user, token = printed["NewUserCommand"], printed["TokenCommand"]
    pools = re.findall(r"--user-pool-id (\S+)", new_user + " && " + token)
    assert pools == [printed["UserPoolId"]] * 4
    assert '"Name=custom:tenant,Value=$TENANT"' in new_user
    assert "--group-name 'recollect/root'" in new_user
    assert Stack(source, parameters={"AdminScope": "recollect/root"}).properties("Administrators")["GroupName"] == (
        "recollect/root"
    )
    assert "--query AuthenticationResult.IdToken " in token, "an access token names no attribute"
    assert "--client-id recollect-UserPoolClient-1MADE2UP3 " in token
    assert (
        "ALLOW_" + re.findall(r"--auth-flow (\S+)", token)[0]
        in (Stack(source).properties("UserPoolClient")["ExplicitAuthFlows"])
    )


@pytest.mark.parametrize("name", ["NewUserCommand", "TokenCommand"])
def test_a_printed_command_holds_no_secret(source: Mapping[str, Any], name: str) -> None:
    command = Stack(source).outputs()[name]
    assert "$POOL_PASSWORD" in command
    assert len(command) <= 1024
