"""The frameworks that the environment of the tests has not got, and what of their packages a page imports."""

import fcntl
import hashlib
import shutil
import subprocess
import sys
from pathlib import Path

from tools.pages import ROOT

PINS = Path(__file__).with_name("frameworks.txt")


def frameworks() -> Path:
    """A folder for the end of the path, made once for each list of pins.

    Without their dependencies, which weigh 1.4 GB and want other versions of each other's: what is missing is in the
    list too, and the rest is the environment's own. By `site-packages` Hypothesis knows that this is not our
    code, all of which each worker reads for constants.
    """
    digest = hashlib.sha256(PINS.read_bytes()).hexdigest()[:12]
    folder = ROOT / "build" / "site-packages" / f"frameworks-{digest}"
    folder.parent.mkdir(parents=True, exist_ok=True)
    with folder.with_suffix(".lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not folder.exists():
            part = folder.with_suffix(".part")
            shutil.rmtree(part, ignore_errors=True)
            pip = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-compile"]
            subprocess.run([*pip, "--target", str(part), "--requirement", str(PINS)], check=True)
            part.rename(folder)
    return folder
