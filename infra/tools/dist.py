"""Builds the sdist and, from it, the wheel; the same bytes from the same sources. Then twine checks them.

python -m infra.tools.dist [--to DIST] [--url https://…]

Needs no network: the build runs on the setuptools that is installed here. A registry shows the README alone: its links
into the repository lead to `--url`, where that lies, which the archives then name too; without one they are words.
"""

import argparse
import gzip
import io
import os
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
from collections.abc import Sequence
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PACKAGE = "layers/memory/recollect"
_BESIDE = ("pyproject.toml", "README.md", "LICENSE")
_LINK = re.compile(r"(!?)\[([^\]]*)\]\((?!https?:|#)([^)]+)\)")
_WITHOUT_HISTORY = 1_735_689_600
"""Seconds of the epoch that stand in the archives where neither git nor SOURCE_DATE_EPOCH says another moment."""


def build(target: Path, url: str | None = None) -> list[Path]:
    """The archives in `target`, in place of older ones of their names. Raises CalledProcessError."""
    with tempfile.TemporaryDirectory(prefix="recollect-dist-") as folder:
        sources, made = Path(folder, "sources"), Path(folder, "made")
        _stage(sources, url)
        moment = _moment()
        command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(made), str(sources)]
        _run(command, {**os.environ, "SOURCE_DATE_EPOCH": str(moment)})
        for sdist in made.glob("*.tar.gz"):
            sdist.write_bytes(normalized(sdist.read_bytes(), moment))
        archives = sorted(made.iterdir())
        _run([sys.executable, "-m", "twine", "check", "--strict", *map(str, archives)], os.environ.copy())
        target.mkdir(parents=True, exist_ok=True)
        return [Path(shutil.move(one, target / one.name)) for one in archives]


def normalized(sdist: bytes, moment: int) -> bytes:
    """The same files in the order of their names, at one moment, of nobody."""
    made = io.BytesIO()
    with (
        tarfile.open(fileobj=io.BytesIO(sdist)) as given,
        gzip.GzipFile(fileobj=made, mode="wb", filename="", mtime=moment) as packed,
        tarfile.open(fileobj=packed, mode="w", format=tarfile.PAX_FORMAT) as taken,
    ):
        for member in sorted(given.getmembers(), key=lambda one: one.name):
            member.mtime, member.uid, member.gid, member.uname, member.gname = moment, 0, 0, "", ""
            member.mode = 0o755 if member.isdir() else 0o644
            member.pax_headers = {}
            taken.addfile(member, given.extractfile(member))
    return made.getvalue()


def for_a_registry(readme: str, url: str | None) -> str:
    """The README without a link that leads nowhere; an image that cannot be shown is left out."""

    def told(link: re.Match[str]) -> str:
        image, words, target = link.groups()
        if url is None:
            return "" if image else words
        return f"{image}[{words}]({url}/{'raw' if image else 'blob'}/main/{target})"

    return _LINK.sub(told, readme)


def with_urls(project: str, url: str | None) -> str:
    """pyproject.toml with the addresses of the repository at that URL."""
    named = {"Homepage": url, "Changelog": f"{url}/blob/main/CHANGELOG.md", "Documentation": f"{url}/tree/main/docs"}
    table = "".join(f'{name} = "{address}"\n' for name, address in named.items())
    return project if url is None else f"{project}\n[project.urls]\n{table}"


def _stage(sources: Path, url: str | None) -> None:
    """A copy of what is packed, so that nothing of a build lies in the checkout, with modes that no umask changes."""
    shutil.copytree(ROOT / PACKAGE, sources / PACKAGE, ignore=shutil.ignore_patterns("__pycache__"))
    for name in _BESIDE:
        shutil.copy(ROOT / name, sources / name)
    for name, made in (("README.md", for_a_registry), ("pyproject.toml", with_urls)):
        (sources / name).write_text(made((ROOT / name).read_text("utf-8"), url), "utf-8")
    for path in sources.rglob("*"):
        path.chmod(0o755 if path.is_dir() else 0o644)


def _moment() -> int:
    """Of the last commit."""
    given = os.environ.get("SOURCE_DATE_EPOCH")
    if given is not None:
        return int(given)
    command = ["git", "-C", str(ROOT), "log", "-1", "--format=%ct"]
    told = subprocess.run(command, capture_output=True, text=True, check=False).stdout.strip()
    return int(told) if told.isdecimal() else _WITHOUT_HISTORY


def _run(command: Sequence[str], environment: dict[str, str]) -> None:
    """Silently, unless it fails."""
    done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment, umask=0o022)
    if done.returncode:
        sys.stderr.write(done.stdout + done.stderr)
        done.check_returncode()


def main() -> None:
    """The command line."""
    parser = argparse.ArgumentParser(description="Wheel and sdist of Recollect.")
    parser.add_argument("--to", type=Path, default=ROOT / "dist", help="the folder they are put in")
    parser.add_argument("--url", help="where the repository lies, such as https://github.com/OWNER/recollect")
    given = parser.parse_args()
    for archive in build(given.to, given.url and given.url.rstrip("/")):
        sys.stdout.write(f"{archive} ({archive.stat().st_size / 1e6:.1f} MB)\n")


if __name__ == "__main__":
    main()
