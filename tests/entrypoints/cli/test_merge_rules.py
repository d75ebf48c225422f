"""`recollect merge-rules`: list, show, set, delete, import."""

import json
from pathlib import Path

import pytest

from entrypoints.cli.conftest import Run


def test_a_rule_is_set_listed_shown_and_deleted(run: Run) -> None:
    assert run("merge-rules", "set", "base", '{"arbitration": {"mergeThreshold": 0.3}}').stderr == "version 2\n"
    assert run("merge-rules", "set", "mine", '{"extends": "base", "priority": 1}').exit_code == 0
    listed = run("merge-rules", "list")
    assert listed.stdout.splitlines()[1:] == [
        'base  {"arbitration": {"mergeThreshold": 0.3}}',
        'mine  {"extends": "base", "priority": 1}',
    ]
    assert listed.stderr == "3 rules, version 3\n"
    shown = json.loads(run("merge-rules", "show", "mine").stdout)
    assert shown == {"arbitration": {"mergeThreshold": 0.3}, "priority": 1}
    refused = run("merge-rules", "delete", "base")
    assert (refused.exit_code, refused.stderr) == (1, "error: another rule extends this one\n")
    assert run("merge-rules", "delete", "mine").exit_code == 0
    assert run("merge-rules", "delete", "mine").exit_code == 2


@pytest.mark.spec("A-126", "A-128")
def test_what_one_tenant_exports_another_imports(run: Run, tmp_path: Path) -> None:
    run("merge-rules", "set", "base", '{"priority": 4}')
    run("merge-rules", "set", "mine", '{"extends": "base"}')
    export = run("merge-rules", "list", "--json").stdout
    file = tmp_path / "rules.json"
    file.write_text(export, "utf-8")
    assert run("merge-rules", "import", str(file), "--tenant", "globex").stderr == "3 rules, version 4\n"
    again = json.loads(run("merge-rules", "list", "--json", "--tenant", "globex").stdout)
    assert again["rules"] == json.loads(export)["rules"]


@pytest.mark.parametrize("text", ["[]", "{", '{"rules": [7]}', "\ufffe"])
def test_a_file_that_is_no_export_is_refused(run: Run, tmp_path: Path, text: str) -> None:
    file = tmp_path / "rules.json"
    file.write_text(text, "utf-16" if text == "\ufffe" else "utf-8")
    assert run("merge-rules", "import", str(file)).exit_code == 2
