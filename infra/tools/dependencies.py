"""Writes the layers' requirements.txt: what they are made from, and what that needs, in exact versions, with the hashes
of the wheels that pip may install.

python -m infra.tools.dependencies              # as pinned, what is new resolved; Python 3.13, Lambda's Linux, both
                                                # architectures
python -m infra.tools.dependencies --upgrade    # resolves all anew
python -m infra.tools.dependencies --check      # says which files do not fit what they are made from; needs no network

`layers/dependencies` holds what the package and its extras `aws` and `console` need, without what NOT_IN_FUNCTIONS
names, `layers/mcp` what the extra `mcp` needs beside that, `layers/embedder` what embeds: one package in two layers of
a function would be laid over itself. `infra/model-requirements.txt` is for the machine that makes the layers, and no
layer: what builds the model.
"""

import argparse
import hashlib
import json
import re
import subprocess
import tempfile
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from packaging.requirements import Requirement
from packaging.utils import canonicalize_name
from packaging.version import Version

ROOT = Path(__file__).parents[2]
RUNTIME = "3.13"
NOT_IN_FUNCTIONS = {
    "httpx": "the Python client, which calls the functions",
    "rich": "the command line",
    "typer": "the command line",
}
"""What no function imports of what a laptop needs, each with what uses it; import-linter holds the code to it."""
ABIS = ("manylinux_2_34", "manylinux_2_28", "manylinux_2_27", "manylinux_2_17", "manylinux2014")
LAMBDA = tuple(tuple(f"{abi}_{machine}" for abi in ABIS) for machine in ("x86_64", "aarch64"))
"""The platforms of a function, by architecture."""
MACS = (tuple(f"macosx_{version}_0_arm64" for version in range(14, 10, -1)),)
"""Where the layers may be made, beside Linux."""
EMBEDS = ("onnxruntime",)
"""What the in-process model runs on, without what that needs: flatbuffers, protobuf and packaging convert models, which
no function does, and numpy comes with the dependencies layer."""
BUILDS = ("numpy", "onnx", "onnxruntime")
"""What `recollect.adapters.embedders.building` imports."""


@dataclass(frozen=True, slots=True)
class Pin:
    """An exact version, and the SHA-256 of each wheel of it that a platform gets."""

    version: str
    hashes: frozenset[str] = frozenset()


Pins = Mapping[str, Pin]
"""By canonical name."""


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A requirements file: what it is made from, for which platforms.

    `below` says that nothing of the dependencies layer stands in it; `alone`, that nothing stands in it which
    `requirements` do not name.
    """

    path: Path
    requirements: tuple[str, ...]
    platforms: tuple[tuple[str, ...], ...] = LAMBDA
    below: bool = True
    alone: bool = False


def files() -> list[PinnedFile]:
    """All of them, the dependencies layer first: the others take its versions."""
    with (ROOT / "pyproject.toml").open("rb") as stream:
        project: Mapping[str, Any] = tomllib.load(stream)["project"]
    extras = project["optional-dependencies"]
    of_all = (*project["dependencies"], *extras["console"], *extras["aws"])
    base = [each for each in of_all if Requirement(each).name not in NOT_IN_FUNCTIONS]
    known = [*project["dependencies"], *extras["embedder"]]
    model = ROOT / "infra/model-requirements.txt"
    return [
        PinnedFile(ROOT / "layers/dependencies/requirements.txt", tuple(sorted(base)), below=False),
        PinnedFile(ROOT / "layers/mcp/requirements.txt", tuple(sorted(extras["mcp"]))),
        PinnedFile(ROOT / "layers/embedder/requirements.txt", _named(known, EMBEDS), alone=True),
        PinnedFile(model, _named(known, BUILDS), (*LAMBDA, *MACS), below=False),
    ]


def _named(requirements: Sequence[str], names: Sequence[str]) -> tuple[str, ...]:
    return tuple(sorted(each for each in requirements if Requirement(each).name in names))


def runtime_python() -> str:
    """The Python of the functions: pip reads environment markers as of the Python that runs it."""
    found = subprocess.run([ROOT / "infra/sam.sh", "--python"], check=True, capture_output=True, text=True)
    return found.stdout.strip()


def resolve(requirements: Sequence[str], platforms: Sequence[str], kept: Mapping[str, str]) -> dict[str, Pin]:
    """Everything that pip would install there, `kept` in these versions. Raises CalledProcessError where it cannot."""
    options = [option for platform in platforms for option in ("--platform", platform)]
    with tempfile.NamedTemporaryFile("w", suffix=".txt") as constraints:
        constraints.write("".join(f"{name}=={version}\n" for name, version in kept.items()))
        constraints.flush()
        command = [
            *(runtime_python(), "-m", "pip", "install", "--dry-run", "--ignore-installed", "--quiet", "--report", "-"),
            *("--disable-pip-version-check", "--root-user-action=ignore", "--only-binary=:all:", "--target", "unused"),
            *("--implementation", "cp", "--python-version", RUNTIME, *options),
            *("--constraint", constraints.name, *requirements),
        ]
        report = json.loads(subprocess.run(command, check=True, capture_output=True, text=True).stdout)
    return dict(_pin(item) for item in report["install"])


def _pin(item: Mapping[str, Any]) -> tuple[str, Pin]:
    """Of an entry of pip's installation report."""
    digest = item["download_info"]["archive_info"]["hashes"]["sha256"]
    return canonicalize_name(item["metadata"]["name"]), Pin(item["metadata"]["version"], frozenset([digest]))


def render(requirements: Sequence[str], pins: Pins) -> str:
    """The file: a fingerprint of what it was made from, then the pins by name, in the form of `--require-hashes`."""
    head = [
        "# Generated by infra/tools/dependencies.py from pyproject.toml; not to be edited.",
        _fingerprint(requirements),
    ]
    lines = [" \\\n    ".join([f"{name}=={pins[name].version}", *_hashes(pins[name])]) for name in sorted(pins)]
    return "\n".join([*head, *lines]) + "\n"


def _hashes(pin: Pin) -> Iterator[str]:
    return (f"--hash=sha256:{digest}" for digest in sorted(pin.hashes))


def _fingerprint(requirements: Sequence[str]) -> str:
    return f"# of: {hashlib.sha256(chr(10).join(requirements).encode()).hexdigest()}"


def pinned(text: str) -> dict[str, Pin]:
    """The pins that a file's text holds."""
    lines = [line.split() for line in text.replace("\\\n", " ").splitlines() if "==" in line]
    return {name: Pin(version, _digests(rest)) for (name, version), rest in ((w[0].split("=="), w[1:]) for w in lines)}


def _digests(options: Sequence[str]) -> frozenset[str]:
    found = (re.fullmatch(r"--hash=sha256:([0-9a-f]{64})", option) for option in options)
    return frozenset(one[1] for one in found if one)


def staleness(text: str, file: PinnedFile, base: Pins) -> list[str]:
    """What is wrong with a file's text: it does not fit the requirements, lacks a hash, holds what no function needs,
    or repeats what the layer below has.
    """
    pins = pinned(text)
    wrong = [] if _fingerprint(file.requirements) in text.splitlines() else ["it was made from other dependencies"]
    for requirement in map(Requirement, file.requirements):
        pin = pins.get(canonicalize_name(requirement.name))
        if pin is None or Version(pin.version) not in requirement.specifier:
            wrong.append(f"{requirement} is not met by {pin and pin.version}")
    wrong += [f"{name} has no hash" for name, pin in pins.items() if not pin.hashes]
    wrong += [f"{name} is for {NOT_IN_FUNCTIONS[name]}" for name in pins if name in NOT_IN_FUNCTIONS]
    return wrong + [f"{name} is in the layer below too" for name in pins if file.below and name in base]


def generate(file: PinnedFile, kept: Mapping[str, str], base: Pins) -> dict[str, Pin]:
    """The pins, alike for all platforms. Raises SystemExit where these would get different versions."""
    resolved = [resolve(file.requirements, platforms, kept) for platforms in file.platforms]
    versions = [{name: pin.version for name, pin in one.items()} for one in resolved]
    if any(one != versions[0] for one in versions):
        differ = {item for one in versions for item in one.items() ^ versions[0].items()}
        raise SystemExit(f"the platforms of {file.path.name} differ: {sorted(differ)}")
    names = {Requirement(one).name for one in file.requirements} if file.alone else set(versions[0])
    left_out = set(base) if file.below else set()
    return {name: _joined(name, resolved) for name in names - left_out}


def _joined(name: str, resolved: Sequence[Pins]) -> Pin:
    return Pin(resolved[0][name].version, frozenset().union(*(one[name].hashes for one in resolved)))


def check() -> list[str]:
    """A line for everything that is stale."""
    base = pinned(_text(files()[0]))
    return [
        f"{file.path.relative_to(ROOT)} is stale: {fault}"
        for file in files()
        for fault in staleness(_text(file), file, base)
    ]


def write(upgrade: bool = False) -> None:
    """Makes all files anew. What is pinned stays as it is, unless `upgrade` is asked for."""
    base: dict[str, Pin] = {}
    for file in files():
        before = {} if upgrade else pinned(_text(file))
        kept = {name: pin.version for name, pin in (before | base).items()}
        pins = generate(file, kept, base)
        file.path.write_text(render(file.requirements, pins), encoding="utf-8")
        base = base or pins


def _text(file: PinnedFile) -> str:
    return file.path.read_text(encoding="utf-8") if file.path.exists() else ""


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Pins of the layers of third-party packages.")
    parser.add_argument("--check", action="store_true", help="only say what is stale")
    parser.add_argument("--upgrade", action="store_true", help="take the newest versions that fit")
    given = parser.parse_args()
    if given.check:
        raise SystemExit("\n".join(check()) or 0)
    write(given.upgrade)


if __name__ == "__main__":
    main()
