"""Whether a function's role allows what the function asked of the services."""

from fnmatch import fnmatchcase
from typing import Any

from deployment.gateway import RULES_PARAMETER, SIGNING_PARAMETER, Need
from deployment.template import listed, statements

BEDROCK_MODEL_ARN = "arn:aws:bedrock:us-east-1::foundation-model/some.model-1"
_PLACES = {
    "DataTableArn": "table",
    "DataTableStream": "table",
    "Bus": "bus",
    "DataBucketArn": "bucket",
}
_NAMED = {"BedrockModelArns": BEDROCK_MODEL_ARN, "ContextLive": "function/context"}


def refusals(name: str, needs: set[Need], index_prefix: str) -> set[Need]:
    allowed = [
        (action, _pattern(resource, index_prefix))
        for statement in statements(name)
        for action in listed(statement["Action"])
        for resource in listed(statement["Resource"])
    ]
    return {
        need
        for need in needs
        if not any(need.action == action and fnmatchcase(need.resource, pattern) for action, pattern in allowed)
    }


def _pattern(resource: Any, index_prefix: str) -> str:
    if resource == "*":
        return "*"
    if "Fn::GetAtt" in resource:
        return _PLACES.get(resource["Fn::GetAtt"][0], "")
    if "Ref" in resource:
        return _NAMED.get(resource["Ref"], "")
    text = str(resource["Fn::Sub"]).replace("${DataTableArn.Value}", "table").replace("${IndexPrefix}", index_prefix)
    text = text.replace("${RulesParameter}", RULES_PARAMETER).replace("${SigningKeysParameter}", SIGNING_PARAMETER)
    text = text.replace("${DataBucketArn.Value}", "bucket")
    if ":parameter/" in text:
        return text[text.index("parameter/") :]
    return "domain" + text.partition(":domain/${SearchDomainName.Value}")[2] if ":domain/" in text else text
