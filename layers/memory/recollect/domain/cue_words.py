"""The word lists of the cue rules, with what is worked out from them: base forms of verbs, persons, lead-ins."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property

from recollect.text.terms import ENGLISH_STOP_WORDS

_DOUBLED = frozenset("bdgklmnprt")


@dataclass(frozen=True)
class CueWords:
    """`lists` are named word lists, `irregular` verbs' forms with no regular ending, `verbs` all base forms."""

    lists: Mapping[str, frozenset[str]]
    irregular: Mapping[str, tuple[str, ...]]
    verbs: frozenset[str]
    _lemmas: dict[str, str] = field(default_factory=dict, compare=False, repr=False)
    stems: dict[str, str] = field(default_factory=dict, compare=False, repr=False)

    @cached_property
    def persons(self) -> frozenset[str]:
        """Words for a person by relation: sister, boss."""
        return self.lists["persons"]

    @cached_property
    def things(self) -> frozenset[str]:
        """Words for a thing that are said without an article: rent, dinner."""
        return self.lists["bare_things"]

    @cached_property
    def adverbs(self) -> frozenset[str]:
        """Words that may stand between subject and verb."""
        return self.lists["adverbs"]

    @cached_property
    def elided(self) -> frozenset[str]:
        """First words of a clause whose subject, the speaker, is left out."""
        return self.lists["elided"]

    @cached_property
    def after_is(self) -> frozenset[str]:
        """Words that show a 's before them to be "is"."""
        return self.lists["after_is"]

    @cached_property
    def plain(self) -> frozenset[str]:
        """Words that are no name though they begin a sentence."""
        return self.lists["modifiers"] | ENGLISH_STOP_WORDS

    @cached_property
    def _irregular_forms(self) -> Mapping[str, str]:
        return {form: verb for verb, forms in self.irregular.items() for form in forms}

    @cached_property
    def _participles(self) -> frozenset[str]:
        return frozenset(forms[-1] for forms in self.irregular.values() if forms)

    @cached_property
    def _lead_ins(self) -> Mapping[str, tuple[tuple[str, ...], ...]]:
        found: dict[str, list[tuple[str, ...]]] = {}
        for phrase in self.lists["lead_ins"]:
            parts = tuple(phrase.split())
            found.setdefault(parts[0], []).append(parts)
        return {first: tuple(sorted(phrases, key=len, reverse=True)) for first, phrases in found.items()}

    def lead_in_size(self, words: Sequence[str]) -> int:
        """How many of the first words are a lead-in; never all of them."""
        for phrase in self._lead_ins.get(words[0], ()) if words else ():
            if tuple(words[: len(phrase)]) == phrase and len(words) > len(phrase):
                return 0 if phrase == ("no",) and words[1] not in self.lists["behind_no"] else len(phrase)
        return 0

    @cached_property
    def _phrases(self) -> Mapping[str, tuple[frozenset[str], tuple[str, ...]]]:
        return {
            name: (frozenset(one for one in texts if " " not in one), tuple(f" {one} " for one in texts if " " in one))
            for name, texts in self.lists.items()
        }

    def has(self, name: str, text: str) -> bool:
        """Whether a text of words with a space before and behind each has one of a list's words or phrases."""
        singles, phrases = self._phrases[name]
        return not singles.isdisjoint(text.split()) or any(phrase in text for phrase in phrases)

    def starts(self, words: Sequence[str]) -> tuple[int, ...]:
        """Where a clause may begin: at its first word and behind each of its lead-ins."""
        found = [0]
        while len(found) < 5 and (size := self.lead_in_size(words[found[-1] : found[-1] + 7])):
            found.append(found[-1] + size)
        return tuple(found)

    def semi_modal_size(self, words: Sequence[str]) -> int:
        """How many of the first words are a "had to", "ended up": what follows did happen."""
        found = (
            len(phrase.split()) for phrase in self.lists["semi_modals"] if " ".join(words).startswith(phrase + " ")
        )
        return max(found, default=0)

    def enables(self, words: Sequence[str]) -> bool:
        """Whether it is "allowed to" and the like, behind which stands what is done."""
        return " ".join(words) in self.lists["enablers"]

    def is_between(self, word: str) -> bool:
        """Whether it may stand between subject and verb and is no verb itself."""
        return word in self.adverbs or (word.endswith("ly") and len(word) > 4 and not self.is_verb(word))

    def person_of(self, phrase: Sequence[str], named: Sequence[bool] = ()) -> str | None:
        """The person that a noun phrase names by relation; None for a thing. Adjectives before it do not count, nor
        does a name behind it (`named`: which words begin with a capital): a "dentist appointment" is a thing."""
        place = next((place for place, word in enumerate(phrase) if word in self.persons), None)
        if place is None or len(phrase) - place > 3 or any(word.endswith("'s") for word in phrase[: place + 1]):
            return None
        if named and not all(named[place + 1 : len(phrase)]):
            return None
        return " ".join(word for word in phrase[: place + 1] if word not in self.lists["modifiers"]) or None

    def thing_words(self, phrase: Sequence[str]) -> list[str]:
        """The words that tell one thing from another, in the singular, the head last: no articles, no "new"; what
        follows a preposition goes before it ("budget for Iceland" is the Iceland budget)."""
        cut = next(
            (place for place, word in enumerate(phrase) if place and word in self.lists["prepositions"]), len(phrase)
        )
        ordered = [*phrase[cut + 1 :], *phrase[:cut]]
        skipped = self.lists["modifiers"]
        if "other" in ordered:
            return ["other " + singular(phrase[cut - 1])]
        kept = [singular(word) for word in ordered if word not in skipped and word not in ENGLISH_STOP_WORDS]
        return kept or [singular(word) for word in phrase[cut - 1 : cut]]

    def is_verb(self, word: str) -> bool:
        """Whether it is a form of a known verb."""
        return bool(self.lemma(word)) and self.lemma(word) in self.verbs

    def is_finite(self, word: str) -> bool:
        """Whether it can be the verb behind a noun: a form in -s or -ed, or an irregular past."""
        return self.is_verb(word) and (word in self._irregular_forms or word.endswith(("s", "ed")))

    def is_participle(self, word: str) -> bool:
        """Whether it can stand behind "be" or "have"."""
        if word in self._participles or word.endswith("ed"):
            return True
        return self.lemma(word) == word and any(not form.endswith("ed") for form in self.irregular.get(word, ()))

    def lemma(self, word: str) -> str:
        """The base form of a known verb; of any other word the word itself."""
        known = self._lemmas.get(word)
        if known is None:
            known = self._irregular_forms.get(word) or next((b for b in _bases(word) if b in self.verbs), word)
            if len(self._lemmas) < 20_000:
                self._lemmas[word] = known
        return known


def _bases(word: str) -> Iterable[str]:
    yield word
    for ending in ("ing", "ed", "es", "s", "d"):
        base = word.removesuffix(ending)
        if base == word or len(base) < (2 if ending == "ing" else 3):
            continue
        yield base
        if ending in ("ing", "ed"):
            yield base + "e"
            if len(base) > 2 and base[-1] == base[-2] and base[-1] in _DOUBLED:
                yield base[:-1]
        if base.endswith("i"):
            yield base[:-1] + "y"


def singular(word: str) -> str:
    """A noun's singular, as far as its ending tells."""
    word = word.removesuffix("'s")
    if len(word) > 4 and word.endswith("ies"):
        return word[:-3] + "y"
    if len(word) > 4 and word.endswith(("sses", "shes", "ches", "xes", "zes", "toes")):
        return word[:-2]
    return word[:-1] if len(word) > 3 and word.endswith("s") and not word.endswith(("ss", "us", "is")) else word
