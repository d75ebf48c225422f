"""Claims of the attributes that the cue rules name, and of topics that begin and end (P-24)."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from itertools import pairwise

from recollect.contradictions.cues.claims import (
    DENIAL,
    DENIED,
    HINT,
    MOST_TOPIC_WORDS,
    NEVER,
    PAST_DENIED,
    TOPIC,
    Claim,
    ClaimKind,
    Reading,
    cut_topic,
    tail_stems,
)
from recollect.contradictions.cues.clauses import (
    WHEN,
    Sort,
    Token,
    content_stems,
    is_name,
    is_place,
    trimmed,
    typed_values,
)
from recollect.contradictions.cues.documents import CueRules, Template
from recollect.contradictions.cues.predicates import Modality, Mood, Predicate, is_remote

_KINDS = {"state": ClaimKind.STATE, "held": ClaimKind.STATE, "change": ClaimKind.CHANGE, "end": ClaimKind.END}
_TOPIC_KINDS = {
    "retract": ClaimKind.RETRACTION,
    "partial": ClaimKind.PARTIAL,
    "start": ClaimKind.CHANGE,
}
_ALL_OF_IT = frozenset({"my", "our", "everything", "it", "all", "things", "over", "back", "from", "them"})
_HINT_WITHIN = 6
_IS = frozenset({"is", "was", "never", "not", "one", "part", "bit", "thing"})
_PLACED = frozenset({"in", "on", "at"})
_ARTICLES = frozenset({"the", "his", "her", "their", "a"})
_SORTS_OF_SLOT = {
    "when": WHEN | {Sort.NUMBER},
    "money": frozenset({Sort.MONEY, Sort.NUMBER, Sort.AMOUNT}),
    "number": frozenset(Sort) - {Sort.NAME, Sort.WORDS},
    "cash": frozenset({Sort.MONEY}),
    "weight": frozenset({Sort.AMOUNT}),
    "phone": frozenset({Sort.PHONE}),
    "email": frozenset({Sort.EMAIL}),
}


def raw_claims(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """By templates of whole clauses, read from each place where the clause may begin."""
    tokens = [token for token in reading.clause.tokens if token.is_word]
    behind = next((place for place, token in enumerate(tokens) if token.start >= reading.bound_span[1]), 0)
    starts = rules.words.starts([token.word for token in tokens[:24]])
    for start in dict.fromkeys((*starts, behind if tokens[0].start < reading.bound_span[1] else 0)):
        found = tuple(_raw_at(reading, tokens[start:], rules))
        yield from found
        if found:
            return


def retraction_cues(reading: Reading, rules: CueRules) -> Iterator[Claim]:
    """That was an error; I typed that wrong: something is taken back, whatever it is."""
    said, how = reading.predicate, reading.modality
    words = reading.clause.words
    text = f" {' '.join(words)} "
    if reading.unreal or (said is not None and not _may_take_back(said, rules)):
        return
    if said is not None and said.thing and not rules.words.has("mentions", text):
        return
    if said is None and words[0] in ("that", "this", "the") and words[1:2] and words[1] not in _IS:
        return
    if (said is None and set(words[:3]) & rules.words.persons) or is_remote(text, rules.words):
        return
    if how is not None and (how.remote or (how.mood in (Mood.PLAN, Mood.UNREAL) and not how.negated)):
        return
    if rules.words.has("retraction_cues", text):
        about = " ".join(content_stems(_whose(reading.clause.tokens), rules.words))
        yield reading.claim(TOPIC, (), ClaimKind.RETRACTION, "topic.taken_back", subject="", value=about, strong=False)
    elif rules.words.has("retraction_hints", f" {' '.join(words[:_HINT_WITHIN])} "):
        yield reading.claim(HINT, (), ClaimKind.RETRACTION, "hint", subject="", value="", strong=False)


def _may_take_back(said: Predicate, rules: CueRules) -> bool:
    """The speaker, what was said, or an imperative that was read as a subject: "forget what I said"."""
    first = said.subject.split()[:1]
    return said.subject in ("", "it", "that", "they") or bool(rules.words.lists["retraction_hints"] & set(first))


def _whose(tokens: Sequence[Token]) -> Iterator[str]:
    """Names behind "about" and "for": that what is taken back is of somebody else."""
    for before, token in pairwise(tokens):
        if before.word in ("about", "for") and token.is_capital and token.word != "i":
            yield token.word


def _raw_at(reading: Reading, tokens: Sequence[Token], rules: CueRules) -> Iterator[Claim]:
    words = [token.word for token in tokens]
    text, seen = " " + " ".join(words), set()
    if is_remote(text + " ", rules.words) or rules.words.has("past_times", text + " "):
        return
    new = rules.words.has("now_markers", text + " ")
    for template in (*(rules.raw.matching(words[0], words) if words else ()), *rules.raw.matching("", words)):
        if template.kind == "pause" and reading.until is None:
            continue
        key = (template.attribute, template.kind)
        if key in seen or (reading.unreal and not rules.is_request(template)):
            continue
        kind = _KINDS.get(template.kind)
        kind = ClaimKind.CHANGE if kind is ClaimKind.STATE and new else kind
        claim = _claim(reading, template, text, tokens, rules, kind, 0, subject="")
        if claim is not None:
            seen.add(key)
            yield claim


def attribute_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """By templates of predicates, one claim for each attribute."""
    text, seen = " " + said.text, set()
    for template in rules.by_verb.matching(said.verb, said.words):
        kind = _kind_under(_KINDS.get(template.kind), how)
        if template.attribute in seen or kind is None:
            continue
        if said.thing and not rules.attributes[template.attribute].of_things:
            continue
        claim = _claim(reading, template, text, said.rest, rules, kind, len(said.verb) + 1)
        if claim is not None:
            seen.add(template.attribute)
            yield replace(claim, attribute=f"{claim.attribute} of {said.thing[-1]}") if said.thing else claim


def value_claims(reading: Reading, said: Predicate, how: Modality, rules: CueRules) -> Iterator[Claim]:
    """We migrated to Postgres: a value that only one attribute has, behind a verb of having or changing."""
    moves = said.verb in rules.words.lists["switch_verbs"] and " to " in f" {said.text} "
    changes = moves or (said.verb in rules.words.lists["acquire_verbs"] and how.mood is Mood.PAST)
    if how.negated and not how.ended:
        return
    if not changes and said.verb not in rules.words.lists["value_verbs"]:
        return
    kind = _kind_under(ClaimKind.CHANGE if changes else ClaimKind.STATE, how)
    if kind is None:
        return
    start = said.words.index("to") + 1 if moves else 0
    if moves and start > 1 and said.words[0] not in _ALL_OF_IT:
        return
    seen: set[str] = set()
    for place in range(start, len(said.rest)):
        for size in (2, 1):
            name = rules.value_names.get(" ".join(said.words[place : place + size]))
            plain = said.rest[place].word in rules.words.lists["plain_values"] and not said.rest[place].is_capital
            if name is not None and name not in seen and not plain:
                seen.add(name)
                exclusive = rules.attributes[name].exclusive and (
                    kind is not ClaimKind.STATE or reading.until is not None
                )
                tokens = said.rest[place : place + size]
                behind = said.rest[place + size : place + size + 1]
                tokens += behind if behind and behind[0].word[:1].isdigit() else ()
                yield reading.claim(name, tokens, kind, f"{name}.values", exclusive=exclusive)


def _kind_under(kind: ClaimKind | None, how: Modality) -> ClaimKind | None:
    """What a template's match comes to under negation and tense; None for nothing."""
    if kind is ClaimKind.STATE:
        if how.negated or how.ended:
            return ClaimKind.END if how.mood is Mood.PRESENT or how.never else None
        if how.mood is Mood.PAST:
            return None
        return ClaimKind.CHANGE if how.now else ClaimKind.STATE
    return None if how.negated or how.mood is Mood.PLAN else kind


def _claim(
    reading: Reading,
    template: Template,
    text: str,
    tokens: Sequence[Token],
    rules: CueRules,
    kind: ClaimKind | None,
    offset: int,
    subject: str | None = None,
) -> Claim | None:
    match = template.match(text)
    if match is None:
        return None
    value = slot_tokens(match, tokens, offset)
    if template.attribute == TOPIC:
        return topic_claim(reading, template, value, rules, subject)
    if template.slot == "title":
        place = next(
            (at for at, token in enumerate(value) if at and token.word in ("at", "for", "in", "with")), len(value)
        )
        value = value[:place]
    if template.slot not in ("", "choice"):
        value = trimmed(value if template.slot == "when" else _before_date(value, rules), rules.words)
    if any(token.word in rules.attributes[template.attribute].never for token in value):
        return None
    if kind is None or (template.slot and not fits(template.slot, value, reading.written(value), rules)):
        return None
    one = rules.attributes[template.attribute]
    plain = template.means or (None if value or template.slot else match.group().strip())
    other = rules.opposites.get((template.attribute, template.means)) if kind is ClaimKind.END else None
    kind, plain = (ClaimKind.CHANGE, other) if other else (kind, plain)
    rule = f"{template.rule}{DENIAL}" if other else template.rule
    lasting = template.kind != "held" or kind is ClaimKind.CHANGE or reading.until is not None
    tail = () if one.personal or one.of_things or one.request or not template.slot else tail_stems(tokens, value, rules)
    name = f"{one.name} of {' '.join(sorted(tail))}" if tail else one.name
    return reading.claim(name, value, kind, rule, subject=subject, value=plain, exclusive=one.exclusive and lasting)


def _before_date(value: Sequence[Token], rules: CueRules) -> tuple[Token, ...]:
    """Lyon, of "Lyon in May"."""
    dates = rules.words.lists["date_words"]
    for place, (token, after) in enumerate(pairwise(value)):
        behind = [one.word for one in value[place + 1 : place + 3] if one.word not in ("the", "this", "last")]
        dated = after.word[:1].isdigit() or (bool(behind) and behind[0] in dates)
        if place and token.word in ("in", "on", "at", "over", "around", "by") and dated:
            return tuple(value[:place])
    return tuple(value)


def slot_tokens(match: re.Match[str], tokens: Sequence[Token], offset: int) -> tuple[Token, ...]:
    """The tokens in a template's slot, of text that has `offset` characters before their words."""
    if "value" not in match.re.groupindex or match.start("value") < 0:
        return ()
    place, found = 1 + offset, []
    for token in tokens:
        if match.start("value") <= place < match.end("value"):
            found.append(token)
        place += len(token.word) + 1
    return tuple(found)


def fits(slot: str, value: Sequence[Token], written: str, rules: CueRules) -> bool:
    """Whether a value is such as the slot of a template wants."""
    if not value:
        return False
    if slot == "place":
        return is_place(value, rules.words)
    if slot == "name":
        return is_name(value) and not any(token.word[:1].isdigit() for token in value)
    if slot == "school":
        return is_name(value) and any(token.word in rules.words.lists["schools"] for token in value)
    if slot == "gym":
        return any("gym" in token.word or "fitness" in token.word for token in value)
    if slot == "count":
        return value[0].word.isdigit() and len(value) == 1
    if slot == "title":
        return any(token.word in rules.words.lists["titles"] for token in value)
    sorts = _SORTS_OF_SLOT.get(slot)
    return sorts is None or any(one.sort in sorts for one in typed_values(written))


def topic_claim(
    reading: Reading, template: Template, value: Sequence[Token], rules: CueRules, subject: str | None = None
) -> Claim | None:
    """A topic begun, ended, disliked or taken back; None for one without content, or of too many words."""
    if "from {topic}" in template.text:
        value = value[: next((place for place, token in enumerate(value) if token.word == "to"), len(value))]
    kept = cut_topic(value, rules)
    if template.kind == "end" and value and value[0].word.endswith("ing") and rules.words.is_verb(value[0].word):
        kept = tuple(token for token in value[:5] if token.word not in rules.words.lists["prepositions"])
        value = kept
        kept = cut_topic(value, rules)
    kind = _TOPIC_KINDS.get(template.kind, ClaimKind.END)
    behind = value[len(kept)].word if len(kept) < len(value) else ""
    placed = bool(value) and value[0].word in ("at", "by", "in", "on", "for", "with", "near", "to")
    if template.kind in ("end", "start") and placed and "{topic}" in template.text:
        return None
    if (template.kind == "end" and behind in ("from", "than")) or (kept and kept[0].word in ("to", "i", "we")):
        return None
    if (
        template.kind == "deny"
        and behind in _PLACED
        and value[len(kept) + 1 :][:1]
        and value[len(kept) + 1].word in _ARTICLES
    ):
        return None
    topic = content_stems((token.word for token in kept), rules.words)
    shells = rules.vague_stems if kind is ClaimKind.RETRACTION else rules.vague_stems | rules.shell_stems
    if kind is not ClaimKind.RETRACTION:
        lasting = tuple(one for one in topic if one not in rules.time_stems)
        if topic and not lasting and template.kind == "end":
            return None
        topic = lasting or topic
    topic = tuple(one for one in topic if one not in shells) or topic
    if template.slot and (not topic or len(topic) > MOST_TOPIC_WORDS):
        return None
    rule = DENIED if template.kind == "deny" else template.rule
    if template.kind == "retract" and not template.slot:
        topic = content_stems(_whose(reading.clause.tokens), rules.words)
    return reading.claim(TOPIC, kept, kind, rule, subject=subject, value=" ".join(topic), strong=bool(topic))


def excluded_claims(claims: Sequence[Claim], rules: CueRules) -> Iterator[Claim]:
    """Who is a vegan now eats no meat: a value that ends topics of its own."""
    for claim in claims:
        if claim.kind in (ClaimKind.STATE, ClaimKind.CHANGE) and claim.value in rules.document["excludes"]:
            for topic in rules.document["excludes"][claim.value] or ():
                stems = " ".join(content_stems((topic,), rules.words))
                yield replace(claim, attribute=TOPIC, value=stems, kind=ClaimKind.END, exclusive=False, rule="excludes")


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
