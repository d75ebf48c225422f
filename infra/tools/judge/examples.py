"""What the judge learns from: pairs of a newer message and an older one, with what the newer does to the older.

Pairs that were written side by side (`relation-pairs`, the project's own cases), and pairs of conversations whose
changes are labelled (`talks`). A group is one writer's items: a fold never splits one.
"""

import json
import re
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any, Final

from recollect.contradictions.trained import NEWER_TOKENS, OLDER_TOKENS, parts_read

SECOND_READING: Final = Path(__file__).with_name("second_reading.jsonl")
PAIRS: Final = Path(__file__).with_name("pairs")
OTHER_MATTER: Final = "other_matter"
"""The kind of a pair whose newer message is a change, and not of this older one."""
TURNED: Final = "turned"
"""The kind of a pair whose older message is another's, or of another thing, and whose newer one is one's own change."""
_BESIDE_OTHERS: Final = 0.6
"""What a pair of two matters of one person weighs: there are nine of them for each change."""
LASTING: Final = "lasting"
"""The kind of an example that is a message alone, labelled by whether it is worth keeping."""
LABELS: Final = {"none": 0, "replaces": 1, "ends": 2, "part": 3}
_CASES: Final = {"replacement": 1, "polarity": 2, "retraction": 2, "partial": 3}
"""By shape; a bounded change is left out, since a date reader decides it."""


_NEARLY_ALL = 0.7
_KNOWN_BY = 16
"""Characters by which a part that is read at once is known to hold labelled words."""
ONLY = re.compile(r"\b(?:week|day|month|weekend|time|once|today|days|weeks) only\b")
"""The kinds of what holds for a while only, in the months."""


@dataclass(frozen=True, slots=True)
class Example:
    """A pair; `old` is empty where a message is asked about alone, whether it changes anything."""

    group: str
    lang: str
    new: str
    old: str
    label: int
    kind: str
    weight: float = 1.0


@dataclass(frozen=True, slots=True)
class Talk:
    """A conversation: its turns as (role, text), and by (newer place, older place) the labels of `changes`.

    `unsure` are pairs that its two readers do not agree about.
    """

    id: str
    group: str
    lang: str
    turns: tuple[tuple[str, str], ...]
    changes: dict[tuple[int, int], int]
    near: frozenset[tuple[int, int]]
    unsure: frozenset[tuple[int, int]] = frozenset()

    @property
    def users(self) -> list[int]:
        """The places of the user's turns."""
        return [place for place, (role, _) in enumerate(self.turns) if role == "user"]

    def example(self, new: int, old: int) -> Example:
        """The pair of two turns; a pair that is no change stands."""
        kind = "near" if (new, old) in self.near else "talk"
        texts = self.turns[new][1], self.turns[old][1]
        return Example(self.group, self.lang, *texts, self.changes.get((new, old), 0), kind)


def by_name(given: Iterable[str]) -> dict[str, float]:
    """Shares or factors of kinds and groups, as `month=.3`."""
    return {name: float(value) for name, value in (one.split("=") for one in given)}


def relation_pairs(folder: Path) -> Iterator[Example]:
    """The pairs of a folder in the form of `shared/data/relation-pairs`, or of persons."""
    for path in sorted(folder.glob("*.jsonl")):
        for line in path.read_text("utf-8").splitlines():
            item = json.loads(line)
            yield from _of_person(path.stem, item) if "facts" in item else _of_item(path.stem, item)


def _of_item(group: str, item: Mapping[str, Any]) -> Iterator[Example]:
    for pair in item["pairs"]:
        yield Example(group, item["lang"], pair["new"], item["old"], LABELS[pair["relation"]], pair["kind"])


def _of_person(group: str, person: Mapping[str, Any]) -> Iterator[Example]:
    """Each newer message against each fact of one person."""
    for told in person["news"]:
        for place, fact in enumerate(person["facts"]):
            if place in told["ends"]:
                yield Example(group, person["lang"], told["text"], fact, LABELS[told["relation"]], told["kind"])
            else:
                kind = OTHER_MATTER if told["ends"] else told["kind"]
                yield Example(group, person["lang"], told["text"], fact, 0, kind, weight=_BESIDE_OTHERS)


def written(data: Path) -> list[Example]:
    """All pairs that were written side by side: those of `shared/data` and the project's own."""
    return [*relation_pairs(data / "relation-pairs"), *relation_pairs(PAIRS)]


@dataclass(frozen=True, slots=True)
class Part:
    """Words of a message, as its id and the words."""

    id: str
    words: str


@dataclass(frozen=True, slots=True)
class Month:
    """One person's messages, most with several matters; what ends what is labelled by the words of both messages.

    `near` has of what only sounds like a change its kind.
    """

    id: str
    group: str
    lang: str
    messages: dict[str, str]
    changes: dict[tuple[Part, Part], int]
    near: dict[tuple[Part, Part], str]
    lasting: frozenset[Part]

    def labelled(self) -> Iterator[Example]:
        """Each labelled pair in three sizes: the words, the words against a part of the older message as the product
        reads it, two parts."""
        told = [(pair, label, "month") for pair, label in self.changes.items()]
        for (new, old), label, kind in [*told, *((pair, 0, "month_near") for pair in self.near)]:
            yield Example(self.group, self.lang, new.words, old.words, label, kind)
            for older in self._holding(old, OLDER_TOKENS):
                within = label and _within(label, old, older)
                told_in = [one for one in self._holding(new, NEWER_TOKENS) if label or not self.touches(one, older)]
                yield from (Example(self.group, self.lang, one, older, within, kind) for one in (new.words, *told_in))

    def touches(self, newer: str, older: str) -> bool:
        """Whether these parts of messages hold words of a change and words that it ends."""
        return any(begins_in(new, newer) and begins_in(old, older) for new, old in self.changes)

    def _holding(self, words: Part, most_tokens: int) -> list[str]:
        """The parts of a message that are read at once and hold these words."""
        return [one for one in parts_read(self.messages[words.id], most_tokens) if begins_in(words, one)]


def _within(label: int, old: Part, older: str) -> int:
    """What happens to what is read at once: a part of it changes, unless the words are nearly all of it."""
    return label if len(old.words) > _NEARLY_ALL * len(older) else LABELS["part"]


def begins_in(words: Part, text: str) -> bool:
    """Whether a part that is read at once holds these words, which may go on behind it."""
    return words.words[:_KNOWN_BY] in text


def months(folder: Path) -> Iterator[Month]:
    """The months of a folder."""
    for path in sorted(folder.glob("*.json")):
        raw = _read(path)
        changes = {
            (Part(change["by"], change["part"]), Part(of["id"], of["part"])): LABELS[of["relation"]]
            for change in raw["changes"]
            for of in change["of"]
        }
        near = {(Part(one["by"], one["part"]), Part(one["of"], one["of_part"])): one["kind"] for one in raw["near"]}
        yield Month(
            id=raw["id"],
            group=raw["writer"],
            lang=raw["lang"],
            messages={one["id"]: one["text"] for one in raw["messages"]},
            changes=changes,
            near=near,
            lasting=frozenset(Part(one["id"], one["part"]) for one in raw["lasting"]),
        )


def lasting(folder: Path) -> Iterator[Example]:
    """Messages alone, by whether they are worth keeping; those that people would disagree about are left out."""
    for path in sorted(folder.glob("*.jsonl")):
        for row in map(json.loads, path.read_text("utf-8").splitlines()):
            if row["keep"] in (0, 1):
                yield Example(path.stem, row["lang"], row["text"], "", row["keep"], LASTING)


def cases(folder: Path) -> Iterator[Example]:
    """The project's own in `cases`: short, English, easier."""
    for row in _read(folder / "cases.json"):
        twin, old = row["twin"], row["earlier"]["text"]
        if row["shape"] in _CASES:
            yield Example("cases", "en", row["later"]["text"], old, _CASES[row["shape"]], row["shape"])
            yield Example("cases", "en", twin["later"]["text"], twin.get("earlier", row["earlier"])["text"], 0, "twin")
    for writer, shape, _, _, old, new, near_kind, near in _read(folder / "acceptance.json"):
        if shape in _CASES:
            yield Example(f"cases-{writer}", "en", new, old, _CASES[shape], shape)
        yield Example(f"cases-{writer}", "en", near, old, 0, near_kind)
    for _, old, _, kind, text in _read(folder / "near_misses.json"):
        yield Example("near", "en", text, old, 0, kind)


def for_a_while(data: Path, folder: Path, told: Iterable[Month], held: Set[str]) -> dict[str, bool]:
    """Messages of the writers who are not held, by whether what each says holds for a while only."""
    found = {one.new: one.kind == "temporary" for one in written(data) if one.group not in held}
    found |= {row["later"]["text"]: True for row in _read(folder / "cases.json") if row["shape"] == "bounded"}
    found |= {row[5]: True for row in _read(folder / "acceptance.json") if row[1] == "bounded"}
    for month in told:
        if not held & {month.group, month.id}:
            found |= {new.words: False for new, _ in month.changes}
            found |= {new.words: True for (new, _), kind in month.near.items() if ONLY.search(kind)}
    return found


def talks(folder: Path) -> Iterator[Talk]:
    """The conversations of a folder; those of natural-dev have no `changes`."""
    for path in sorted(folder.glob("*.json")):
        raw = _read(path)
        place = {turn["id"]: number for number, turn in enumerate(raw["turns"])}
        changes = {
            (place[change["by"]], place[of["id"]]): LABELS[of["relation"]]
            for change in raw.get("changes", ())
            for of in change["of"]
        }
        near = frozenset((place[one["by"]], place[one["of"]]) for one in raw.get("near", ()))
        turns = tuple((turn["role"], turn["text"]) for turn in raw["turns"])
        yield _read_again(Talk(raw["id"], raw.get("writer", raw["id"]), raw["lang"], turns, changes, near), place)


def _read_again(talk: Talk, place: Mapping[str, int]) -> Talk:
    """With what a second reader found, who saw messages alone; what they doubt is left out."""
    changes, near, unsure = dict(talk.changes), set(talk.near), set[tuple[int, int]]()
    for row in _second_reading().get(talk.id, ()):
        pair = place[row["by"]], place[row["of"]]
        changes.pop(pair, None)
        near.discard(pair)
        if row["relation"] == "unsure":
            unsure.add(pair)
        elif LABELS[row["relation"]]:
            changes[pair] = LABELS[row["relation"]]
    return replace(talk, changes=changes, near=frozenset(near), unsure=frozenset(unsure))


@cache
def _second_reading() -> Mapping[str, Sequence[Mapping[str, str]]]:
    """By talk the rows of the file."""
    found: dict[str, list[Mapping[str, str]]] = defaultdict(list)
    for row in map(json.loads, SECOND_READING.read_text("ascii").splitlines()):
        found[row["talk"]].append(row)
    return found


def stale_turns(path: Path) -> dict[int, set[int]]:
    """By each user's turn that a question calls stale: the later turns that a question names as evidence beside it."""
    raw = _read(path)
    place = {turn["id"]: number for number, turn in enumerate(raw["turns"])}
    found: dict[int, set[int]] = {}
    for question in raw["questions"]:
        for stale in (place[one] for one in question["stale"]):
            if raw["turns"][stale]["role"] == "user":
                later = {place[one] for one in question["evidence"] if place[one] > stale}
                found.setdefault(stale, set()).update(later)
    return found


def _read(path: Path) -> Any:
    return json.loads(path.read_text("utf-8"))
