"""Variables of the environment whose name begins as ours do, and which nothing reads: most likely misspelt."""

import os
from collections.abc import Mapping
from dataclasses import dataclass

from recollect.settings import variables

PREFIX = "RECOLLECT_"
OF_TESTS = "RECOLLECT_TEST_"
"""How the variables of the tests begin, which are not listed one by one."""

OTHERS = frozenset({
    "RECOLLECT_TENANT",  # the command line's --tenant
    "RECOLLECT_API_KEY", "RECOLLECT_TOKEN", "RECOLLECT_URL",  # what clients, smoke test and load test take
    "RECOLLECT_PYTHON313",  # infra/sam.sh
    "RECOLLECT_CRASH_POINTS", "RECOLLECT_REQUIRE_BUILT", "RECOLLECT_REQUIRE_ENGINES", "RECOLLECT_SCREENSHOTS",  # tests
})  # fmt: skip
"""What other tools of the repository read, beside the settings."""


@dataclass(frozen=True, slots=True)
class UnknownVariable:
    """A variable that nothing reads, and the one that is most like it; None where none is."""

    name: str
    nearest: str | None

    @property
    def told(self) -> str:
        """The same as a sentence, without its value."""
        meant = "" if self.nearest is None else f"; do you mean {self.nearest}?"
        return f"nothing reads the variable {self.name}{meant}"


def unknown_variables(environment: Mapping[str, str] | None = None) -> list[UnknownVariable]:
    """Those of the environment, by their names; of this process's where none is given."""
    given = os.environ if environment is None else environment
    known = frozenset(name for name, _, _ in variables()) | OTHERS
    ours = sorted(name for name in given if name.startswith(PREFIX) and not name.startswith(OF_TESTS))
    return [UnknownVariable(name, _nearest(name, known)) for name in ours if name not in known]


def _nearest(name: str, known: frozenset[str]) -> str | None:
    """Compared behind what all have in common."""
    from difflib import get_close_matches

    names = {one.removeprefix(PREFIX): one for one in sorted(known)}
    found = get_close_matches(name.removeprefix(PREFIX), list(names), 1)
    return names[found[0]] if found else None
