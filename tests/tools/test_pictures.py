"""Pictures of the console that are older than their pages are named."""

from pathlib import Path

import pytest

from infra.tools import pictures


def test_a_picture_of_a_page_that_has_changed_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in (("FOLDER", tmp_path), ("_NOTES", tmp_path / "notes.json"), ("_TEMPLATES", tmp_path)):
        monkeypatch.setattr(pictures, name, value)
    (tmp_path / "ask.html").write_text('{% extends "base.html" %}{% include "lines.html" %}')
    (tmp_path / "lines.html").write_text("lines")
    (tmp_path / "ask-phone.png").touch()
    assert pictures.stale() == ["ask-phone"]
    pictures.note("ask-phone")
    assert pictures.stale() == []
    (tmp_path / "lines.html").write_text("other lines")
    assert pictures.stale() == ["ask-phone"]
