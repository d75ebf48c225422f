"""The first `RelationJudge`: cue rules read both statements, and their claims tell what one does to the other."""

from collections.abc import Sequence
from datetime import datetime
from functools import lru_cache

from recollect.contradictions.bounds import Bound
from recollect.contradictions.cues.claims import Claim, ClaimKind, Parsed
from recollect.contradictions.cues.documents import default_cue_rules
from recollect.contradictions.cues.reading import first_that_binds, read_claims
from recollect.contradictions.cues.relations import relate
from recollect.contradictions.cues.retractions import takes_back
from recollect.contradictions.cues.statements import may_say_otherwise
from recollect.contradictions.relation import Profile, Relation, RelationKind, Said, TimeBound

BY_KEY = "key.retraction"
_CACHED = 512
_CACHED_CLAIMS = 2048
_LONGEST_CACHED = 2048
"""Characters; longer texts are parsed anew each time: so many of them would take too much memory."""


class CueJudge:
    """Parses each text once while it is among the last 512: a text is compared with many others."""

    def profile(self, said: Said) -> Profile:
        """What the claims of the text come to."""
        parsed = parse(said)
        return Profile(
            states=bool(parsed.claims),
            may_end=any(map(_ends_something, parsed.claims)) or _may_end_plainly(parsed),
            retracts=any(one.kind is ClaimKind.RETRACTION for one in parsed.claims),
            recognised=any(one.strong for one in parsed.claims),
            bounds=tuple(TimeBound(one.span, one.until, one.rule) for one in parsed.claims if one.until is not None),
        )

    def judge(self, newer: Said, older: Sequence[Said]) -> list[Relation | None]:
        """Of each older one: what both claim decides; else a retraction of the key's value before."""
        parsed = parse(newer)
        return [self._relation(parse(one), parsed, newer.follows) for one in older]

    def holds_until(self, text: str, at: datetime, bounds: Sequence[Bound]) -> datetime | None:
        """The end of the bound that the whole text has, of `bounds` that it names; without any what "then" means."""
        if bounds:
            binding = first_that_binds(text, bounds)
            return binding.until if binding is not None else None
        claims = read_claims(text, at, default_cue_rules())
        return max((claim.until for claim in claims if claim.until is not None), default=None)

    def _relation(self, older: Parsed, newer: Parsed, follows: str | None) -> Relation | None:
        rules = default_cue_rules()
        found = relate(older, newer, rules)
        if found is not None and found.kind is RelationKind.RETRACTS:
            return found
        if older.id == follows and takes_back(older.text, newer, rules.words):
            return Relation(kind=RelationKind.RETRACTS, rule=BY_KEY, ended=((0, len(older.text)),))
        return found


def parse(said: Said) -> Parsed:
    """The text with its claims; the same object again while it is among the last 512, with what was found in it."""
    if len(said.text) > _LONGEST_CACHED:
        return Parsed(said.id, said.text, said.at, said.speaker, _claims(said.text, said.at))
    return _parsed(said.id, said.text, said.at, said.speaker)


@lru_cache(maxsize=_CACHED)
def _parsed(record_id: str, text: str, at: datetime, speaker: str) -> Parsed:
    return Parsed(record_id, text, at, speaker, _claims_once(text, at))


def _claims(text: str, at: datetime) -> tuple[Claim, ...]:
    return read_claims(text, at, default_cue_rules())


_claims_once = lru_cache(maxsize=_CACHED_CLAIMS)(_claims)


def _ends_something(claim: Claim) -> bool:
    return claim.kind is not ClaimKind.STATE or claim.exclusive or claim.until is not None


def _may_end_plainly(parsed: Parsed) -> bool:
    """Whether it may end a plain statement that no rule knows; a text without a verb or a cue ends nothing."""
    stating = any(claim.attribute != "bit" for claim in parsed.claims)
    return stating and may_say_otherwise(parsed, default_cue_rules())
