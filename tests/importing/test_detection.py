"""Which export a file is."""

import json
from pathlib import Path

import pytest

from importing.examples import entries_of, json_lines, turns_in
from recollect.core.errors import InvalidInput
from recollect.importing.reading import ExportFile, read_entries
from recollect.importing.turns import ExportFormat


@pytest.mark.parametrize(
    "content",
    [
        json_lines({"text": "a"}),
        '\n\n{"text": "a"}\n',
        '\ufeff{"text": "a"}\n',
        'not json at all\n{"text": "a"}\n',
        '[{"content": "a", "role": "user"}]',
        '{\n "messages": [\n  {"content": "a", "role": "user"}\n ]\n}',
        '{"conversations": [{"messages": [{"content": "a", "role": "user"}]}]}',
        "13/03/2023, 21:45 - Ana: a\n",
    ],
)
def test_the_beginning_tells(tmp_path: Path, content: str) -> None:
    turns = turns_in(entries_of(tmp_path / "export", content))
    assert [turn.content for turn in turns] == ["a"]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "is empty"),
        ("\n \n", "is empty"),
        ("Dear diary,\ntoday\n", "--format"),
        ('[{"role": "user"', "is none"),
        (b"[\xff]", "not UTF-8"),
    ],
)
def test_what_is_no_export_is_refused(tmp_path: Path, content: str | bytes, message: str) -> None:
    with pytest.raises(InvalidInput, match=message):
        entries_of(tmp_path / "export", content)


def test_a_named_format_is_not_detected(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="WhatsApp"):
        entries_of(tmp_path / "export", json_lines({"text": "a"}), "whatsapp")


def test_a_folder_is_no_export(tmp_path: Path) -> None:
    with pytest.raises(InvalidInput, match="cannot be read"):
        list(read_entries(ExportFile(path=tmp_path, format=ExportFormat.TURNS)))


def test_an_export_on_one_endless_line_is_detected_by_its_beginning(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("recollect.importing.reading.LONGEST_LINE_BYTES", 50)
    messages = [{"content": f"turn {n}", "role": "user"} for n in range(100)]
    assert len(turns_in(entries_of(tmp_path / "a.json", json.dumps(messages)))) == 100
    assert len(turns_in(entries_of(tmp_path / "b.json", json.dumps({"messages": messages})))) == 100
