"""The cue rules as data: attributes with the ways to state, change and end them, word lists, topics (P-24).

The defaults are `english_cues.json` and `situation_cues.json`, of which a user's own rules (`conflict.cues`) replace,
add and disable parts by name. A template is written as people speak: `move|relocate to {place}`; see `cue_templates`.
"""

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property, lru_cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

from recollect.core.errors import InvalidInput
from recollect.domain.clauses import Joints
from recollect.domain.cue_attributes import Attribute, read_attribute
from recollect.domain.cue_checks import SECTIONS, checked_section
from recollect.domain.cue_templates import Template
from recollect.domain.cue_words import CueWords, singular
from recollect.domain.template_index import TemplateIndex, TemplateSource
from recollect.text.terms import stem

_DEFAULTS = ("english_cues.json", "situation_cues.json")


@dataclass(frozen=True)
class CueRules:
    """A rules document, checked; what the engine reads is worked out from it once. Equal documents are equal rules."""

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


@lru_cache(maxsize=32)
def _merged_text(overlay: str) -> CueRules:
    return merged_cue_rules(json.loads(overlay), default_cue_rules())


def cue_rules_of(overlay: Mapping[str, Any] | None) -> CueRules:
    """The defaults under an overlay; the same overlay gives the same object, so that nothing is compiled twice.

    Raises InvalidInput with the path of what is wrong.
    """
    return _merged_text(json.dumps(overlay, sort_keys=True)) if overlay else default_cue_rules()


def merged_cue_rules(overlay: Any, base: CueRules) -> CueRules:
    """`overlay` over `base`: each name of a section replaces, adds, or (null) disables. Raises InvalidInput (`loc`)."""
    if not isinstance(overlay, Mapping):
        raise InvalidInput("must be an object", ("cues",))
    document = {section: dict(base.document[section]) for section in SECTIONS}
    for section, value in overlay.items():
        if section not in SECTIONS:
            raise InvalidInput("unknown name", ("cues", str(section)[:64]))
        document[section].update(checked_section(section, value, base.document[section]))
    return CueRules(MappingProxyType(document))
