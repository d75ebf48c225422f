"""Clauses that tell nothing new of how things are: of a time before, planned, asked, quoted, or said beside (P-24)."""

import re

from recollect.domain.claims import Claim, ClaimKind, RelationKind, Said
from recollect.domain.hits import Hit
from recollect.domain.told_words import clause_text, weak_claims
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


def _sentence_start(newer: Said, new: Claim) -> int:
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
