"""docs/guide by execution: page after page on one store, with one server; the words behind `# >` must be shown."""

import contextlib
import io
import os
import re
import shutil
import subprocess
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pytest

import recollect
from entrypoints.cli.running import Home, serving
from recollect.adapters.embedders.building.build import build_model
from recollect.adapters.embedders.model_folder import GENERATION
from tools.pages import BIN, ROOT, expected, runnable

GUIDE = ROOT / "docs" / "guide"
PAGES = {page.stem: page.read_text("utf-8") for page in sorted(GUIDE.glob("*.md"))}
_MODEL = Path.home() / ".cache" / "recollect" / "models" / GENERATION

pytestmark = pytest.mark.skipif(not (shutil.which("bash") and shutil.which("curl")), reason="the pages need both")


@dataclass(frozen=True, slots=True)
class Reader:
    """Somebody at one terminal and one Python session; the address in the pages is that of this server."""

    server: str
    folder: Path
    environment: dict[str, str]
    session: dict[str, Any] = field(default_factory=dict)

    def run(self, language: str, code: str) -> str:
        """What the block prints. Raises what it raises; fails the test where a command does not succeed."""
        here = code.replace("127.0.0.1:8700", self.server)
        return self._python(here) if language == "python" else self._shell(here)

    def _python(self, code: str) -> str:
        shown = io.StringIO()
        try:
            with contextlib.redirect_stdout(shown):
                exec(compile(code, "page", "exec"), self.session)
        except Exception as error:
            error.add_note(f"in\n{code}which printed\n{shown.getvalue()}")
            raise
        return shown.getvalue()

    def _shell(self, code: str) -> str:
        done = subprocess.run(
            ["bash", "-euo", "pipefail", "-c", code],
            env=self.environment,
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
            timeout=120,
            check=False,
        )
        if done.returncode:
            pytest.fail(f"{code}ended with {done.returncode}:\n{done.stdout}", pytrace=False)
        return done.stdout


@pytest.fixture(scope="module")
def environment(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, str]]:
    """That of a newcomer with the default model, in this process too: blocks of Python run in it."""
    build_model(_MODEL)
    home = tmp_path_factory.mktemp("home")
    own = {"HOME": str(home), "RECOLLECT_EMBEDDER": "e5", "RECOLLECT_MODEL_FOLDER": str(_MODEL)}
    own |= {"PATH": f"{BIN}{os.pathsep}{os.environ['PATH']}", "TMPDIR": str(tmp_path_factory.mktemp("tmp"))}
    whole = Home(home / ".recollect").environment(**own)
    with pytest.MonkeyPatch.context() as patch:
        for name in set(os.environ) - set(whole):
            patch.delenv(name)
        for name, value in whole.items():
            patch.setenv(name, value)
        yield whole


@pytest.fixture(scope="module")
def server(environment: dict[str, str]) -> Iterator[str]:
    with serving(environment) as (address, _):
        yield address


@pytest.fixture
def reader(server: str, environment: dict[str, str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Reader:
    """The address and the token of the stack stand in the environment; here they are this server's."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("API_URL", f"http://{server}")
    monkeypatch.setenv("TOKEN", "any")
    return Reader(server, tmp_path, environment)


@pytest.mark.parametrize("name", PAGES)
def test_every_block_of_a_page_shows_what_the_page_says(name: str, reader: Reader) -> None:
    shown = ""
    for language, code in runnable(PAGES[name]):
        if language == "text":
            assert _figures(code) == [line for line in _figures(shown) if line in _figures(code)]
            continue
        shown = reader.run(language, code)
        missing = [words for words in expected(code) if words not in shown]
        if missing:
            pytest.fail(f"{missing} are missing in:\n{shown}\nwhich this showed:\n{code}", pytrace=False)


def _figures(shown: str) -> list[list[str]]:
    """Row by row up to the shares; the means behind them may differ in the last digit on another processor."""
    return [line.split()[:5] for line in shown.splitlines()]


def test_the_guide_has_its_five_pages_and_each_promises_something() -> None:
    assert [name[0] for name in PAGES] == ["1", "2", "3", "4", "5"]
    promised = [sum(len(expected(code)) for _, code in runnable(page)) for page in PAGES.values()]
    assert all(count >= 3 for count in promised), promised


@pytest.mark.parametrize("name", PAGES)
def test_every_link_leads_to_a_place_that_is_there(name: str) -> None:
    for target, anchor in re.findall(r"\]\(([^)#]*)(?:#([^)]*))?\)", PAGES[name]):
        file = GUIDE / target
        assert file.is_file(), target
        assert not anchor or anchor in map(_anchor, re.findall(r"(?m)^#+ (.*)$", file.read_text("utf-8"))), anchor


def _anchor(heading: str) -> str:
    """As GitHub makes it."""
    return re.sub(r"[^\w -]", "", heading.lower()).replace(" ", "-")


def test_what_the_page_of_aws_names_is_in_template_makefile_and_checkout() -> None:
    page = PAGES["3-on-aws"]
    template = (ROOT / "template.yaml").read_text("utf-8")
    declared = set(re.findall(r"^  ([A-Z]\w+):$", template, re.MULTILINE))
    named = set(re.findall(r"`([A-Z][a-z]+(?:[A-Z][a-z]+)+)`", page))
    named |= set(re.findall(r"\b([A-Z][a-z]+[A-Z]\w+)=(?!=)", page)) | set(re.findall(r"\$\(output (\w+)\)", page))
    assert len(named) > 10
    assert named <= declared, named - declared
    targets = set(re.findall(r"(?m)^([a-z-]+):", (ROOT / "Makefile").read_text("utf-8")))
    assert set(re.findall(r"\$ make ([a-z-]+)", page)) <= targets
    files = [f"events/{event}.json" for event in re.findall(r"EVENT=([\w.-]+)", page)]
    files += re.findall(r"\binfra/[\w/.]+", page)
    assert len(files) >= 5
    assert [file for file in files if not (ROOT / file).is_file()] == []


def test_the_errors_told_are_classes_of_the_client() -> None:
    cells = re.findall(r"^\| ((?:`[A-Z]\w+`(?:, )?)+) \|", PAGES["2-in-a-project"], re.MULTILINE)
    told = {name for cell in cells for name in re.findall(r"\w+", cell)}
    assert len(told) >= 8
    assert all(issubclass(getattr(recollect, name), recollect.RecollectClientError) for name in told)


def test_the_costs_told_are_those_of_the_table_of_operations() -> None:
    rows = re.findall(r"^(\| a (?:month|million).*) \|$", PAGES["3-on-aws"], re.MULTILINE)
    operations = (ROOT / "docs" / "operations.md").read_text("utf-8")
    assert len(rows) == 5
    assert [row for row in rows if f"\n{row} |" not in operations] == []
