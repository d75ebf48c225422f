"""Templates of cue rules: `move|relocate (back) to {place}`.

* a word as it is said; a verb in its base form, whatever the form said: a predicate's first word
* `one|other` alternatives; `(word)` or `(word|other)` may be missing
* `{value}` one to twelve words; with another name in the braces it must be such a value: place, name, when, money,
  number, topic; `{any}` stands for up to four words that mean nothing
* `<vegan|vegetarian>` one of these words, and that is the value
* a `.` at the end: nothing follows but a time or a circumstance
* a template that begins with `= ` is matched against a whole clause, any other against verb and complement of one
  whose subject is the speaker or a person
"""

import re
from dataclasses import dataclass
from functools import lru_cache

from recollect.core.errors import InvalidInput

_PART = re.compile(r"\{[a-z]+\}|\([^(){}<>]{1,400}\)|<[^(){}<>]{1,400}>|[^\s(){}<>]{1,400}")
_SLOTS = frozenset(
    [
        "value",
        "place",
        "name",
        "when",
        "money",
        "school",
        "gym",
        "cash",
        "weight",
        "number",
        "count",
        "phone",
        "email",
        "topic",
        "any",
        "title",
        "old",
    ]
)
_MOST_COMPILED = 8_192
_WORD = r"\S{1,64}"
_END = (
    r"(?=$| (?:on|early|late|since|now|for|last|this|completely|altogether|entirely|already|about|today|yesterday|again"
    r"|anymore|any|after|two|three|a|years?|months?|weeks?|recently|finally|too|either|until|till|these|here|please|thanks|full|part"
    r"|from now|in (?:january|february|march|april|may|june|july|august|september|october|november|december|spring"
    r"|summer|autumn|fall|winter|your|any|\d{4}|the end))(?= |$))"
)


@dataclass(frozen=True)
class Template:
    """A template: `kind` is state, change or end, or that of a topic.

    `means` is the value that it stands for, whatever its words; `needs` are words of which it has one where it matches
    (none: there is no such word).
    """

    text: str
    rule: str
    attribute: str
    kind: str
    slot: str
    pattern: str
    needs: frozenset[str]
    means: str

    def match(self, words: str) -> re.Match[str] | None:
        """Against words with single spaces, one of them before the first; places in the match count that one."""
        return _expression_of(self.pattern).match(words)


def read_template(text: str, rule: str, attribute: str, kind: str, means: str = "") -> Template:
    """The template. Raises InvalidInput for one that cannot be read."""
    raw = text.startswith("= ")
    body = text.removeprefix("= ").strip()
    parts = _PART.findall(body)
    if not parts or "".join(parts).replace(" ", "") != body.replace(" ", ""):
        raise InvalidInput("is no template: words, a|b, (optional), {slot}")
    slots = [part[1:-1] for part in parts if part.startswith("{")]
    _check_slots(slots)
    if not raw and parts[0].startswith(("{", "(", "<")):
        raise InvalidInput("must begin with a verb, or with '= ' for a whole clause")
    slot = next((name for name in slots if name not in ("any", "old")), "choice" if "<" in body else "")
    needs = _needed(parts[0 if raw else 1 :])
    return Template(text, rule, attribute, kind, slot, _pattern(parts), needs, means)


def _check_slots(slots: list[str]) -> None:
    for name in slots:
        if name not in _SLOTS:
            raise InvalidInput(f"unknown slot {{{name[:20]}}}: one of {', '.join(sorted(_SLOTS))}")
    if len([name for name in slots if name not in ("any", "old")]) > 1:
        raise InvalidInput("may have one slot for a value")


def _needed(parts: list[str]) -> frozenset[str]:
    """The first words of the last part that must be there as it is written."""
    fixed = [part.strip("<>") for part in parts if not part.startswith(("{", "(")) and part != "."]
    return frozenset(one.split()[0] for one in fixed[-1].split("|") if one.strip()) if fixed else frozenset()


@lru_cache(maxsize=_MOST_COMPILED)
def _expression_of(pattern: str) -> re.Pattern[str]:
    """Compiled when it is matched for the first time: most never are."""
    return re.compile(pattern)


def _pattern(parts: list[str]) -> str:
    expression = "".join(_expression(part, place == len(parts) - 1) for place, part in enumerate(parts))
    return rf"{expression}(?= |$)"


def _expression(part: str, last: bool) -> str:
    if part == "{any}":
        return rf"(?: {_WORD}){{0,4}}?"
    if part.startswith("{"):
        name = "old" if part == "{old}" else "value"
        return rf"(?: (?P<{name}>{_WORD}(?: {_WORD}){{0,11}}{'' if last else '?'}))"
    if part == ".":
        return _END
    if part.startswith("<"):
        return rf" (?P<value>{_phrases(part[1:-1])})"
    if part.startswith("("):
        return rf"(?: (?:{_phrases(part[1:-1])}))?"
    return rf" (?:{_phrases(part)})"


def _phrases(text: str) -> str:
    return "|".join(re.escape(one.strip()) for one in text.split("|"))
