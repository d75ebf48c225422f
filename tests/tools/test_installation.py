"""The wheel in empty environments: by itself, with client, command and a memory in the process; the client alone; for a
laptop.

What is missing is asked for in one sentence, by what needs it.
"""

import re
import signal
import socket
import subprocess
import sys
import textwrap
import time
import tomllib
from email.parser import HeaderParser
from pathlib import Path
from urllib.error import URLError
from urllib.request import urlopen
from zipfile import ZipFile

import pytest

from infra.tools.dependencies import NOT_IN_FUNCTIONS
from infra.tools.dist import for_a_registry, with_urls
from recollect.core.errors import ENGINE_PACKAGES
from tools.installing import Installation, built
from tools.pages import ROOT, blocks

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["project"]
FOR_LOCAL, FOR_AWS = "pip install 'recollect[local]'", "pip install 'recollect[aws]'"
FOR_VECTORS = "pip install 'recollect[vectors]'"
MEGABYTES, CLIENT_MEGABYTES = 60, 40
"""The bytes of all files that pip leaves, with the modules that it compiles; of the client alone without these."""
URL = "https://example.org/recollect"
IMPORT_SECONDS = 0.15
THREE_LINES = blocks((ROOT / "README.md").read_text("utf-8"), "python")[0]
DEPENDENCIES = (ROOT / "docs/dependencies.md").read_text("utf-8")
CLIENT_ALONE = re.findall(r"^\$ pip install (.+)", blocks(DEPENDENCIES, "console")[0], re.MULTILINE)
"""What the page says, run as it stands there."""
FIRST = "\n".join(blocks((ROOT / "docs/guide/1-first-memory.md").read_text("utf-8"), "console"))
ON_A_LAPTOP = re.findall(r"^\$ pip install (\S+)", FIRST, re.MULTILINE)
"""What the guide says, run as it stands there; the wheel stands for the one of a registry."""
INSTALLING = re.compile(r"""pip install (?:[\w-]+ )?['"]recollect\[([\w,-]+)\]['"]""")
QUOTING = "dependencies.md"
"""Quotes the error of what misses an extra."""
PAGES = {
    page.name: text
    for page in (ROOT / "README.md", *sorted((ROOT / "docs").rglob("*.md")))
    if INSTALLING.search(text := page.read_text("utf-8")) and page.name != QUOTING
}


@pytest.fixture(scope="module")
def archives(tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    return built(tmp_path_factory.mktemp("dist"))


@pytest.fixture(scope="module")
def bare(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("bare"), archives[1], "recollect")


@pytest.fixture(scope="module")
def client(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("client"), archives[1], *CLIENT_ALONE)


@pytest.fixture(scope="module")
def laptop(archives: tuple[Path, Path], tmp_path_factory: pytest.TempPathFactory) -> Installation:
    return Installation(tmp_path_factory.mktemp("laptop"), archives[1], *ON_A_LAPTOP)


def test_the_archives_are_the_same_bytes_each_time(archives: tuple[Path, Path], tmp_path: Path) -> None:
    again = built(tmp_path)
    assert [one.name for one in again] == ["recollect-0.1.0.tar.gz", "recollect-0.1.0-py3-none-any.whl"]
    assert [one.read_bytes() for one in again] == [one.read_bytes() for one in archives]


def test_the_wheel_has_the_package_whole_and_nothing_else(archives: tuple[Path, Path]) -> None:
    package = ROOT / "layers/memory"
    sources = {
        str(path.relative_to(package))
        for path in (package / "recollect").rglob("*")
        if path.is_file() and not {"__pycache__", "contracts"} & set(path.parts)
    }
    with ZipFile(archives[1]) as wheel:
        packed = {name for name in wheel.namelist() if not name.startswith("recollect-")}
        (metadata,) = [name for name in wheel.namelist() if name.endswith("METADATA")]
        told = HeaderParser().parsestr(wheel.read(metadata).decode())
    assert not re.search(r"\]\((?!https?:|#)", str(told.get_payload())), "a registry has no file beside the README"
    assert packed == sources
    assert "recollect/py.typed" in packed
    assert (told["Name"], told["Version"], told["License-Expression"]) == ("recollect", "0.1.0", "Apache-2.0")
    assert told["Requires-Python"] == PROJECT["requires-python"]
    assert {"Typing :: Typed", "Programming Language :: Python :: 3.11"} <= set(told.get_all("Classifier", []))


def test_the_wheel_by_itself_has_client_command_and_a_memory_in_the_process(bare: Installation) -> None:
    program = """
        from recollect import Recollect

        with Recollect.local() as memory:
            memory.add("I moved to Lyon last week", user_id="anna")
            print(memory.search("When was Lyon?", user_id="anna")["results"][0]["content"])
            print("Lyon" in memory.context("What of Lyon?", user_id="anna")["prompt"])
            memory.add("I moved to Rome", user_id="ben")
            print([one["content"] for one in memory.search("Who moved to Lyon?", user_id="ben")["results"]])
            try:
                memory.search("Lyon", user_id="anna", vector=[1.0])
            except Exception as error:
                print(error)
    """
    done = bare.run("python", "-c", textwrap.dedent(program))
    assert done.returncode == 0, done.stderr
    *shown, refused = done.stdout.splitlines()
    assert shown == ["I moved to Lyon last week", "True", "['I moved to Rome']"]
    assert f"a vector needs the package numpy: {FOR_VECTORS}" in refused
    assert f"by words alone: the embedding model needs the package onnxruntime: {FOR_LOCAL}" in done.stderr
    assert bare.run("recollect", "--version").stdout == "recollect 0.1.0\n"
    found = bare.run("recollect", "search", "Lyon", "--user", "anna")
    assert (found.returncode, "moved to Lyon" in found.stdout, "by words alone" in found.stderr) == (0, True, True)
    assert not (bare.packages / "numpy").exists()


def test_the_installation_is_small_with_its_modules_compiled(bare: Installation) -> None:
    """It says how small: what lets it grow to the bound is seen before it is reached."""
    done = bare.run("python", "-m", "compileall", "-q", str(bare.packages))
    assert done.returncode == 0, done.stdout
    assert megabytes(bare, compiled=True) < MEGABYTES
    assert megabytes(bare, compiled=True) > megabytes(bare) + 10


def test_whoever_publishes_says_where_the_links_lead() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    shown = for_a_registry(readme, URL)
    assert f"[docs/python.md]({URL}/blob/main/docs/python.md)" in shown
    assert f"({URL}/raw/main/docs/console/ask.png)" in shown
    assert (
        re.findall(r"\]\((?!https?:|#)", shown) == re.findall(r"\]\((?!https?:|#)", for_a_registry(readme, None)) == []
    )
    named = tomllib.loads(with_urls((ROOT / "pyproject.toml").read_text("utf-8"), URL))["project"]
    assert named["urls"]["Homepage"] == URL
    assert {**named, "urls": None} == {**PROJECT, "urls": None}


def test_the_client_alone_is_small_and_has_its_version(client: Installation) -> None:
    done = client.run(
        "python", "-c", "from recollect import Recollect; Recollect('http://127.0.0.1:8700').close(); print('imported')"
    )
    assert (done.returncode, done.stdout, done.stderr) == (0, "imported\n", "")
    assert client.run("recollect", "--version").stdout == "recollect 0.1.0\n"
    shown = client.run("recollect", "--help")
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "needs the package pydantic: pip install recollect\n" in shown.stdout
    assert megabytes(client) < CLIENT_MEGABYTES


def megabytes(installation: Installation, *, compiled: bool = False) -> float:
    """The bytes of its files."""
    files = (path for path in installation.packages.rglob("*") if path.is_file())
    return sum(path.stat().st_size for path in files if compiled or path.suffix != ".pyc") / 1e6


@pytest.mark.parametrize(
    ("needs", "program"),
    [
        ("a memory in this process", ("python", "-c", "import recollect; recollect.Recollect.local()")),
        ("the command recollect", ("recollect", "serve", "--port", "8701")),
    ],
    ids=["local", "command"],
)
def test_the_client_alone_says_in_one_sentence_what_runs_a_memory(
    client: Installation, needs: str, program: tuple[str, ...]
) -> None:
    done = client.run(*program)
    assert (done.returncode, done.stdout) == (1, "")
    assert (
        done.stderr.splitlines()[-1].split(": ", 1)[1] == f"{needs} needs the package pydantic: pip install recollect"
    )
    assert program[0] == "python" or len(done.stderr.splitlines()) == 1


def test_a_memory_is_run_by_what_every_installation_brings() -> None:
    named = {re.match(r"[\w-]+", one)[0] for one in PROJECT["dependencies"]}  # type: ignore[index]
    assert named == {*ENGINE_PACKAGES, "httpx"}


def test_a_bare_import_is_quick_and_brings_nothing_else(bare: Installation) -> None:
    program = """
        import sys, time
        began = time.perf_counter()
        import recollect
        print(time.perf_counter() - began)
        print([name for name in ("numpy", "pydantic", "httpx", "typer") if name in sys.modules])
    """
    runs = [bare.run("python", "-c", textwrap.dedent(program)).stdout.splitlines() for _ in range(3)]
    assert min(float(seconds) for seconds, _ in runs) < IMPORT_SECONDS
    assert {brought for _, brought in runs} == {"[]"}


@pytest.mark.parametrize(
    ("command", "package"),
    [(("serve",), "uvicorn"), (("mcp", "--user", "anna"), "mcp"), (("init",), "onnxruntime")],
    ids=["serve", "mcp", "init"],
)
def test_a_command_that_needs_more_asks_for_it_in_one_sentence(
    bare: Installation, command: tuple[str, ...], package: str
) -> None:
    done = bare.run("recollect", *command)
    assert (done.returncode, done.stdout) == (1, "")
    (sentence,) = done.stderr.splitlines()
    assert sentence.startswith("error: ")
    assert sentence.endswith(f"needs the package {package}: {FOR_LOCAL}")


@pytest.mark.parametrize(
    ("setting", "value"), [("RECOLLECT_ENGINES", "aws"), ("RECOLLECT_EMBEDDER", "bedrock")], ids=["engines", "embedder"]
)
def test_what_calls_aws_asks_for_its_packages(bare: Installation, setting: str, value: str) -> None:
    own = {setting: value, "RECOLLECT_SEARCH_ENGINE": "table"}
    done = bare.run("recollect", "doctor", **own)
    assert done.returncode == 1
    assert f"{setting}={value} needs the package boto3: {FOR_AWS}" in done.stdout + done.stderr


def test_doctor_says_which_package_is_missing(bare: Installation) -> None:
    done = bare.run("recollect", "doctor")
    assert done.returncode == 1
    assert f"needs the package onnxruntime: {FOR_LOCAL}" in done.stdout
    first = f"install onnx and onnxruntime first ({FOR_LOCAL}), then run `recollect init`"
    assert done.stdout.count(f"do: {first}") == done.stdout.count("wrong ") == 3
    assert first in bare.run("recollect", "search", "Lyon", "--user", "anna").stderr


@pytest.mark.parametrize("name", PAGES)
def test_a_page_that_installs_an_extra_says_once_how_without_an_index(name: str) -> None:
    (extra, *_) = INSTALLING.findall(PAGES[name])
    wheel = f'pip install "$(ls dist/*.whl)[{extra}]"'
    told = f"Not in PyPI yet: in a checkout `pip install '.[{extra}]'`, or `make dist` and `{wheel}`."
    assert " ".join(PAGES[name].split()).count(told) == 1


def test_the_three_lines_of_the_readme_run_on_a_laptop(laptop: Installation) -> None:
    shown = laptop.run("python", "-c", THREE_LINES, RECOLLECT_EMBEDDER="hashing")
    assert (shown.returncode, shown.stdout, shown.stderr) == (0, "I moved to Lyon last week\n", "")
    listed = laptop.run("recollect", "--help")
    assert (listed.returncode, listed.stderr) == (0, "")
    assert {"serve", "search", "doctor"} <= set(listed.stdout.split())
    layers = "from recollect.adapters.embedders.building import build; print(build.LAYERS_FILE.is_file())"
    assert laptop.run("python", "-c", layers).stdout == "True\n"


def test_a_laptop_serves_what_the_client_alone_asks(laptop: Installation, client: Installation) -> None:
    program = """
        from recollect import Recollect

        with Recollect("http://{}") as memory:
            memory.add("I moved to Lyon", user_id="ben")
            print(memory.search("Lyon", user_id="ben")["results"][0]["content"])
    """
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"127.0.0.1:{free.getsockname()[1]}"
    command = [str(laptop.bin / "recollect"), "serve", "--port", address.split(":")[1]]
    environment = laptop.environment | {"RECOLLECT_EMBEDDER": "hashing"}
    with subprocess.Popen(command, env=environment, cwd="/", stderr=subprocess.PIPE) as server:
        try:
            wait_until_ready(address)
            asked = client.run("python", "-c", textwrap.dedent(program.format(address)))
            assert (asked.stdout, asked.stderr) == ("I moved to Lyon\n", "")
        finally:
            server.send_signal(signal.SIGTERM)
            server.communicate(timeout=30)
    assert server.returncode == 0


def wait_until_ready(address: str) -> None:
    """Raises URLError after a minute."""
    for attempt in range(240):
        try:
            urlopen(f"http://{address}/v1/ready", timeout=5).close()
            return
        except URLError:
            if attempt == 239:
                raise
            time.sleep(0.25)


def test_type_checkers_read_the_installed_package(bare: Installation, tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        textwrap.dedent(
            """
            from recollect import Recollect

            memory = Recollect.local("~/.recollect")
            memory.add("I moved to Lyon", user_id="anna")
            reveal_type(memory.search("Where?", user_id="anna")["results"][0]["score"])
            reveal_type(memory.get_all(user_id="anna")[0]["version"])
            memory.search("Where?", user_id="anna", top_k="ten")
            """
        )
    )
    options = ["--strict", "--cache-dir", str(tmp_path / "cache"), "--python-executable"]
    command = [sys.executable, "-m", "mypy", *options, str(bare.bin / "python"), str(program)]
    done = subprocess.run(command, capture_output=True, text=True, check=False, cwd=tmp_path, env=bare.environment)
    told = done.stdout
    assert 'Revealed type is "float"' in told
    assert 'Revealed type is "int"' in told
    assert told.count(": error:") == told.count("program.py:8: error:") == 1, told


def test_what_functions_do_without_is_what_import_linter_forbids_them() -> None:
    """The layers leave these packages out; the contract holds the code that functions import to it."""
    contracts = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))["tool"]["importlinter"]["contracts"]
    (forbidden,) = [one["forbidden_modules"] for one in contracts if "function" in one["name"]]
    assert sorted(forbidden) == sorted(NOT_IN_FUNCTIONS)
    pins = (ROOT / "layers/dependencies/requirements.txt").read_text("utf-8")
    assert not [name for name in NOT_IN_FUNCTIONS if f"\n{name}==" in pins]
