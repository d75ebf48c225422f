"""Choice of the Java virtual machine: the first one found that is new enough.

Order: `JAVA_HOME`, the `java` on the PATH, then the folders where systems install JVMs, by name.
"""

from __future__ import annotations

import glob
import os
import re
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from infra.engines.errors import MissingTool

_INSTALL_PATTERNS = (
    "/usr/lib/jvm/*",
    "/Library/Java/JavaVirtualMachines/*/Contents/Home",
    "/opt/homebrew/opt/openjdk*/libexec/openjdk.jdk/Contents/Home",
    "~/.sdkman/candidates/java/*",
)
_QUOTED_VERSION = re.compile(r'"(\d[^"]*)"')


@dataclass(frozen=True, slots=True)
class Jvm:
    """One installed JVM: its home folder and its feature release (17, 21, 25, and 8 for "1.8")."""

    home: Path
    release: int

    @property
    def java(self) -> Path:
        return self.home / "bin" / "java"

    @property
    def javac(self) -> Path:
        return self.home / "bin" / "javac"


def feature_release(version: str) -> int | None:
    """The feature release in a Java version string; None if it holds none.

    "17.0.15" and "17-ea" give 17, "1.8.0_402" gives 8: before Java 9 the leading "1." was a constant.
    """
    found = re.match(r"(?:1\.)?(\d+)", version.strip().strip('"'))
    return int(found.group(1)) if found else None


def jvm_at(home: Path) -> Jvm | None:
    """The JVM in `home`; None if there is none or it does not tell its version."""
    if not (home / "bin" / "java").is_file():
        return None
    release = feature_release(_declared_version(home) or _reported_version(home / "bin" / "java"))
    return Jvm(home, release) if release else None


def installed_jvms(environment: Mapping[str, str]) -> Iterator[Jvm]:
    """Every JVM on this machine in the order of preference, each home once."""
    seen: set[Path] = set()
    for home in _candidate_homes(environment):
        resolved = home.resolve()
        jvm = None if resolved in seen else jvm_at(resolved)
        seen.add(resolved)
        if jvm:
            yield jvm


def first_suitable(jvms: Iterable[Jvm], minimum_release: int, *, with_compiler: bool = False) -> Jvm | None:
    """The first JVM of at least `minimum_release`; `with_compiler` asks for a JDK, one that has `javac`."""
    return next((j for j in jvms if j.release >= minimum_release and (j.javac.is_file() or not with_compiler)), None)


def require_jvm(minimum_release: int, purpose: str, *, with_compiler: bool = False) -> Jvm:
    """As `first_suitable` over this machine. Raises `MissingTool` if none is new enough."""
    jvms = list(installed_jvms(os.environ))
    jvm = first_suitable(jvms, minimum_release, with_compiler=with_compiler)
    if jvm is None:
        kind = "a JDK (with javac)" if with_compiler else "Java"
        found = ", ".join(str(j.release) for j in jvms) or "none"
        raise MissingTool(
            f"{purpose} needs {kind} {minimum_release} or newer (found: {found}): install one, or point JAVA_HOME at it"
        )
    return jvm


def _candidate_homes(environment: Mapping[str, str]) -> Iterator[Path]:
    if environment.get("JAVA_HOME"):
        yield Path(environment["JAVA_HOME"])
    on_path = shutil.which("java", path=environment.get("PATH"))
    if on_path:
        yield Path(on_path).resolve().parent.parent
    for pattern in _INSTALL_PATTERNS:
        yield from map(Path, sorted(glob.glob(str(Path(pattern).expanduser()))))


def _declared_version(home: Path) -> str:
    """`JAVA_VERSION` of the `release` file that JDK builds carry: far quicker than starting the JVM."""
    try:
        lines = (home / "release").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return ""
    return next((line.partition("=")[2].strip('"') for line in lines if line.startswith("JAVA_VERSION=")), "")


def _reported_version(java: Path) -> str:
    try:
        answer = subprocess.run([java, "-version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    found = _QUOTED_VERSION.search(answer.stderr)
    return found.group(1) if found else ""
