"""Parity: the same questions over HTTP on the laptop's engines and on DynamoDB + OpenSearch, answer beside answer.

    eval "$(make -s engines)"; .venv/bin/python infra/bench/parity.py ../shared/data/locomo-dev

Imports the turns of one data set with `recollect import` into both, serves both, asks every question through
`POST /v1/search` and `POST /v1/context`, and prints the share of questions with the same first ten and the same lines.
"""

import argparse
import json
import os
import socket
import subprocess
import sys
import tempfile
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from recollect.client import Recollect

USER = "parity"
RECOLLECT = Path(sys.executable).with_name("recollect")


@contextmanager
def served(environment: Mapping[str, str], turns: Path) -> Iterator[Recollect]:
    """A server over these settings, with the turns imported; ended afterwards."""
    full = {**os.environ, **environment}
    subprocess.run([RECOLLECT, "init"], env=full, check=True, stdout=subprocess.DEVNULL)
    began = time.perf_counter()
    subprocess.run([RECOLLECT, "import", turns, "--user", USER], env=full, check=True, stderr=subprocess.DEVNULL)
    print(
        f"{environment['RECOLLECT_ENGINES']}: imported and indexed in {time.perf_counter() - began:.0f} s", flush=True
    )
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = probe.getsockname()[1]
    # All is indexed; a reader of the local table's stream would only slow its reads down.
    full["RECOLLECT_PROJECTOR"] = "off"
    server = subprocess.Popen([RECOLLECT, "serve", "--port", str(port)], env=full, stderr=subprocess.DEVNULL)
    try:
        client = Recollect(f"http://127.0.0.1:{port}", timeout_seconds=60)
        _wait(client)
        yield client
    finally:
        server.terminate()
        server.wait(20)


def _wait(client: Recollect) -> None:
    for _ in range(300):
        try:
            client.ready()
        except Exception:  # noqa: BLE001 - not up yet, in whatever way
            time.sleep(0.2)
        else:
            return
    raise SystemExit("the server did not become ready")


def first_ten(client: Recollect, question: Mapping[str, Any]) -> list[str]:
    """The ids of the turns that search puts first."""
    answer = client.search(USER, question["question"], top_k=10, filters={"conversation_id": question["conversation"]})
    return [str(result["metadata"]["source_id"]) for result in answer["results"]]


def lines(client: Recollect, question: Mapping[str, Any]) -> list[str]:
    """The contents of the context's lines."""
    answer = client.context(USER, question["question"], conversation_id=question["conversation"])
    return [item["content"] for item in answer["items"]]


def main() -> None:
    """Prints the shares; ends with 1 where fewer than 99 % have the same first ten."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("data", type=Path)
    parser.add_argument("--questions", type=int, default=None, help="only the first N")
    options = parser.parse_args()
    asked = [json.loads(line) for line in (options.data / "questions.jsonl").read_text("utf-8").splitlines()]
    asked = asked[: options.questions]
    name = f"parity-{uuid.uuid4().hex[:8]}"
    with tempfile.TemporaryDirectory() as folder:
        laptop = {"RECOLLECT_ENGINES": "local", "RECOLLECT_HOME": f"{folder}/laptop"}
        engines = {
            "RECOLLECT_ENGINES": "aws",
            "RECOLLECT_HOME": f"{folder}/aws",
            "RECOLLECT_TABLE": name,
            "RECOLLECT_INDEX_PREFIX": name,
            "RECOLLECT_SNAPSHOT_BUCKET": name,
            "RECOLLECT_CALL_TIMEOUT_SECONDS": "30",
        }
        turns = options.data / "turns.jsonl"
        with served(laptop, turns) as one, served(engines, turns) as other:
            compare(asked, one, other)


def compare(asked: list[dict[str, Any]], one: Recollect, other: Recollect) -> None:
    """Asks both everything."""
    same = order = context = 0
    recall = [0.0, 0.0]
    for question in asked:
        here, there = first_ten(one, question), first_ten(other, question)
        same += set(here) == set(there)
        order += here == there
        context += lines(one, question) == lines(other, question)
        gold = set(question["evidence"])
        recall[0] += len(gold & set(here)) / len(gold)
        recall[1] += len(gold & set(there)) / len(gold)
    count = len(asked)
    print(f"questions {count}: same first ten {same / count:.2%}, in the same order {order / count:.2%}")
    print(f"same context lines {context / count:.2%}")
    print(f"recall@10 laptop {recall[0] / count:.3f}, engines {recall[1] / count:.3f}")
    if same / count < 0.99:
        raise SystemExit(1)


if __name__ == "__main__":
    main()
