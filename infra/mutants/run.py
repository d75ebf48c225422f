"""Mutation testing of the domain with mutmut, on a copy; writes docs/mutants.md, which lists every survivor.

    python infra/mutants/run.py             what is new or survived is tested (again), what was killed stays killed
    python infra/mutants/run.py --fresh     every mutant is tested
    python infra/mutants/run.py --only 'recollect.rules.importance*'

The copy is `build/mutants` (or --at): the package beside the tests of the domain, the form that mutmut can run.
"""

import argparse
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from mutants_page import figures, page, table_figures

HERE = Path(__file__).resolve().parent
ROOT = HERE.parent.parent
OF_THE_DOMAIN = ("tests/adapters/embedders/test_vectors.py",)  # where else it is tested
KILLED = (1, 3)  # what pytest answers where a test fails, or breaks
PAGE = ROOT / "docs/mutants.md"
PACKAGE = ROOT / "layers/memory/recollect"


def prepare(at: Path, fresh: bool) -> None:
    """Makes or renews the copy, tests included; the results of an earlier run stay unless `fresh`."""
    if fresh:
        shutil.rmtree(at, ignore_errors=True)
    for place in ("recollect", "tests", "mutants/tests"):
        shutil.rmtree(at / place, ignore_errors=True)
    _copied(PACKAGE, at / "recollect")
    _copied(ROOT / "tests/domain", at / "tests/domain")
    for test in OF_THE_DOMAIN:
        shutil.copy2(ROOT / test, at / "tests/domain")
    shutil.copy2(ROOT / "tests/conftest.py", at / "tests")
    shutil.copy2(HERE / "profile.py", at / "conftest.py")
    _written(at / "pyproject.toml", (HERE / "mutmut.toml").read_text("utf-8"))


def _copied(source: Path, target: Path) -> None:
    shutil.copytree(source, target, ignore=shutil.ignore_patterns("__pycache__", "*.pyc"))


def _written(path: Path, text: str) -> None:
    if not path.is_file() or path.read_text("utf-8") != text:
        path.write_text(text, "utf-8")


def forget_survivors(at: Path) -> None:
    """Results other than a kill are tested again: a test may have come."""
    for meta in sorted(at.glob("mutants/recollect/domain/**/*.meta")):
        kept = json.loads(meta.read_text("utf-8"))
        codes = kept["exit_code_by_key"]
        kept["exit_code_by_key"] = {name: code if code in KILLED else None for name, code in codes.items()}
        meta.write_text(json.dumps(kept), "utf-8")


def run(at: Path, workers: int, only: list[str]) -> None:
    """Runs mutmut. Raises CalledProcessError where it cannot, such as where a test fails without any mutant."""
    command = [str(Path(sys.executable).parent / "mutmut"), "run", "--max-children", str(workers), *only]
    subprocess.run(command, cwd=at, check=True, stdout=sys.stdout if sys.stdout.isatty() else _log(at))


def _log(at: Path) -> int:
    print(f"progress in {at / 'mutmut.log'}", flush=True)
    return os.open(at / "mutmut.log", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)


def main() -> None:
    """Runs and writes the page; with --page it writes the page of the last run only."""
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--at", type=Path, default=ROOT / "build/mutants")
    options.add_argument("--workers", type=int, default=1)
    options.add_argument("--fresh", action="store_true")
    options.add_argument("--page", action="store_true")
    options.add_argument("--only", action="append", default=[], help="mutants by name, wildcards allowed")
    given = options.parse_args()
    at = given.at.resolve()
    if not given.page:
        prepare(at, given.fresh)
        forget_survivors(at)
        run(at, given.workers, given.only)
        if not given.only:
            subprocess.run([sys.executable, str(HERE / "tables.py"), str(at)], check=True)
    found = [*figures(at), *table_figures(at)]
    PAGE.write_text(page(found), "utf-8")
    tested = sum(module.tested for module in found)
    survived = sum(len(module.survivors) for module in found)
    print(f"{tested} mutants, {survived} survived ({survived / max(tested, 1):.1%})")
    sys.exit(1 if survived > tested / 10 else 0)


if __name__ == "__main__":
    main()
