"""A context and its receipt, as a person reads them."""

from collections import Counter

from rich.box import SIMPLE_HEAD
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from recollect.context.build import ContextAnswer, ShownItem
from recollect.entrypoints.cli.console import data_console, one_line, printable, say, write_line

_WIDTH_OF_REASONS = 113
_LONGEST_SUMMARY = 2_000


def show_prompt(answer: ContextAnswer) -> None:
    """What the next model call gets, in a frame."""
    title = f"the next model call gets ({answer.prompt.tokens} tokens)"
    data_console().print(Panel(Text(printable(answer.prompt.text)), title=title, title_align="left", expand=True))


def write_messages(answer: ContextAnswer) -> None:
    """The messages as a model gets them, each under its role."""
    for message in answer.messages.messages:
        write_line(f"── {message.role.value}")
        write_line(message.content)


def show_background(answer: ContextAnswer) -> None:
    """What stands in the messages and not in the prompt: the summary, the goals, what words mean."""
    if answer.summary is not None:
        say(f"the messages begin with the summary until {answer.summary.covered_until:%Y-%m-%d %H:%M}:")
        say(f"  {one_line(answer.summary.text, _LONGEST_SUMMARY)}")
    for goal in answer.messages.parts.goals:
        say(f"  goal: {goal}")
    for entry in answer.knowledge:
        say(f"  {entry.namespace}: {entry.key}")


def show_receipt(answer: ContextAnswer) -> None:
    """Why each line is there and where it is shown, and how many others are not, by reason."""
    console = data_console()
    room = console.width - _WIDTH_OF_REASONS
    table = Table(title="Why these lines, oldest first", box=SIMPLE_HEAD, pad_edge=False)
    table.title_justify, table.title_style = "left", "bold"
    for column in ("section", "shown in", "when", "importance", "search", "why", *(("memory",) if room > 0 else ())):
        table.add_column(column, justify="right" if column == "importance" else "left")
    for one in answer.items:
        memory = (Text(one_line(one.selected.item.content, room)),) if room > 0 else ()
        table.add_row(*_reasons(answer, one), *memory)
    console.print(table)
    console.print(Text(_left_out(answer), style="dim"))


def _reasons(answer: ContextAnswer, one: ShownItem) -> list[Text]:
    selected, item = one.selected, one.selected.item
    found = answer.found.get(item.id)
    place = f"#{found.place}, {found.ranked.score:.2f}" if found else "–"
    when = f"{item.timestamp:%Y-%m-%d %H:%M}"
    places = ", ".join(one.shown_in)
    weight = f"{item.importance:.2f}"
    return [Text(cell) for cell in (selected.section.value, places, when, weight, place, selected.reason)]


def _left_out(answer: ContextAnswer) -> str:
    counts = Counter(one.section.value for one in answer.left_out)
    parts = [f"{count} offered as {section}" for section, count in counts.items()]
    return f"Left out: {', '.join(parts)}." if parts else "Nothing was left out."
