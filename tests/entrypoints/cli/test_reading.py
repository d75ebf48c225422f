"""`recollect search`, `context` and `timeline`: data on standard output, as text and as JSON."""

import json
from contextlib import closing
from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import write_turns
from entrypoints.http.calling import Caller, Laptop
from recollect.app import App


def a_turn(conversation: str, number: str, day: str, speaker: str, text: str) -> dict[str, str]:
    return {
        "conversation": conversation,
        "session_time": f"{day}T09:00:00",
        "turn_id": number,
        "speaker": speaker,
        "text": text,
    }


LINES = (
    a_turn("c1", "1", "2024-05-01", "Ines", "I live in Porto"),
    a_turn("c1", "2", "2024-05-01", "assistant", "Nice place"),
    a_turn("c2", "3", "2024-06-01", "Ines", "I prefer tea\nover coffee"),
)


@pytest.fixture
def memory(run: Run, tmp_path: Path) -> Run:
    """The commands over three turns."""
    file = tmp_path / "turns.jsonl"
    file.write_text("".join(json.dumps(line) + "\n" for line in LINES))
    assert run("import", file, "--user", "ana").exit_code == 0
    return run


def test_search_prints_the_best_first(memory: Run) -> None:
    result = memory("search", "Where do I live, Porto?", "--user", "ana", "--explain")
    assert result.exit_code == 0
    assert "2024-05-01 09:00  Ines: I live in Porto" in result.stdout.splitlines()[0]
    assert "bm25" in result.stdout.splitlines()[1]
    assert "of the score)" in result.stdout.splitlines()[1]
    assert result.stderr == ""


def test_explain_prints_the_near_misses(memory: Run) -> None:
    asked = ("search", "Where do I live, Porto? And tea?", "--user", "ana", "--top-k", "1")
    lines = memory(*asked, "--explain").stdout.splitlines()
    assert [n for n, line in enumerate(lines) if line.startswith("near misses")] == [2]
    assert lines[3].split()[0] == "2"
    assert not [line for line in memory(*asked).stdout.splitlines() if "near misses" in line]
    assert json.loads(memory(*asked, "--explain", "--json").stdout)["near_misses"][0]["why"]["place"] == 2


def test_search_as_json_has_the_shape_of_the_http_surface(memory: Run) -> None:
    answer = json.loads(memory("search", "Porto", "--user", "ana", "--top-k", "1", "--explain", "--json").stdout)
    (found,) = answer["results"]
    assert (found["kind"], found["content"], found["source_event_ids"]) == ("memory", "I live in Porto", [found["id"]])
    assert found["why"]["place"] == 1
    assert answer["diagnostics"]["returned_count"] == 1


@pytest.mark.parametrize("mode", ["hybrid", "semantic", "lexical", "intent"])
def test_search_as_json_is_the_answer_of_the_http_surface(memory: Run, app: App, mode: str) -> None:
    bounds = ("--min-similarity", "-1", "--last-days", "100000")
    asked = ("search", "Do I prefer tea?", "--user", "ana", "--mode", mode, *bounds, "--json")
    told = [json.loads(memory(*asked, *more).stdout) for more in ((), ("--explain",))]
    body = {"user_id": "ana", "query": asked[1], "mode": mode, "min_similarity": -1, "rerank": mode == "hybrid"}
    body["time_window"] = {"last_days": 100_000}
    with closing(Laptop(app)) as laptop:
        served = [Caller(laptop).post("/v1/search", {**body, "explain": one}).json for one in (False, True)]
    for one, other in zip(told, served, strict=True):
        assert (set(one), set(one["diagnostics"])) == (set(other), set(other["diagnostics"]))
        assert [set(found) for found in one["results"]] == [set(found) for found in other["results"]]
        assert [found["id"] for found in one["results"]] == [found["id"] for found in other["results"]]
        assert one["diagnostics"]["rules_version"] == other["diagnostics"]["rules_version"]
        assert one["diagnostics"]["duration_ms"] > 0
    assert told[0]["results"]


def test_search_narrows_to_a_conversation(memory: Run) -> None:
    answer = json.loads(memory("search", "tea Porto", "--user", "ana", "--conversation", "c2", "--json").stdout)
    assert [found["content"] for found in answer["results"]] == ["I prefer tea\nover coffee"]


@pytest.mark.parametrize("command", ["search", "context"])
@pytest.mark.parametrize(
    ("options", "found"),
    [
        (("--since", "2024-05-15"), [2]),
        (("--since", "2024-06-01T09:00:00Z"), [2]),
        (("--since", "2024-06-01T09:00:01Z"), []),
        (("--until", "2024-05-01"), [0, 1]),
        (("--until", "2024-05-01T08:59:59Z"), []),
        (("--since", "2024-05-02", "--until", "2024-05-31"), []),
        (("--last-days", "1"), []),
        (("--filter", '{"role": "bot"}'), [1]),
        (("--filter", '{"conversation_id": "c2"}', "--since", "2024-05-15"), [2]),
        (("--filter", '{"conversation_id": "c2"}', "--until", "2024-05-15"), []),
    ],
)
def test_a_filter_and_a_window_narrow(memory: Run, command: str, options: tuple[str, ...], found: list[int]) -> None:
    shown = memory(command, "tea, a place, Porto", "--user", "ana", "--json", *options)
    assert shown.exit_code == 0, shown.stderr
    answer = json.loads(shown.stdout)
    texts = [one["content"] for one in answer["results" if command == "search" else "items"]]
    assert sorted(texts) == sorted(LINES[n]["text"] for n in found)


def test_a_least_similarity_bounds_what_a_search_finds(memory: Run) -> None:
    def found(command: str, least: str) -> list[str]:
        asked = (command, "tea over coffee", "--user", "ana", "--json", "--min-similarity", least)
        answer = json.loads(memory(*asked).stdout)
        return [one["content"] for one in answer.get("results", answer.get("items")) if one.get("score") is not None]

    for command in ("search", "context"):
        assert "I prefer tea\nover coffee" in found(command, "-1")
        assert found(command, "1") == []


def test_search_by_intent_says_what_it_went_by(memory: Run) -> None:
    asked = ("search", "Do I prefer tea?", "--user", "ana", "--mode", "intent")
    by_intent = memory(*asked, "--last-days", "100000", "--explain")
    assert by_intent.exit_code == 0
    assert "2024-06-01 09:00  Ines: I prefer tea over coffee" in by_intent.stdout.splitlines()[0]
    assert "keyword_match 0.667" in by_intent.stdout.splitlines()[1]
    late = memory(*asked)
    assert (late.stdout, "Nothing matches" in late.stderr) == ("", True)
    short = memory("search", "tea", "--user", "ana", "--mode", "intent", "--last-days", "100000", "--json")
    assert json.loads(short.stdout)["diagnostics"]["fallback_reason"] == "short_query"
    assert "short query" in short.stderr


def test_nothing_found_is_said_beside_the_data(memory: Run) -> None:
    result = memory("search", "zebra", "--user", "ana", "--mode", "lexical")
    assert (result.exit_code, result.stdout, result.stderr) == (0, "", "nothing found\n")


def test_another_users_memory_is_empty(memory: Run) -> None:
    assert json.loads(memory("search", "Porto", "--user", "bo", "--json").stdout)["results"] == []
    assert memory("timeline", "--user", "bo").stdout == ""


def test_without_a_model_search_says_so(memory: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    result = memory("search", "Porto", "--user", "ana")
    assert "I live in Porto" in result.stdout
    assert "by words alone" in result.stderr


def test_context_prints_the_prompt(memory: Run) -> None:
    result = memory("context", "Where do I live?", "--user", "ana")
    assert result.exit_code == 0
    assert result.stdout.endswith("Current user input: Where do I live?\n")
    assert "- You said (May 1): I live in Porto\n" in result.stdout
    assert "- You said (Jun 1): I prefer tea over coffee\n" in result.stdout


def test_context_explains_each_line(memory: Run) -> None:
    result = memory("context", "Where do I live?", "--user", "ana", "--explain")
    for word in ("section", "importance", "recent", "newest"):
        assert word in result.stdout


def test_context_as_json(memory: Run) -> None:
    answer = json.loads(memory("context", "Where do I live?", "--user", "ana", "--json").stdout)
    assert {item["content"] for item in answer["items"]} == {line["text"] for line in LINES}
    assert all(item["reason"] and item["section"] for item in answer["items"])
    assert answer["messages"][-1]["content"].endswith("\n\nWhere do I live?")
    assert all(item["shown_in"] for item in answer["items"])


def test_context_as_json_is_the_answer_of_the_http_surface(memory: Run, app: App) -> None:
    asked = ("context", "What about tea?", "--user", "ana", "--json")
    told = json.loads(memory(*asked).stdout)
    explained = json.loads(memory(*asked, "--explain").stdout)
    body = {"user_id": "ana", "input": "What about tea?"}
    with closing(Laptop(app)) as laptop:
        served = Caller(laptop).post("/v1/context", body).json
        served_explained = Caller(laptop).post("/v1/context", {**body, "explain": True}).json
    assert (set(told), set(told["diagnostics"])) == (set(served), set(served["diagnostics"]))
    assert set(explained) == set(served_explained) == {*told, "near_misses"}
    assert [one["id"] for one in told["items"]] == [one["id"] for one in served["items"]]
    assert told["fence"]["open"].strip("<>") in told["messages"][0]["content"]
    assert told["web_search"] == served["web_search"]


@pytest.mark.parametrize(
    ("form", "system", "content"), [("openai", type(None), str), ("anthropic", str, str), ("converse", list, list)]
)
def test_context_in_the_form_that_an_interface_takes(memory: Run, form: str, system: type, content: type) -> None:
    asked = ("context", "Where do I live?", "--user", "ana", "--format", form, "--explain")
    given = json.loads(memory(*asked).stdout)
    assert set(given) <= {"system", "messages"}
    assert type(given.get("system")) is system
    assert {type(message["content"]) for message in given["messages"]} == {content}
    whole = json.loads(memory(*asked, "--json").stdout)
    assert (whole["prompt"] != "", type(whole.get("system"))) == (True, system)
    assert type(whole["messages"][-1]["content"]) is content


def test_context_within_a_budget(memory: Run) -> None:
    answer = json.loads(memory("context", "Where?", "--user", "ana", "--token-budget", "40", "--json").stdout)
    assert answer["tokens"] <= 40
    assert answer["diagnostics"]["left_out"]


def test_timeline_is_all_of_it_newest_first(memory: Run) -> None:
    result = memory("timeline", "--user", "ana")
    assert [line.split("  ")[1] for line in result.stdout.splitlines()] == [
        "Ines: I prefer tea over coffee",
        "assistant: Nice place",
        "Ines: I live in Porto",
    ]
    assert result.stderr == "3 events\n"


def test_timeline_goes_on_beyond_a_page(run: Run, tmp_path: Path) -> None:
    run("import", write_turns(tmp_path / "turns.jsonl", 450), "--user", "ana")
    events = [json.loads(line) for line in run("timeline", "--user", "ana", "--json").stdout.splitlines()]
    assert len({event["id"] for event in events}) == len(events) == 450
    assert [event["timestamp"] for event in events] == sorted((event["timestamp"] for event in events), reverse=True)


def test_timeline_shows_ids_and_no_more_than_asked_for(memory: Run) -> None:
    (line,) = memory("timeline", "--user", "ana", "--ids", "--limit", "1").stdout.splitlines()
    newest = json.loads(memory("timeline", "--user", "ana", "--json").stdout.splitlines()[0])
    assert line.startswith(newest["id"] + "  ")


def test_timeline_of_one_conversation(memory: Run) -> None:
    assert len(memory("timeline", "--user", "ana", "--conversation", "c1").stdout.splitlines()) == 2


def test_what_somebody_said_commands_no_terminal(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "turns.jsonl"
    file.write_text(json.dumps({"text": "red \x1b[31malert\x9b2J [bold]not markup[/bold] :smile:"}) + "\n")
    run("import", file, "--user", "ana")
    for arguments in (("timeline",), ("search", "alert"), ("context", "alert"), ("timeline", "--json")):
        shown = run(*arguments, "--user", "ana").stdout
        assert "alert" in shown
        assert not {"\x1b", "\x9b"} & set(shown)
        assert "[bold]not markup[/bold] :smile:" in shown
    assert json.loads(run("timeline", "--user", "ana", "--json").stdout)["content"].endswith(":smile:")


def test_context_shows_what_stands_in_the_messages_alone(memory: Run) -> None:
    assert memory("summarize", "--user", "ana", "--force").exit_code == 0
    told = memory("context", "Where do I live?", "--user", "ana")
    assert told.stdout.endswith("Current user input: Where do I live?\n")
    assert "the messages begin with a summary of what was said until" in told.stderr
    answer = json.loads(memory("context", "Where do I live?", "--user", "ana", "--json").stdout)
    assert answer["summary"]["summary"]
    assert (answer["goals"], answer["knowledge"], answer["diagnostics"]["missing"]) == ([], [], [])


@pytest.mark.spec("K-84", "K-97")
def test_a_timeline_in_camel_case_can_be_imported_by_another_user(memory: Run, tmp_path: Path) -> None:
    lines = memory("timeline", "--user", "ana", "--json", "--camel-case").stdout
    path = tmp_path / "memories.jsonl"
    path.write_text(lines, encoding="utf-8")
    assert memory("import", str(path), "--user", "copy").exit_code == 0
    names = ("content", "timestamp", "conversation_id", "role", "speaker")

    def shown(user: str) -> list[tuple[str, ...]]:
        events = map(json.loads, memory("timeline", "--user", user, "--json").stdout.splitlines())
        return sorted(tuple(event.get(name) for name in names) for event in events)

    assert shown("copy") == shown("ana") != []
