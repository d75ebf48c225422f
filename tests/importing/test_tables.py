"""CSV files with a header."""

from datetime import UTC, datetime
from pathlib import Path

import pytest

from importing.examples import entries_of, faults_in, left_out_in, turns_in
from recollect.core.errors import InvalidInput
from recollect.core.event import Role
from recollect.importing.turns import Turn


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "talk.csv"


def test_a_row_is_a_turn(file: Path) -> None:
    table = "conversation,timestamp,speaker,text,mood\nc1,2024-05-01T09:00:00Z,Ines,I live in Porto,good\n"
    (turn,) = turns_in(entries_of(file, table))
    assert (turn.conversation_id, turn.speaker, turn.role, turn.content) == ("c1", "Ines", Role.USER, "I live in Porto")
    assert turn.timestamp == datetime(2024, 5, 1, 9, tzinfo=UTC)


@pytest.mark.parametrize(
    "table",
    [
        "text\nHi, you\n".replace("Hi, you", '"Hi, you"'),
        "content;role\nHi, you;user\n",
        "Role\tText\nuser\tHi, you\n",
        '\ufeff"Text","Created At"\r\n"Hi, you",\r\n',
        'id,text\n\n,"Hi, you"\n,\n',
        'text,id\n"Hi, you"',
    ],
)
@pytest.mark.parametrize("wanted", ["auto", "csv"])
def test_the_header_tells_columns_and_what_parts_them(file: Path, table: str, wanted: str) -> None:
    (turn,) = turns_in(entries_of(file, table, wanted))
    assert (turn.content, turn.timestamp, turn.conversation_id) == ("Hi, you", None, "talk")


def test_roles_and_columns_of_other_names(file: Path) -> None:
    table = "Message,Role,Thread ID,createdAt,UUID\nHi,human,t,1714550400,u1\nHello,assistant,t,,u2\nCall,tool,t,,u3\n"
    entries = entries_of(file, table)
    first, second = turns_in(entries)
    assert [(one.role, one.conversation_id, one.source_id) for one in (first, second)] == [
        (Role.USER, "t", "u1"),
        (Role.BOT, "t", "u2"),
    ]
    assert first.timestamp == datetime(2024, 5, 1, 8, tzinfo=UTC)
    assert left_out_in(entries) == ["row 4"]


def test_a_column_says_of_which_rows_nothing_is_derived(file: Path) -> None:
    entries = entries_of(file, "text,Derive\nHi,false\nHello,TRUE\nBye,\nWell,no\n")
    assert [turn.derive for turn in turns_in(entries)] == [False, True, True]
    assert faults_in(entries) == ["row 5: `derive` is neither true nor false"]


def test_a_cell_of_several_lines_is_one_row(file: Path) -> None:
    entries = entries_of(file, 'text,id\n"one\n{""text"": 2}\nthree",1\n,2\n')
    assert [turn.content for turn in turns_in(entries)] == ['one\n{"text": 2}\nthree']
    assert faults_in(entries) == ["row 3: there is no text"]


def test_bad_rows_are_named_by_their_numbers_and_the_others_are_read(file: Path) -> None:
    rows = ["fine,", "x,soon", "a,,b", ",2024-05-01", "fine,"]
    entries = entries_of(file, "text,timestamp\n" + "\n".join(rows))
    assert [turn.place.label for turn in turns_in(entries)] == ["row 2", "row 6"]
    assert faults_in(entries) == [
        "row 3: not a time: ISO 8601, epoch seconds or milliseconds",
        "row 4: has more cells than the header",
        "row 5: there is no text",
    ]


def test_a_row_that_is_not_utf8(file: Path) -> None:
    entries = entries_of(file, "text\ncafé\n".encode() + b"caf\xe9\n")
    assert [turn.content for turn in turns_in(entries)] == ["café"]
    assert faults_in(entries) == ["row 3: is not UTF-8"]


@pytest.mark.parametrize("broken", ['"x"y\n', '"no end\nfine\n', "x" * 140_000 + "\n"])
def test_what_is_no_csv_ends_the_reading(file: Path, broken: str) -> None:
    entries = entries_of(file, f"text\nfine\n{broken}lost\n")
    assert [turn.content for turn in turns_in(entries)] == ["fine"]
    (fault,) = faults_in(entries)
    assert fault == "row 3: is no CSV, or has a cell of more than 128 KiB; nothing after it is read"


def test_an_endless_line_ends_the_reading(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("recollect.importing.reading.LONGEST_LINE_BYTES", 100)
    entries = entries_of(file, "text\nfine\n" + "x," * 5000 + "\nlost\n")
    assert (len(turns_in(entries)), len(faults_in(entries))) == (1, 1)


@pytest.mark.parametrize("table", ["speaker,words\nInes,Hi\n", "\n", ""])
def test_a_table_without_a_column_of_text_is_refused(file: Path, table: str) -> None:
    with pytest.raises(InvalidInput, match="names no column"):
        entries_of(file, table, "csv")


def test_ids_are_the_same_in_every_reading_and_places_say_how_far_it_is(file: Path) -> None:
    table = "text\n" + "ok\n" * 5
    first, second = (turns_in(entries_of(file, table)) for _ in range(2))
    assert [turn.source_id for turn in first] == [turn.source_id for turn in second]
    assert len({turn.source_id for turn in first}) == 5
    assert isinstance(first[-1], Turn)
    assert (first[0].place.offset_bytes, first[-1].place.offset_bytes) == (8, len(table))
