"""The cue rules as data: templates, attributes and word lists of the JSON documents beside this module (P-24).

A template is written as people speak: `move|relocate (back) to {place}`.

* a word as it is said; a verb in its base form, whatever the form said: a predicate's first word
* `one|other` alternatives; `(word)` or `(word|other)` may be missing
* `{value}` one to twelve words; with another name in the braces it must be such a value: place, name, when, money,
  number, topic; `{any}` stands for up to four words that mean nothing
* `<vegan|vegetarian>` one of these words, and that is the value
* a `.` at the end: nothing follows but a time or a circumstance
* a template that begins with `= ` is matched against a whole clause, any other against verb and complement of one
  whose subject is the speaker or a person

A template is read when a clause with its first word comes for the first time: all of them at once would cost half a
second at every cold start.
"""

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recollect.contradictions.cues.clauses import CueWords, Joints, singular
from recollect.core.errors import InvalidInput
from recollect.text.terms import stem

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


_ANY = ""


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A template as it is written, and what is said of it in `Template`."""

    text: str
    attribute: str
    kind: str
    means: str = ""

    @property
    def is_raw(self) -> bool:
        """Whether it is matched against a whole clause."""
        return self.text.startswith("= ")

    @property
    def firsts(self) -> tuple[str, ...]:
        """The words that it may begin with; none where any may stand there."""
        first = self.text.removeprefix("= ").split()[0]
        return () if first.startswith(("{", "(", "<")) else tuple(first.split("|"))

    def read(self) -> Template:
        """The template. Raises InvalidInput for one that cannot be read."""
        return read_template(self.text, f"{self.attribute}.{self.kind}", self.attribute, self.kind, self.means)


@dataclass(slots=True)
class _Read:
    """Templates of one first word, each under the words of which it needs one."""

    templates: Sequence[Template]
    by_need: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, template in enumerate(self.templates):
            for word in template.needs or (_ANY,):
                self.by_need.setdefault(word, []).append(place)

    def matching(self, words: Iterable[str]) -> Iterator[Template]:
        places = {place for word in (_ANY, *words) for place in self.by_need.get(word, ())}
        return (self.templates[place] for place in sorted(places))


class TemplateIndex:
    """`sources` in the order of the rules, in which they are tried."""

    def __init__(self, sources: Iterable[TemplateSource]) -> None:
        self._sources: dict[str, list[TemplateSource]] = {}
        self._read: dict[str, _Read] = {}
        for source in sources:
            for first in source.firsts or (_ANY,):
                self._sources.setdefault(first, []).append(source)

    @property
    def firsts(self) -> frozenset[str]:
        """The words that its templates begin with."""
        return frozenset(self._sources) - {_ANY}

    def matching(self, first: str, words: Collection[str]) -> Iterator[Template]:
        """Those that begin with that word, or with any where it is empty, and may match a clause of these words."""
        if first not in self._sources:
            return iter(())
        if first not in self._read:
            self._read[first] = _Read([source.read() for source in self._sources[first]])
        return self._read[first].matching(words)


TEMPLATE_LISTS = ("state", "held", "change", "end")


@dataclass(frozen=True)
class Attribute:
    """An attribute of the rules.

    `nouns` name it, `about` are words that a text about it holds, `values` those that no other attribute has, `never`
    words that no value holds. `exclusive`: one value at a time. `request`: said to the assistant ("call me Joe").
    `personal`: one for a person, whatever stands before its noun. `of_things`: the speaker's things have it. `named`:
    a value is a name, a number or a noun with its article, no adjective ("my car is fast"), nor, unless `placed`,
    where it is. What a `held` template says takes another value's place only with "now" or a bound ("I'm in Rome until
    Friday").
    """

    name: str
    exclusive: bool
    request: bool
    personal: bool
    of_things: bool
    named: bool
    placed: bool
    nouns: frozenset[str]
    about: frozenset[str]
    values: frozenset[str]
    never: frozenset[str]
    state: tuple[str, ...]
    held: tuple[str, ...]
    change: tuple[str, ...]
    end: tuple[str, ...]


def read_attribute(name: str, value: Mapping[str, Any]) -> Attribute:
    """The attribute of a document; what is left out is false, or empty."""
    return Attribute(
        name,
        bool(value.get("exclusive", True)),
        bool(value.get("request", False)),
        bool(value.get("personal", False)),
        bool(value.get("of_things", False)),
        bool(value.get("named", False)),
        bool(value.get("placed", False)),
        frozenset(value.get("nouns", ())),
        frozenset(value.get("about", ())),
        frozenset(value.get("values", ())),
        frozenset(value.get("never", ())),
        *(tuple(value.get(kind, ())) for kind in TEMPLATE_LISTS),
    )


_DEFAULTS = ("english_cues.json", "situation_cues.json")


@dataclass(frozen=True)
class CueRules:
    """A rules document; what the engine reads is worked out from it once. Equal documents are equal rules."""

    document: Mapping[str, Any]

    def __hash__(self) -> int:
        return hash(json.dumps(self.document, sort_keys=True, default=dict))

    @cached_property
    def words(self) -> CueWords:
        """The word lists and the verbs: those of templates and classes too."""
        lists = {name: frozenset(texts) for name, texts in self.document["words"].items()}
        irregular = {verb: tuple(forms.split()) for verb, forms in self.document["irregular"].items()}
        verbs = {verb for verbs in self.document["verb_classes"].values() for verb in verbs} | set(irregular)
        verbs |= lists.get("verbs", frozenset()) | self.by_verb.firsts | self.topics_by_verb.firsts
        return CueWords(lists, irregular, frozenset(verbs))

    @cached_property
    def joints(self) -> Joints:
        """What parts clauses."""
        names = ("conjunctions", "openers", "subordinators", "subjects")
        return Joints(*(self.words.lists[name] for name in names))

    @cached_property
    def attributes(self) -> Mapping[str, Attribute]:
        """The attributes by name; a situation is one too, without words of its own."""
        known = {name: value for name, value in self.document["attributes"].items() if value is not None}
        return {name: read_attribute(name, value) for name, value in {**self._situations, **known}.items()}

    @cached_property
    def _situations(self) -> Mapping[str, Mapping[str, Any]]:
        return {name: {"personal": True} for name, values in self.document["situations"].items() if values}

    @cached_property
    def opposites(self) -> Mapping[tuple[str, str], str]:
        """For a situation with two values, and one of them, the other one: what its denial comes to."""
        pairs = {name: tuple(self.document["situations"][name]) for name in self._situations}
        return {(name, one): two[two[0] == one] for name, two in pairs.items() if len(two) == 2 for one in two}

    @cached_property
    def _sources(self) -> tuple[TemplateSource, ...]:
        named = (
            TemplateSource(text, one.name, kind)
            for one in self.attributes.values()
            for kind in ("change", "end", "state", "held")
            for text in getattr(one, kind)
        )
        meaning = (
            TemplateSource(text, name, kind, value)
            for name in self._situations
            for value, texts in self.document["situations"][name].items()
            for kind in ("change", "state")
            for text in texts.get(kind, ())
        )
        return (*named, *meaning)

    @cached_property
    def _topics(self) -> tuple[TemplateSource, ...]:
        return tuple(
            TemplateSource(text, "topic", kind)
            for kind, texts in self.document["topics"].items()
            for text in texts or ()
        )

    @cached_property
    def by_verb(self) -> TemplateIndex:
        """The templates of predicates that tell an attribute's value, by the base form of their verb."""
        return TemplateIndex(source for source in self._sources if not source.is_raw)

    @cached_property
    def topics_by_verb(self) -> TemplateIndex:
        """Those that tell what happens to a topic."""
        return TemplateIndex(source for source in self._topics if not source.is_raw)

    @cached_property
    def raw(self) -> TemplateIndex:
        """The templates of whole clauses, by first word."""
        return TemplateIndex(source for source in (*self._sources, *self._topics) if source.is_raw)

    @cached_property
    def nouns(self) -> Mapping[str, str]:
        """The attribute that a noun names."""
        return {singular(noun): one.name for one in self.attributes.values() for noun in one.nouns}

    def noun_of(self, phrase: Sequence[str]) -> str | None:
        """The attribute that a noun phrase names by its last words."""
        return self.nouns.get(" ".join(phrase[-2:])) or (self.nouns.get(phrase[-1]) if phrase else None)

    def is_request(self, template: Template) -> bool:
        """Whether the template's attribute is said to the assistant, so that "can you …" is no question."""
        one = self.attributes.get(template.attribute)
        return one is not None and one.request

    @cached_property
    def vague_stems(self) -> frozenset[str]:
        """The stems of words that say little of what a text is about."""
        return frozenset(stem(word) for word in self.words.lists["vague_verbs"] | self.words.lists["vague_words"])

    @cached_property
    def idle_stems(self) -> frozenset[str]:
        """Those of vague words, and of verbs that tell nothing of a value: to try, to look."""
        return self.vague_stems | self.idle_verb_stems

    @cached_property
    def idle_verb_stems(self) -> frozenset[str]:
        """The stems of verbs that tell nothing of a value."""
        return frozenset(stem(word) for word in self.words.lists["idle_verbs"])

    @cached_property
    def fields(self) -> Mapping[str, frozenset[str]]:
        """For a stem the fields of everyday life that it is of."""
        found: dict[str, set[str]] = {}
        for name, listed in self.document["fields"].items():
            for word in listed or ():
                one = self.words.lemma(word) if self.words.is_verb(word) else singular(word)
                found.setdefault(stem(one), set()).add(name)
        return {one: frozenset(names) for one, names in found.items()}

    @cached_property
    def slight_stems(self) -> frozenset[str]:
        """The stems of words that name nothing: idle and vague ones, persons and times."""
        return self.idle_stems | self.vague_stems | self.person_stems | self.time_stems

    @cached_property
    def no_noun_stems(self) -> frozenset[str]:
        """The stems of verbs, persons and times."""
        return self.verb_stems | self.person_stems | self.time_stems

    @property
    def evidence(self) -> Mapping[str, Mapping[str, float]]:
        """The weights of plain evidence by its name: of `plain` statements, and of `bounded` ones."""
        found: Mapping[str, Mapping[str, float]] = self.document["evidence"]
        return found

    @cached_property
    def time_stems(self) -> frozenset[str]:
        """The stems of words for times."""
        return frozenset(stem(word) for word in self.words.lists["time_words"])

    @cached_property
    def moving_stems(self) -> frozenset[str]:
        """The stems of verbs by which a thing comes to another value: to bump, to reset."""
        return frozenset(stem(word) for word in self.words.lists["moving_verbs"])

    @cached_property
    def person_stems(self) -> frozenset[str]:
        """The stems of words for a person by relation."""
        return frozenset(stem(singular(word)) for word in self.words.persons)

    @cached_property
    def retraction_stems(self) -> frozenset[str]:
        """The stems of words that take something back: false alarm, mistake."""
        hints = self.words.lists["retraction_hints"]
        return frozenset(stem(word) for phrase in hints for word in phrase.split())

    @cached_property
    def unit_stems(self) -> frozenset[str]:
        """The stems of what amounts are counted in."""
        return frozenset(stem(word) for word in self.words.lists["units"])

    @cached_property
    def liking_stems(self) -> frozenset[str]:
        """The stems of verbs of liking, whose objects stand side by side."""
        names = ("like", "dislike")
        found = {stem(verb) for name in names for verb in self.document["verb_classes"].get(name) or ()}
        return frozenset(found - {stem("prefer")})

    @cached_property
    def shell_stems(self) -> frozenset[str]:
        """The stems of words that stand around a topic: membership, lessons, trip."""
        return frozenset(stem(word) for word in self.words.lists["shells"])

    @cached_property
    def verb_stems(self) -> frozenset[str]:
        """The stems of known verbs."""
        return frozenset(stem(verb) for verb in self.words.verbs)

    @cached_property
    def value_names(self) -> Mapping[str, str]:
        """The attribute of a value that only it has."""
        return {value: one.name for one in self.attributes.values() for value in one.values}

    @cached_property
    def facets(self) -> Mapping[str, str]:
        """The sort of value that a noun means: the venue of a wedding is its where."""
        return {noun: facet for facet, nouns in self.document["facets"].items() for noun in nouns or ()}

    @cached_property
    def about(self) -> Mapping[str, frozenset[str]]:
        """For the stem of a word the attributes that it speaks of."""
        found: dict[str, set[str]] = {}
        for one in self.attributes.values():
            for word in one.about | one.nouns:
                found.setdefault(stem(word), set()).add(one.name)
        return {word: frozenset(names) for word, names in found.items()}

    @cached_property
    def verb_class(self) -> Mapping[str, str]:
        """The class of a verb: love is of like."""
        return {verb: name for name, verbs in self.document["verb_classes"].items() if verbs for verb in verbs}

    @cached_property
    def related(self) -> Mapping[str, frozenset[str]]:
        """For a stem those of related words."""
        found: dict[str, set[str]] = {}
        for group in self.document["related"].values():
            stems = {stem(word) for word in group or ()}
            for one in stems:
                found.setdefault(one, set()).update(stems)
        return {one: frozenset(others) for one, others in found.items()}


@lru_cache(maxsize=1)
def default_cue_rules() -> CueRules:
    """The English rules that come with the package."""
    documents = [json.loads(Path(__file__).with_name(name).read_text(encoding="utf-8")) for name in _DEFAULTS]
    return CueRules(MappingProxyType({section: one for document in documents for section, one in document.items()}))
