"""Variables of the environment that nothing reads are told of by name, and stop nothing."""

import json
import re
import subprocess

import pytest

from entrypoints.cli.conftest import Run
from entrypoints.cli.running import Home, serving
from recollect.entrypoints.cli.variables import OTHERS, UnknownVariable, unknown_variables
from recollect.settings import variables
from tools.pages import ROOT

NAMED = re.compile(r"\bRECOLLECT_[A-Z0-9]+(?:_[A-Z0-9]+)*\b")
FOLDERS = ("docs", "functions", "infra", "layers/memory", ".github", "clients/typescript/src")
FILES = ("README.md", "Makefile", "template.yaml", "clients/typescript/README.md")
SUFFIXES = {".py", ".md", ".yml", ".yaml", ".ts", ".sh"}
MISSPELT = "nothing reads the variable RECOLLECT_EMBEDER; do you mean RECOLLECT_EMBEDDER?"


@pytest.mark.parametrize(
    ("name", "nearest"),
    [
        ("RECOLLECT_EMBEDER", "RECOLLECT_EMBEDDER"),
        ("RECOLLECT_APIKEYS", "RECOLLECT_API_KEYS"),
        ("RECOLLECT_WEBSEARCH", "RECOLLECT_WEB_SEARCH"),
        ("RECOLLECT_ZZ", None),
        ("RECOLLECT_", None),
    ],
)
def test_a_variable_that_nothing_reads_is_told_with_the_nearest_that_is(name: str, nearest: str | None) -> None:
    assert unknown_variables({name: "a secret", "PATH": "/bin"}) == [UnknownVariable(name, nearest)]
    assert "secret" not in UnknownVariable(name, nearest).told


def test_every_variable_that_the_repository_names_is_known() -> None:
    found = [file for one in FOLDERS for file in (ROOT / one).rglob("*") if file.suffix in SUFFIXES]
    named = {name for file in (*found, *(ROOT / one for one in FILES)) for name in NAMED.findall(file.read_text())}
    assert {"RECOLLECT_EMBEDDER", "RECOLLECT_PYTHON313", "RECOLLECT_TOKEN"} <= named
    assert unknown_variables(dict.fromkeys(named, "")) == []
    assert OTHERS & {name for name, _, _ in variables()} == set()


def test_a_command_warns_and_goes_on(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert run("timeline", "--user", "ana").stderr == "0 events\n"
    monkeypatch.setenv("RECOLLECT_EMBEDER", "none")
    monkeypatch.setenv("RECOLLECT_TEST_ANYTHING", "1")
    told = run("timeline", "--user", "ana")
    assert (told.exit_code, told.stdout, told.stderr) == (0, "", f"warning: {MISSPELT}\n0 events\n")


def test_doctor_lists_it_and_finds_all_well(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    assert "variables" not in run("doctor").stdout
    monkeypatch.setenv("RECOLLECT_EMBEDER", "none")
    told = run("doctor")
    assert (told.exit_code, told.stderr) == (0, "")
    assert f"ok    variables: {MISSPELT}\n      note: unset it, or correct its name\n" in told.stdout
    checks = json.loads(run("doctor", "--json").stdout)["checks"]
    assert [one["detail"] for one in checks if one["name"] == "variables"] == [MISSPELT]


def test_a_server_logs_it_and_serves(home: Home) -> None:
    with serving(home.environment(RECOLLECT_EMBEDER="none"), subprocess.PIPE) as (_, server):
        server.terminate()
        _, err = server.communicate(timeout=20)
    records = [json.loads(line) for line in err.splitlines()]
    assert [one["level"] for one in records if one["message"] == MISSPELT] == ["WARNING"]
