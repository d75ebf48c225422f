"""Claims of whatever a clause speaks of: begun, ended, liked, denied (P-24)."""

from collections.abc import Iterator
from itertools import pairwise

from recollect.domain.attribute_claims import slot_tokens, topic_claim
from recollect.domain.claims import Claim, ClaimKind
from recollect.domain.clause_reading import DENIED, MOST_TOPIC_WORDS, NEVER, PAST_DENIED, TOPIC, Reading, cut_topic
from recollect.domain.cue_rules import CueRules
from recollect.domain.cue_values import content_stems, trimmed
from recollect.domain.modality import Modality, Mood
from recollect.domain.predicates import Predicate

_GENERIC_VERBS = frozenset(["be", "have", "own", "get", "hold", "do", "go", "become", "make", "keep", "say", "know"])
_STRONG_AREAS = frozenset({"like", "eat", "drink", "have", "play", "take", "smoke", "speak"})
_CUES = ("end", "pause", "start", "dislike", "dislike_not", "gone")


def topic_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """By cues of beginning and ending; else a denial, or something liked, used or done as a rule."""
    yield from _instead(reading, said, rules)
    for template in rules.topics_by_verb.matching(said.verb, said.words):
        if template.kind not in _CUES:
            continue
        if template.kind == "pause" and reading.until is None:
            continue
        match = template.match(" " + said.text)
        gone = template.kind == "gone"
        if match is None or (gone and not (said.thing or said.subject)) or (said.thing and not gone):
            continue
        if (how.negated is not (template.kind == "dislike_not")) or how.mood is Mood.PLAN:
            if how.negated and template.kind in ("end", "start") and not how.never:
                return
            continue
        claim = _gone(reading, said, template.rule, rules) if template.kind == "gone" else None
        value = slot_tokens(match, said.rest, len(said.verb) + 1)
        claim = claim or topic_claim(reading, template, value, rules, "" if is_done_to_speaker(said) else None)
        if claim is not None:
            yield claim
            return
    if how.negated or how.ended:
        yield from _denial(reading, said, how, rules)
    elif how.now and how.mood is Mood.PRESENT and said.verb not in rules.verb_class and not said.thing:
        yield from _done_now(reading, said, rules)
    elif said.verb in rules.verb_class and how.mood is Mood.PRESENT and said.rest and not said.thing:
        yield from _done(reading, said, how, rules)


def is_done_to_speaker(said: Predicate) -> bool:
    """The doctor swapped my ibuprofen, called off my surgery: to what is the speaker's own, but not to my dad's."""
    behind = said.words[1:] if said.words[:1] in (("off",), ("up",), ("out",), ("back",)) else said.words
    return behind[:1] in (("my",), ("our",)) and not any(word.endswith("'s") for word in behind[1:3])


def _instead(reading: Reading, said: Predicate, rules: CueRules) -> Iterator[Claim]:
    """At Aldi rather than Lidl: what comes behind is over."""
    for place, pair in enumerate(pairwise(said.words)):
        if " ".join(pair) in rules.words.lists["replacing"]:
            rest = cut_topic(said.rest[place + 2 :], rules)
            topic = content_stems((token.word for token in rest), rules.words)
            plain = any(one.isalpha() and one not in rules.time_stems for one in topic)
            if plain and len(topic) <= MOST_TOPIC_WORDS:
                yield reading.claim(TOPIC, rest, ClaimKind.END, "topic.instead", value=" ".join(topic), strong=False)
            return


def _gone(reading: Reading, said: Predicate, rule: str, rules: CueRules) -> Claim | None:
    """The choir is over; Miso passed away: what the clause is about has ended."""
    if said.subject in rules.words.persons:
        return None
    named = content_stems((*said.thing, *said.subject.split()), rules.words)
    topic = tuple(one for one in named if one not in rules.shell_stems) or named
    return reading.claim(TOPIC, (), ClaimKind.END, rule, subject="", value=" ".join(topic)) if topic else None


def _denial(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    past = how.mood is Mood.PAST
    if (
        (past and not how.never and "had" in said.auxiliaries)
        or how.mood is Mood.PLAN
        or said.verb in rules.words.lists["no_denials"]
    ):
        return
    if (said.verb == "believe" and "can" in said.auxiliaries) or (
        past and {"this", "that", "it"} & set(said.words[:1])
    ):
        return
    if {"his", "her", "their"} & set(said.words):
        return
    rest = cut_topic([token for token in said.rest if not reading.in_bound(token)], rules)
    content = content_stems((*said.thing, *(token.word for token in rest)), rules.words)
    own = () if said.verb in _GENERIC_VERBS else content_stems((said.verb,), rules.words)
    area = rules.verb_class.get(said.verb, said.verb)
    content = tuple(one for one in content if one not in rules.time_stems)
    topic = tuple(dict.fromkeys((*own, *content)))
    if how.ended and content and area in rules.document["verb_classes"]:
        topic = content
    if not topic or len(topic) > MOST_TOPIC_WORDS or (not content and said.verb in rules.words.lists["vague_verbs"]):
        return
    named = any(not rules.words.is_verb(token.word) for token in rest if content_stems((token.word,), rules.words))
    plain = named and not set(content) <= rules.vague_stems
    if past and "had" in said.auxiliaries and said.form != "had":
        return
    surely = {"actually", "really"} & set(said.auxiliaries) and area != "like"
    kind = ClaimKind.RETRACTION if (past and plain and how.never) or surely else ClaimKind.END
    rule = "topic.no_longer" if how.ended else NEVER if kind is ClaimKind.RETRACTION else DENIED
    if past and kind is ClaimKind.END and not how.never:
        rule = PAST_DENIED
    strong = how.ended or area in _STRONG_AREAS
    yield reading.claim(area, rest, kind, rule, value=" ".join(topic), strong=strong)


def _done_now(reading: Reading, said: Predicate, rules: CueRules) -> Iterator[Claim]:
    """I nap most afternoons these days: it ends the denial of the same."""
    if said.verb in rules.words.lists["vague_verbs"]:
        return
    rest = cut_topic(trimmed(said.rest, rules.words), rules)
    topic = content_stems((said.verb, *(token.word for token in rest)), rules.words)
    topic = tuple(one for one in topic if one not in rules.time_stems)
    if topic and len(topic) <= MOST_TOPIC_WORDS:
        yield reading.claim(TOPIC, rest, ClaimKind.CHANGE, "topic.done_now", value=" ".join(topic), strong=False)


def _done(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """It stands to be ended, and to end its own denial."""
    area = rules.verb_class[said.verb]
    own = () if said.verb in _GENERIC_VERBS or area in ("like", "dislike") else (said.verb,)
    rest = cut_topic(trimmed(said.rest, rules.words), rules)
    topic = content_stems((*own, *(token.word for token in rest)), rules.words)
    if not topic or len(topic) > MOST_TOPIC_WORDS:
        return
    kind = ClaimKind.CHANGE if how.now else ClaimKind.STATE
    if area == "dislike":
        area, kind = "like", ClaimKind.END
    yield reading.claim(area, rest, kind, f"verbs.{area}", value=" ".join(topic), strong=area in _STRONG_AREAS)
