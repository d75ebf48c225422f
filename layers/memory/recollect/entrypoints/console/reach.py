"""What a change of words reaches beyond them: sentences of summaries, goals, and what else says the same."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from recollect.entrypoints.console.api import user_path
from recollect.entrypoints.console.visit import Visit
from recollect.retrieval.reasons import RELATED

_SUMMARIES = 20
_SENTENCES = 40
_GOALS = 20
_LOOKED_AT = 10
_ECHOES = 5
_ASKED_CHARACTERS = 2_000


@dataclass(frozen=True, slots=True)
class Derived:
    """What rests on some events: of the newest twenty summaries `count` sentences, and the goals.

    `told` and `goals` are those that a page shows: `more` others there are.
    """

    told: list[tuple[Mapping[str, Any], list[str]]]
    goals: list[Mapping[str, Any]]
    count: int
    goal_count: int

    @property
    def more(self) -> int:
        """How many sentences and goals are not shown."""
        shown = sum(len(sentences) for _, sentences in self.told)
        return self.count - shown + self.goal_count - len(self.goals)


def derived_of(visit: Visit, event_ids: set[str]) -> Derived:
    """What the newest summaries and the goals have of these events; two reads."""
    user_id = visit.ids["user_id"]
    summaries = visit.api.get(user_path(user_id, "summaries"), limit=_SUMMARIES)["summaries"]
    told = [(one, [said["text"] for said in one["sentences"] if _rests(said, event_ids)]) for one in summaries]
    goals = visit.api.get(user_path(user_id, "goals"))["goals"]
    resting = [one for one in goals if _rests(one, event_ids)]
    shown = [(one, sentences[: visit.most(_SENTENCES)]) for one, sentences in told if sentences]
    count = sum(len(sentences) for _, sentences in told)
    return Derived(shown[: visit.most(_SUMMARIES)], resting[: visit.most(_GOALS)], count, len(resting))


def _rests(one: Mapping[str, Any], event_ids: set[str]) -> bool:
    return not event_ids.isdisjoint(one["source_event_ids"])


def sources_in(memory: Mapping[str, Any]) -> set[str]:
    """The ids by which summaries name what a memory says."""
    return {memory["id"], *memory["source_event_ids"]}


def echoes_of(visit: Visit, content: str, known: set[str]) -> list[Mapping[str, Any]]:
    """At most five other records that say something related, by one search; an assistant's answer may be one."""
    question = content.strip()[:_ASKED_CHARACTERS]
    asked = {"user_id": visit.ids["user_id"], "query": question, "top_k": _LOOKED_AT, "explain": True}
    found = visit.api.send("POST", "/v1/search", asked, is_asked_for=False).document["results"]
    related = [one for one in found if similarity_of(one) >= RELATED and known.isdisjoint(sources_in(one))]
    return related[:_ECHOES]


def similarity_of(hit: Mapping[str, Any]) -> float:
    """The calibrated similarity of question and hit, 0 to 1; 0 where nothing embeds."""
    return float(hit["scores"].get("similarity", 0.0))
