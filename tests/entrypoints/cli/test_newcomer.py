"""The first three minutes: what the README shows in the terminal, with the default embedder and no model."""

import json
from pathlib import Path

import pytest

from entrypoints.cli.running import Home
from recollect.adapters.embedders.building.build import build_model
from recollect.adapters.embedders.model_folder import GENERATION

LYON = {
    "conversation": "monday",
    "session": 1,
    "session_time": "2024-05-06T09:00:00Z",
    "turn_id": "t1",
    "role": "user",
    "text": "I moved to Lyon last week",
}
_MODELS = Path.home() / ".cache" / "recollect" / "models"


@pytest.fixture(scope="module")
def model() -> dict[str, str]:
    """The default embedder, built where it is missing."""
    folder = _MODELS / GENERATION
    build_model(folder)
    return {"RECOLLECT_EMBEDDER": "e5", "RECOLLECT_MODEL_FOLDER": str(folder)}


@pytest.fixture
def home(tmp_path: Path, model: dict[str, str]) -> Home:
    turns = tmp_path / "turns.jsonl"
    turns.write_text(json.dumps(LYON) + "\n")
    home = Home(tmp_path / "home")
    imported = home.run("import", str(turns), "--user", "anna", **model)
    assert imported.returncode == 0, imported.stderr
    return home


def chat(home: Home, model: dict[str, str], *lines: str) -> str:
    answered = home.told("".join(f"{line}\n" for line in lines), "chat", "--user", "anna", **model)
    assert answered.returncode == 0, answered.stderr
    return answered.stdout


def test_chat_answers_the_readmes_question_however_often_it_is_asked(home: Home, model: dict[str, str]) -> None:
    answers = chat(home, model, "Where do I live?", "I like green tea", "Where do I live?", "Where do I live?")
    assert answers.count("“I moved to Lyon last week”") == 3
    found = home.run("search", "Where do I live?", "--user", "anna", **model).stdout.splitlines()
    assert "I moved to Lyon last week" in found[0]
    assert not [line for line in found if " bot: " in line], "what only quotes memory is found by no search"


def test_why_and_explain_show_a_memory_that_was_saved_directly(home: Home, model: dict[str, str]) -> None:
    assert home.run("memories", "save", "I like tea", "--user", "anna", **model).returncode == 0
    shown = home.run("context", "What do I like?", "--user", "anna", "--explain", **model)
    assert shown.returncode == 0, shown.stderr
    assert "I like tea" in shown.stdout
    assert "prompt, messages" in shown.stdout
    assert "I like tea" in chat(home, model, "What do I like?", "/why")


def test_semantic_search_finds_what_is_related_and_nothing_else(home: Home, model: dict[str, str]) -> None:
    related = home.run("search", "Did I move last week?", "--user", "anna", "--mode", "semantic", **model)
    assert "I moved to Lyon last week" in related.stdout
    other = home.run("search", "What is my wifi password?", "--user", "anna", "--mode", "semantic", **model)
    assert (other.stdout, "nothing found" in other.stderr) == ("", True)


def test_a_question_without_its_mark_is_not_in_doubt(tmp_path: Path, model: dict[str, str]) -> None:
    home = Home(tmp_path / "home")
    chat(home, model, "where do i live", "we're moving to Braga on the weekend after all")
    listed = home.run("conflicts", "list", "--user", "anna", **model)
    assert (listed.stdout, listed.stderr) == ("", "0 conflicts\n")


@pytest.mark.parametrize("request_", ["Tell me where I live.", "Sag mir, wo ich wohne.", "Dis-moi où j'habite."])
def test_a_request_ends_no_fact(tmp_path: Path, model: dict[str, str], request_: str) -> None:
    home = Home(tmp_path / "home")
    chat(home, model, "I live in Porto and I work as a nurse.", request_)
    assert home.run("decisions", "list", "--user", "anna", **model).stdout == ""
    assert "I live in Porto" in home.run("search", "Where do I live?", "--user", "anna", **model).stdout


def test_an_import_says_what_it_led_to_and_which_commands_list_it(tmp_path: Path, model: dict[str, str]) -> None:
    home, turns = Home(tmp_path / "home"), tmp_path / "turns.jsonl"
    paris = {**LYON, "session_time": "2024-05-01T09:00:00Z", "turn_id": "t0", "text": "I live in Paris"}
    turns.write_text(f"{json.dumps(paris)}\n{json.dumps(LYON)}\n")
    ended = "`recollect decisions list --user anna`, `recollect conflicts list --user anna --status open`"
    first, again = (home.run("import", str(turns), "--user", "anna", **model).stderr for _ in range(2))
    assert first.splitlines()[-1] == f"the import led to 1 decision and 0 open doubts so far: {ended}"
    assert again.splitlines()[-1] == "the import led to 0 decisions and 0 open doubts so far"
    waits = home.run("import", str(turns), "--user", "bob", RECOLLECT_PROJECTOR="off", **model).stderr
    assert waits.splitlines()[-1].endswith("decisions and doubts come with it")
