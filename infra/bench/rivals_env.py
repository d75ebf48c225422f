"""The bench's own environment: the rivals, and our package on its path, so that all have the same embedder."""

from __future__ import annotations

import hashlib
import subprocess
import sys
import venv
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PINS = Path(__file__).with_name("rivals.txt")
ENVIRONMENT = ROOT / "build" / "bench-venv"
_STAMP = ENVIRONMENT / ".installed"


def rivals_python() -> Path:
    """The interpreter of that environment; makes it where it is missing or older than the pins (half a minute)."""
    wanted = hashlib.sha256(PINS.read_bytes()).hexdigest()
    python = ENVIRONMENT / "bin" / "python"
    if not _STAMP.exists() or _STAMP.read_text("utf-8") != wanted:
        print(f"installing the rivals into {ENVIRONMENT.relative_to(ROOT)} (about 410 MB)", file=sys.stderr, flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", PINS], check=True)
        _write_path(python)
        _STAMP.write_text(wanted, "utf-8")
    return python


def _write_path(python: Path) -> None:
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    (Path(found.stdout.strip()) / "recollect.pth").write_text(f"{ROOT / 'layers' / 'memory'}\n", "utf-8")
