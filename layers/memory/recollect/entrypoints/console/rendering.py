"""Templates into pages: what was said is text, whatever stands in it."""

import json
import re
from collections.abc import Callable, Mapping
from datetime import datetime
from difflib import SequenceMatcher
from functools import cache
from typing import Any, Final
from urllib.parse import urlencode

from jinja2 import Environment, PackageLoader
from markupsafe import Markup, escape

from recollect import __version__
from recollect.entrypoints.console.sessions import PATH
from recollect.entrypoints.http.routing import path_segment

_OVERRIDES: Final = re.compile("[\u202a-\u202e\u2066-\u2069\u200e\u200f\u061c]")
"""Controls that change in which order a text is shown (Unicode annex 9): they are named in their place."""
_SHORT_CHARACTERS: Final = 160
_NAME_CHARACTERS: Final = 60
_CONTROL: Final = Markup('<span class="control" title="A control of direction">U+{}</span>')
_MOST_CONTROLS: Final = 8
_COMPARED_CHARACTERS: Final = 1_000
_MOST_STEPS: Final = 60
_CENT: Final = 0.01
_GONE: Final = Markup("<del>{}</del>")
_CAME: Final = Markup("<ins>{}</ins>")


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
    made.filters.update(said=said, short=short, moment=moment, pretty=pretty, words=words, cut=cut, plain=plain)
    made.filters.update(dollars=dollars)
    made.globals.update(link=link, changes=changes, version=__version__)
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


def changes(before: str, after: str) -> Markup:
    """What a text became, word by word: what went and what came; where nearly all is other, one after the other."""
    old, new = (re.findall(r"\s+|\w+|[^\w\s]", text[:_COMPARED_CHARACTERS]) for text in (before, after))
    steps = SequenceMatcher(None, old, new, autojunk=False).get_opcodes()
    if len(steps) > _MOST_STEPS:
        steps = [("replace", 0, len(old), 0, len(new))]
    parts = []
    for kind, start, end, begin, stop in steps:
        if kind == "equal":
            parts.append(said("".join(new[begin:stop])))
        else:
            parts += [_marked(_GONE, old[start:end]), _marked(_CAME, new[begin:stop])]
    return Markup("").join(parts)


def _marked(element: Markup, part: list[str]) -> Markup:
    return element.format(said("".join(part))) if part else Markup("")
