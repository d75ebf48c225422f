"""What an answer weighs as Lambda sends it: its limit is on that, not on the text."""

import base64
import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from recollect.entrypoints.http.aws import response_of
from recollect.entrypoints.http.dispatch import Answer, is_sent_within, rendered
from recollect.entrypoints.http.messages import Reply
from recollect.entrypoints.http.routing import ANSWER_BYTES

LAMBDA_BYTES = 6_291_456
_HEADERS = {"Content-Type": "application/x-ndjson", "Link": f"<{'x' * 2000}>"}


def as_lambda_sends(answer: Answer) -> bytes:
    """What the runtime client makes of a handler's answer."""
    return json.dumps(response_of(answer), ensure_ascii=False).encode()


BODIES = st.one_of(st.text(st.characters(exclude_categories=["Cs"]), max_size=300), st.binary(max_size=300))


@given(body=BODIES)
def test_the_size_is_that_of_what_is_sent_and_the_client_gets_the_body(body: str | bytes) -> None:
    sent = response_of(Answer(200, {}, body))
    size = len(json.dumps(sent["body"], ensure_ascii=False).encode()) - len('""')
    assert (is_sent_within(body, size), is_sent_within(body, size - 1)) == (True, False)
    got = base64.b64decode(sent["body"]) if sent["isBase64Encoded"] else sent["body"].encode()
    assert got == (body if isinstance(body, bytes) else body.encode())


@pytest.mark.parametrize("unit", ['"', "\\", "\n", "x", "é", "🙂", "\x01"])
def test_four_and_a_half_megabytes_always_fit(unit: str) -> None:
    text = unit * (4_500_000 // len(unit.encode()))
    answer = rendered(Reply(200, text))
    assert answer.status == 200
    assert len(as_lambda_sends(Answer(200, _HEADERS, answer.body))) < LAMBDA_BYTES


def test_what_lambda_would_not_send_is_a_problem_that_says_so() -> None:
    assert rendered(Reply(200, "x" * ANSWER_BYTES)).status == 200
    for body in ("x" * (ANSWER_BYTES + 1), '"' * 4_600_000, b"x" * 4_600_000):
        answer = rendered(Reply(200, body))
        assert answer.status == 422
        assert "token_budget" in str(answer.body)
