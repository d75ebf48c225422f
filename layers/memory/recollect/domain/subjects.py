"""Who or what a clause speaks of.

A subject is a pronoun, a noun phrase behind my, our, the, or a name, before the first auxiliary or known verb. A clause
that fits nothing has no predicate, and no rule but those of whole clauses reads it.
"""

from recollect.domain.clauses import Clause, Token
from recollect.domain.cue_words import CueWords
from recollect.domain.predicates import AUXILIARIES, OTHERS, SPEAKER, Predicate, verb_after
from recollect.text.terms import ENGLISH_STOP_WORDS

_BE = frozenset({"am", "is", "are", "was", "were", "be", "been", "being"})
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
    known = token.word in words.after_is or token.word in _BE or token.word in words.adverbs
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
