"""Exports, imports and snapshots through the client."""

import json
from uuid import uuid4

import pytest

from client.conftest import KEY
from recollect.client import Recollect


def test_what_is_exported_is_imported(server_url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.archive.transfer.PAGE_BYTES", 1_500)
    user, other = f"user {uuid4().hex}", f"other {uuid4().hex}"
    with Recollect(server_url, KEY) as memory:
        memory.add_events(user, [{"content": f"remark {n}"} for n in range(6)])
        pages = list(memory.export(user))
        assert len(pages) > 2
        lines = [json.loads(line) for page in pages for line in page.splitlines()]
        assert [line["event"]["content"] for line in lines] == [f"remark {n}" for n in range(6)]
        counts = [memory.import_page(other, page) for page in pages]
        assert sum(one["created"] for one in counts) == 6
        assert "".join(memory.export(user, persona_id="nobody")) == ""
        assert all(set(one) >= {"id", "created_at", "counts"} for one in memory.snapshots(limit=1))
