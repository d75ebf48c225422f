"""The examples of the API's documentation: one story, told to a real store, whose answers are kept.

    .venv/bin/python -m infra.tools.api_examples

Each step of `api_story.json` names an operation; what a step keeps of its answer (an id, the ETag), later ones name in
braces. `aside`: a step that only prepares others, and is no example.
"""

from __future__ import annotations

import json
import re
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Final
from urllib.parse import urlencode

import httpx

from recollect.entrypoints.http.examples import EXAMPLES_FILE
from recollect.entrypoints.http.routes import GROUPS, routes_of
from recollect.entrypoints.http.routing import Route, path_segment
from recollect.entrypoints.in_process import InProcess, settings_in

STORY: Final = Path(__file__).with_name("api_story.json")
ROUTES: Final[Mapping[str, Route]] = {route.operation: route for route in routes_of(GROUPS)}
_KEPT = re.compile(r"\{(\w+)\}")
Step = dict[str, Any]


def main() -> None:
    """Tells the story and writes the examples."""
    with tempfile.TemporaryDirectory(prefix="recollect-examples-") as home:
        examples = dict(sorted((name, example) for name, example in told(Path(home) / ".recollect") if example))
    text = json.dumps(examples, ensure_ascii=False, indent=1) + "\n"
    Path(EXAMPLES_FILE).write_text(text, "utf-8")


def told(home: Path) -> Iterator[tuple[str, Step]]:
    """Each step's operation and its example, empty for one that only prepares. Raises ValueError where one fails."""
    kept: dict[str, str] = {}
    with httpx.Client(transport=InProcess(settings_in(home, None), "acme"), base_url="http://recollect") as client:
        for step in json.loads(STORY.read_text("utf-8")):
            asked = _filled(step, kept)
            answer = _sent(client, asked)
            kept |= {name: _found(answer, where) for name, where in step.get("keep", {}).items()}
            yield step["do"], {} if step.get("aside") else _example(asked, answer)


def _filled(value: Any, kept: Mapping[str, str]) -> Any:
    if isinstance(value, str):
        whole = _KEPT.fullmatch(value)
        if whole and whole[1].startswith("sequence"):
            return int(kept[whole[1]])
        return _KEPT.sub(lambda found: kept.get(found[1], found[0]), value)
    if isinstance(value, list):
        return [_filled(one, kept) for one in value]
    return {name: _filled(one, kept) for name, one in value.items()} if isinstance(value, dict) else value


def _sent(client: httpx.Client, asked: Step) -> httpx.Response:
    route = ROUTES[asked["do"]]
    path = re.sub(r"\{(\w+)\}", lambda found: path_segment(str(asked["path"][found[1]])), route.path)
    query = f"?{urlencode(asked['query'])}" if "query" in asked else ""
    body: dict[str, Any] = {"json": asked["body"]} if "body" in asked else {}
    if "lines" in asked:
        body = {"content": asked["lines"].encode(), "headers": {"Content-Type": "application/x-ndjson"}}
    headers = {**asked.get("headers", {}), **body.pop("headers", {})}
    answer = client.request(route.method, path + query, headers=headers, **body)
    if answer.status_code not in route.good:
        raise ValueError(f"{asked['do']}: {answer.status_code} {answer.text}")
    return answer


def _found(answer: httpx.Response, where: str) -> str:
    if where.startswith("@"):
        return answer.text if where == "@text" else answer.headers[where[1:]]
    value = answer.json()
    for part in where.split("."):
        value = value[int(part) if part.isdigit() else part]
    return str(value)


def _example(asked: Step, answer: httpx.Response) -> Step:
    example: Step = {name: asked[name] for name in ("path", "query", "headers", "body", "lines") if name in asked}
    example["status"] = answer.status_code
    if answer.content:
        is_json = answer.headers["content-type"].partition(";")[0] == "application/json"
        example["answer"] = answer.json() if is_json else answer.text
    return example


if __name__ == "__main__":
    main()
