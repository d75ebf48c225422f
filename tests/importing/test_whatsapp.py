"""WhatsApp's text export, in the languages of many phones."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from importing.examples import entries_of, faults_in, left_out_in, turns_in
from recollect.core.event import Role
from recollect.importing.chats import DateOrder, order_of


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "_chat.txt"


@pytest.mark.parametrize(
    ("line", "said_at"),
    [
        ("13/03/2023, 21:45 - Ana: hi", "2023-03-13T21:45:00"),
        ("3/13/23, 9:45 PM - Ana: hi", "2023-03-13T21:45:00"),
        ("3/13/23, 9:45\u202fPM - Ana: hi", "2023-03-13T21:45:00"),
        ("3/13/23, 12:05 AM - Ana: hi", "2023-03-13T00:05:00"),
        ("13/3/2023, 9:45 p. m. - Ana: hi", "2023-03-13T21:45:00"),
        ("13.03.23, 21:45 - Ana: hi", "2023-03-13T21:45:00"),
        ("2023-03-13, 21:45 - Ana: hi", "2023-03-13T21:45:00"),
        ("2023/03/13 21:45 - Ana: hi", "2023-03-13T21:45:00"),
        ("13-03-2023 21:45 - Ana: hi", "2023-03-13T21:45:00"),
        ("[13/03/2023, 21:45:12] Ana: hi", "2023-03-13T21:45:12"),
        ("[13.03.23, 21:45:12] Ana: hi", "2023-03-13T21:45:12"),
        ("\u200e[3/13/23, 9:45:12\u202fPM] Ana: hi", "2023-03-13T21:45:12"),
    ],
)
def test_dates_as_phones_write_them(file: Path, line: str, said_at: str) -> None:
    (turn,) = turns_in(entries_of(file, f"{line}\n"))
    assert turn.timestamp == datetime.fromisoformat(said_at).replace(tzinfo=UTC)
    assert (turn.speaker, turn.content, turn.role) == ("Ana", "hi", Role.USER)


def test_a_later_date_decides_for_the_whole_file(file: Path) -> None:
    day_first = "02/03/2023, 08:00 - Ana: one\n25/03/2023, 08:00 - Bo: two\n"
    month_first = "02/03/2023, 08:00 - Ana: one\n03/25/2023, 08:00 - Bo: two\n"
    assert [t.timestamp.month for t in turns_in(entries_of(file, day_first)) if t.timestamp] == [3, 3]
    assert [t.timestamp.month for t in turns_in(entries_of(file, month_first)) if t.timestamp] == [2, 3]


def test_where_every_day_is_low_time_does_not_go_back(file: Path) -> None:
    lines = "01/05/2023, 08:00 - A: x\n01/06/2023, 08:00 - A: x\n02/01/2023, 08:00 - A: x\n"
    assert order_of(lines.splitlines()) is DateOrder.MONTH_FIRST
    lines = "05/01/2023, 08:00 - A: x\n06/01/2023, 08:00 - A: x\n01/02/2023, 08:00 - A: x\n"
    assert order_of(lines.splitlines()) is DateOrder.DAY_FIRST


@given(
    start=st.datetimes(datetime(2015, 1, 1), datetime(2024, 1, 1)),
    gaps=st.lists(st.integers(1, 60 * 24 * 9), min_size=40, max_size=60),
    style=st.sampled_from([("%d/%m/%Y, %H:%M", "dmy"), ("%m/%d/%y, %I:%M %p", "mdy"), ("%Y-%m-%d, %H:%M", "ymd")]),
)
def test_the_order_of_a_long_chat_is_found(start: datetime, gaps: list[int], style: tuple[str, str]) -> None:
    moments = [start]
    for gap in gaps:
        moments.append(moments[-1] + timedelta(minutes=gap + 60 * 24))
    form, order = style
    assert order_of(f"{moment.strftime(form)} - Ana: x" for moment in moments) == order


def test_messages_of_several_lines_stay_together(file: Path) -> None:
    chat = "13/03/2023, 21:45 - Ana: a list\n- milk\n\n- eggs: six\n13/03/2023, 21:46 - Bo: ok\n"
    assert [turn.content for turn in turns_in(entries_of(file, chat))] == ["a list\n- milk\n\n- eggs: six", "ok"]


def test_system_lines_are_left_out(file: Path) -> None:
    chat = (
        "13/03/2023, 21:45 - Messages and calls are end-to-end encrypted. Tap to learn more.\n"
        '13/03/2023, 21:45 - Ana created group "Sunday: walks"\n'
        '13/03/2023, 21:46 - Ana changed the subject from "A" to "B: c"\n'
        "13/03/2023, 21:47 - Ana: <Media omitted>\n"
        "13/03/2023, 21:47 - Ana: This message was deleted\n"
        "13/03/2023, 21:48 - Ana: who left the gate open: you?\n"
    )
    entries = entries_of(file, chat)
    assert [turn.content for turn in turns_in(entries)] == ["who left the gate open: you?"]
    assert len(left_out_in(entries)) == 5


def test_an_iphones_marks_tell_its_system_lines(file: Path) -> None:
    chat = (
        "[13/03/2023, 21:45:00] Ana: \u200eMessages and calls are end-to-end encrypted.\n"
        "\u200e[13/03/2023, 21:45:10] Ana: \u200eimage omitted\n"
        "[13/03/2023, 21:45:20] ~\u202fAna: hello\n"
    )
    entries = entries_of(file, chat)
    assert [(turn.speaker, turn.content) for turn in turns_in(entries)] == [("Ana", "hello")]


def test_the_same_said_twice_in_a_minute_is_said_twice(file: Path) -> None:
    chat = "13/03/2023, 21:45 - Ana: ok\n" * 3 + "13/03/2023, 21:45 - Bo: ok\n"
    turns = turns_in(entries_of(file, chat))
    assert len({turn.source_id for turn in turns}) == 4


def test_a_longer_export_of_the_same_chat_names_the_same_turns(file: Path) -> None:
    chat = "".join(f"13/03/2023, 21:{minute:02d} - Ana: turn {minute}\n" for minute in range(10))
    first = turns_in(entries_of(file, chat))
    again = turns_in(entries_of(file.with_name("other name.txt"), chat + "14/03/2023, 08:00 - Bo: more\n"))
    assert [t.source_id for t in again[:10]] == [t.source_id for t in first]
    assert {t.conversation_id for t in again} == {t.conversation_id for t in first}


def test_chats_in_files_of_one_name_are_distinct(file: Path) -> None:
    ids = [turns_in(entries_of(file, f"13/03/2023, 21:45 - {name}: hi\n"))[0].conversation_id for name in ("Ana", "Bo")]
    assert ids[0] != ids[1]


def test_a_conversation_may_be_named(file: Path) -> None:
    turns = turns_in(entries_of(file, "13/03/2023, 21:45 - Ana: hi\n", conversation_id="sisters"))
    assert turns[0].conversation_id == "sisters"


def test_the_chats_own_assistant_is_a_bot(file: Path) -> None:
    assert turns_in(entries_of(file, "13/03/2023, 21:45 - Meta AI: hi\n"))[0].role is Role.BOT


def test_a_day_that_does_not_exist_is_reported(file: Path) -> None:
    chat = "31/02/2023, 21:45 - Ana: no\n13/03/2023, 21:45 - Ana: yes\n"
    entries = entries_of(file, chat)
    assert faults_in(entries) == ["line 1: there is no such day or time"]
    assert len(turns_in(entries)) == 1
