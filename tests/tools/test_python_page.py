"""docs/python.md by execution."""

from pathlib import Path

import pytest

from recollect import Recollect
from tools.pages import ROOT, blocks, links, run_python

PAGE = (ROOT / "docs/python.md").read_text("utf-8")


def test_the_blocks_run_one_after_another(tmp_path: Path) -> None:
    shown = run_python("\n".join(blocks(PAGE, "python")), tmp_path)
    assert (shown.returncode, shown.stderr) == (0, "")
    assert "Remember: my sister is called Ada" in shown.stdout.splitlines()[0]
    assert "['Remember: my sister is called Ada', 'My sister is called Ida']" in shown.stdout
    assert shown.stdout.endswith("I play the violin\n")
    assert (tmp_path / ".recollect/recollect.db").is_file()


def test_the_methods_named_are_there() -> None:
    rows = [line.split("|")[1] for line in PAGE.splitlines() if line.startswith("| `")]
    named = {part.split("(")[0].strip(" `") for row in rows for part in row.split("`, `")}
    assert named >= {"add", "search", "context", "get", "get_all", "update", "delete", "delete_all", "history"}
    assert all(hasattr(Recollect, name) for name in named)


@pytest.mark.parametrize("target", links(PAGE))
def test_every_link_leads_somewhere(target: str) -> None:
    assert (ROOT / "docs" / target).exists()
