"""A memory in which records grow old."""

from pathlib import Path

import pytest

from embedded.keeping import Keeping
from embedded.setting import Memory, with_parts
from recollect.adapters.local.files import FolderSnapshots


@pytest.fixture
def keeping(memory: Memory, tmp_path: Path) -> Keeping:
    """A memory at noon, a hundred days before the jobs run."""
    return Keeping(with_parts(memory, snapshots=FolderSnapshots(tmp_path / "snapshots")), tmp_path)
