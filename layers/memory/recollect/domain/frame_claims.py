"""Claims by the frame of a clause, for attributes that nobody listed: one verb and preposition, or one noun (P-24)."""

from collections.abc import Iterator

from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clause_reading import Reading, cut_topic
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems, trimmed
from recollect.domain.cue_words import singular
from recollect.domain.modality import Modality, Mood
from recollect.domain.predicates import Predicate


def placed_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """I fly with KLM now; I'm parking in garage C: of one verb and preposition, what comes behind."""
    lists = rules.words.lists
    if how.mood is not Mood.PRESENT or how.negated or how.ended or said.thing:
        return
    places = [at for at, word in enumerate(said.words[:6]) if word in lists["placing"] and at + 1 < len(said.rest)]
    for place in places[:2]:
        if not (said.words[place] == "to" and rules.words.is_verb(said.words[place + 1])):
            yield from _placed_at(reading, said, how, place, rules)


def _placed_at(reading: Reading, said: Predicate, how: Modality, place: int, rules: CueRules) -> Iterator[Claim]:
    behind = [token for token in said.rest[place + 1 :] if not reading.in_bound(token)]
    following = (at for at, token in enumerate(behind) if at and token.word in rules.words.lists["placing"])
    value = trimmed(behind[: next(following, len(behind))], rules.words)
    if not value or not content_stems((token.word for token in value), rules.words):
        return
    object_stems = content_stems(said.words[:place], rules.words)
    idle = said.verb in rules.words.lists["unplaced_verbs"] and not object_stems
    now = how.announced or (how.now and not idle)
    changes = now or (reading.until is not None and not idle)
    kind = ClaimKind.CHANGE if now else ClaimKind.STATE
    attribute = " ".join((said.verb, *object_stems, said.words[place]))
    yield reading.claim(attribute, value, kind, "verb.placed", exclusive=changes, strong=changes)


def frame_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """I work day shifts now; we're on the Pro plan: of one verb and noun, what is told by the word before the noun."""
    moves = said.verb in rules.words.lists["switch_verbs"] and said.words[:1] == ("to",)
    if (
        (how.mood is not Mood.PRESENT and not (moves and how.mood is Mood.PAST))
        or how.negated
        or how.ended
        or said.thing
    ):
        return
    if said.verb == "be" and said.words[:1] not in (("on",), ("in",), ("at",)):
        return
    phrase = cut_topic(trimmed([token for token in said.rest if token.word not in _FRAME_SKIPS], rules.words), rules)
    if not 2 <= len(phrase) <= 3 or not phrase[-1].word.isalpha():
        return
    if said.verb in rules.words.lists["idle_verbs"]:
        return
    head = singular(phrase[-1].word)
    if (
        head in rules.words.lists["empty"] | rules.words.lists["no_heads"]
        or phrase[0].word in rules.words.lists["no_modifiers"]
    ):
        return
    kind = ClaimKind.CHANGE if how.now or moves else ClaimKind.STATE
    changes = how.now or moves or reading.until is not None
    verb = "the" if said.verb in rules.words.lists["frame_verbs"] else said.verb
    yield reading.claim(f"{verb} {head}", phrase[:-1], kind, "verb.frame", exclusive=changes, strong=changes)


_FRAME_SKIPS = frozenset(["a", "an", "the", "my", "our", "on", "in", "at", "with", "to"])
