"""The memory in the process of its user: threads, other processes, a fork, and what is missing."""

import os
import subprocess
import sys
import textwrap
import threading
from pathlib import Path

import pytest

from recollect import AsyncRecollect, CannotOpen, NotFound, Recollect
from recollect.adapters.local.database import FILE_NAME

IMPORTANT = "Remember: my sister is called Ada"


def opened(folder: Path) -> Recollect:
    return Recollect.local(folder, embedder="hashing")


def run(code: str, folder: Path) -> "subprocess.CompletedProcess[str]":
    """A program that has `memory`, in a process of its own."""
    head = f"from recollect import Recollect\nmemory = Recollect.local({str(folder)!r}, embedder='hashing')\n"
    own = {"RECOLLECT_LOG_LEVEL": "DEBUG", "PATH": os.environ["PATH"], "PYTHONPATH": os.pathsep.join(sys.path)}
    program = [sys.executable, "-c", head + textwrap.dedent(code)]
    return subprocess.run(program, capture_output=True, text=True, check=False, env=own, timeout=120)


def test_what_is_added_has_become_a_memory_when_the_call_returns(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(IMPORTANT, user_id="anna")
        assert [one["content"] for one in memory.get_all(user_id="anna")] == [IMPORTANT]
        assert [one["kind"] for one in memory.search("sister", user_id="anna")["results"]] == ["memory"]


def test_it_is_there_the_next_time_and_another_tenant_sees_nothing(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add(IMPORTANT, user_id="anna")
    with opened(tmp_path) as memory, Recollect.local(tmp_path, tenant="other", embedder="hashing") as other:
        assert memory.get_all(user_id="anna")
        assert other.get_all(user_id="anna") == []
        assert memory.run_job("reconcile", wait=True)["status"] == "done", "it speaks as an administrator"


def test_home_is_the_folder_where_none_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("RECOLLECT_EMBEDDER", "none")
    with Recollect.local() as memory:
        memory.add("I moved to Lyon", user_id="anna")
        assert memory.search("Lyon", user_id="anna")["results"], "by words alone"
    assert (tmp_path / "home" / FILE_NAME).is_file()


def test_threads_share_it(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:

        def tell(number: int) -> None:
            memory.add(f"remark number{number}", user_id="anna")

        threads = [threading.Thread(target=tell, args=(number,)) for number in range(8)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(list(memory.events("anna"))) == 8


def test_two_processes_use_one_folder(tmp_path: Path) -> None:
    with opened(tmp_path) as memory:
        memory.add("I moved to Lyon", user_id="anna")
        other = run(
            """
            print(memory.search("Lyon", user_id="anna")["results"][0]["content"])
            memory.add("I play the violin", user_id="anna")
            memory.close()
            """,
            tmp_path,
        )
        assert (other.stdout, other.stderr) == ("I moved to Lyon\n", "")
        assert memory.search("violin", user_id="anna")["results"][0]["content"] == "I play the violin"


def test_a_program_that_closes_nothing_ends_well_and_says_nothing(tmp_path: Path) -> None:
    done = run(f'memory.add({IMPORTANT!r}, user_id="anna")', tmp_path)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
    with opened(tmp_path) as memory:
        assert memory.get_all(user_id="anna")


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
def test_the_child_of_a_fork_goes_on_for_itself(tmp_path: Path) -> None:
    done = run(
        """
        import os
        memory.add("I moved to Lyon", user_id="anna")
        child = os.fork()
        said = "I play the violin" if child == 0 else "I bake bread"
        memory.add(said, user_id="anna")
        if child:
            assert os.waitpid(child, 0)[1] == 0
            print(sorted(one["content"] for one in memory.events("anna")))
            print(memory.search("violin", user_id="anna")["diagnostics"]["pending"])
        """,
        tmp_path,
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout == "['I bake bread', 'I moved to Lyon', 'I play the violin']\n0\n"


def test_a_foreign_file_and_a_wrong_setting_are_said(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / FILE_NAME).write_bytes(b"no database" * 100)
    with pytest.raises(CannotOpen, match="cannot be read"):
        opened(tmp_path)
    with pytest.raises(CannotOpen, match="tenant"):
        Recollect.local(tmp_path / "a", tenant="", embedder="hashing")
    monkeypatch.setenv("RECOLLECT_JUDGE", "nobody")
    with pytest.raises(CannotOpen, match="RECOLLECT_JUDGE"):
        AsyncRecollect.local(tmp_path / "a", embedder="hashing")


def test_the_settings_of_a_server_do_not_reach_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("RECOLLECT_ENGINES", "aws")
    monkeypatch.setenv("RECOLLECT_OPENSEARCH_URL", "http://nowhere")
    monkeypatch.setenv("RECOLLECT_API_KEYS", '{"key-a": {"tenant": "acme"}}')
    with opened(tmp_path) as memory, pytest.raises(NotFound):
        memory.get("none", user_id="anna")


def test_closing_twice_is_closing_once(tmp_path: Path) -> None:
    memory = opened(tmp_path)
    memory.close()
    memory.close()
    with pytest.raises(RuntimeError, match="closed"):
        memory.health()


@pytest.mark.parametrize("heavy", ["httpx", "numpy", "pydantic", "boto3", "onnxruntime", "sqlite3", "typer", "rich"])
def test_importing_the_package_imports_nothing_heavy(heavy: str) -> None:
    loaded = "import sys, recollect; print(sorted(m for m in sys.modules if '.' not in m))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    assert f"'{heavy}'" not in done.stdout
    assert "'recollect'" in done.stdout


def test_the_client_over_http_imports_httpx_alone() -> None:
    loaded = "import sys; from recollect import Recollect; Recollect('http://x'); print(*sorted(sys.modules))"
    done = subprocess.run([sys.executable, "-c", loaded], capture_output=True, text=True, check=True)
    modules = set(done.stdout.split())
    assert "httpx" in modules
    assert not modules & {"numpy", "pydantic", "boto3", "onnxruntime", "typer", "sqlite3", "recollect.app"}


def test_the_package_names_what_the_client_has() -> None:
    import recollect
    from recollect import client

    assert set(client.__all__) == set(recollect.__all__) - {"__version__"}
    assert all(getattr(recollect, name) is getattr(client, name) for name in client.__all__)
    assert not hasattr(recollect, "nothing")
