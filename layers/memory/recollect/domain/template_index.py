"""Templates by the verb or the word that they begin with, read when such a clause comes for the first time.

The rules have thousands of them, of which a text needs a few: read all at once they would cost half a second at every
cold start.
"""

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass, field

from recollect.domain.cue_templates import Template, read_template

_ANY = ""


@dataclass(frozen=True, slots=True)
class TemplateSource:
    """A template as it is written, and what is said of it in `Template`."""

    text: str
    attribute: str
    kind: str
    means: str = ""

    @property
    def is_raw(self) -> bool:
        """Whether it is matched against a whole clause."""
        return self.text.startswith("= ")

    @property
    def firsts(self) -> tuple[str, ...]:
        """The words that it may begin with; none where any may stand there."""
        first = self.text.removeprefix("= ").split()[0]
        return () if first.startswith(("{", "(", "<")) else tuple(first.split("|"))

    def read(self) -> Template:
        """The template. Raises InvalidInput for one that cannot be read."""
        return read_template(self.text, f"{self.attribute}.{self.kind}", self.attribute, self.kind, self.means)


@dataclass(slots=True)
class _Read:
    """Templates of one first word, each under the words of which it needs one."""

    templates: Sequence[Template]
    by_need: dict[str, list[int]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for place, template in enumerate(self.templates):
            for word in template.needs or (_ANY,):
                self.by_need.setdefault(word, []).append(place)

    def matching(self, words: Iterable[str]) -> Iterator[Template]:
        places = {place for word in (_ANY, *words) for place in self.by_need.get(word, ())}
        return (self.templates[place] for place in sorted(places))


class TemplateIndex:
    """`sources` in the order of the rules, in which they are tried."""

    def __init__(self, sources: Iterable[TemplateSource]) -> None:
        self._sources: dict[str, list[TemplateSource]] = {}
        self._read: dict[str, _Read] = {}
        for source in sources:
            for first in source.firsts or (_ANY,):
                self._sources.setdefault(first, []).append(source)

    @property
    def firsts(self) -> frozenset[str]:
        """The words that its templates begin with."""
        return frozenset(self._sources) - {_ANY}

    def matching(self, first: str, words: Collection[str]) -> Iterator[Template]:
        """Those that begin with that word, or with any where it is empty, and may match a clause of these words."""
        if first not in self._sources:
            return iter(())
        if first not in self._read:
            self._read[first] = _Read([source.read() for source in self._sources[first]])
        return self._read[first].matching(words)
