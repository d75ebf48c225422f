"""The copy's conftest: the same examples in every run, few, and no search for the smallest one that fails."""

import sys

from hypothesis import HealthCheck, Phase, settings

settings.register_profile(
    "mutants",
    deadline=None,
    derandomize=True,
    database=None,
    max_examples=20,
    phases=[Phase.explicit, Phase.generate],
    suppress_health_check=list(HealthCheck),
)


def pytest_sessionstart() -> None:
    """What a cache kept from before a mutant was switched on would hide the mutant."""
    for name, module in list(sys.modules.items()):
        if name.startswith("recollect."):
            for one in vars(module).values():
                clear = getattr(one, "cache_clear", None)
                if clear is not None:
                    clear()
