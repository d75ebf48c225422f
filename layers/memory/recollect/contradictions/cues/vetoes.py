"""The last look at a relation: what leaves an older text unchanged, whatever words it shares with a newer one (P-24).

A wrong end of what still holds does more harm than one that is missed: so each of these rules alone is enough.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import lru_cache

from recollect.contradictions.cues.claims import (
    DETERMINERS,
    Claim,
    ClaimKind,
    Hit,
    Parsed,
    all_stems,
    clause_text,
    has_part,
    has_stem,
    noted,
    padded_words,
    span_words,
    weak_claims,
)
from recollect.contradictions.cues.clauses import content_stems, read_words
from recollect.contradictions.cues.documents import CueRules
from recollect.contradictions.cues.others import (
    begins_with_another,
    denies_another_value,
    denies_of_another_name,
    differs_twice,
    ends_another_name,
    ends_another_object,
    explains_another,
    frames_another_object,
    goes_elsewhere,
    has_another_role,
    is_by_another,
    is_denied_of_another,
    is_done_to_another,
    is_done_together,
    is_for_another,
    is_of_a_named_owner,
    is_of_another_owner,
    is_of_another_thing,
    is_of_anothers,
    is_of_some,
    is_only_of_others,
    is_taken_back_by_another,
    is_theirs,
    is_told_to_another,
    names_another_thing,
    only_frames_shared,
    takes_up_another,
    tells_other_amounts,
)
from recollect.contradictions.judge import RelationKind
from recollect.text.terms import stem

_SENTENCE_END = re.compile(r"[.!?\n]+\s")
_BEFORE = re.compile(
    r"(?:back )?(?:in|at|with|on) (?:my|our) (?:last|old|previous|former|first|childhood|student|training) (?!days?\b)"
    r"|at (?:the age of )?(?:\d{1,2}|ten|eleven|twelve|\w+teen|twenty|thirty),? (?:i|we) "
    r"|in (?:january|february|march|april|june|july|august|september|october|november|december)\b[^.;]* (?:was|were) "
    r"|(?:back )?(?:in|at) (?:(?:high|primary|middle|secondary) )?(?:school|college|uni|university)(?:,|,? (?:i|we)) "
    r"|in the (?:first|second|third|last) (?:week|month|days?) of \w+ (?:i|we) "
    r"|my (?:last|old|previous|former) (?!day|shift|week|one)[\w', ]+ (?:was|were|got|had|went) (?!wrong|a mistake)"
    r"|before (?:i|we) (?!forget|get|go|leave|start|continue|answer|begin|say)\w+"
    r"|(?:before|until|till|up to)\b[^.;]*\b(?:was|were|lived|had|did|worked|went|used)\b"
    r"|in the (?:week|month|days?) (?:before|after)\b[^.;]*\b(?:was|were|had)\b",
    re.IGNORECASE,
)
_THEN = re.compile(
    r" (?:at|in|during|for most of|through) (?:university|college|uni|high school|my (?:teens|twenties|thirties)) "
    r"| (?:in|at|on|with) (?:my|our) (?:old|last|previous|former|first|childhood) \w+ | during (?:my|our) "
    r"| when (?:i|we) (?:was|were) | as a (?:toddler|child|kid|boy|girl|teenager|student|teen) | by the time (?:i|we) "
    r"| back in | (?:years|months) before | in the \w+ days | at (?:primary|elementary|high|secondary) school "
)
_CHILDHOOD = re.compile(r" (?:my|our) childhood ")
_MONTHS = "january|february|march|april|may|june|july|august|september|october|november|december"
_LAST = f"last (?:spring|summer|autumn|fall|winter|year|{_MONTHS})"
_WHILE = r"for (?:\w+ ){1,3}(?:days?|weeks?|months?)"
_A_WHILE_THEN = re.compile(f" {_WHILE} {_LAST} | {_LAST} .*{_WHILE} ")
_NEVER_BEFORE = re.compile(r" never .* before (?:i|we|my|our) ")
_PAST_STATE = re.compile(
    r" (?:was|were) (?!\w+(?:ed|en|ne|ld|nt|ft|ught) |n't |not |made |set |cut |put |wrong |born )"
)
_TOO = re.compile(
    r" (?:as well|also|in addition|on top of|alongside|as an extra|as an additional) | as a second "
    r"| (?:left|have|got|bought|has) (?:a|an) (?:second|another|additional|extra) | too (?:now )?(?:[.!,] ?)?$"
)
_BESIDE = re.compile(
    r"(?:besides|next to|in addition to|on top of|apart from|alongside|beside) (?!that|this|me\b)", re.IGNORECASE
)
_QUESTION = re.compile(
    r"(?:did|do|does|have|has|is|are|was|were|should|what|why|how|who|where|when|which)\b[^?]*\?", re.IGNORECASE
)
_QUOTES = re.compile(r"[\"\u201c\u201d]")
_SAID_SO = re.compile(
    r"\b(?:goes|says|said|sings|sang|reads|read|wrote|writes|called|titled|headline|lyrics)\b\W{0,2}[\"\u201c]",
    re.IGNORECASE,
)
_DAYS = re.compile(r" ((?:mon|tues|wednes|thurs|fri|satur|sun)day|weekday|weekend)s?(?= )")
_NO_NEED = re.compile(r" (?:not|n't|never) (?:have|need|got) to ")
_INSTEAD_OF = re.compile(r" (?:not|n't|never) .* (?:instead of|rather than) ")
_SOME_DAY = re.compile(
    r" (?:hope|hopes|hoping|dream|dreaming|plan|plans|planning|intend|intends|aim|aims) (?:to|of) "
    r"| (?:want|wants|wanna) to (?!be called |be addressed |be reminded |stop getting |stop receiving |hear )"
    r"| (?:want|wants) (?:the|my|our|this|that) [\w ]+ to "
    r"| (?:may|might) (?:\w+ )?(?:find|turn|have|be|get|move|switch) "
    r"| should (?:try|start|think|consider) | (?:one of these days|some day|someday|one day|eventually|next year) "
    r"| in (?!the )\w+ years "
)
_ASKED_BACK = re.compile(
    r"\b(?:what|that) (?:i|we) (?:said|told you|mentioned)\b[^.?!]*,?"
    r" (?:is|was|does|do|did|are|would|should) [^.?!]*\?\s*$",
    re.IGNORECASE,
)


def is_of_before(hit: Hit) -> bool:
    """In my last company we replaced Slack; until I was twelve."""
    sentence = hit.newer.text[_sentence_start(hit.newer, hit.new) : hit.new.span[1]].lstrip()
    text = clause_text(hit.newer, hit.new)
    if _A_WHILE_THEN.search(text) or _NEVER_BEFORE.search(text):
        return True
    if _is_told_as_past(hit) and (_THEN.search(text) or _CHILDHOOD.search(text)):
        return True
    return tells_of_before(sentence)


def _is_told_as_past(hit: Hit) -> bool:
    return any(
        one.attribute == "was" and one.span[0] <= hit.new.span[0] < one.span[1] for one in weak_claims(hit.newer)
    )


def tells_of_before(sentence: str) -> bool:
    """Whether a sentence begins with a time that is over."""
    return _BEFORE.match(sentence) is not None


def _sentence_start(newer: Parsed, new: Claim) -> int:
    return max((end.end() for end in _SENTENCE_END.finditer(newer.text, 0, new.span[0])), default=0)


def is_past_state(hit: Hit) -> bool:
    """My old Fiat was mint green: a state that is over replaces none; what was moved did change."""
    text = clause_text(hit.newer, hit.new)
    if not hit.is_weak or hit.new.attribute != "was" or hit.kind is RelationKind.RETRACTS:
        return False
    found, words = _PAST_STATE.search(text), hit.rules.words
    if found is None or words.has("now_markers", text):
        return False
    return not any(words.is_finite(word) for word in text[: found.start()].split())


def is_hoped(hit: Hit) -> bool:
    """We plan to migrate in the autumn; I want to quit."""
    return _SOME_DAY.search(clause_text(hit.newer, hit.new)) is not None


def is_added(hit: Hit) -> bool:
    """My sister rents out a flat in Faro as well: beside, not instead."""
    if hit.new.kind is ClaimKind.END:
        return False
    return _TOO.search(clause_text(hit.newer, hit.new)) is not None or _BESIDE.match(hit.newer.text) is not None


def is_quoted(hit: Hit) -> bool:
    """A song that goes "I like spring best"."""
    before = len(_QUOTES.findall(hit.newer.text[: hit.new.span[0] + 1]))
    return before % 2 == 1 or _SAID_SO.search(hit.newer.text[: hit.new.span[1]]) is not None


def is_asked(hit: Hit) -> bool:
    """Did I say that my email is another one?"""
    return _QUESTION.match(hit.newer.text[_sentence_start(hit.newer, hit.new) :].lstrip()) is not None


def asks_what_was_said(hit: Hit) -> bool:
    """What I said about earning 52,000, is that above average?"""
    return hit.kind is RelationKind.RETRACTS and _ASKED_BACK.search(hit.newer.text) is not None


def is_on_other_days(hit: Hit) -> bool:
    """From home on Fridays, from the office on Mondays: a value that is no day, on days that have nothing in common."""
    told = [one for one in hit.new.value.split() if one.isalpha() and stem(one) not in hit.rules.time_stems]
    if hit.is_weak or not hit.new.exclusive or not told or hit.new.rule.startswith(("topic.", "thing.")):
        return False
    ours, theirs = (set(_DAYS.findall(clause_text(*one))) for one in ((hit.older, hit.old), (hit.newer, hit.new)))
    return bool(ours and theirs) and not ours & theirs


def is_not_instead(hit: Hit) -> bool:
    """I'm not taking ibuprofen instead; I don't have to be off coffee."""
    text = clause_text(hit.newer, hit.new)
    if _INSTEAD_OF.search(text) is not None:
        return True
    return hit.kind is RelationKind.OVERRIDES and _NO_NEED.search(text) is not None


_NOT = frozenset({"not", "n't", "never", "dont", "didnt", "havent", "hasnt", "isnt", "wont", "wasnt", "no"})
_BETWEEN = frozenset(
    {
        "be", "been", "being", "have", "had", "to", "going", "gonna", "about", "planning", "plans", "plan", "intention",
        "intend", "of", "want", "wanting", "need", "thinking", "yet", "even", "ever", "really", "actually", "just",
        "ask", "asked", "me", "you", "them", "completely", "quite", "all",
    }
)  # fmt: skip
_NOT_TRUE = re.compile(
    r"(?:(?:not|n't) (?:true|right|correct|the case|as if|as though|say)|never (?:said|claimed|told you|wrote)"
    r"|(?:false|wrong|a lie|nonsense|a rumou?r|untrue) that)"
    r" (?:that )?(?=(?:i|we|my|our|the|he|she|they|it|(?-i:[A-Z])\w+)\b)([^.,;!?\n]+)",
    re.IGNORECASE,
)
_NOT_WRONG = re.compile(r" (?:not|n't) (?:get|have|read|say|tell|write) [^,.;]{0,50} (?:wrong|incorrectly) ")
_EXPLAINS = re.compile(r"(?:it|that|this)(?:'s| is| was)\b", re.IGNORECASE)
_NOUN_FOLLOWS = DETERMINERS | {"any"}
_INTO = frozenset({"to", "into", "onto"})
_EXCHANGED = frozenset({"replace", "swap", "exchange", "trade"})
_FOR = frozenset({"with", "for", "by"})
_BEHIND = 5


def denies_its_cue(hit: Hit) -> bool:
    """Whether the clause denies a change or an end of which the older text does not speak."""
    return _denies_cue(hit.older, hit.newer, hit.new, hit.rules)


def explains_what_is_denied(hit: Hit) -> bool:
    """The budget wasn't cut, it's only a rumour: a clause that says what it was instead."""
    if _EXPLAINS.match(hit.newer.text[slice(*hit.new.span)].lstrip(" ,;")) is None:
        return False
    return any(_denies_cue(hit.older, hit.newer, one, hit.rules) for one in weak_claims(hit.newer))


def denies_as_well(hit: Hit) -> bool:
    """No dog here, where there were no animals: two denials do not contradict each other."""
    if hit.new.kind is not ClaimKind.END or hit.kind is RelationKind.RETRACTS:
        return False
    return any(one.kind is ClaimKind.END and one.span == hit.old.span for one in weak_claims(hit.older))


def denies_something_else(hit: Hit) -> bool:
    """Whether it calls untrue what the older text does not say: "it's not true that I left the choir"."""
    untrue = noted(hit.newer, "untrue", hit.rules, lambda: list(_untrue(hit.newer, hit.rules)))
    known = all_stems(hit.older, hit.rules)
    denied = hit.old.kind is ClaimKind.END
    return any(over or denied or not all(has_part(known, one, hit.rules) for one in stems) for over, stems in untrue)


def denies_a_mistake(newer: Parsed, rules: CueRules) -> bool:
    """Whether the text says that it takes nothing back: "I wasn't kidding", "don't forget about the deadline"."""
    return noted(newer, "denied mistakes", rules, lambda: _denies_a_mistake(newer, rules))


def _denies_a_mistake(newer: Parsed, rules: CueRules) -> bool:
    return rules.words.has("denied_mistakes", padded_words(newer)) or _NOT_WRONG.search(padded_words(newer)) is not None


def _denies_cue(older: Parsed, newer: Parsed, claim: Claim, rules: CueRules) -> bool:
    found = noted(newer, ("denied cues", claim.span), rules, lambda: list(_denied(newer, claim, rules)))
    return any(_is_left(older, verb, behind, rules) for verb, behind in found)


def _untrue(newer: Parsed, rules: CueRules) -> Iterator[tuple[bool, tuple[str, ...]]]:
    """What it calls untrue: whether that is an end, and the stems of what it says."""
    for found in _NOT_TRUE.finditer(newer.text):
        words = read_words(found[1])
        text = f" {' '.join(word.lower() for word in words)} "
        stems = (one for one in content_stems(words, rules.words) if one not in rules.vague_stems)
        yield rules.words.has("end_markers", text) or rules.words.has("lost_words", text), tuple(stems)


def _is_left(older: Parsed, verb: str, behind: Sequence[str], rules: CueRules) -> bool:
    """Not where the older text says that it was done, or names where to: "I never moved to Lyon"."""
    one = next(iter(content_stems((verb,), rules.words)), verb)
    if has_stem(all_stems(older, rules), one, rules):
        return False
    joined = _INTO | _FOR if rules.words.lemma(verb) in _EXCHANGED else _INTO
    place = next((place for place, word in enumerate(behind) if word in joined), len(behind))
    named = content_stems(behind[place + 1 : place + 4], rules.words)
    return not named or not all(has_stem(all_stems(older, rules), one, rules) for one in named)


def _denied(newer: Parsed, claim: Claim, rules: CueRules) -> Iterator[tuple[str, tuple[str, ...]]]:
    """Each verb of change that the clause denies, with the words behind it."""
    words = [word.lower() for word in span_words(newer, claim.span)]
    for place in range(1, len(words)):
        if _is_cue(words, place, rules) and _is_denied(words, place):
            yield words[place], tuple(words[place + 1 : place + 1 + _BEHIND])


def _is_denied(words: Sequence[str], place: int) -> bool:
    """Whether a negation stands before it, with nothing but auxiliaries between."""
    for before in reversed(words[:place]):
        if before in _NOT:
            return True
        if before not in _BETWEEN and not before.endswith("ly"):
            return False
    return False


def _is_cue(words: Sequence[str], place: int, rules: CueRules) -> bool:
    """A verb of change or of ending; "give" and "take" only with what they are said with."""
    if words[place - 1] in _NOUN_FOLLOWS:
        return False
    verb, cues = rules.words.lemma(words[place]), rules.words.lists["denied_cues"]
    known = verb in cues or stem(words[place]) in _stems(cues)
    return known or any(f"{verb} {one}" in cues for one in words[place + 1 : place + 5])


@lru_cache(maxsize=8)
def _stems(cues: frozenset[str]) -> frozenset[str]:
    return frozenset(stem(one) for one in cues if " " not in one)


_WHAT = r" (?P<what>(?:[^.,;!?\n]|[.,](?=\S))+)"
_NAMED = tuple(
    re.compile(before + _WHAT, re.IGNORECASE)
    for before in (
        r"\b(?:forget|ignore|disregard|scratch|scrap|strike|never ?mind|take back|taking back|delete|erase|withdraw)",
        r"\b(?:wrong|mistaken|confused|mixed up) about",
        r"\b(?:mistake|error|typo|slip) (?:in|with|about|on)",
        r"\bwhat i (?:said|told you|mentioned|wrote)(?: \w+)? about",
    )
)
_CUT = frozenset({"and", "but", "because", "so", "that", "which", "is", "was", "were", "are", "isn't", "wasn't", "n't"})


def takes_back_another(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Whether it names what it takes back, and the older text has no word for a part of that."""
    topics = noted(newer, "named back", rules, lambda: tuple(_named(newer.text, rules)))
    return bool(topics) and not any(_speaks_of(older, stems, rules) for stems in topics)


def _named(text: str, rules: CueRules) -> Iterator[tuple[str, ...]]:
    """The stems of what is to be forgotten, without words of telling and a verb that it begins with."""
    for found in (found for pattern in _NAMED for found in pattern.finditer(text)):
        words = _told(read_words(found["what"]), rules)
        cut = next((place for place, word in enumerate(words) if word.lower() in _CUT), len(words))
        done = cut > 1 and rules.words.is_verb(words[0].lower())
        stems = content_stems(words[1 if done else 0 : cut], rules.words)
        named = tuple(one for one in stems if one not in rules.idle_stems | rules.time_stems)
        if named:
            yield named


def _told(words: Sequence[str], rules: CueRules) -> list[str]:
    """Without words of telling, but for what somebody or something has: the shelter's new address."""
    if any(word.endswith("'s") for word in words):
        return list(words)
    return [word for word in words if word.lower() not in rules.words.lists["telling_nouns"]]


def _speaks_of(older: Parsed, stems: Sequence[str], rules: CueRules) -> bool:
    known = all_stems(older, rules)
    attributes = {claim.attribute for claim in older.claims if claim.rule != "weak"}
    return all(has_part(known, one, rules) or rules.about.get(one, frozenset()) & attributes for one in stems)


_RULES = (
    denies_its_cue,
    explains_what_is_denied,
    denies_as_well,
    denies_something_else,
    names_another_thing,
    begins_with_another,
    differs_twice,
    only_frames_shared,
    ends_another_object,
    denies_another_value,
    frames_another_object,
    takes_up_another,
    goes_elsewhere,
    tells_other_amounts,
    ends_another_name,
    denies_of_another_name,
    is_of_anothers,
    is_theirs,
    is_done_to_another,
    is_denied_of_another,
    is_by_another,
    is_for_another,
    is_of_some,
    is_done_together,
    is_only_of_others,
    is_told_to_another,
    explains_another,
    is_of_another_owner,
    has_another_role,
    is_hoped,
    is_of_before,
    is_past_state,
    is_added,
    is_quoted,
    is_asked,
    asks_what_was_said,
    is_on_other_days,
    is_not_instead,
)


def leaves_alone(hit: Hit) -> bool:
    """Whether the newer clause does nothing to the older one after all."""
    return any(rule(hit) for rule in _RULES) or (hit.kind is RelationKind.RETRACTS and _takes_nothing_back(hit))


def is_another_part(older: Parsed, newer: Parsed, rules: CueRules) -> bool:
    """Whether a clause of the newer text is of another thing of the same kind: then it changes no part of this one."""
    return any(is_of_another_thing(older, newer, one.span, rules) for one in weak_claims(newer))


def _takes_nothing_back(hit: Hit) -> bool:
    """Whether it takes back something else, or nothing: any of its clauses may tell."""
    if is_taken_back_by_another(hit) or denies_a_mistake(hit.newer, hit.rules):
        return True
    if takes_back_another(hit.older, hit.newer, hit.rules):
        return True
    clauses = [replace(hit, new=one) for one in weak_claims(hit.newer)]
    if any(is_of_a_named_owner(one) or denies_its_cue(one) for one in clauses):
        return True
    return any(ends_another_name(replace(one, old=old)) for one in clauses for old in weak_claims(hit.older))
