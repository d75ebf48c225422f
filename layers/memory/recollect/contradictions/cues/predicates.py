"""What a clause says of whom, and how: its verb, its subject, its mood (P-24).

A subject is a pronoun, a noun phrase behind my, our, the, or a name, before the first auxiliary or known verb. A clause
that fits nothing has no predicate, and no rule but those of whole clauses reads it.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cached_property

from recollect.contradictions.cues.clauses import Clause, CueWords, Sentence, Token
from recollect.text.terms import ENGLISH_STOP_WORDS, stem

SPEAKER = frozenset({"i", "we"})
OTHERS = frozenset(
    {"he", "she", "they", "you", "someone", "everyone", "somebody", "everybody", "people", "who", "nobody"}
)
_BE = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_HAVE = frozenset({"have", "has", "had"})
_NOT_AUXILIARY = frozenset({"not", "never", "won"})
_WITH_BASE = frozenset(
    {"do", "does", "did", "will", "would", "shall", "should", "can", "could", "may", "might", "must"}
)
AUXILIARIES = _BE | _HAVE | _WITH_BASE | _NOT_AUXILIARY | {"gonna", "got"}


@dataclass(frozen=True)
class Predicate:
    """What a clause says: `subject` "" for the speaker, else normalised; `thing` the words of the noun phrase it is
    about, where the subject is one of the speaker's things.

    `verb` is the verb's base form and `form` as said; `rest` the words behind it. `auxiliaries` are the words between
    subject and verb.
    """

    clause: Clause
    subject: str
    thing: tuple[str, ...]
    verb: str
    form: str
    auxiliaries: tuple[str, ...]
    rest: tuple[Token, ...]
    first: int
    elided: bool = False

    @cached_property
    def text(self) -> str:
        """Verb and words behind it, as templates are matched against."""
        return " ".join((self.verb, *(token.word for token in self.rest)))

    @cached_property
    def words(self) -> tuple[str, ...]:
        """The words behind the verb."""
        return tuple(token.word for token in self.rest)


def verb_after(
    clause: Clause,
    tokens: list[Token],
    place: int,
    words: CueWords,
    subject: str,
    thing: tuple[str, ...],
    genitive: bool = False,
    elided: bool = False,
) -> Predicate | None:
    """The first word behind `place` that is no auxiliary or adverb, as the verb."""
    between: list[str] = ["is"] if genitive else []
    while place < len(tokens):
        token = tokens[place]
        size = words.semi_modal_size([one.word for one in tokens[place : place + 3]])
        if size:
            between.append("did")
            place += size
            continue
        if words.enables([one.word for one in tokens[place : place + 2]]):
            between = [one for one in between if one not in _BE]
            place += 2
            continue
        if not (token.word in AUXILIARIES or words.is_between(token.word)) or token.text == "May":
            break
        between.append(token.word)
        place += 1
    if between[-1:] == ["got"] and place < len(tokens) and tokens[place].word in words.lists["behind_got"]:
        rest = tuple(tokens[place:])
        return Predicate(clause, subject, thing, "get", "got", tuple(between[:-1]), rest, tokens[0].start, elided)
    at_verb = place < len(tokens) and _may_be_verb(tokens[place].word, between, words)
    first = tokens[0].start
    if at_verb:
        form = tokens[place].word
        verb = words.lemma(form) if words.is_verb(form) else stem(form)
        return Predicate(clause, subject, thing, verb, form, tuple(between), tuple(tokens[place + 1 :]), first, elided)
    if between[-1:] == ["got"] and place < len(tokens) and words.is_participle(tokens[place].word):
        between[-1] = "are"
    spoken = tokens[place - 1].word in SPEAKER or (between and tokens[0].word in SPEAKER)
    if spoken and place < len(tokens) and not set(between) & (AUXILIARIES - {"never"}) and tokens[place].word.isalpha():
        form = tokens[place].word
        return Predicate(
            clause, subject, thing, stem(form), form, tuple(between), tuple(tokens[place + 1 :]), first, elided
        )
    copula = next(
        (word for word in reversed(between) if word in _BE or word in ("have", "has", "had", "got", "do")), ""
    )
    if copula == "got" and not {"have", "has", "had"} & set(between):
        return Predicate(clause, subject, thing, "get", "got", tuple(between), tuple(tokens[place:]), first, elided)
    if not copula:
        return None
    verb = "be" if copula in _BE else ("have" if copula != "do" else "do")
    return Predicate(clause, subject, thing, verb, copula, tuple(between), tuple(tokens[place:]), first, elided)


def _may_be_verb(word: str, between: list[str], words: CueWords) -> bool:
    """Behind "be" only a participle is one ("my car is light"), behind "do" or "can" any word, known or not."""
    auxiliary = next((one for one in reversed(between) if one in AUXILIARIES and one not in _NOT_AUXILIARY), "")
    if auxiliary == "got":
        return False
    if auxiliary in _BE:
        return word.endswith("ing") and (
            words.is_verb(word) or (len(word) > 5 and word not in words.lists["ing_adjectives"])
        )
    if auxiliary in ("do", "does") and not {"not", "never"} & set(between):
        return words.is_verb(word)
    if auxiliary in _WITH_BASE:
        return word.isalpha()
    if auxiliary in ("have", "has", "had"):
        return (words.is_verb(word) and words.is_participle(word)) or (word.endswith("ed") and len(word) > 4)
    return words.is_verb(word)


_BE_SUBJECT = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
_OWN = frozenset({"my", "our", "the"})
_FOREIGN = frozenset({"his", "her", "their", "your"})
_ARTICLES = frozenset({"a", "an", "some"})
_FRONTED_SUBJECTS = SPEAKER | {"my", "our", "he", "she", "they", "it"}
_LONGEST_SUBJECT = 7
_RELATIVE = frozenset({"who", "which", "that", "where", "when", "whether"})


def read_predicate(clause: Clause, words: CueWords, before: Predicate | None) -> Predicate | None:
    """The clause's predicate; `before` is the one that an elided subject or a pronoun takes its subject from."""
    tokens = _without_lead_in([token for token in clause.tokens if token.is_word], words)
    if not tokens:
        return None
    tokens = _without_fronted(tokens, words)
    first = tokens[0].word
    if first in SPEAKER or first in OTHERS or (first in ("it", "that", "this", "there") and len(tokens) > 1):
        pronoun = _after_pronoun(clause, tokens, words, before)
        if pronoun is not None or first in SPEAKER or first in OTHERS:
            return pronoun
    if first == "for":
        return None
    if [token.word for token in tokens[1:3]] in (["and", "i"], ["and", "me"]):
        return verb_after(clause, tokens, 3, words, "", ())
    if first in _OWN or first in _FOREIGN or first in _ARTICLES:
        return _after_noun(clause, tokens, words)
    return _elided(clause, tokens, words, before) or _after_name(clause, tokens, words)


def _after_pronoun(clause: Clause, tokens: list[Token], words: CueWords, before: Predicate | None) -> Predicate | None:
    first = tokens[0].word
    if first in SPEAKER:
        return verb_after(clause, tokens, 1, words, "", ())
    if first in ("he", "she"):
        known = before is not None and before.subject and before.subject not in OTHERS
        return verb_after(clause, tokens, 1, words, before.subject if before and known else first, ())
    if first in ("it", "that", "this") and before is not None and before.thing:
        return verb_after(clause, tokens, 1, words, before.subject, before.thing)
    if first in ("it", "that", "this") and before is not None and (thing := _changed(before, words)):
        return verb_after(clause, tokens, 1, words, "", thing)
    return verb_after(clause, tokens, 1, words, first, ()) if first in OTHERS else None


def _changed(before: Predicate, words: CueWords) -> tuple[str, ...]:
    """The venue, of "we had to change the venue": what "it" speaks of next."""
    if before.verb not in words.lists["transfer_verbs"] or before.words[:1] not in (("the",), ("my",), ("our",)):
        return ()
    return tuple(words.thing_words(list(before.words[1:4])))


def _after_noun(clause: Clause, tokens: list[Token], words: CueWords) -> Predicate | None:
    """My sister's car is …: the words up to the first auxiliary or verb form are the subject."""
    for place in range(2, min(len(tokens), _LONGEST_SUBJECT + 1)):
        token = tokens[place]
        genitive = tokens[place - 1].word.endswith("'s") and not _is_noun_like(token, words)
        plural = tokens[place - 1].word.endswith("s") and words.is_verb(token.word) and not genitive
        if genitive or plural or token.word in AUXILIARIES or words.is_finite(token.word):
            owner, phrase = tokens[0].word, [one.word for one in tokens[1:place]]
            times = (
                at
                for at, word in enumerate(phrase)
                if at and word in ("these", "now", "currently", "nowadays", "right")
            )
            phrase = phrase[: next(times, len(phrase))]
            return _of_noun(clause, tokens, place, words, owner, phrase, genitive)
    return None


def _of_noun(
    clause: Clause, tokens: list[Token], place: int, words: CueWords, owner: str, phrase: list[str], genitive: bool
) -> Predicate | None:
    named = [token.is_capital for token in tokens[1:place] if token.word not in words.adverbs]
    phrase = [word for word in phrase if word not in words.adverbs]
    if genitive and phrase:
        phrase[-1] = phrase[-1].removesuffix("'s")
    named = [token.is_capital for token in tokens[1:place]]
    subject = words.person_of(phrase, named)
    owned = next((at for at, word in enumerate(phrase[:-1]) if word.endswith("'s")), None)
    if owned is not None and owner in _OWN and words.person_of([*phrase[:owned], phrase[owned].removesuffix("'s")]):
        person = words.person_of([*phrase[:owned], phrase[owned].removesuffix("'s")]) or ""
        return verb_after(clause, tokens, place, words, person, tuple(words.thing_words(phrase[owned + 1 :])), genitive)
    if owner in _FOREIGN:
        return verb_after(clause, tokens, place, words, owner + " " + " ".join(phrase), ())
    if owner in _ARTICLES and subject is None:
        return None
    if subject is not None:
        return verb_after(clause, tokens, place, words, subject, (), genitive)
    return verb_after(clause, tokens, place, words, "", tuple(words.thing_words(phrase)), genitive)


def _is_noun_like(token: Token, words: CueWords) -> bool:
    known = token.word in words.after_is or token.word in _BE_SUBJECT or token.word in words.adverbs
    return not (known or (words.lemma(token.word) != token.word and words.is_verb(token.word)))


def _after_name(clause: Clause, tokens: list[Token], words: CueWords) -> Predicate | None:
    """Anna moved; rent is now 900: a capital or a known thing, and a verb within three words."""
    if tokens[0].word in ENGLISH_STOP_WORDS:
        return None
    for place in range(1, min(len(tokens), 5)):
        word = tokens[place].word
        genitive = tokens[place - 1].word.endswith("'s") and not _is_noun_like(tokens[place], words)
        plural = place == 1 and tokens[0].word.endswith("s") and words.is_verb(word)
        if not (genitive or plural or word in AUXILIARIES or words.is_finite(word)):
            continue
        phrase = [token.word.removesuffix("'s") if genitive else token.word for token in tokens[:place]]
        if phrase[-2:-1] == ["and"] and phrase[-1] in ("i", "me"):
            return verb_after(clause, tokens, place, words, "", ())
        if len(phrase) == 1 and phrase[0].endswith("ing") and words.is_verb(phrase[0]):
            return verb_after(clause, tokens, place, words, "", (phrase[0],), genitive)
        phrase = [one for one in phrase if one not in words.adverbs] or phrase
        lower = not any(token.is_capital for token in tokens[1:place]) and not tokens[0].word.endswith("'s")
        common = all(one.isalpha() or "-" in one for one in phrase) and not set(phrase) & ENGLISH_STOP_WORDS
        unnamed = lower and common and (len(phrase) > 1 or not (tokens[0].is_capital or words.is_verb(phrase[0])))
        unnamed = unnamed or (plural and words.lemma(word) == word and common)
        unnamed = unnamed and words.person_of(phrase) is None and phrase[0] not in OTHERS
        if unnamed or (phrase[-1] in words.things and (len(phrase) == 1 or not tokens[1].is_capital)):
            return verb_after(clause, tokens, place, words, "", tuple(words.thing_words(phrase)), genitive)
        after = tokens[place + 1].word if place + 1 < len(tokens) else ""
        inverted = word in ("is", "are") and after in ("my", "our", "the")
        named = tokens[0].is_capital or inverted or plural or all(word in words.things for word in phrase)
        return verb_after(clause, tokens, place, words, " ".join(phrase), (), genitive) if named else None
    return None


def _elided(clause: Clause, tokens: list[Token], words: CueWords, before: Predicate | None) -> Predicate | None:
    """Moved to Lyon last week; … and joined Meta; not eating meat anymore: the speaker, or the subject before."""
    first, joined = tokens[0].word, clause.joined.split()[-1:] == ["and"] or clause.joined.split()[-1:] == ["but"]
    second = tokens[1].word if len(tokens) > 1 else ""
    starts = (
        first in words.elided
        or first in ("not", "never")
        or (first == "no" and second == "longer")
        or (first in ("can", "have") and second == "not")
        or (clause.joined not in _RELATIVE and _is_past(tokens, words))
    )
    if joined and before is not None and (starts or words.is_verb(first)):
        return verb_after(clause, tokens, 0, words, before.subject, before.thing, elided=True)
    if starts:
        return verb_after(clause, tokens, 0, words, "", (), elided=True)
    return None


def _is_past(tokens: list[Token], words: CueWords) -> bool:
    """Came off Instagram: a past form that no verb follows, so that it is none of a noun."""
    first, behind = tokens[0].word, [token.word for token in tokens[1:4]]
    if not words.is_finite(first) or first.endswith("s") or not behind or words.is_finite(behind[0]):
        return False
    return not AUXILIARIES & set(behind)


def _without_fronted(tokens: list[Token], words: CueWords) -> list[Token]:
    """The clause from its subject on, behind "for the next two weeks", "as of today"."""
    if tokens[0].word not in words.lists["fronting"]:
        return tokens
    subjects = _FRONTED_SUBJECTS | words.things
    found = (place for place, token in enumerate(tokens[:12]) if place > 1 and token.word in subjects)
    place = next(found, 0)
    if any(words.is_finite(token.word) and not token.word.endswith("ed") for token in tokens[1:place]):
        return tokens
    if place > 2 and tokens[0].word == "for" and tokens[1].word in ("my", "our", "his", "her", "their"):
        return tokens
    return tokens[place:] if place < len(tokens) - 1 else tokens


def _without_lead_in(tokens: list[Token], words: CueWords) -> list[Token]:
    """The clause without "well", "by the way", "just so you know"."""
    return tokens[words.starts([token.word for token in tokens[:24]])[-1] :]


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
