"""Whether a clause asserts something of the present: not a question, a plan, a wish, the past or another's words."""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from recollect.domain.clauses import Clause, Sentence
from recollect.domain.cue_words import CueWords
from recollect.domain.predicates import Predicate
from recollect.text.terms import stem

_YEAR = re.compile(
    r" (?:in|back in|during|of|until|around|by) (?:the )?(?:19\d\d|20[01]\d|202[0-5])|^ in \w{4,9} grade "
    r"| back in (?:my|our) (?:\w+ )?(?:days?|years?|youth|teens|twenties|thirties|time) "
)
_BOUNDED = re.compile(r" (?:for|over|during|through|throughout|in) the next ")
_HAVING = ("have", "has", "had", "got")
_PRESENT_BE = frozenset({"am", "is", "are"})
_PAST_BE = frozenset({"was", "were"})
_NEGATIONS = frozenset({"not", "never", "no"})


class Mood(StrEnum):
    """How a clause is meant."""

    PRESENT = "present"
    PAST = "past"
    """A simple past or a perfect: a change said so is the present, a state said so is not."""
    PLAN = "plan"
    UNREAL = "unreal"
    """A question, a condition, a wish, a guess or somebody else's words."""


@dataclass(frozen=True, slots=True)
class Modality:
    """The mood; `negated` by not or never; `never`; `ended` by "no longer" or "anymore"; `now` by "now" or "instead";
    `remote`: placed in a past that is over, or in a time that has yet to come; `announced` by "change of plan";
    `so_far`: it has been so up to now ("I've been here for two weeks")."""

    mood: Mood
    negated: bool = False
    never: bool = False
    ended: bool = False
    now: bool = False
    remote: bool = False
    announced: bool = False
    so_far: bool = False


def is_unreal(sentence: Sentence, clause: Clause, words: CueWords) -> bool:
    """Whether the clause is asked, supposed, wished, guessed or reported, by itself or by a clause before it."""
    if _asks(sentence, clause, words):
        return True
    before = sentence.clauses[: clause.index]
    own = _text(clause.words)
    if (
        _has(_text(prefix_words(sentence, clause)), words, "carries_on")
        or _has(own, words, "unreal")
        or _has(" " + clause.joined + " ", words, "conditions")
        or _begins(clause, words)
    ):
        return True
    if any(_opens_condition(one, words) for one in before) or _embedded(sentence, clause, words):
        return True
    if clause.index and clause.joined == "and" and "if" in sentence.clauses[clause.index - 1].words:
        return True
    if clause.index and clause.joined == "and" and clause.words[0] in words.elided:
        previous = sentence.clauses[clause.index - 1]
        if _has(_text(previous.words), words, "unreal"):
            return True
    after = sentence.clauses[clause.index + 1 : clause.index + 2]
    if clause.words[0] == "with" and any(_has(_text(one.words), words, "unreal") for one in sentence.clauses[-2:]):
        return True
    return any(_bound_condition(one, words) for one in after) or _reported(sentence, clause, words)


def prefix_words(sentence: Sentence, clause: Clause) -> list[str]:
    """The sentence's words up to the end of the clause, conjunctions and all."""
    return [token.word for token in sentence.tokens if token.is_word and token.start < clause.end]


def is_remote(text: str, words: CueWords) -> bool:
    """Whether words with spaces around speak of a past that is over."""
    return _has(text, words, "remote_past") or bool(_YEAR.search(text))


def read_modality(sentence: Sentence, predicate: Predicate, words: CueWords) -> Modality:
    """Tense and negation of a predicate that is not unreal."""
    between, clause = predicate.auxiliaries, _text(predicate.clause.words)
    negated = any(word in _NEGATIONS for word in between) or predicate.words[:1] in (("no",), ("not",), ("zero",))
    ended = _has(clause, words, "end_markers")
    before = _text(prefix_words(sentence, predicate.clause)[-40:])
    remote = (
        _has(before, words, "remote_past")
        or _has(_BOUNDED.sub(" for the coming ", clause), words, "remote_future")
        or bool(_YEAR.search(before))
    )
    return Modality(
        _mood(predicate, words),
        negated=negated and not _has(clause, words, "not_only"),
        never="never" in between,
        ended=ended,
        now=_has(clause, words, "now_markers") or _has(before, words, "change_cues"),
        remote=remote,
        announced=_has(before, words, "change_cues"),
        so_far=bool({"have", "has", "been"} & set(predicate.auxiliaries)) and predicate.form not in _HAVING,
    )


def _mood(predicate: Predicate, words: CueWords) -> Mood:
    between, form = predicate.auxiliaries, predicate.form
    if "used" in between or (form == "used" and predicate.words[:1] == ("to",)):
        return Mood.PAST
    if "will" in between or "shall" in between or form == "gonna" or "gonna" in between:
        return Mood.PLAN
    if form == "going" and predicate.words[:1] == ("to",) and (predicate.words[1:2] or ("x",))[0] in words.verbs:
        return Mood.PLAN
    wanted = predicate.verb == "want" and predicate.words[:1] not in (("to",), ())
    if predicate.verb in words.lists["plan_verbs"] and not wanted:
        return Mood.PLAN
    wished = (
        ("would", "could", "might", "may") if predicate.thing else ("would", "could", "might", "may", "should", "must")
    )
    if any(word in wished for word in between):
        return Mood.UNREAL
    if form == "been" and "never" not in between and "had" not in between and predicate.verb == "be":
        return Mood.PRESENT
    if form.endswith("ing") and "been" in between and "had" not in between:
        return Mood.PRESENT
    if form == "got" and predicate.verb == "have":
        return Mood.PRESENT
    if any(word in between for word in ("did", "had")) or form in ("was", "were", "had"):
        return Mood.PAST
    if any(word in _PAST_BE for word in between):
        return Mood.PAST
    if any(word in between for word in ("have", "has")) and form not in ("have", "has", "got"):
        return Mood.PAST
    if any(word in _PRESENT_BE for word in between) or "do" in between or "does" in between:
        return Mood.PRESENT
    return Mood.PAST if _is_past_form(predicate) else Mood.PRESENT


def _is_past_form(predicate: Predicate) -> bool:
    """Went, liked: no base form, not even of a verb that nobody listed, whose stem stands for it."""
    form, verb = predicate.form, predicate.verb
    if form == verb or form.endswith(("s", "ing")) or form in _PRESENT_BE:
        return False
    return form.endswith("ed") or stem(form) != verb


def _asks(sentence: Sentence, clause: Clause, words: CueWords) -> bool:
    first = [one.words for one in sentence.clauses]
    asked = sentence.asks and sentence.clauses[0].joined in words.lists["question_words"]
    opening = 0 if asked else _question_at(first, words, sentence.asks)
    if opening is not None and clause.index >= opening:
        return True
    return sentence.asks and clause.index == len(sentence.clauses) - 1 and opening is None


def _question_at(clauses: list[list[str]], words: CueWords, asks: bool) -> int | None:
    """The first clause that begins as a question; what follows it is asked too."""
    for index, clause in enumerate(clauses):
        size = words.lead_in_size(clause)
        asked = asks and _is_question(clause, words, asks) and not words.lists["requested"] & set(clause)
        if asked or _is_question(clause[size:], words, asks):
            return index
    return None


def _is_question(clause: list[str], words: CueWords, asks: bool) -> bool:
    if len(clause) < 2:
        return False
    after = clause[2] if (clause[1] == "not" or clause[1] in words.adverbs) and len(clause) > 2 else clause[1]
    if clause[0] in words.lists["question_verbs"] and (after in words.lists["question_subjects"] or asks):
        return clause[0] not in ("have", "has", "had") or asks
    if _has(_text(clause[:8]), words, "no_questions", at_start=True):
        return False
    return _has(_text(clause[:8]), words, "question_openers", at_start=True)


def _begins(clause: Clause, words: CueWords) -> bool:
    return bool(clause.words) and clause.words[0] in words.lists["conditions"]


def _opens_condition(clause: Clause, words: CueWords) -> bool:
    return _begins(clause, words) or _has(" " + clause.joined + " ", words, "conditions")


def _bound_condition(clause: Clause, words: CueWords) -> bool:
    joined = clause.joined.split()
    return bool(joined) and joined[-1] in words.lists["conditions"] and "," not in joined


def _embedded(sentence: Sentence, clause: Clause, words: CueWords) -> bool:
    """I'll tell them that …; I'm going to say …, and …: what is to be said is no statement."""
    if clause.joined.split()[-1:] not in (["that"], ["and"], [":"]) or not clause.index:
        return False
    before = sentence.clauses[clause.index - 1].words
    planned = {"will", "gonna"} & set(before) or _has(_text(before), words, "plans")
    return bool(planned) and any(words.lemma(word) in words.lists["saying"] for word in before)


def _reported(sentence: Sentence, clause: Clause, words: CueWords) -> bool:
    """Whether a verb of saying stands before it in the sentence, with anybody but the speaker as who says it."""
    apart = clause.joined.split()[-1:] in (["but"], ["so"]) and clause.words[:1] in (["i"], ["we"], ["my"], ["our"])
    for one in sentence.clauses[clause.index if apart else 0 : clause.index + 1]:
        found = one.words
        for place, word in enumerate(found):
            moves = word == "goes" and found[place + 1 : place + 2] and found[place + 1] in words.lists["ways"]
            if (
                not moves
                and word in words.lists["reporting"]
                and 0 < place < len(found) - 1
                and _is_others(found, place, words)
            ):
                return True
    return _has(_text(word.word for word in sentence.tokens if word.is_word), words, "fiction")


def _is_others(found: list[str], place: int, words: CueWords) -> bool:
    """Whether not the speaker says so, or says so to somebody else than the assistant."""
    own = {"i", "we", "my"} & set(found[max(0, place - 5) : place]) or (place == 1 and found[0] in _NEGATIONS)
    if found[place - 1] in words.lists["authorities"]:
        return False
    if not own:
        return True
    return found[place] in ("told", "texted", "tell", "asked") and found[place + 1 : place + 2] != ["you"]


def _text(words: Iterable[str]) -> str:
    return " " + " ".join(words) + " "


def _has(text: str, words: CueWords, name: str, *, at_start: bool = False) -> bool:
    if at_start:
        return any(text.startswith(f" {phrase} ") for phrase in words.lists[name])
    return words.has(name, text)
