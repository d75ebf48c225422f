"""`recollect rules`."""

import json
from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run
from recollect.app import App
from recollect.core.time import utc_now
from recollect.rules.groups import Rules, document_of


def test_it_shows_the_resolved_rules(run: Run, app: App) -> None:
    assert json.loads(run("rules").stdout) == document_of(Rules())
    app.rules.replace("local", {"context": {"total": 3}}, utc_now(), None)
    shown = run("rules")
    assert (shown.exit_code, json.loads(shown.stdout)["context"]["total"]) == (0, 3)
    assert "the tenant's own: context" in shown.stderr
    assert json.loads(run("rules", "--tenant", "other").stdout) == document_of(Rules())


def test_a_good_file_is_told_so(run: Run, tmp_path: Path) -> None:
    file = tmp_path / "rules.json"
    file.write_text('{"tags": {"food": ["soup"]}}', "utf-8")
    checked = run("rules", "--check", file)
    assert (checked.exit_code, checked.stdout) == (0, "")
    assert "nothing is wrong" in checked.stderr


@pytest.mark.parametrize(
    ("content", "lines"),
    [
        (b"{", ["the rules: is no JSON"]),
        (b"\xff", ["the rules: is no JSON"]),
        (
            b'{"context": {"total": "8"}, "retention": [{}]}',
            ["context.total: must be a whole number, 0 to 50", "retention[0].older_than_days: is required"],
        ),
    ],
)
def test_each_path_that_is_wrong_is_a_line(run: Run, tmp_path: Path, content: bytes, lines: list[str]) -> None:
    file = tmp_path / "rules.json"
    file.write_bytes(content)
    checked = run("rules", "--check", file)
    assert (checked.exit_code, checked.stdout.splitlines()) == (1, lines)


def test_a_file_that_is_not_there_is_told(run: Run, tmp_path: Path) -> None:
    checked = run("rules", "--check", tmp_path / "none.json")
    assert checked.exit_code == 1
    assert "No such file" in checked.stderr
