"""The rivals, used as their documentation says, with our embedder. Runs in an environment of its own, where they are.

mem0 keeps texts as they are (`infer=False`: no language model), in an embedded Qdrant on disk, with its BM25 (which it
has where `fastembed` is installed; that package fetches a list of stop words from the network, so the usual English
one is given to it from a file here). Its telemetry is off. LangGraph's InMemoryStore keeps nothing on disk. None of the
rivals is where types are checked, hence the ignored imports.
"""

from __future__ import annotations

import hashlib
import os
import subprocess
import sys
import venv
from pathlib import Path
from typing import Any

from infra.tools.bench.data import Question, Turn
from infra.tools.bench.vectors import BenchEmbedder
from recollect.core.vectors import TextKind

MEM0, MEM0_PLAIN = "mem0", "mem0 without BM25"
ROOT = Path(__file__).resolve().parents[3]
PINS = Path(__file__).with_name("rivals.txt")
ENVIRONMENT = ROOT / "build" / "bench-venv"
_STAMP = ENVIRONMENT / ".installed"
_STOP_WORDS = Path(__file__).with_name("english_stop_words.txt")


def rivals_python() -> Path:
    """The interpreter of that environment; makes it where it is missing or older than the pins (half a minute)."""
    wanted = hashlib.sha256(PINS.read_bytes()).hexdigest()
    python = ENVIRONMENT / "bin" / "python"
    if not _STAMP.exists() or _STAMP.read_text("utf-8") != wanted:
        print(f"installing the rivals into {ENVIRONMENT.relative_to(ROOT)} (about 410 MB)", file=sys.stderr, flush=True)
        venv.create(ENVIRONMENT, with_pip=True, clear=True)
        subprocess.run([python, "-m", "pip", "install", "--quiet", "--requirement", PINS], check=True)
        _write_path(python)
        _STAMP.write_text(wanted, "utf-8")
    return python


def _write_path(python: Path) -> None:
    found = subprocess.run(
        [python, "-c", "import sysconfig; print(sysconfig.get_path('purelib'))"],
        check=True,
        capture_output=True,
        text=True,
    )
    (Path(found.stdout.strip()) / "recollect.pth").write_text(f"{ROOT / 'layers' / 'memory'}\n", "utf-8")


class LangGraphMemory:
    """LangGraph's InMemoryStore with an index over the text; one namespace a conversation."""

    name = "LangGraph InMemoryStore"

    def __init__(self, embedder: BenchEmbedder) -> None:
        from langgraph.store.memory import InMemoryStore

        index: Any = {"dims": embedder.dimension, "embed": _embeddings(embedder), "fields": ["text"]}
        self._store: Any = InMemoryStore(index=index)

    def add(self, turn: Turn) -> None:
        """Puts one turn."""
        self._store.put((turn.conversation,), turn.turn_id, {"text": turn.dated_text})

    def search(self, question: Question, k: int) -> list[str]:
        """The turn ids of the first k."""
        found = self._store.search((question.conversation,), query=question.text, limit=k)
        return [item.key for item in found]

    def close(self) -> None:
        """Nothing to let go of."""


class Mem0Memory:
    """mem0, one user a conversation; with its BM25, or as `pip install mem0ai` alone leaves it, without."""

    def __init__(self, embedder: BenchEmbedder, folder: Path, *, bm25: bool) -> None:
        self.name = MEM0 if bm25 else MEM0_PLAIN
        os.environ |= {"MEM0_TELEMETRY": "False", "MEM0_DIR": str(folder), "OPENAI_API_KEY": "never-used"}
        from mem0 import Memory  # type: ignore[import-not-found]

        _give_embedder(embedder)
        _give_stop_words()
        config = {
            "vector_store": {
                "provider": "qdrant",
                "config": {
                    "path": str(folder / "qdrant"),
                    "embedding_model_dims": embedder.dimension,
                    "on_disk": True,
                },
            },
            "history_db_path": str(folder / "history.db"),
        }
        self._memory: Any = Memory.from_config(config)
        self._set_bm25(bm25)

    def _set_bm25(self, wanted: bool) -> None:
        """mem0 goes on without its BM25 where that does not load, and says so in a log only: here that is an error."""
        store = self._memory.vector_store
        if not wanted:
            store._bm25_encoder = False  # what mem0 itself notes where fastembed is not installed
        if (store._get_bm25_encoder() is not None) is not wanted:
            raise RuntimeError("mem0 has not the BM25 that is to be measured")

    def add(self, turn: Turn) -> None:
        """Adds one message as it is."""
        role = "assistant" if turn.speaker == "assistant" else "user"
        message = {"role": role, "content": turn.dated_text}
        self._memory.add([message], user_id=turn.conversation, metadata={"turn_id": turn.turn_id}, infer=False)

    def search(self, question: Question, k: int) -> list[str]:
        """The turn ids of the first k."""
        found = self._memory.search(question.text, top_k=k, filters={"user_id": question.conversation})
        return [item["metadata"]["turn_id"] for item in found["results"]]

    def close(self) -> None:
        """Closes its files."""
        self._memory.vector_store.client.close()
        self._memory.close()


def _embeddings(embedder: BenchEmbedder) -> Any:
    """As LangChain knows them: a question is embedded as one, which counts with a model that has prefixes."""
    from langchain_core.embeddings import Embeddings

    class Given(Embeddings):
        def embed_documents(self, texts: list[str]) -> list[list[float]]:
            return [embedder.vector(text, TextKind.PASSAGE) for text in texts]

        def embed_query(self, text: str) -> list[float]:
            return embedder.vector(text, TextKind.QUERY)

    return Given()


def _give_embedder(embedder: BenchEmbedder) -> None:
    from mem0.embeddings.base import EmbeddingBase  # type: ignore[import-not-found]
    from mem0.utils.factory import EmbedderFactory  # type: ignore[import-not-found]

    class Given(EmbeddingBase):  # type: ignore[misc] # mem0 is not in the environment that types are checked in
        def embed(self, text: str, memory_action: str | None = None) -> list[float]:
            return embedder.vector(text, TextKind.QUERY if memory_action == "search" else TextKind.PASSAGE)

    EmbedderFactory.create = staticmethod(lambda *_: Given())


def _give_stop_words() -> None:
    """Once a process: a second time would wrap what the first one made."""
    import fastembed  # type: ignore[import-not-found]

    if hasattr(fastembed.SparseTextEmbedding, "given_stop_words"):
        return
    words = set(_STOP_WORDS.read_text("utf-8").split())

    class Offline(fastembed.SparseTextEmbedding):  # type: ignore[misc]
        given_stop_words = True

        def __init__(self, model_name: str) -> None:
            super().__init__(model_name, specific_model_path=str(_STOP_WORDS.parent), stopwords=words)

    fastembed.SparseTextEmbedding = Offline
