"""A pytest plugin: the clients of Bedrock AgentCore Memory, unchanged, at a running server instead of AWS.

They are moved by boto3's own variables, and sign with an access key that the server knows. What the suites expect to
find is put there first: a memory with strategies and three records of an actor. Waiting for what AWS does later is cut
short. The address of Bedrock's models leads nowhere: tests that ask one fail at once.
"""

import os
import time
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial

import boto3

_KEY, _SECRET = os.environ["COMPAT_ACCESS_KEY"].split(":")
_NOWHERE = "http://127.0.0.1:9"
_LONGEST_SLEEP = 0.5

os.environ |= {
    "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE": os.environ["COMPAT_URL"],
    "AWS_ENDPOINT_URL_BEDROCK_AGENTCORE_CONTROL": os.environ["COMPAT_URL"],
    "AWS_ENDPOINT_URL_BEDROCK_RUNTIME": _NOWHERE,
    "AWS_ACCESS_KEY_ID": _KEY,
    "AWS_SECRET_ACCESS_KEY": _SECRET,
    "AWS_REGION": "us-west-2",
    "AWS_DEFAULT_REGION": "us-west-2",
    "AWS_MAX_ATTEMPTS": "1",
    "BEDROCK_TEST_REGION": "us-west-2",
    "MEMORY_KINESIS_ARN": "arn:aws:kinesis:us-west-2:123456789012:stream/compat",
    "MEMORY_ROLE_ARN": "arn:aws:iam::123456789012:role/compat",
}

ACTOR, SESSION = "integ-test-actor", "integ-test-session"
"""Those that the suites ask for where no variable names others."""
RECORDS = {
    f"/facts/{ACTOR}/": "The developer prefers Python",
    f"/preferences/{ACTOR}/": "Preferred programming language: Python",
    f"/summaries/{ACTOR}/{SESSION}/": "They talked about distributed systems",
}
STRATEGIES = [
    {"semanticMemoryStrategy": {"name": "Facts", "namespaceTemplates": ["/facts/{actorId}/"]}},
    {"summaryMemoryStrategy": {"name": "Summaries", "namespaceTemplates": ["/summaries/{actorId}/{sessionId}/"]}},
]


def prepared_memory() -> str:
    """The id of a new memory with the records."""
    control, data = boto3.client("bedrock-agentcore-control"), boto3.client("bedrock-agentcore")
    name = f"compat_{time.time_ns()}"
    memory = control.create_memory(name=name, eventExpiryDuration=90, memoryStrategies=STRATEGIES)["memory"]["id"]
    records = [
        {"requestIdentifier": str(n), "namespaces": [place], "content": {"text": text}, "timestamp": datetime.now(UTC)}
        for n, (place, text) in enumerate(RECORDS.items())
    ]
    answer = data.batch_create_memory_records(memoryId=memory, records=records)
    if answer["failedRecords"]:
        raise RuntimeError("the records could not be put")
    return str(memory)


def _sleep(sleep: Callable[[float], None], seconds: float) -> None:
    sleep(min(seconds, _LONGEST_SLEEP))


os.environ["AGENTCORE_MEMORY_ID"] = os.environ["MEMORY_PREPOPULATED_ID"] = prepared_memory()
time.sleep = partial(_sleep, time.sleep)
