"""clients/typescript: built by npm, its own tests against a server process, its README and page compiled and run."""

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from entrypoints.cli.running import Home, serving
from infra.tools.typescript import operations_file, schemas_file
from tools.pages import ROOT, blocks, links

pytestmark = pytest.mark.skipif(shutil.which("npm") is None, reason="needs Node.js with npm")

SOURCES = ROOT / "clients/typescript"
README = (SOURCES / "README.md").read_text("utf-8")
PAGE = (ROOT / "docs/integrations/typescript.md").read_text("utf-8")
KEYS = '{"key-a": {"tenant": "acme"}}'
COMPILED = ("--module", "nodenext", "--target", "es2022", "--strict", "--skipLibCheck", "--types", "node")
SECONDS = 300


def ran(folder: Path, *command: str, **variables: str) -> str:
    """What the command prints. Raises AssertionError with that where it fails."""
    done = subprocess.run(
        command,
        cwd=folder,
        env={**os.environ, **variables},
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
        timeout=SECONDS,
    )
    assert done.returncode == 0, done.stdout
    return done.stdout


@pytest.fixture(scope="module")
def package(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The package, installed from its lock and built, outside of the checkout."""
    folder = tmp_path_factory.mktemp("client") / "typescript"
    shutil.copytree(SOURCES, folder, ignore=shutil.ignore_patterns("node_modules", "dist"))
    ran(folder, "npm", "ci", "--silent", "--no-audit", "--no-fund")
    ran(folder, "npm", "run", "build")
    return folder


@pytest.fixture(scope="module")
def url(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    home = Home(tmp_path_factory.mktemp("home"))
    own = {"RECOLLECT_API_KEYS": KEYS, "RECOLLECT_CORS_ORIGINS": "https://app.example.com"}
    with serving(home.environment(**own)) as (address, _):
        yield f"http://{address}"


def test_its_own_tests_pass_against_a_server(package: Path, url: str) -> None:
    said = ran(package, "npm", "test", RECOLLECT_URL=url, RECOLLECT_API_KEY="key-a")
    assert "# fail 0" in said
    assert "# skipped 0" in said


def test_types_let_through_what_is_right_and_nothing_else(package: Path) -> None:
    ran(package, "npm", "run", "check")


@pytest.fixture(scope="module")
def packed(package: Path) -> dict[str, Any]:
    """What npm says of the archive that it made."""
    (made,) = json.loads(ran(package, "npm", "pack", "--json", "--ignore-scripts"))
    return dict(made)


def test_the_package_has_what_is_built_and_depends_on_nothing(package: Path, packed: dict[str, Any]) -> None:
    names = {one["path"] for one in packed["files"]}
    assert {"package.json", "README.md", "LICENSE", "dist/index.js", "dist/index.d.ts"} <= names
    assert not [name for name in names if name.startswith(("src/", "test/", "node_modules/"))]
    manifest = json.loads((package / "package.json").read_text("utf-8"))
    assert not {"dependencies", "peerDependencies", "optionalDependencies"} & set(manifest)
    assert (package / "LICENSE").read_bytes() == (ROOT / "LICENSE").read_bytes()


@pytest.mark.parametrize("key", [{"RECOLLECT_API_KEY": "key-a"}, {}], ids=["with a key", "without one"])
def test_the_archive_is_installed_elsewhere_and_runs_what_the_readme_shows(
    package: Path, packed: dict[str, Any], url: str, tmp_path: Path, key: dict[str, str]
) -> None:
    archive = package / packed["filename"]
    ran(tmp_path, "npm", "install", "--silent", "--offline", "--no-audit", "--no-fund", str(archive))
    (program,) = blocks(README, "ts")
    (tmp_path / "memory.mts").write_text(program.replace("http://127.0.0.1:8700", url), "utf-8")
    installed = package / "node_modules"
    ran(tmp_path, str(installed / ".bin/tsc"), *COMPILED, "--typeRoots", str(installed / "@types"), "memory.mts")
    alone = {name: value for name, value in os.environ.items() if name != "RECOLLECT_API_KEY"}
    done = subprocess.run(
        ["node", "memory.mjs"], cwd=tmp_path, env=alone | key, capture_output=True, text=True, check=False
    )
    assert (done.returncode == 0) == bool(key), done.stderr
    assert ("Remember: my sister is called Ada" in done.stdout) == bool(key)
    assert key or "401" in done.stderr


SHOWN = {
    "memories": (PAGE, 0, ["My sister is called Ida"]),
    "errors": (PAGE, 1, ["422 urn:recollect:problem:", "top_k"]),
    "items": (PAGE, 2, ["{ likes: 'jam', age: 40 }", "[ 'taste' ]"]),
    "AI SDK": (PAGE, 3, ["I was given 2 messages.", "I was given 4 messages."]),
    "AI SDK's middleware": (PAGE, 4, ["Recalled: false", "Recalled: true"]),
}
"""Where a program is shown, and what it prints."""


@pytest.fixture(scope="module")
def programs(package: Path, url: str) -> dict[str, str]:
    """The programs of the pages, compiled together."""
    made = {name: f"shown{number}" for number, name in enumerate(SHOWN)}
    for name, file in made.items():
        page, number, _ = SHOWN[name]
        code = blocks(page, "ts")[number].replace("http://127.0.0.1:8700", url).replace('"anna"', f'"anna{number}"')
        (package / f"{file}.mts").write_text(code, "utf-8")
    ran(package, "npx", "tsc", *COMPILED, *(f"{file}.mts" for file in made.values()))
    return {name: f"{file}.mjs" for name, file in made.items()}


@pytest.mark.parametrize("name", SHOWN)
def test_what_the_pages_show_is_compiled_and_runs(package: Path, programs: dict[str, str], name: str) -> None:
    said = ran(package, "node", programs[name], RECOLLECT_API_KEY="key-a", AI_SDK_LOG_WARNINGS="false")
    for words in SHOWN[name][2]:
        assert words in said


def test_every_block_is_run() -> None:
    assert (len(blocks(README, "ts")), len(blocks(PAGE, "ts"))) == (1, 5)


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_of_the_page_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs/integrations" / target).exists()


def test_the_readme_has_no_link_that_the_registry_could_not_follow() -> None:
    assert links(README) == []


def test_what_a_schema_says_is_what_is_written() -> None:
    text = {"type": "string"}
    schemas = {
        "Place": {"type": "object", "required": ["a"], "properties": {"a": text, "b-c": {"enum": ["x", 1]}}},
        "Given": {"type": ["integer", "null"], "description": "Ends */ here."},
        "Map": {"type": "object", "additionalProperties": {"type": "array", "items": text}},
        "Either": {"anyOf": [{"$ref": "#/components/schemas/Place"}, {"type": "number"}, {"type": "integer"}]},
    }
    written = schemas_file(json.dumps({"components": {"schemas": schemas}}))
    assert 'export interface Place {\n  a: string;\n  "b-c"?: "x" | 1;\n}\n' in written
    assert "/** Ends *\\/ here. */\nexport type Given = number | null;\n" in written
    assert "export type Map = { [name: string]: Array<string> };\n" in written
    assert "export type Either = Place | number;\n" in written


def test_every_operation_is_a_method() -> None:
    document = (ROOT / "docs/openapi.json").read_text("utf-8")
    written = operations_file(document)
    for path, methods in json.loads(document)["paths"].items():
        for method, operation in methods.items():
            if operation["operationId"] not in ("docs", "openapi"):
                assert f"`{method.upper()} {path}` */\n  {operation['operationId']}(" in written
