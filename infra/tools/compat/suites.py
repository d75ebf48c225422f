"""The suites: pinned source distributions that carry their tests, and what cannot pass, each with its reason."""

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class Source:
    """A source distribution on PyPI, by its hash; without one only the package, whose suite is ours."""

    name: str
    version: str
    sha256: str | None

    @property
    def pin(self) -> str:
        """As pip takes it."""
        return f"{self.name}=={self.version}"


@dataclass(frozen=True, slots=True)
class Suite:
    """Files of a source's tests, run with a plugin that puts our class in the place of theirs.

    Where the source has none, the file is ours and runs its client. `goal` is how many must pass; `known` has the
    reason of each that does not, by its name without parameters.
    """

    name: str
    source: Source
    files: tuple[str, ...]
    plugin: str | None
    goal: int
    known: dict[str, str] = field(default_factory=dict)


CHECKPOINT = Source("langgraph-checkpoint", "4.3.2", "fcab8468c7e965d7055e2a35c253d73a145624ef4728b150ca7c361f4afca286")
CHECKPOINT_SQLITE = Source(
    "langgraph-checkpoint-sqlite", "3.1.2", "4e3f376fa6f192d6ad2a1a4643b039986f1593552ef870e9e45281575de6fbf2"
)
MEM0 = Source("mem0ai", "2.2.1", None)
REQUIREMENTS = (
    CHECKPOINT.pin,
    CHECKPOINT_SQLITE.pin,
    MEM0.pin,
    "langgraph-sdk==0.4.14",
    "langchain-core==1.8.3",
    "httpx==0.28.1",
    "pytest==9.2.0",
    "pytest-asyncio==1.5.0",
    "pytest-mock==3.17.0",
)
"""What the suites run with, beside our own modules on the path."""

_INTERNAL = "reads the internals of SqliteStore"
SUITES = (
    Suite(
        "langgraph-checkpoint `test_store.py`",
        CHECKPOINT,
        ("tests/test_store.py",),
        "infra.tools.compat.langgraph_store",
        116,
    ),
    Suite(
        "langgraph-checkpoint-sqlite `test_store.py`, `test_async_store.py`",
        CHECKPOINT_SQLITE,
        ("tests/test_store.py", "tests/test_async_store.py"),
        "infra.tools.compat.langgraph_store",
        135,
        {
            "test_vector_store_initialization": f"{_INTERNAL}: its connection and the names of its tables",
            "test_nonnull_migrations": f"{_INTERNAL}: its migrations",
        },
    ),
    Suite(
        "mem0's `MemoryClient`: 15 calls",
        MEM0,
        (str(Path(__file__).with_name("mem0_calls.py")),),
        None,
        15,
    ),
)
