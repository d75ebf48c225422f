"""Templates into pages: what was said is text, whatever stands in it."""

import json
import re
from collections.abc import Callable, Mapping, Sequence
from datetime import datetime
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from recollect import __version__
from recollect.entrypoints.console.passages import SHORT_TEXT, Passage, changed, marked
from recollect.entrypoints.console.sessions import PATH
from recollect.entrypoints.http.routing import path_segment

_OVERRIDES: Final = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
"""Controls that change in which order a text is shown (Unicode annex 9): they are named in their place."""
_SHORT_CHARACTERS: Final = 160
_NAME_CHARACTERS: Final = 60
_CONTROL: Final = Markup('<span class="control" title="A control of direction">U+{}</span>')
_MOST_CONTROLS: Final = 8
_LEFT_OUT: Final = Markup('<span class="left-out">[… {} …]</span> ')
_ELEMENTS: Final = {
    "": Markup("{}"),
    "del": Markup("<del>{}</del>"),
    "ins": Markup("<ins>{}</ins>"),
    "mark": Markup("<mark>{}</mark>"),
}
_CENT: Final = 0.01
_LINE_CHARACTERS: Final = 70
_LEAST_ROWS, _MOST_ROWS = 4, 24


def link(*parts: str, **query: Any) -> str:
    """A path of the console; every part is a word of ours or an id."""
    path = "/".join((PATH, *map(path_segment, parts)))
    given = {name: value for name, value in query.items() if value not in (None, "")}
    return f"{path}?{urlencode(given)}" if given else path


def render(template: str, values: Mapping[str, Any]) -> str:
    """The page. Escapes everything that is not a template's own."""
    return _environment().get_template(template).render(values)


def compile_templates(is_wanted: Callable[[], bool]) -> None:
    """Has every template ready, as long as that is wanted: else the first page made of one waits for it."""
    made = _environment()
    for name in made.list_templates():
        if is_wanted():
            made.get_template(name)


@cache
def _environment() -> Environment:
    """Undefined names are errors, so that a page fails a test and shows no gap."""
    made = Environment(
        loader=PackageLoader("recollect.entrypoints.console"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    filters = (said, short, moment, pretty, words, cut, plain, dollars, rows)
    made.filters.update({one.__name__: one for one in filters})
    made.globals.update(link=link, changes=changes, marks=marks, short_text=SHORT_TEXT, version=__version__)
    return made


def said(text: object) -> Markup:
    """A text as it was said, in its own direction; controls of direction are named, the first eight by number."""
    parts = _OVERRIDES.split(str(text))
    controls = [f"{ord(found):04X}" for found in _OVERRIDES.findall(str(text))]
    shown = [escape(parts[0])]
    for number, (control, part) in enumerate(zip(controls, parts[1:], strict=True)):
        shown += [_CONTROL.format(control) if number < _MOST_CONTROLS else Markup("·"), escape(part)]
    return Markup('<bdi dir="auto">{}</bdi>').format(Markup("").join(shown))


def short(text: object, longest: int = _SHORT_CHARACTERS) -> str:
    """The beginning of a text, on one line."""
    line = " ".join(str(text).split())
    return line if len(line) <= longest else line[: longest - 1] + "…"


def plain(text: object) -> str:
    """The beginning of a text for the name of a field, where no element can stand; no controls of direction."""
    return short(_OVERRIDES.sub("", str(text)), _NAME_CHARACTERS)


def moment(text: str | None) -> Markup | str:
    """An instant of the API for people, in UTC."""
    if not text:
        return ""
    try:
        at = datetime.fromisoformat(text)
    except ValueError:
        return str(text)
    return Markup('<time datetime="{}">{} {:%b %Y, %H:%M}</time>').format(text, at.day, at)


def words(name: object) -> str:
    """A name of the API as words: `tail_cut` as "tail cut"."""
    return str(name).replace("_", " ")


def dollars(value: float) -> str:
    """An amount for people, in cents."""
    return "under 0.01" if 0 < value < _CENT else f"{value:,.2f}"


def pretty(value: object) -> str:
    """JSON for people."""
    return json.dumps(value, ensure_ascii=False, indent=2)


def cut(text: object, longest: int) -> str:
    """The beginning of a text, as long as that; it says how much more there is."""
    whole = str(text)
    return whole if len(whole) <= longest else f"{whole[:longest]}… (and {len(whole) - longest} more characters)"


def rows(text: str) -> int:
    """How high a field for a text is: all of a short one, of a long one what a screen shows."""
    lines = sum(1 + len(line) // _LINE_CHARACTERS for line in text.split("\n"))
    return min(_MOST_ROWS, max(_LEAST_ROWS, lines + 1))


def changes(before: str, after: str, most: int) -> Markup:
    """What a text became, of a long one the places that are other; of changes longer than that the beginning."""
    return _shown(changed(before, after), most, " that stay")


def marks(text: str, places: Sequence[Sequence[int]], element: str, most: int) -> Markup:
    """A text with the marks of an element at these places, of a long one what is around them."""
    return _shown(marked(text, [(start, end) for start, end in places], element), most, "")


def _shown(passages: Sequence[Passage], most: int, left_out: str) -> Markup:
    """Passages up to so many characters, with how many are left out where; then how many places are not shown."""
    parts: list[Markup] = []
    for at, one in enumerate(passages):
        if most <= 0:
            rest = sum(1 for later in passages[at:] if later.element and not later.is_left_out)
            parts.append(_LEFT_OUT.format(f"{rest} more places" if rest else "and more"))
            break
        if one.is_left_out:
            told = _LEFT_OUT.format(f"{len(one.text):,} characters{'' if one.element else left_out}")
        else:
            told, most = said(cut(one.text, most)), most - len(one.text)
        parts.append(_ELEMENTS[one.element].format(told))
    return Markup("").join(parts)
