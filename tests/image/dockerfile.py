"""A Dockerfile and its .dockerignore, read as far as ours go."""

import json
import re
import shlex
from dataclasses import dataclass
from fnmatch import fnmatch
from pathlib import Path, PurePosixPath


@dataclass(frozen=True, slots=True)
class Instruction:
    """One instruction: its stage, its word, and what stands behind that on one line."""

    stage: str
    word: str
    rest: str

    @property
    def arguments(self) -> list[str]:
        """Its words, without flags; of the JSON form its strings."""
        if self.rest.startswith("["):
            return list(json.loads(self.rest))
        return [word for word in shlex.split(self.rest) if not word.startswith("--")]


def instructions(text: str) -> list[Instruction]:
    """All, in order; those before the first stage belong to the stage "". Comments are left out."""
    lines = "\n".join(line for line in text.splitlines() if not line.lstrip().startswith("#"))
    stage, found = "", []
    for line in re.sub(r"\\\n\s*", "", lines).splitlines():
        if not line.strip():
            continue
        word, _, rest = line.partition(" ")
        if word == "FROM":
            stage = rest.partition(" AS ")[2]
        found.append(Instruction(stage, word, rest.strip()))
    return found


def environment(found: list[Instruction], *stages: str) -> dict[str, str]:
    """What ENV sets in these stages."""
    pairs = [pair for one in found if one.word == "ENV" and one.stage in stages for pair in one.arguments]
    return dict(pair.split("=", 1) for pair in pairs)


def is_sent(path: str, ignore: str) -> bool:
    """Whether a file of the checkout is sent to a build: the last rule that names it, or a folder above it, decides."""
    sent = True
    for rule in filter(None, (line.strip() for line in ignore.splitlines())):
        if not rule.startswith("#") and _names(rule.removeprefix("!"), path):
            sent = rule.startswith("!")
    return sent


def _names(rule: str, path: str) -> bool:
    places = [path, *map(str, PurePosixPath(path).parents)]
    if rule.startswith("**/"):
        return any(fnmatch(PurePosixPath(place).name, rule[3:]) for place in places)
    return any(fnmatch(place, rule) and place.count("/") == rule.count("/") for place in places)


def context_of(checkout: Path, ignore: str, sources: list[str]) -> list[str]:
    """The files that these sources of a COPY bring, of those that are sent."""
    files = [
        str(path.relative_to(checkout))
        for source in sources
        for path in [checkout / source, *(checkout / source).rglob("*")]
        if path.is_file()
    ]
    return [path for path in files if is_sent(path, ignore)]
