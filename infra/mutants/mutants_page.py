"""docs/mutants.md from what mutmut left in its folder."""

import ast
import json
import os
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from mutmut.mutation.diff_apply import get_diff_for_mutant
from tables import MODULES, changed

SURVIVED = (0, 5, 33)  # mutmut's codes: tests passed, no test chosen, no test reaches the function
_WORDS = re.compile(r'^(raise \w+\()(?:None|f?"[^"]*")')
GOAL = 0.1
HEAD = """# Mutants

Written by `make mutants` (`infra/mutants/run.py`). [mutmut](https://github.com/boxed/mutmut) breaks each function of
`recollect/domain` in one place at a time (another operator, a number more, a text less, an argument away) and runs the
tests of the domain. What mutmut leaves alone where the rules are written as data, `infra/mutants/tables.py` changes in
the same way: each number, word and switch of the tables and defaults of {tables}. A mutant is *killed* when a test
fails or its time runs out; it *survives* when all pass. The goal is that at most 10 % survive.

Left out, with the reason:

- {left_out}
"""
# Functions that only run while their module is imported: mutmut switches a mutant on after that.
AT_IMPORT = ("rule_groups.x__rule", "knowledge_values.x__one_of", "knowledge_patterns.x__quotation")
LEFT_OUT = (
    "the words of an error (`raise InvalidInput('words', …)`), where a mutant changed nothing else: they are"
    " for people, and no code goes by them; that it is raised, its class and its place count",
    "functions that run only while their module is imported, where mutmut cannot switch a mutant on: "
    + ", ".join(f"`{name.replace('.x_', '.')}`" for name in AT_IMPORT),
    "`@property` methods, and constants of the other modules: mutmut changes neither",
    "what a rule means in words, in the metadata of its field: documentation",
    "tests of a megabyte of noise, and those that count steps: they cost seconds a mutant, or count mutmut's own"
    " switch in each function",
)


@dataclass(frozen=True, slots=True)
class Survivor:
    """A mutant that no test noticed: where, what it was and what it became, each on one line."""

    line: int
    was: str
    became: str


@dataclass(slots=True)
class Module:
    """The mutants of one file."""

    path: str
    tested: int = 0
    survivors: list[Survivor] = field(default_factory=list)


def figures(at: Path) -> list[Module]:
    """Per module in `at`, what was tested and what survived; mutants not tested yet are in neither."""
    here = Path.cwd()
    os.chdir(at)  # mutmut reads its folder below the working directory
    try:
        return [_module(meta) for meta in sorted(Path("mutants/recollect/domain").rglob("*.meta"))]
    finally:
        os.chdir(here)


def table_figures(at: Path) -> list[Module]:
    """The same for the literals that `tables.py` tested."""
    kept = at / "tables.json"
    modules: dict[str, Module] = {}
    for name, killed in json.loads(kept.read_text("utf-8")).items() if kept.exists() else ():
        path, line, _, value = name.split(":", 3)
        module = modules.setdefault(path, Module(f"{path}, tables"))
        module.tested += 1
        if not killed:
            module.survivors.append(Survivor(int(line), value, repr(changed(ast.literal_eval(value)))))
    return list(modules.values())


def _module(meta: Path) -> Module:
    path = str(meta.relative_to("mutants")).removesuffix(".meta")
    codes = json.loads(meta.read_text("utf-8"))["exit_code_by_key"]
    codes = {name: code for name, code in codes.items() if code is not None and not _at_import(name)}
    source = Path(path).read_text("utf-8").splitlines()
    found = [_survivor(name, path, source) for name, code in codes.items() if code in SURVIVED]
    rules = [one for one in found if not _words_alone(one)]
    return Module(path, len(codes) - len(found) + len(rules), sorted(rules, key=lambda survivor: survivor.line))


def _at_import(name: str) -> bool:
    return name.rpartition("__mutmut_")[0].removeprefix("recollect.domain.") in AT_IMPORT


def _words_alone(survivor: Survivor) -> bool:
    """Whether only the words of an error changed."""
    was, became = (_WORDS.sub(r"\1", text) for text in (survivor.was, survivor.became))
    return was.startswith("raise ") and was == became


def _survivor(name: str, path: str, source: list[str]) -> Survivor:
    changes = get_diff_for_mutant(name, path=path).splitlines()
    was = [line[1:].strip() for line in changes if line.startswith("-") and not line.startswith("---")]
    became = [line[1:].strip() for line in changes if line.startswith("+") and not line.startswith("+++")]
    return Survivor(_line(name, was, source), " ".join(was), " ".join(became))


def _line(name: str, was: list[str], source: list[str]) -> int:
    """Where the line stands in the function that the mutant's name names."""
    function = name.rpartition(".")[2].partition("__mutmut_")[0].removeprefix("x_").rpartition("ǁ")[2]
    start = next((at for at, line in enumerate(source) if line.lstrip().startswith(f"def {function}(")), 0)
    if not was:
        return start + 1
    return next((at + 1 for at in range(start, len(source)) if source[at].strip() == was[0]), start + 1)


def page(modules: list[Module]) -> str:
    """The whole page."""
    tested = sum(module.tested for module in modules)
    survived = sum(len(module.survivors) for module in modules)
    verdict = "met" if survived <= GOAL * tested else "not met"
    return "\n".join(
        [
            HEAD.format(left_out="\n- ".join(LEFT_OUT), tables=", ".join(f"`{name}`" for name in MODULES)),
            f"**{tested} mutants, {tested - survived} killed, {survived} survived: {_share(survived, tested)};"
            f" the goal is {verdict}.**\n",
            "| module | mutants | killed | survived | share |\n|---|---:|---:|---:|---:|",
            *(_row(module) for module in modules if module.tested),
            "\n## Survivors\n",
            *(line for module in modules for line in _listed(module)),
            "",
        ]
    )


def _share(survived: int, tested: int) -> str:
    return f"{100 * survived / max(tested, 1):.1f} %"


def _row(module: Module) -> str:
    survived = len(module.survivors)
    name = module.path.removeprefix("recollect/domain/")
    share = _share(survived, module.tested)
    return f"| {name} | {module.tested} | {module.tested - survived} | {survived} | {share} |"


def _listed(module: Module) -> Iterator[str]:
    for survivor in module.survivors:
        place = f"{module.path.removeprefix('recollect/domain/')}:{survivor.line}"
        yield f"- {place}: `{_quoted(survivor.was)}` → `{_quoted(survivor.became)}`"


def _quoted(text: str) -> str:
    return text.replace("`", "'")
