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
    """Files of a source's tests, run with a plugin that puts our class in the place of theirs, or our server.

    Where the source has none, the file is ours and runs its client; a suite without files is no suite of pytest's.
    `goal` is how many must pass; `known` has the reason of each that does not, by its name without parameters.
    `left_out` is what of the source's tests is not asked, with the reason.
    `requirements` are those of its environment, where it is not `REQUIREMENTS`.
    """

    name: str
    source: Source
    files: tuple[str, ...]
    plugin: str | None
    goal: int
    known: dict[str, str] = field(default_factory=dict)
    requirements: tuple[str, ...] = field(default=(), repr=False)
    left_out: str = field(default="", repr=False)


CHECKPOINT = Source("langgraph-checkpoint", "4.3.2", "fcab8468c7e965d7055e2a35c253d73a145624ef4728b150ca7c361f4afca286")
CHECKPOINT_SQLITE = Source(
    "langgraph-checkpoint-sqlite", "3.1.2", "4e3f376fa6f192d6ad2a1a4643b039986f1593552ef870e9e45281575de6fbf2"
)
MEM0 = Source("mem0ai", "2.2.1", None)
CONFORMANCE = Source(
    "langgraph-checkpoint-conformance", "0.0.2", "6718e00937bf2f04cdfd2cdfabea23e1dabb79a534ff4c127f305f6b40dad4e0"
)
OPENAI_AGENTS = Source("openai-agents", "0.24.0", "4b4b285f4fed81fdf1b4ac426a9101658d9cd29b4fb1aaeee18f639b77e704e3")
LANGGRAPH_AWS = Source(
    "langgraph-checkpoint-aws", "1.2.6", "882e4cb8220af0649f8a7cbe0a1f4e209829f3858c043cbd031422d7baa9d917"
)
AGENTCORE = Source("bedrock-agentcore", "1.25.0", "a5140924092be74c5962ae90e3764f030a7d4db22d5c3b608283bfe8e7fff1d3")
REQUIREMENTS = (
    CHECKPOINT.pin,
    CHECKPOINT_SQLITE.pin,
    CONFORMANCE.pin,
    OPENAI_AGENTS.pin,
    MEM0.pin,
    "langgraph-sdk==0.4.14",
    "langchain-core==1.8.3",
    "httpx==0.28.1",
    "pytest==9.2.0",
    "pytest-asyncio==1.5.0",
    "pytest-mock==3.17.0",
)
"""What most suites run with, beside our own modules on the path."""
GRAPH = Source("server-memory", "061ece3", None)
MCP = Source("modelcontextprotocol-conformance", "0.1.16", None)
OF_MCP = ("mcp==2.3.0", "httpx2==2.16.2", "pytest==9.2.0")
"""What the knowledge graph's cases run with."""
OF_AGENTCORE = (
    LANGGRAPH_AWS.pin,
    AGENTCORE.pin,
    CHECKPOINT.pin,
    "boto3==1.44.5",
    "strands-agents==1.62.0",
    "langchain==1.5.2",
    "langchain-aws==1.9.1",
    "langchain-core==1.8.3",
    "pytest==9.2.0",
    "pytest-asyncio==1.5.0",
)
"""What AgentCore's clients and their suites run with."""

_PRUNE = (
    "8 cases of `prune` (`test_prune_keep_latest_single_thread`, `test_prune_keep_latest_multiple_threads`, "
    "`test_prune_keep_latest_across_namespaces`, `test_prune_keep_latest_preserves_writes`, `test_prune_delete_all`, "
    "`test_prune_preserves_other_threads`, `test_prune_empty_list_noop`, `test_prune_nonexistent_noop`): "
    "`RecollectSaver` has no `prune`, since only a graph knows which ancestors its delta channels need"
)
_INTERNAL = "reads the internals of SqliteStore"
_CONNECTIONS = "reads the internals of SQLiteSession: its connections"
_CORRUPT = "damages a row of SQLiteSession's table by its own connection"
_SESSION = "test_sqlite_session"
_MODEL = "asks a model on Bedrock"
_AGENTCORE_TESTS = "tests/integration_tests/agentcore"
_AGENTCORE = "infra.tools.compat.agentcore"
SCENARIOS = Suite("@modelcontextprotocol/conformance: six scenarios that ask of any server", MCP, (), None, 6)
"""npm's program, not pytest's: `infra.tools.compat.mcp` runs it."""
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
    Suite(
        "langgraph-checkpoint-conformance: 58 of the base, 15 of `copy_thread` and `delete_for_runs`",
        CONFORMANCE,
        (str(Path(__file__).with_name("checkpointers.py")),),
        "infra.tools.compat.checkpointers",
        71,
        left_out=_PRUNE,
    ),
    Suite(
        "openai-agents `test_session.py`, `test_session_limit.py`",
        OPENAI_AGENTS,
        ("tests/memory/test_session.py", "tests/memory/test_session_limit.py"),
        "infra.tools.compat.openai_sessions",
        52,
        {
            f"{_SESSION}_close_closes_worker_thread_connections": _CONNECTIONS,
            f"{_SESSION}_reaps_connections_from_exited_worker_threads": _CONNECTIONS,
            f"{_SESSION}_closes_retired_connections_before_the_next_allocation": _CONNECTIONS,
            f"{_SESSION}_keeps_connections_of_live_worker_threads": _CONNECTIONS,
            f"{_SESSION}_rollback_failure_evicts_connection": _CONNECTIONS,
            f"{_SESSION}_close_retries_quarantined_connection": _CONNECTIONS,
            f"{_SESSION}_failed_add_items_releases_write_lock": _CONNECTIONS,
            f"{_SESSION}_failed_clear_session_rolls_back": _CONNECTIONS,
            f"{_SESSION}_failed_pop_item_releases_write_lock": _CONNECTIONS,
            f"{_SESSION}_post_commit_cancellation_propagates_after_known_outcome": _CONNECTIONS,
            f"{_SESSION}_file_lock_is_shared_across_instances": "reads the internals of SQLiteSession: its locks",
            f"{_SESSION}_pop_item_skips_corrupt_most_recent": _CORRUPT,
            f"{_SESSION}_pop_item_returns_none_after_dropping_only_corrupt_rows": _CORRUPT,
            f"{_SESSION}_get_items_limit_skips_corrupt_newest_rows": _CORRUPT,
            f"{_SESSION}_get_items_session_settings_limit_skips_corrupt_rows": _CORRUPT,
        },
    ),
    Suite(
        "langgraph-checkpoint-aws, AgentCore: `test_saver.py`, `test_batch_flush.py`, `test_snapshot.py`",
        LANGGRAPH_AWS,
        tuple(f"{_AGENTCORE_TESTS}/{name}" for name in ("test_saver.py", "test_batch_flush.py", "test_snapshot.py")),
        _AGENTCORE,
        32,
        {
            "test_math_agent_with_checkpointing": _MODEL,
            "test_weather_query_with_checkpointing": _MODEL,
            "test_multiple_sessions_isolation": _MODEL,
            "test_checkpoint_listing_with_limit": _MODEL,
        },
        OF_AGENTCORE,
    ),
    Suite(
        "langgraph-checkpoint-aws, AgentCore: `test_store.py`, `test_async_store.py`",
        LANGGRAPH_AWS,
        tuple(f"{_AGENTCORE_TESTS}/{name}" for name in ("test_store.py", "test_async_store.py")),
        _AGENTCORE,
        22,
        {"test_hierarchical_vs_exact_match": "expects a summary that AWS's model makes of a session"},
        OF_AGENTCORE,
    ),
    Suite(
        "bedrock-agentcore `memory/test_memory_client.py`",
        AGENTCORE,
        ("tests_integ/memory/test_memory_client.py",),
        _AGENTCORE,
        23,
        requirements=OF_AGENTCORE,
    ),
    Suite(
        "bedrock-agentcore `memory/test_controlplane.py`",
        AGENTCORE,
        ("tests_integ/memory/test_controlplane.py",),
        _AGENTCORE,
        6,
        requirements=OF_AGENTCORE,
    ),
    Suite(
        "bedrock-agentcore `memory/integrations/test_session_manager.py` (Strands)",
        AGENTCORE,
        ("tests_integ/memory/integrations/test_session_manager.py",),
        _AGENTCORE,
        4,
        {
            "test_conversation_persistence": _MODEL,
            "test_session_manager_with_retrieval_config_adds_context": _MODEL,
            "test_multiple_namespace_retrieval_config": _MODEL,
            "test_agent_conversation_with_context_manager": _MODEL,
            "test_agent_multi_turn_with_batching": _MODEL,
            "test_create_message_with_metadata_and_filter": _MODEL,
            "test_metadata_survives_session_resume": _MODEL,
            "test_metadata_provider_attaches_dynamic_trace_id": _MODEL,
        },
        OF_AGENTCORE,
    ),
    Suite(
        "reference memory server, `knowledge-graph.test.ts`: its cases by MCP's client",
        GRAPH,
        (str(Path(__file__).with_name("graph_cases.py")),),
        None,
        36,
        {"test_file_persistence_should_handle_jsonl_format_correctly": "reads the reference server's own file"},
        OF_MCP,
    ),
    SCENARIOS,
)
